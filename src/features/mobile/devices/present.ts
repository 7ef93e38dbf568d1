import { toTimestamp } from "../../../lib/clock.ts";
import { formatDuration } from "../../../lib/duration.ts";
import { presentUser } from "../../accounts/auth/present.ts";
import { DEVICE_TOKEN_LIFETIME_MS } from "../../accounts/auth/service.ts";
import type { DeviceSettings } from "./settings.ts";
import type { Device, DeviceTokens, SignedInDevice } from "./types.ts";

/** The sync state of a device, reported when it signs in. */
interface SyncState {
  readonly lastSyncAtMs: number | undefined;
  readonly pendingUploads: number;
  /** Bytes of all files of the account. */
  readonly cacheSizeBytes: number;
}

/** A device without `isCurrent`, which depends on the client, and without its settings, which name folders. */
export function presentDeviceDetails(device: Device) {
  const { publicId, name, platform, model, osVersion, appVersion, registeredAtMs, lastActiveAtMs } = device;
  return {
    id: publicId,
    name,
    platform,
    ...(model !== null && { model }),
    ...(osVersion !== null && { osVersion }),
    ...(appVersion !== null && { appVersion }),
    registeredAt: toTimestamp(registeredAtMs),
    lastActiveAt: toTimestamp(lastActiveAtMs),
  };
}

/** A device as the API returns it. @param currentId row id of the requesting device, if it is one */
export function presentDevice(device: Device, currentId: number | undefined) {
  return {
    ...presentDeviceDetails(device),
    isCurrent: device.id === currentId,
    settings: presentDeviceSettings(device.settings),
  };
}

/** The settings of a device as the API returns them. */
export function presentDeviceSettings({ maxCacheSizeBytes, ...settings }: DeviceSettings) {
  return { ...settings, maxCacheSize: maxCacheSizeBytes };
}

/** The response of a removal. */
export function presentRemoved({ device, removedAtMs }: { device: Device; removedAtMs: number }) {
  return { id: device.publicId, name: device.name, removedAt: toTimestamp(removedAtMs) };
}

/** The response of register and of POST /api/mobile/auth, without an envelope. */
export function presentSignedInDevice({ user, device, tokens }: SignedInDevice, state: SyncState) {
  const { lastSyncAtMs, pendingUploads, cacheSizeBytes } = state;
  return {
    success: true as const,
    user: presentUser(user),
    tokens: presentTokens(tokens),
    device: presentSummary(device),
    syncData: {
      lastSyncAt: lastSyncAtMs === undefined ? null : toTimestamp(lastSyncAtMs),
      pendingUploads,
      cacheSize: cacheSizeBytes,
    },
  };
}

/** The response of POST /api/mobile/auth/refresh. */
export function presentRefreshedDevice({ device, tokens }: SignedInDevice) {
  return { success: true as const, tokens: presentTokens(tokens), device: presentSummary(device) };
}

function presentTokens({ accessToken, refreshToken }: DeviceTokens) {
  return { accessToken, refreshToken, expiresIn: formatDuration(DEVICE_TOKEN_LIFETIME_MS) };
}

function presentSummary({ publicId, name, registeredAtMs }: Device) {
  return { id: publicId, name, registeredAt: toTimestamp(registeredAtMs) };
}
