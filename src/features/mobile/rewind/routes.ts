import { readInstant } from "../../../http/fields.ts";
import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { DeviceParams, RewindBody } from "./model.ts";
import { presentRewind } from "./present.ts";
import type { RewindService } from "./service.ts";

/** Options of {@link rewindRoutes}. */
export interface RewindRoutesOptions {
  readonly rewinds: RewindService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Removes the time limit of a request. */
  readonly allowLong: (request: Request) => void;
}

/** Undo the changes of one device, from another device or from a browser (for a user whose only phone was stolen). */
export function rewindRoutes({ rewinds, guard, allowLong }: RewindRoutesOptions) {
  const rewind = async (user: User, deviceId: string, body: typeof RewindBody.static, request: Request) => {
    allowLong(request);
    const since = readInstant(body.since, "since");
    if (since === undefined) throw invalidField("since", say`Send since, a time such as 2026-01-02T03:04:05Z.`);
    const rewindRequest = {
      devicePublicId: normalizeDeviceId(deviceId),
      sinceMs: Date.parse(since),
      isDryRun: body.dryRun ?? false,
    };
    const record = presentRewind(rewindRequest, await rewinds.rewind(user, rewindRequest), request);
    const message = rewindRequest.isDryRun
      ? "Preview only: nothing was changed."
      : "The changes of the device were undone.";
    return ok(record, message);
  };
  return new Router({ guard })
    .post(
      "/api/mobile/devices/:deviceId/rewind",
      {
        access: "deviceWriter",
        scope: "device",
        rate: "general",
        audit: { action: "device.rewind", target: "device", targetParam: "deviceId", files: "changes" },
        docs: docs.rewindOnDevice,
        params: DeviceParams,
        body: RewindBody,
      },
      ({ principal, params, body, request }) => rewind(principal.user, params.deviceId, body, request),
    )
    .post(
      "/api/users/devices/:deviceId/rewind",
      {
        access: "writer",
        scope: "never",
        rate: "profile",
        audit: { action: "device.rewind", target: "device", targetParam: "deviceId", files: "changes" },
        docs: docs.rewind,
        params: DeviceParams,
        body: RewindBody,
      },
      ({ principal, params, body, request }) => rewind(principal.user, params.deviceId, body, request),
    );
}
