import { Elysia } from "elysia";
import { readInstant } from "../../../http/fields.ts";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, takesJson } from "../../accounts/auth/guard.ts";
import { normalizeDeviceId } from "../../../lib/device-id.ts";
import type { User } from "../../accounts/users/types.ts";
import { DeviceParams, RewindBody, RewindRecord } from "./model.ts";
import { presentRewind } from "./present.ts";
import type { RewindService } from "./service.ts";

/** What the routes of rewinding work with. */
export interface RewindRoutesOptions {
  readonly rewinds: RewindService;
  readonly guard: ReturnType<typeof authGuard>;
  /** Lets a request take as long as it needs. */
  readonly allowLong: (request: Request) => void;
}

const DOCUMENTATION = {
  takesJson: true,
  summary: "Undo what one device did since a time",
  description:
    "Replaced contents come back as new versions, renames and moves are put back, deleted files are made again (with a " +
    "new id), and what the device made is deleted, unless somebody else changed the same thing since: that is left and " +
    "told. A taken name is numbered. Nothing is destroyed: what goes can be brought back from the versions, or from " +
    "the store within its grace period, after which deleted contents are gone. The device may be removed already. At " +
    "most 1,000 files and folders a call; what was undone is not undone twice.",
  data: RewindRecord,
  errors: ["not_found", "invalid_field"],
} as const;

/**
 * Undoing what one device did: from another device, or from a browser, where somebody sits whose only phone was stolen.
 */
export function rewindRoutes({ rewinds, guard, allowLong }: RewindRoutesOptions) {
  const rewind = async (user: User, deviceId: string, body: typeof RewindBody.static, request: Request) => {
    allowLong(request);
    const since = readInstant(body.since, "since");
    if (since === undefined) throw invalidField("since", "Say since when, such as 2026-01-02T03:04:05Z.");
    const asked = {
      devicePublicId: normalizeDeviceId(deviceId),
      sinceMs: Date.parse(since),
      isDryRun: body.dryRun ?? false,
    };
    const record = presentRewind(asked, await rewinds.rewind(user, asked));
    return ok(record, asked.isDryRun ? "Nothing was changed yet." : "What the device did was undone.");
  };
  return new Elysia({ name: "rewind-routes" })
    .use(guard)
    .post(
      "/api/mobile/devices/:deviceId/rewind",
      ({ principal, params, body, request }) => rewind(principal.user, params.deviceId, body, request),
      {
        ...takesJson("deviceWriter", RewindBody),
        params: DeviceParams,
        ...documented({ ...DOCUMENTATION, tag: "Mobile", access: "deviceWriter" }),
      },
    )
    .post(
      "/api/users/devices/:deviceId/rewind",
      ({ principal, params, body, request }) => rewind(principal.user, params.deviceId, body, request),
      {
        ...takesJson("writer", RewindBody),
        params: DeviceParams,
        ...documented({ ...DOCUMENTATION, tag: "Users", access: "writer" }),
      },
    );
}
