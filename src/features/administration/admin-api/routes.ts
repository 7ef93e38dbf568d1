/** /api/admin/*: accounts, access to them, and the server. These routes never show the files of an account. */
import type { Router } from "../../accounts/routing/router.ts";
import { type AccessRoutesOptions, accessRoutes, factorRoutes } from "./access-routes.ts";
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

/** The routes of /api/admin, except those of the audit log, invitations and findings. */
export function adminRoutes(options: AdminRoutesOptions): Router[] {
  return [
    accountRoutes(options),
    accountActionRoutes(options),
    accessRoutes(options),
    factorRoutes(options),
    serverRoutes(options),
    stateRoutes(options),
  ];
}
