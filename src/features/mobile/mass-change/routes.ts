import { Elysia } from "elysia";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { DecideBody, DecisionRecord, DeviceHoldParams, DeviceParams, HoldParams, HoldsRecord } from "./model.ts";
import { presentDecision, presentHold } from "./present.ts";
import type { HoldService } from "./service.ts";

/** What the routes of holds work with. */
export interface HoldRoutesOptions {
  readonly holds: HoldService;
  readonly guard: ReturnType<typeof authGuard>;
}

const ACCEPTED = "The changes were carried out; the device may go on for an hour.";
const DECLINED = "The changes were dropped.";

/** Deletions and replacements that wait for a person's word (D12), for devices and for browsers. */
export function holdRoutes({ holds, guard }: HoldRoutesOptions) {
  return new Elysia({ name: "hold-routes" })
    .use(guard)
    .get(
      "/api/mobile/devices/:deviceId/holds",
      ({ principal, params }) => ok({ holds: holds.list(principal.user.id, params.deviceId).map(presentHold) }),
      {
        access: "deviceWriter",
        params: DeviceParams,
        ...documented({
          tag: "Mobile",
          summary: "What a device asked for and waits for your word",
          description:
            "A device that deletes or replaces far more than usual, by sync/files, its queue, its conflicts or upload/init, " +
            "is stopped until a person has looked. What a person does to files and folders by the endpoints under " +
            "/api/files is meant: it is neither counted nor stopped, whatever token it comes with.",
          access: "deviceWriter",
          data: HoldsRecord,
          errors: ["not_found", "invalid_field"],
        }),
      },
    )
    .post(
      "/api/mobile/devices/:deviceId/holds/:holdId",
      async ({ principal, params, body }) => {
        const hold = await holds.decide(principal.user.id, params.holdId, body.accept, params.deviceId);
        return ok(presentDecision(hold), body.accept ? ACCEPTED : DECLINED);
      },
      {
        ...takesJson("deviceWriter", DecideBody),
        params: DeviceHoldParams,
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Accept or decline what a device asked for",
          description: "Changes of a device that delete unusually much wait for this decision.",
          access: "deviceWriter",
          data: DecisionRecord,
          errors: ["not_found", "version_conflict"],
        }),
      },
    )
    .get("/api/users/holds", ({ principal }) => ok({ holds: holds.list(principal.user.id).map(presentHold) }), {
      access: "writer",
      ...documented({
        tag: "Users",
        summary: "What your devices asked for and waits for your word",
        description: "Changes that delete unusually much wait for a decision.",
        access: "writer",
        data: HoldsRecord,
      }),
    })
    .post(
      "/api/users/holds/:holdId",
      async ({ principal, params, body }) => {
        const hold = await holds.decide(principal.user.id, params.holdId, body.accept);
        return ok(presentDecision(hold), body.accept ? ACCEPTED : DECLINED);
      },
      {
        ...takesJson("writer", DecideBody),
        params: HoldParams,
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Accept or decline what a device asked for",
          description: "Changes of a device that delete unusually much wait for this decision.",
          access: "writer",
          data: DecisionRecord,
          errors: ["not_found", "version_conflict"],
        }),
      },
    );
}
