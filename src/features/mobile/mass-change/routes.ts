import { ok } from "../../../http/envelope.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { DecideBody, DeviceHoldParams, DeviceParams, HoldParams } from "./model.ts";
import { presentDecision, presentHold } from "./present.ts";
import type { HoldService } from "./service.ts";

/** Options of {@link holdRoutes}. */
export interface HoldRoutesOptions {
  readonly holds: HoldService;
  readonly guard: ReturnType<typeof authGuard>;
}

const ACCEPTED = "The changes were applied. The device can continue for one hour.";
const DECLINED = "The changes were rejected.";

/** Lists and decides holds, for devices and for browsers. */
export function holdRoutes({ holds, guard }: HoldRoutesOptions) {
  return new Router({ guard })
    .get(
      "/api/mobile/devices/:deviceId/holds",
      {
        access: "deviceWriter",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.listOfDevice,
        params: DeviceParams,
      },
      ({ principal, params }) => ok({ holds: holds.list(principal.user.id, params.deviceId).map(presentHold) }),
    )
    .post(
      "/api/mobile/devices/:deviceId/holds/:holdId",
      {
        access: "deviceWriter",
        scope: "device",
        rate: "general",
        audit: { action: "hold.decide", target: "hold", targetParam: "holdId", files: "changes" },
        docs: docs.decideOnDevice,
        params: DeviceHoldParams,
        body: DecideBody,
      },
      async ({ principal, params, body }) => {
        const hold = await holds.decide(principal.user.id, params.holdId, body.accept, params.deviceId);
        return ok(presentDecision(hold), body.accept ? ACCEPTED : DECLINED);
      },
    )
    .get(
      "/api/users/holds",
      { access: "writer", scope: "never", rate: "profile", audit: "unaudited", docs: docs.list },
      ({ principal }) => ok({ holds: holds.list(principal.user.id).map(presentHold) }),
    )
    .post(
      "/api/users/holds/:holdId",
      {
        access: "writer",
        scope: "never",
        rate: "profile",
        audit: { action: "hold.decide", target: "hold", targetParam: "holdId", files: "changes" },
        docs: docs.decide,
        params: HoldParams,
        body: DecideBody,
      },
      async ({ principal, params, body }) => {
        const hold = await holds.decide(principal.user.id, params.holdId, body.accept);
        return ok(presentDecision(hold), body.accept ? ACCEPTED : DECLINED);
      },
    );
}
