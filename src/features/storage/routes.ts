import type { Router } from "../accounts/routing/router.ts";
import { type AdminImportRoutesOptions, adminImportRoutes } from "./imports/admin-routes.ts";
import { type ImportRoutesOptions, importRoutes } from "./imports/routes.ts";
import { type FindingRoutesOptions, findingRoutes } from "./integrity/routes.ts";

/** Findings of damage, and imports from other systems. */
export function storageRoutes(
  options: FindingRoutesOptions & ImportRoutesOptions & AdminImportRoutesOptions,
): Router[] {
  return [findingRoutes(options), importRoutes(options), adminImportRoutes(options)];
}
