import type { Router } from "../accounts/routing/router.ts";
import { chunkRoutes, type UploadRoutesOptions, uploadRoutes, uploadStateRoutes } from "./chunked/routes.ts";
import { type PublicTusRoutesOptions, publicTusRoutes } from "./tus/public-routes.ts";
import { tusOptionsRoutes, type TusRoutesOptions, tusRoutes } from "./tus/routes.ts";

/** Dependencies of the routes of uploads. */
interface UploadsRoutesOptions extends UploadRoutesOptions, TusRoutesOptions, PublicTusRoutesOptions {
  readonly files: UploadRoutesOptions["files"];
}

/** Resumable uploads: in chunks, and by tus, also into drop boxes. */
export function uploadsRoutes(options: UploadsRoutesOptions): Router[] {
  return [
    uploadRoutes(options),
    uploadStateRoutes(options),
    chunkRoutes(options),
    tusOptionsRoutes(options),
    tusRoutes(options),
    publicTusRoutes(options),
  ];
}
