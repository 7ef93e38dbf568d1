import { ok } from "../../../http/envelope.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { DeviceParams, DeviceSettingsBody } from "./model.ts";
import { presentDevice, presentDeviceSettings, presentRemoved } from "./present.ts";
import type { DeviceService } from "./service.ts";

/** Options of {@link deviceRoutes}. */
export interface DeviceRoutesOptions {
  readonly devices: DeviceService;
  readonly guard: ReturnType<typeof authGuard>;
}

/**
 * The routes below /api/mobile/devices, and the same for browsers below /api/users/devices: a user who has lost all
 * phones can remove one there, to register another.
 */
export function deviceRoutes({ devices, guard }: DeviceRoutesOptions) {
  const listDevices = ({ user, device: current }: Principal) =>
    devices.list(user.id).map((device) => presentDevice(device, current?.id));
  const removeDevice = async ({ user }: Principal, deviceId: string) =>
    ok(presentRemoved(await devices.remove(user.id, deviceId)), "The device was removed and signed out.");

  return new Router({ prefix: "/api", guard })
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
