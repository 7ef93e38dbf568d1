import type { TreeReader } from "../../tree/reader.ts";
import type { Router } from "../accounts/routing/router.ts";
import { type ConflictRoutesOptions, conflictRoutes } from "./conflicts/routes.ts";
import { type DeviceRoutesOptions, deviceRoutes } from "./devices/routes.ts";
import { type DeviceSignInRoutesOptions, deviceSignInRoutes } from "./devices/sign-in-routes.ts";
import { type DurabilityRoutesOptions, durabilityRoutes } from "./durability/routes.ts";
import { type LocalChangeRoutesOptions, localChangeRoutes } from "./local-changes/routes.ts";
import { type HoldRoutesOptions, holdRoutes } from "./mass-change/routes.ts";
import { type QueueRoutesOptions, queueRoutes } from "./offline-queue/routes.ts";
import { type RewindRoutesOptions, rewindRoutes } from "./rewind/routes.ts";
import { type SyncRoutesOptions, syncRoutes } from "./sync/routes.ts";

/** Options of {@link mobileRoutes}. */
interface MobileRoutesOptions
  extends DeviceRoutesOptions,
    Omit<DeviceSignInRoutesOptions, "fileBytesOf">,
    SyncRoutesOptions,
    Omit<LocalChangeRoutesOptions, "tokens">,
    Omit<ConflictRoutesOptions, "devices">,
    HoldRoutesOptions,
    RewindRoutesOptions,
    QueueRoutesOptions,
    DurabilityRoutesOptions {
  readonly tree: TreeReader;
  readonly syncTokens: LocalChangeRoutesOptions["tokens"];
}

/** Devices: registration, sync, offline changes, and how they are undone. */
export function mobileRoutes(options: MobileRoutesOptions): Router[] {
  const { tree, syncTokens } = options;
  return [
    deviceSignInRoutes({ ...options, fileBytesOf: (accountId) => tree.usage(accountId).fileBytes }),
    deviceRoutes(options),
    syncRoutes(options),
    localChangeRoutes({ ...options, tokens: syncTokens }),
    conflictRoutes(options),
    holdRoutes(options),
    rewindRoutes(options),
    queueRoutes(options),
    durabilityRoutes(options),
  ];
}
