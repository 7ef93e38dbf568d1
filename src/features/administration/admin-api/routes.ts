/** /api/admin/*: accounts, ways into them, and the server. Nothing here shows what is in an account. */
import { Router } from "../../accounts/routing/router.ts";
import { type AccessRoutesOptions, accessRoutes } from "./access-routes.ts";
import { type AccountRoutesOptions, accountRoutes } from "./account-routes.ts";
import { type ServerRoutesOptions, serverRoutes } from "./server-routes.ts";
import { type StateRoutesOptions, stateRoutes } from "./state-routes.ts";

/** What the routes of administration work with. */
export interface AdminRoutesOptions
  extends AccountRoutesOptions,
    AccessRoutesOptions,
    ServerRoutesOptions,
    StateRoutesOptions {
  readonly statistics: ServerRoutesOptions["statistics"];
  readonly jobs: ServerRoutesOptions["jobs"];
  readonly twoFactor: AccountRoutesOptions["twoFactor"] & AccessRoutesOptions["twoFactor"];
}

/** See the head of this file. */
export function adminRoutes(options: AdminRoutesOptions) {
  return new Router({ name: "admin-routes" })
    .use(accountRoutes(options))
    .use(accessRoutes(options))
    .use(serverRoutes(options))
    .use(stateRoutes(options));
}
