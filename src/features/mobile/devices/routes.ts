import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { clientOf } from "../../accounts/auth/routes.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { parseEmail } from "../../accounts/users/email.ts";
import { checkDeviceId } from "../../../lib/device-id.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import {
  type Credentials,
  DeviceParams,
  DeviceRefreshBody,
  DeviceSettingsBody,
  DeviceSignInBody,
  RegisterBody,
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

type Headers = Record<string, string | number>;

/**
 * /api/mobile/auth and /api/mobile/devices, and beside them /api/users/devices:
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
    ok(presentRemoved(await devices.remove(user.id, deviceId)), "The device was removed and signed out.");

  return new Router({ name: "device-routes", prefix: "/api", guard })
    .post(
      "/mobile/auth/register",
      {
        access: "public",
        rate: "general",
        audit: { action: "device.register", isGuess: true },
        docs: docs.register,
        body: RegisterBody,
      },
      async ({ body, request, set }) => {
        const info = readDeviceInfo(body.deviceInfo);
        const checked = await checkPassword(request, set.headers, body);
        return signInResponse(await devices.register(checked, info, clientOf(request)));
      },
    )
    .post(
      "/mobile/auth",
      {
        access: "public",
        rate: "general",
        audit: { action: "device.sign_in", isGuess: true },
        docs: docs.signIn,
        body: DeviceSignInBody,
      },
      async ({ body, request, set }) => {
        const deviceId = checkDeviceId(body.deviceId, "deviceId");
        const checked = await checkPassword(request, set.headers, body);
        return signInResponse(await devices.signIn(checked, deviceId, clientOf(request)));
      },
    )
    .post(
      "/mobile/auth/refresh",
      {
        access: "public",
        rate: "general",
        audit: { action: "device.refresh", write: "rejections" },
        docs: docs.refresh,
        body: DeviceRefreshBody,
      },
      async ({ body, request }) => {
        const { refreshToken, deviceId } = body;
        return presentRefreshedDevice(await devices.refresh(refreshToken, deviceId, clientOf(request)));
      },
    )
    .get(
      "/mobile/devices",
      { access: "device", scope: "device", rate: "general", audit: "unaudited", docs: docs.list },
      ({ principal }) => ok({ devices: listDevices(principal), currentDevice: deviceOf(principal).publicId }),
    )
    .put(
      "/mobile/devices/:deviceId/settings",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.updateSettings,
        params: DeviceParams,
        body: DeviceSettingsBody,
      },
      async ({ principal, params, body }) => {
        const { maxCacheSize, ...rest } = body;
        const change = { ...rest, ...(maxCacheSize !== undefined && { maxCacheSizeBytes: maxCacheSize }) };
        return ok(presentDeviceSettings(await devices.changeSettings(principal.user.id, params.deviceId, change)));
      },
    )
    .delete(
      "/mobile/devices/:deviceId",
      {
        access: "device",
        scope: "device",
        rate: "general",
        audit: { action: "device.remove", target: "device", targetParam: "deviceId" },
        docs: docs.remove,
        params: DeviceParams,
      },
      ({ principal, params }) => removeDevice(principal, params.deviceId),
    )
    .get(
      "/users/devices",
      { access: "self", scope: "profile", rate: "profile", audit: "unaudited", docs: docs.listOwn },
      ({ principal }) => ok({ devices: listDevices(principal) }),
    )
    .delete(
      "/users/devices/:deviceId",
      {
        access: "self",
        scope: "never",
        rate: "profile",
        audit: { action: "device.remove", target: "device", targetParam: "deviceId" },
        docs: docs.removeOwn,
        params: DeviceParams,
      },
      ({ principal, params }) => removeDevice(principal, params.deviceId),
    );
}

/** Texts without the white space around them; empty ones are as good as absent. @throws AppError invalid_field */
function readDeviceInfo(given: (typeof RegisterBody.static)["deviceInfo"]): DeviceInfo {
  const platform = trimmed(given.platform);
  if (platform === undefined) {
    throw invalidField("deviceInfo.platform", "The platform is empty. Send android, ios, or another name.");
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
