import type { Router } from "../accounts/routing/router.ts";
import { type UploadRoutesOptions, uploadRoutes } from "./chunked/routes.ts";
import { type PublicTusRoutesOptions, publicTusRoutes } from "./tus/public-routes.ts";
import { type TusRoutesOptions, tusRoutes } from "./tus/routes.ts";

/** Dependencies of the routes of uploads. */
export interface UploadsRoutesOptions extends UploadRoutesOptions, TusRoutesOptions, PublicTusRoutesOptions {
  readonly files: UploadRoutesOptions["files"];
}

/** Resumable uploads: in chunks, and by tus, also into drop boxes. */
export function uploadsRoutes(options: UploadsRoutesOptions): Router[] {
  return [uploadRoutes(options), tusRoutes(options), publicTusRoutes(options)];
}
