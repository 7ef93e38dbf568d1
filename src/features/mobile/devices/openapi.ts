/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import {
  DeviceRecord,
  DeviceRefreshedResponse,
  DeviceSettingsRecord,
  DeviceSignedInResponse,
  RemovedDevice,
} from "./model.ts";
import { t } from "elysia";

/** Errors of accounts with two-factor authentication. */
const SECOND_FACTOR = ["second_factor_required", "invalid_code"] as const;

const REMOVAL =
  "Its tokens, uploads and queued operations end at once. It no longer counts toward the number of devices.";

const DEVICE_REMOVAL = { summary: "Remove a device", description: REMOVAL, data: RemovedDevice } as const;

export const register = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Register a device of an account and sign in",
  description:
    "Repeating it for the same deviceId updates the device and ends its former tokens. More devices than the plan " +
    "allows return 403 device_limit.",
  body: DeviceSignedInResponse,
  errors: ["bad_credentials", "account_disabled", "device_limit", "forbidden_target", ...SECOND_FACTOR],
});

export const signIn = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Sign in a registered device",
  description: "Ends the former tokens of the device.",
  body: DeviceSignedInResponse,
  errors: ["bad_credentials", "account_disabled", "not_found", ...SECOND_FACTOR],
});

export const refresh = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Exchange the refresh token for new tokens",
  description:
    "Each refresh token works once. If the response was lost, the same token returns new tokens once more within " +
    "30 seconds, if the lost refresh token was not used. The lost tokens then stop working. Any " +
    "other repeated use of a token signs the device out. The former access token stays valid until it expires.",
  body: DeviceRefreshedResponse,
  errors: ["invalid_token", "expired_token", "revoked_token"],
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "List the devices of the account, last active first",
  description: "Registered phones and computers, with their settings.",
  data: t.Object({ devices: t.Array(DeviceRecord), currentDevice: t.String() }),
});

export const updateSettings = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Change the settings of a device",
  description: "Fields that are left out stay unchanged. Returns all settings of the device.",
  data: DeviceSettingsRecord,
  errors: ["not_found", "invalid_path"],
});

export const remove = (): RouteDocs => ({ tag: "Mobile", ...DEVICE_REMOVAL, errors: ["not_found", "invalid_field"] });

export const listOwn = (): RouteDocs => ({
  tag: "Users",
  summary: "List your devices, last active first",
  description: "Registered phones and computers, with their settings.",
  data: t.Object({ devices: t.Array(DeviceRecord) }),
});

export const removeOwn = (): RouteDocs => ({ tag: "Users", ...DEVICE_REMOVAL, errors: ["not_found", "invalid_field"] });
