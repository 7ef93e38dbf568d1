/** /api/admin/audit: the audit log. /api/users/activity: the entries about the own account. */
import { invalidField } from "../../../errors.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { type Query, readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import { normalizeAddress } from "../../../lib/cidr.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import { say } from "../../../translations/say.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ADMIN_READ, ADMIN_ROUTE } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { LIMIT_MAX, LIMIT_DEFAULT } from "./model.ts";
import { CSV_HEADING, presentActivity, presentAuditRow, presentCsvLine } from "./present.ts";
import type { AuditLog } from "./service.ts";
import { AUDIT_OUTCOMES, type AuditFilter, type AuditRow } from "./types.ts";

/** Dependencies of the routes of the audit log. */
export interface AuditRoutesOptions {
  readonly audit: AuditLog;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** /api/admin/audit, and /api/users/activity for the own account. */
export function auditRoutes({ audit, guard, clock, allowLong }: AuditRoutesOptions) {
  return new Router({ prefix: "/api", guard })
    .get("/admin/audit", { ...ADMIN_READ, docs: docs.listAudit }, async ({ request }) => {
      const query = queryOf(request);
      const { page, limit } = readPage(query);
      const { entries, total } = await audit.page(readFilter(query), page, limit);
      return ok({ entries: entries.map(presentAuditRow), pagination: paginate(page, limit, total) });
    })
    .get(
      "/admin/audit/export",
      { ...ADMIN_ROUTE, audit: { action: "audit.export" }, docs: docs.exportAudit },
      ({ request }) => {
        const query = queryOf(request);
        const format = readChoice(query["format"], "format", ["jsonl", "csv"]) ?? "jsonl";
        const pages = audit.pages(readFilter(query));
        allowLong(request);
        const name = `larder-audit-${toTimestamp(clock.nowMs()).slice(0, 10)}.${format}`;
        return new Response(streamOf(format === "csv" ? asCsv(pages) : asJsonLines(pages)), {
          headers: {
            "content-type": format === "csv" ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8",
            "content-disposition": `attachment; filename="${name}"`,
          },
        });
      },
    )
    .get(
      "/users/activity",
      { access: "self", scope: "never", rate: "profile", audit: "unaudited", docs: docs.listActivity },
      async ({ principal, request }) => {
        const { publicId } = principal.user;
        const { page, limit } = readPage(queryOf(request));
        const { entries, total } = await audit.page({ subjectId: publicId }, page, limit);
        return ok({
          activity: entries.map((row) => presentActivity(row, publicId)),
          pagination: paginate(page, limit, total),
        });
      },
    );
}

/** Created page by page, as the client reads it. */
function streamOf(pages: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pages.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await pages.return(undefined);
    },
  });
}

async function* asJsonLines(pages: AsyncGenerator<readonly AuditRow[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const rows of pages) {
    yield encoder.encode(rows.map((row) => `${JSON.stringify(presentAuditRow(row))}\n`).join(""));
  }
}

async function* asCsv(pages: AsyncGenerator<readonly AuditRow[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(CSV_HEADING);
  for await (const rows of pages) yield encoder.encode(rows.map(presentCsvLine).join(""));
}

function readPage(query: Query): { page: number; limit: number } {
  return {
    page: readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 }),
    limit: readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT }),
  };
}

/** @throws AppError invalid_field */
function readFilter(query: Query): AuditFilter {
  const address = query["ip"] || undefined;
  return {
    user: query["user"]?.trim() || undefined,
    action: query["action"]?.trim() || undefined,
    outcome: readChoice(query["outcome"], "outcome", AUDIT_OUTCOMES),
    clientAddress: address && (normalizeAddress(address) ?? address),
    fromMs: readTime(query["from"], "from"),
    toMs: readTime(query["to"], "to"),
  };
}

/** A time, or a day, as milliseconds. @throws AppError invalid_field */
function readTime(text: string | undefined, field: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw invalidField(field, say`${field} must be an ISO 8601 time, such as 2026-01-02T03:04:05.678Z.`);
  return ms;
}
