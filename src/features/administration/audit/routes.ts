/** /api/admin/audit: who did what; and what of it concerns oneself, under /api/users/activity. */
import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Query, readChoice, readInteger, readQuery } from "../../../http/fields.ts";
import { normalizeAddress } from "../../../lib/cidr.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { AUDIT_ACTIONS } from "./actions.ts";
import { ActivityPageRecord, AuditPageRecord } from "./model.ts";
import { CSV_HEADING, presentActivity, presentAuditRow, presentCsvLine } from "./present.ts";
import type { AuditLog } from "./service.ts";
import { AUDIT_OUTCOMES, type AuditFilter, type AuditRow } from "./types.ts";

/** What the routes of the log work with. */
export interface AuditRoutesOptions {
  readonly audit: AuditLog;
  readonly guard: ReturnType<typeof authGuard>;
  readonly clock: Clock;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

const FILTER_QUERY = {
  user: { type: "string", description: "Id or e-mail: who did it, or whom it was done to" },
  action: {
    type: "string",
    description: `One of: ${AUDIT_ACTIONS.join(", ")}; or what stands before the dot, for all that begins so`,
  },
  outcome: { type: "string", enum: [...AUDIT_OUTCOMES] },
  ip: { type: "string", description: "The client's address" },
  from: { type: "string", format: "date-time", description: "Inclusive" },
  to: { type: "string", format: "date-time", description: "Exclusive" },
} as const;
const PAGE_QUERY = {
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
} as const;

/** See the head of this file. */
export function auditRoutes({ audit, guard, clock, allowLong }: AuditRoutesOptions) {
  return new Elysia({ name: "audit-routes", prefix: "/api" })
    .use(guard)
    .get(
      "/admin/audit",
      async ({ request }) => {
        const query = readQuery(requestContextOf(request).query);
        const { page, limit } = readPage(query);
        const { entries, total } = await audit.page(readFilter(query), page, limit);
        return ok({ entries: entries.map(presentAuditRow), pagination: paginate(page, limit, total) });
      },
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "Who did what, from where, and when; newest first",
          description:
            "`user` is who did it, `account` whom it was done to. Files and folders are named by their ids alone: an " +
            "administrator sees no contents.",
          access: "admin",
          data: AuditPageRecord,
          errors: ["invalid_field"],
          query: { ...FILTER_QUERY, ...PAGE_QUERY },
        }),
      },
    )
    .get(
      "/admin/audit/export",
      ({ request }) => {
        const query = readQuery(requestContextOf(request).query);
        const format = readChoice(query["format"], "format", ["jsonl", "csv"]) ?? "jsonl";
        const pieces = audit.pieces(readFilter(query));
        allowLong(request);
        const name = `larder-audit-${toTimestamp(clock.nowMs()).slice(0, 10)}.${format}`;
        return new Response(streamOf(format === "csv" ? asCsv(pieces) : asJsonLines(pieces)), {
          headers: {
            "content-type": format === "csv" ? "text/csv; charset=utf-8" : "application/jsonl; charset=utf-8",
            "content-disposition": `attachment; filename="${name}"`,
          },
        });
      },
      {
        access: "admin",
        ...documented({
          tag: "Administration",
          summary: "The audit log as a file, newest first",
          description:
            "`jsonl`: an entry a line, as the list has them; `csv`: a table. The filters are those of the list.",
          access: "admin",
          content: { "application/jsonl": "An entry a line", "text/csv": "A table" },
          errors: ["invalid_field"],
          query: { format: { type: "string", enum: ["jsonl", "csv"], default: "jsonl" }, ...FILTER_QUERY },
        }),
      },
    )
    .get(
      "/users/activity",
      async ({ principal, request }) => {
        const { publicId } = principal.user;
        const { page, limit } = readPage(readQuery(requestContextOf(request).query));
        const { entries, total } = await audit.page({ subjectId: publicId }, page, limit);
        return ok({
          activity: entries.map((row) => presentActivity(row, publicId)),
          pagination: paginate(page, limit, total),
        });
      },
      {
        access: "self",
        ...documented({
          tag: "Users",
          summary: "What was done with one's own account: sign-ins, wrong passwords, changes; newest first",
          description: "Entries of the audit log that concern the caller's account.",
          access: "self",
          data: ActivityPageRecord,
          errors: ["invalid_field"],
          query: PAGE_QUERY,
        }),
      },
    );
}

/** Made piece by piece as the client takes it. */
function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

async function* asJsonLines(pieces: AsyncGenerator<readonly AuditRow[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const rows of pieces) {
    yield encoder.encode(rows.map((row) => `${JSON.stringify(presentAuditRow(row))}\n`).join(""));
  }
}

async function* asCsv(pieces: AsyncGenerator<readonly AuditRow[]>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(CSV_HEADING);
  for await (const rows of pieces) yield encoder.encode(rows.map(presentCsvLine).join(""));
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
  if (Number.isNaN(ms)) throw invalidField(field, `${field} must be a time such as 2026-01-02T03:04:05.678Z.`);
  return ms;
}
