import { ok } from "../../../http/envelope.ts";
import { IdParams } from "../../../http/fields.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { presentLock } from "./present.ts";
import type { LockService } from "./service.ts";

/** Dependencies of {@link lockRoutes}. */
export interface LockRoutesOptions {
  readonly locks: LockService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/users/locks: what programs have locked, for people. */
export function lockRoutes({ locks, guard }: LockRoutesOptions): Router {
  return new Router({ prefix: "/api/users/locks", guard })
    .get(
      "/",
      { access: "self", scope: "profile", rate: "profile", audit: "unaudited", docs: docs.listLocks },
      ({ principal }) => ok({ locks: locks.list(principal.user).map(presentLock) }),
    )
    .delete(
      "/:id",
      {
        access: "self",
        scope: "profile",
        rate: "profile",
        audit: { action: "lock.end", target: "lock", targetParam: "id" },
        docs: docs.endLock,
        params: IdParams,
      },
      async ({ principal, params }) => {
        await locks.end(principal.user, params.id);
        return ok({ id: params.id }, "The lock was ended.");
      },
    );
}
