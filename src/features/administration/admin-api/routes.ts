/** /api/admin/*: accounts, ways into them, and the server. Nothing here shows what is in an account. */
import type { Router } from "../../accounts/routing/router.ts";
import { type AccessRoutesOptions, accessRoutes } from "./access-routes.ts";
import { type AccountRoutesOptions, accountActionRoutes, accountRoutes } from "./account-routes.ts";
import { type ServerRoutesOptions, serverRoutes } from "./server-routes.ts";
import { type StateRoutesOptions, stateRoutes } from "./state-routes.ts";

/** Dependencies of the routes of administration. */
export interface AdminRoutesOptions
  extends AccountRoutesOptions,
    AccessRoutesOptions,
    ServerRoutesOptions,
    StateRoutesOptions {
  readonly statistics: ServerRoutesOptions["statistics"];
  readonly jobs: ServerRoutesOptions["jobs"];
  readonly twoFactor: AccountRoutesOptions["twoFactor"] & AccessRoutesOptions["twoFactor"];
}

/** The routes of /api/admin but for the audit log, invites and findings. */
export function adminRoutes(options: AdminRoutesOptions): Router[] {
  return [
    accountRoutes(options),
    accountActionRoutes(options),
    accessRoutes(options),
    serverRoutes(options),
    stateRoutes(options),
  ];
}
