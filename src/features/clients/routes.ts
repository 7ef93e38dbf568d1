import type { Router } from "../accounts/routing/router.ts";
import { type ChunkedUploadRoutesOptions, chunkedUploadRoutes } from "./chunked-uploads/routes.ts";
import { type LoginFlowRoutesOptions, loginFlowRoutes, loginProgramRoutes } from "./login-flow/routes.ts";
import { type LockRoutesOptions, lockRoutes } from "./locks/routes.ts";
import { type OcsRoutesOptions, ocsRoutes } from "./ocs/routes.ts";
import { type WebDavRoutesOptions, webDavRoutes } from "./webdav/routes.ts";

/** Dependencies of the routes for programs that people have already. */
export interface ClientsRoutesOptions
  extends WebDavRoutesOptions,
    ChunkedUploadRoutesOptions,
    LockRoutesOptions,
    LoginFlowRoutesOptions,
    OcsRoutesOptions {}

/** WebDAV, and the protocol of the Nextcloud and ownCloud clients. */
export function clientsRoutes(options: ClientsRoutesOptions): Router[] {
  return [
    lockRoutes(options),
    webDavRoutes(options),
    chunkedUploadRoutes(options),
    loginFlowRoutes(options),
    loginProgramRoutes(options),
    ...ocsRoutes(options),
  ];
}
