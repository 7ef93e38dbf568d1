import type { Router } from "../accounts/routing/router.ts";
import { type FindingRoutesOptions, findingRoutes } from "./integrity/routes.ts";

/** What the routes of storage work with. */
type StorageRoutesOptions = FindingRoutesOptions;

/** Findings of damage. */
export function storageRoutes(options: StorageRoutesOptions): Router[] {
  return [findingRoutes(options)];
}
