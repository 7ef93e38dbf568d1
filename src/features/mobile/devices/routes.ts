import { Elysia, t } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, deviceOf, takesJson } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { clientOf } from "../../accounts/auth/routes.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { parseEmail } from "../../accounts/users/email.ts";
import { checkDeviceId } from "../../../lib/device-id.ts";
import {
  type Credentials,
  DeviceParams,
  DeviceRecord,
  DeviceRefreshBody,
  DeviceRefreshedResponse,
  DeviceSettingsBody,
  DeviceSettingsRecord,
  DeviceSignedInResponse,
  DeviceSignInBody,
  RegisterBody,
  RemovedDevice,
} from "./model.ts";
import {
  presentDevice,
  presentDeviceSettings,
  presentRefreshedDevice,
  presentRemoved,
  presentSignedInDevice,
} from "./present.ts";
import type { DeviceService } from "./service.ts";
import type { DeviceInfo, SignedInDevice } from "./types.ts";

/** What the routes about devices work with. */
export interface DeviceRoutesOptions {
  readonly devices: DeviceService;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** Uploads of a device (by row id) that are under way. */
  readonly pendingUploadsOf: (deviceId: number) => number;
  /** Bytes of all files of an account. */
  readonly fileBytesOf: (accountId: number) => number;
}

const REMOVAL = "Its tokens and what it has under way end at once, and its place is free.";

/** Of accounts with two-factor sign-in, as at /api/auth/signin. */
const SECOND_FACTOR = ["second_factor_required", "invalid_code"] as const;

type Headers = Record<string, string | number>;

/**
 * /api/mobile/auth and /api/mobile/devices (api.md, Mobile endpoints; contract §7), and beside them /api/users/devices:
 * whoever has lost their phones frees a place for the next one from a browser.
 */
export function deviceRoutes(options: DeviceRoutesOptions) {
  const { devices, auth, guard, rateGate, pendingUploadsOf, fileBytesOf } = options;
  const checkPassword = (request: Request, headers: Headers, credentials: typeof Credentials.static) => {
    const email = parseEmail(credentials.email);
    const { password, code } = credentials;
    return rateGate.guardPassword(request, headers, email, () => auth.checkCredentials(email, password, code));
  };
  const signInResponse = (signedIn: SignedInDevice) =>
    presentSignedInDevice(signedIn, {
      lastSyncAtMs: devices.lastSyncAt(signedIn.device.id),
      pendingUploads: pendingUploadsOf(signedIn.device.id),
      cacheSizeBytes: fileBytesOf(signedIn.user.id),
    });

  const listDevices = ({ user, device: current }: Principal) =>
    devices.list(user.id).map((device) => presentDevice(device, current?.id));
  const removeDevice = async ({ user }: Principal, deviceId: string) =>
    ok(presentRemoved(await devices.remove(user.id, deviceId)), "The device is removed and signed out.");
  const removal = { summary: "Remove a device", description: REMOVAL, data: RemovedDevice } as const;

  return new Elysia({ name: "device-routes", prefix: "/api" })
    .use(guard)
    .post(
      "/mobile/auth/register",
      async ({ body, request, set }) => {
        const info = readDeviceInfo(body.deviceInfo);
        const checked = await checkPassword(request, set.headers, body);
        return signInResponse(await devices.register(checked, info, clientOf(request)));
      },
      {
        ...takesJson("public", RegisterBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Register a device of an account and sign it in",
          description:
            "Rescan for the same deviceId it renews what is known of the device and ends its former tokens. Beyond the " +
            "plan's number of devices it is 403 device_limit.",
          access: "public",
          body: DeviceSignedInResponse,
          errors: ["bad_credentials", "account_disabled", "device_limit", "forbidden_target", ...SECOND_FACTOR],
        }),
      },
    )
    .post(
      "/mobile/auth",
      async ({ body, request, set }) => {
        const deviceId = checkDeviceId(body.deviceId, "deviceId");
        const checked = await checkPassword(request, set.headers, body);
        return signInResponse(await devices.signIn(checked, deviceId, clientOf(request)));
      },
      {
        ...takesJson("public", DeviceSignInBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Sign a registered device in",
          description: "Ends the device's former tokens.",
          access: "public",
          body: DeviceSignedInResponse,
          errors: ["bad_credentials", "account_disabled", "not_found", ...SECOND_FACTOR],
        }),
      },
    )
    .post(
      "/mobile/auth/refresh",
      async ({ body, request }) => {
        const { refreshToken, deviceId } = body;
        return presentRefreshedDevice(await devices.refresh(refreshToken, deviceId, clientOf(request)));
      },
      {
        ...takesJson("public", DeviceRefreshBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "RequestContext the refresh token for new tokens",
          description:
            "Each refresh token is good once. If the answer got lost, the same token gives fresh tokens once more within " +
            "30 seconds, as long as those of the lost answer were not used to refresh; these are dead then. A token that " +
            "comes again otherwise signs the device out. The former access token stays good until it expires.",
          access: "public",
          body: DeviceRefreshedResponse,
          errors: ["invalid_token", "expired_token", "revoked_token"],
        }),
      },
    )
    .get(
      "/mobile/devices",
      ({ principal }) => ok({ devices: listDevices(principal), currentDevice: deviceOf(principal).publicId }),
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "The account's devices, the latest active first",
          description: "Registered phones and computers, with their settings.",
          access: "device",
          data: t.Object({ devices: t.Array(DeviceRecord), currentDevice: t.String() }),
        }),
      },
    )
    .put(
      "/mobile/devices/:deviceId/settings",
      async ({ principal, params, body }) => {
        const { maxCacheSize, ...rest } = body;
        const change = { ...rest, ...(maxCacheSize !== undefined && { maxCacheSizeBytes: maxCacheSize }) };
        return ok(presentDeviceSettings(await devices.changeSettings(principal.user.id, params.deviceId, change)));
      },
      {
        ...takesJson("device", DeviceSettingsBody),
        params: DeviceParams,
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Change a device's settings; what is not named stays",
          description: "Returns all settings of the device as they are afterwards.",
          access: "device",
          data: DeviceSettingsRecord,
          errors: ["not_found", "invalid_path"],
        }),
      },
    )
    .delete("/mobile/devices/:deviceId", ({ principal, params }) => removeDevice(principal, params.deviceId), {
      access: "device",
      params: DeviceParams,
      ...documented({ tag: "Mobile", ...removal, access: "device", errors: ["not_found", "invalid_field"] }),
    })
    .get("/users/devices", ({ principal }) => ok({ devices: listDevices(principal) }), {
      access: "self",
      ...documented({
        tag: "Users",
        summary: "The account's devices, the latest active first",
        description: "Registered phones and computers, with their settings.",
        access: "self",
        data: t.Object({ devices: t.Array(DeviceRecord) }),
      }),
    })
    .delete("/users/devices/:deviceId", ({ principal, params }) => removeDevice(principal, params.deviceId), {
      access: "self",
      params: DeviceParams,
      ...documented({ tag: "Users", ...removal, access: "self", errors: ["not_found", "invalid_field"] }),
    });
}

/** Texts without the white space around them; empty ones are as good as absent. @throws AppError invalid_field */
function readDeviceInfo(given: (typeof RegisterBody.static)["deviceInfo"]): DeviceInfo {
  const platform = trimmed(given.platform);
  if (platform === undefined) {
    throw invalidField("deviceInfo.platform", "The platform is empty. Give android, ios, or another name.");
  }
  return {
    deviceId: checkDeviceId(given.deviceId, "deviceInfo.deviceId"),
    platform,
    model: trimmed(given.model),
    osVersion: trimmed(given.osVersion),
    appVersion: trimmed(given.appVersion),
    pushToken: given.pushToken || undefined,
  };
}

function trimmed(text: string | undefined): string | undefined {
  return text?.normalize("NFC").trim() || undefined;
}
