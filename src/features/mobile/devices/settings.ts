/** A device's settings: their defaults, and how a change is merged. */
import { invalidField } from "../../../errors.ts";
import { normalizePath } from "../../../lib/path.ts";
import { say } from "../../../translations/say.ts";

/** The quality in which the device uploads photos and videos; it reduces them itself. */
export const UPLOAD_QUALITIES = ["original", "high", "medium", "low"] as const;

/** The settings of a device. The server only stores them; the device applies them. */
export interface DeviceSettings {
  /** Upload new photos and videos automatically. */
  readonly autoUpload: boolean;
  /** Fetch changes while the app is closed. */
  readonly backgroundSync: boolean;
  /** Use no metered connections. */
  readonly wifiOnly: boolean;
  readonly uploadQuality: (typeof UPLOAD_QUALITIES)[number];
  /** Folders to sync, with everything below them; an empty list means all. */
  readonly syncFolders: readonly string[];
  /** The maximum of bytes that the device stores. */
  readonly maxCacheSizeBytes: number;
}

/** Settings to change; the others stay. */
export type DeviceSettingsChange = { readonly [K in keyof DeviceSettings]?: DeviceSettings[K] | undefined };

/** The maximum of folders in the settings of a device. */
export const SYNC_FOLDERS_MAX = 200;

/** By default a device uses no mobile data, saves battery, and leaves photos unchanged. */
const DEFAULTS: DeviceSettings = {
  autoUpload: false,
  backgroundSync: true,
  wifiOnly: true,
  uploadQuality: "original",
  syncFolders: [],
  maxCacheSizeBytes: 1024 * 1024 * 1024,
};

/** All settings, from the stored JSON of those that were set. */
export function readDeviceSettings(json: string): DeviceSettings {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by changeDeviceSettings alone
  return { ...DEFAULTS, ...(JSON.parse(json) as Partial<DeviceSettings>) };
}

/**
 * The stored JSON after a change. Settings that were never set are left out: they follow the defaults.
 * @throws AppError invalid_path | invalid_field for the folders
 */
export function changeDeviceSettings(json: string, change: DeviceSettingsChange): string {
  const { syncFolders } = change;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written here alone
  const stored = JSON.parse(json) as object;
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  return JSON.stringify({
    ...stored,
    ...Object.fromEntries(changed),
    ...(syncFolders !== undefined && { syncFolders: normalizeFolders(syncFolders) }),
  });
}

function normalizeFolders(folders: readonly string[]): string[] {
  if (folders.length > SYNC_FOLDERS_MAX) {
    throw invalidField(
      "syncFolders",
      say`A device can list at most ${SYNC_FOLDERS_MAX} folders. List their parent folders instead.`,
    );
  }
  return [...new Set(folders.map((folder) => normalizePath(folder, "syncFolders")))];
}
