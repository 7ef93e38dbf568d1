import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Timestamp } from "../../../http/fields.ts";
import { Code, UserRecord } from "../../accounts/auth/model.ts";
import { SYNC_FOLDERS_MAX, UPLOAD_QUALITIES } from "./settings.ts";

/** The id that a device chooses; `checkDeviceId` validates it. */
const DeviceId = t.String({
  minLength: 1,
  examples: ["4f1c2f0e-6d1b-4a55-9c1e-3b8f1f6f2a10"],
  description:
    "Chosen by the device, unique within the account: 1 to 200 printable characters without / and \\, neither . nor .., " +
    "compared in NFC. In paths it is percent-encoded",
});
/** A short text without control characters. */
const ShortText = { maxLength: 200, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" };

const Email = t.String({ maxLength: 320, examples: ["ada@example.org"] });
const Password = t.String({ maxLength: 2048 });

const CREDENTIALS = { email: Email, password: Password, code: t.Optional(Code) };

/** The credentials of a sign-in. */
export const Credentials = t.Object(CREDENTIALS);

/** POST /api/mobile/auth/register */
export const RegisterBody = t.Object({
  ...CREDENTIALS,
  deviceInfo: t.Object({
    deviceId: DeviceId,
    platform: t.String({
      ...ShortText,
      minLength: 1,
      maxLength: 64,
      examples: ["android"],
      description: "android, ios, …",
    }),
    model: t.Optional(t.String({ ...ShortText, examples: ["Pixel 9"], description: "Becomes the device's name" })),
    osVersion: t.Optional(t.String(ShortText)),
    appVersion: t.Optional(t.String(ShortText)),
    pushToken: t.Optional(t.String({ maxLength: 4096, description: "The same as in notifications/register" })),
  }),
});

/** POST /api/mobile/auth */
export const DeviceSignInBody = t.Object({ ...CREDENTIALS, deviceId: DeviceId });

/** POST /api/mobile/auth/refresh */
export const DeviceRefreshBody = t.Object({
  refreshToken: t.String({ maxLength: 1024 }),
  deviceId: t.String({ maxLength: 1024, description: "The device that the token was given to" }),
});

// No `default` here: the framework would add it to bodies without the field.
const SETTINGS = {
  autoUpload: t.Boolean({ description: "Upload new photos and videos automatically; by default false" }),
  backgroundSync: t.Boolean({ description: "Fetch changes while the app is closed; by default true" }),
  wifiOnly: t.Boolean({ description: "Use no metered connections; by default true" }),
  uploadQuality: t.Union(
    UPLOAD_QUALITIES.map((quality) => t.Literal(quality)),
    { description: "By default original" },
  ),
  syncFolders: t.Array(t.String({ examples: ["/photos"] }), {
    maxItems: SYNC_FOLDERS_MAX,
    description: "Folders to sync, with everything below. An empty list, the default, means all",
  }),
  maxCacheSize: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Maximum bytes that the device stores; by default 1 GiB",
  }),
};

/** PUT /api/mobile/devices/{deviceId}/settings */
export const DeviceSettingsBody = t.Partial(t.Object(SETTINGS));

/** All settings of a device. */
export const DeviceSettingsRecord = t.Object(SETTINGS);

/** Path parameters of one device. */
export const DeviceParams = t.Object({
  deviceId: t.String({ description: "As the device chose it, percent-encoded" }),
});

const DEVICE_DETAILS = {
  id: t.String(),
  name: t.String(),
  platform: t.String(),
  model: t.Optional(t.String()),
  osVersion: t.Optional(t.String()),
  appVersion: t.Optional(t.String()),
  registeredAt: Timestamp,
  lastActiveAt: Timestamp,
};

/** A device as administrators see it, without its settings, which name folders. */
export const DeviceDetailsRecord = t.Object(DEVICE_DETAILS);

/** A device as the API returns it. */
export const DeviceRecord = t.Object({
  ...DEVICE_DETAILS,
  isCurrent: t.Boolean(),
  settings: DeviceSettingsRecord,
});

/** A device that has just been removed. */
export const RemovedDevice = t.Object({ id: t.String(), name: t.String(), removedAt: Timestamp });

/** The tokens of a device. */
export const Tokens = t.Object({
  accessToken: t.String({ description: "JWT, sent as Authorization: Bearer …" }),
  refreshToken: t.String({ description: "Works once, within 90 days" }),
  expiresIn: t.String({ examples: ["7d"] }),
});
const DeviceSummary = t.Object({ id: t.String(), name: t.String(), registeredAt: Timestamp });

/** Response of register and of POST /api/mobile/auth. */
export const DeviceSignedInResponse = t.Object({
  success: t.Literal(true),
  user: UserRecord,
  tokens: Tokens,
  device: DeviceSummary,
  syncData: t.Object({
    lastSyncAt: t.Union([Timestamp, t.Null()]),
    pendingUploads: Type.Integer({ minimum: 0, description: "Uploads of this device that are in progress" }),
    cacheSize: Type.Integer({ minimum: 0, description: "Bytes of all files: the size of a full copy" }),
  }),
});

/** Response of POST /api/mobile/auth/refresh. */
export const DeviceRefreshedResponse = t.Object({ success: t.Literal(true), tokens: Tokens, device: DeviceSummary });
