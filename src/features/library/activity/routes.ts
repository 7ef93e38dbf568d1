import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, readInteger, queryOf } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { READ_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { presentNodeActivity } from "./present.ts";
import type { ActivityService } from "./service.ts";

/** Dependencies of {@link activityRoutes}. */
export interface ActivityRoutesOptions {
  readonly activity: ActivityService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** GET /api/files/{id}/activity; what an account did is GET /api/users/activity. */
export function activityRoutes({ activity, guard }: ActivityRoutesOptions) {
  return new Router({ prefix: "/api/files", guard }).get(
    "/:id/activity",
    { ...READ_FILES, docs: docs.activity, params: IdParams },
    ({ principal, params, request }) => {
      const query = queryOf(request);
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const { entries, total } = activity.list(principal.user, params.id, page, limit);
      return ok({ activity: entries.map(presentNodeActivity), pagination: paginate(page, limit, total) });
    },
  );
}
