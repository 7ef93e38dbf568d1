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

/** Of accounts with two-factor sign-in, as at /api/auth/signin. */
const SECOND_FACTOR = ["second_factor_required", "invalid_code"] as const;

const REMOVAL = "Its tokens and what it has under way end at once, and its place is free.";

const DEVICE_REMOVAL = { summary: "Remove a device", description: REMOVAL, data: RemovedDevice } as const;

export const register = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Register a device of an account and sign it in",
  description:
    "Again for the same deviceId it renews what is known of the device and ends its former tokens. Beyond the " +
    "plan's number of devices it is 403 device_limit.",
  body: DeviceSignedInResponse,
  errors: ["bad_credentials", "account_disabled", "device_limit", "forbidden_target", ...SECOND_FACTOR],
});

export const signIn = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Sign a registered device in",
  description: "Ends the device's former tokens.",
  body: DeviceSignedInResponse,
  errors: ["bad_credentials", "account_disabled", "not_found", ...SECOND_FACTOR],
});

export const refresh = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Exchange the refresh token for new tokens",
  description:
    "Each refresh token is good once. If the answer got lost, the same token gives fresh tokens once more within " +
    "30 seconds, as long as those of the lost answer were not used to refresh; these are dead then. A token that " +
    "comes again otherwise signs the device out. The former access token stays good until it expires.",
  body: DeviceRefreshedResponse,
  errors: ["invalid_token", "expired_token", "revoked_token"],
});

export const list = (): RouteDocs => ({
  tag: "Mobile",
  summary: "The account's devices, the latest active first",
  description: "Registered phones and computers, with their settings.",
  data: t.Object({ devices: t.Array(DeviceRecord), currentDevice: t.String() }),
});

export const updateSettings = (): RouteDocs => ({
  tag: "Mobile",
  summary: "Change a device's settings; what is not named stays",
  description: "Returns all settings of the device as they are afterwards.",
  data: DeviceSettingsRecord,
  errors: ["not_found", "invalid_path"],
});

export const remove = (): RouteDocs => ({ tag: "Mobile", ...DEVICE_REMOVAL, errors: ["not_found", "invalid_field"] });

export const listOwn = (): RouteDocs => ({
  tag: "Users",
  summary: "The account's devices, the latest active first",
  description: "Registered phones and computers, with their settings.",
  data: t.Object({ devices: t.Array(DeviceRecord) }),
});

export const removeOwn = (): RouteDocs => ({ tag: "Users", ...DEVICE_REMOVAL, errors: ["not_found", "invalid_field"] });
