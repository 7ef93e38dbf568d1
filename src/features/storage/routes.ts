import type { Router } from "../accounts/routing/router.ts";
import { type FindingRoutesOptions, findingRoutes } from "./integrity/routes.ts";

/** Findings of damage. */
export function storageRoutes(options: FindingRoutesOptions): Router[] {
  return [findingRoutes(options)];
}
