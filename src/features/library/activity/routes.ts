import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { IdParams, readInteger, readQuery } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { NodeActivityPageRecord } from "./model.ts";
import { presentNodeActivity } from "./present.ts";
import type { ActivityService } from "./service.ts";

/** What the route works with. */
export interface ActivityRoutesOptions {
  readonly activity: ActivityService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/** GET /api/files/{id}/activity; what an account did is GET /api/users/activity. */
export function activityRoutes({ activity, guard }: ActivityRoutesOptions) {
  return new Elysia({ name: "activity-routes", prefix: "/api/files" }).use(guard).get(
    "/:id/activity",
    ({ principal, params, request }) => {
      const query = readQuery(requestContextOf(request).query);
      const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
      const limit = readInteger(query, "limit", { min: 1, max: 100, default: 20 });
      const { entries, total } = activity.list(principal.user, params.id, page, limit);
      return ok({ activity: entries.map(presentNodeActivity), pagination: paginate(page, limit, total) });
    },
    {
      access: "reader",
      params: IdParams,
      ...documented({
        tag: "Files",
        summary: "What happened to a file or folder, newest first",
        description:
          "As far back as versions and former places are kept (30 days, configurable). Somebody with whom it is shared " +
          "sees who made it and its contents alone.",
        access: "reader",
        query: {
          page: { type: "integer", minimum: 1, default: 1 },
          limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
        },
        data: NodeActivityPageRecord,
        errors: ["not_found", "invalid_field"],
      }),
    },
  );
}
