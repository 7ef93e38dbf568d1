/** /api/admin/findings: faults of the store, open and resolved. Names of files are not included. */
import { ok, paginate } from "../../../http/envelope.ts";
import { readChoice, readInteger, queryOf } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { ADMIN_READ } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { STATES, LIMIT_MAX, LIMIT_DEFAULT } from "./model.ts";
import { presentFinding } from "./present.ts";
import type { Integrity } from "./service.ts";

/** Dependencies of the route. */
export interface FindingRoutesOptions {
  readonly integrity: Pick<Integrity, "list">;
  readonly guard: ReturnType<typeof authGuard>;
}
const PAGE_MAX = 1_000_000;

/** Routes for findings. */
export function findingRoutes({ integrity, guard }: FindingRoutesOptions) {
  return new Router({ prefix: "/api/admin", guard }).get(
    "/findings",
    { ...ADMIN_READ, docs: docs.listFindings },
    ({ request }) => {
      const query = queryOf(request);
      const state = readChoice(query["state"], "state", STATES) ?? "open";
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
      const { findings, total } = integrity.list({ state, limit, offset: (page - 1) * limit });
      return ok({ findings: findings.map(presentFinding), pagination: paginate(page, limit, total) });
    },
  );
}
