/** /api/admin/findings: what readings of the store found wrong, and what became of it. Names of files are not told here. */
import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readChoice, readInteger, readQuery } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { FindingPageRecord } from "./model.ts";
import { presentFinding } from "./present.ts";
import type { Integrity } from "./service.ts";

/** What the route works with. */
export interface FindingRoutesOptions {
  readonly integrity: Pick<Integrity, "list">;
  readonly guard: ReturnType<typeof authGuard>;
}

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;
const PAGE_MAX = 1_000_000;
const STATES = ["open", "resolved", "all"] as const;

/** See the head of this file. */
export function findingRoutes({ integrity, guard }: FindingRoutesOptions) {
  return new Elysia({ name: "finding-routes", prefix: "/api/admin" }).use(guard).get(
    "/findings",
    ({ request }) => {
      const query = readQuery(requestContextOf(request).query);
      const state = readChoice(query["state"], "state", STATES) ?? "open";
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
      const { findings, total } = integrity.list({ state, limit, offset: (page - 1) * limit });
      return ok({ findings: findings.map(presentFinding), pagination: paginate(page, limit, total) });
    },
    {
      access: "admin",
      ...documented({
        tag: "Administration",
        summary: "Stored contents that were found damaged or missing, and faults of the database; newest first",
        description:
          "By the nightly reading (`scrub.*`), by `larder verify`, by a check of a file, or when a file was to be sent. A " +
          "finding is resolved when a good copy has come: by an upload of the same bytes, or by `larder heal`. Resolved " +
          "ones are kept for a year.",
        access: "admin",
        data: FindingPageRecord,
        errors: ["invalid_field"],
        query: {
          state: { type: "string", enum: [...STATES], default: "open" },
          page: { type: "integer", minimum: 1, default: 1 },
          limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
        },
      }),
    },
  );
}
