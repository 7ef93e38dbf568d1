import { invalidField } from "../../../errors.ts";
import { clientOf } from "../../accounts/auth/routes.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { AuthService } from "../../accounts/auth/service.ts";
import type { RateGate } from "../../accounts/rate-limits/guard.ts";
import { parseEmail } from "../../accounts/users/email.ts";
import { checkDeviceId } from "../../../lib/device-id.ts";
import { say } from "../../../translations/say.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { type Credentials, DeviceRefreshBody, DeviceSignInBody, RegisterBody } from "./model.ts";
import { presentRefreshedDevice, presentSignedInDevice } from "./present.ts";
import type { DeviceService } from "./service.ts";
import type { DeviceInfo, SignedInDevice } from "./types.ts";

/** Options of {@link deviceSignInRoutes}. */
export interface DeviceSignInRoutesOptions {
  readonly devices: DeviceService;
  readonly auth: AuthService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly rateGate: RateGate;
  /** The number of uploads in progress of a device, by its row id. */
  readonly pendingUploadsOf: (deviceId: number) => number;
  /** Bytes of all files of an account. */
  readonly fileBytesOf: (accountId: number) => number;
}

type Headers = Record<string, string | number>;

/** Registers devices, signs them in, and refreshes their tokens. */
export function deviceSignInRoutes(options: DeviceSignInRoutesOptions) {
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

  return new Router({ prefix: "/api/mobile", guard })
    .post(
      "/auth/register",
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
      "/auth",
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
      "/auth/refresh",
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
    );
}

/** Trims texts; empty ones count as absent. @throws AppError invalid_field */
function readDeviceInfo(given: (typeof RegisterBody.static)["deviceInfo"]): DeviceInfo {
  const platform = trimmed(given.platform);
  if (platform === undefined) {
    throw invalidField("deviceInfo.platform", say`The platform is empty. Send android, ios, or another name.`);
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
