/**
 * A device's settings: what they are when nothing was set, and how a change is
 * merged.
 */
import { invalidField } from "../../../errors.ts";
import { normalizePath } from "../../../lib/path.ts";

/** How large pictures and videos are sent: as they are, or made smaller by the device first. */
export const UPLOAD_QUALITIES = ["original", "high", "medium", "low"] as const;

/** What a device is told to do. The server keeps it; the device abides by it. */
export interface DeviceSettings {
  /** New pictures and videos are uploaded by themselves. */
  readonly autoUpload: boolean;
  /** Changes are fetched while the app is closed. */
  readonly backgroundSync: boolean;
  /** Nothing is transferred over a paid connection. */
  readonly wifiOnly: boolean;
  readonly uploadQuality: (typeof UPLOAD_QUALITIES)[number];
  /** Folders that are kept in sync, with everything below; none means all. */
  readonly syncFolders: readonly string[];
  /** Bytes that the device keeps of files at most. */
  readonly maxCacheSizeBytes: number;
}

/** Any part of the settings. */
export type DeviceSettingsChange = { readonly [K in keyof DeviceSettings]?: DeviceSettings[K] | undefined };

/** Folders that one device may name. */
export const SYNC_FOLDERS_MAX = 200;

/** What asks nothing of the person's data plan or battery that they did not ask for, and changes no picture. */
const DEFAULTS: DeviceSettings = {
  autoUpload: false,
  backgroundSync: true,
  wifiOnly: true,
  uploadQuality: "original",
  syncFolders: [],
  maxCacheSizeBytes: 1024 * 1024 * 1024,
};

/** The settings in force, from the stored JSON of those that were ever set. */
export function readDeviceSettings(json: string): DeviceSettings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by changeDeviceSettings alone
  return { ...DEFAULTS, ...(JSON.parse(json) as Partial<DeviceSettings>) };
}

/**
 * The stored JSON after a change: what it doesn't name stays, and what was never set follows the defaults.
 * @throws AppError invalid_path | invalid_field for the folders
 */
export function changeDeviceSettings(json: string, change: DeviceSettingsChange): string {
  const { syncFolders } = change;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written here alone
  const stored = JSON.parse(json) as object;
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  return JSON.stringify({
    ...stored,
    ...Object.fromEntries(named),
    ...(syncFolders !== undefined && { syncFolders: normalizeFolders(syncFolders) }),
  });
}

function normalizeFolders(folders: readonly string[]): string[] {
  if (folders.length > SYNC_FOLDERS_MAX) {
    throw invalidField(
      "syncFolders",
      `A device can list at most ${SYNC_FOLDERS_MAX} folders. List their parent folders instead.`,
    );
  }
  return [...new Set(folders.map((folder) => normalizePath(folder, "syncFolders")))];
}
