import { Elysia } from "elysia";
import { AppError, notFound } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { invariant } from "../../../lib/invariant.ts";
import { type authGuard, deviceOf, takesJson } from "../../accounts/auth/guard.ts";
import type { DeviceRef } from "../../accounts/auth/principal.ts";
import {
  ConflictParams,
  ConflictsRecord,
  DecideBody,
  DecidedRecord,
  readResolution,
  ResolveBody,
  ResolvedRecord,
} from "./model.ts";
import { presentConflict, presentResolved } from "./present.ts";
import type { ConflictService, ResolveOutcome } from "./service.ts";
import type { ResolveRequest } from "./types.ts";

/** What the conflict routes work with. */
export interface ConflictRoutesOptions {
  readonly conflicts: ConflictService;
  readonly devices: { list(accountId: number): readonly DeviceRef[] };
  readonly guard: ReturnType<typeof authGuard>;
}

/** Conflicts in one answer. */
const LISTED_MAX = 1_000;

/**
 * /api/mobile/conflicts/resolve (api.md, Mobile endpoints; contract §7); for browsers /api/users/conflicts, where somebody
 * decides in the place of their devices.
 */
export function conflictRoutes({ conflicts, devices, guard }: ConflictRoutesOptions) {
  const openOf = (accountId: number) =>
    devices
      .list(accountId)
      .flatMap((device) => conflicts.listOpen(device.id).map((conflict) => ({ conflict, device })));
  return new Elysia({ name: "conflict-routes" })
    .use(guard)
    .get(
      "/api/users/conflicts",
      ({ principal }) => {
        const open = openOf(principal.user.id).map(({ conflict }) => conflict);
        const oldestFirst = open.toSorted((one, other) => one.detectedAtMs - other.detectedAtMs);
        return ok({ conflicts: oldestFirst.slice(0, LISTED_MAX).map(presentConflict) });
      },
      {
        access: "writer",
        ...documented({
          tag: "Users",
          summary: "What your devices and others changed at the same time",
          description: "The conflicts that devices still have to resolve, oldest first, at most 1,000.",
          access: "writer",
          data: ConflictsRecord,
        }),
      },
    )
    .post(
      "/api/users/conflicts/:conflictId",
      async ({ principal, params, body }) => {
        const { conflictId } = params;
        const found = openOf(principal.user.id).find(({ conflict }) => conflict.publicId === conflictId);
        if (found === undefined) throw notFound("The conflict");
        const [outcome] = await conflicts.resolve(principal.user, found.device, [{ conflictId, ...body }]);
        invariant(outcome !== undefined, "one resolution has one outcome");
        if (outcome.status === "rejected") throw outcome.error;
        return ok(presentResolved(outcome));
      },
      {
        ...takesJson("writer", DecideBody),
        params: ConflictParams,
        ...documented({
          takesJson: true,
          tag: "Users",
          summary: "Decide a conflict in the place of a device",
          description:
            "As POST /api/mobile/conflicts/resolve. With `keep_local` and the status `upload_required` the device sends its " +
            "content when it is back.",
          access: "writer",
          data: DecidedRecord,
          errors: [
            "not_found",
            "version_conflict",
            "name_taken",
            "quota_exceeded",
            "path_too_long",
            "not_a_folder",
            "confirmation_required",
          ],
        }),
      },
    )
    .post(
      "/api/mobile/conflicts/resolve",
      async ({ principal, body }) => {
        const device = deviceOf(principal);
        const read = body.conflicts.map((item): ResolveRequest | ResolveOutcome => {
          try {
            return readResolution(item);
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            return { conflictId: item.conflictId, status: "rejected", error };
          }
        });
        const resolved = await conflicts.resolve(
          principal.user,
          device,
          read.filter((entry) => "resolution" in entry),
        );
        const results = read.map((entry) => ("resolution" in entry ? (resolved.shift() ?? entry) : entry));
        return ok({
          results: results.filter((entry) => "status" in entry).map(presentResolved),
          conflicts: conflicts.listOpen(device.id).map(presentConflict),
        });
      },
      {
        ...takesJson("deviceWriter", ResolveBody),
        ...documented({
          takesJson: true,
          tag: "Mobile",
          summary: "Resolve conflicts",
          description:
            "Each by itself. `keep_remote` drops the device's change. `keep_local` carries it out: the server's content " +
            "becomes an earlier version, a deleted file is made again; where a name is taken, the local file becomes the " +
            "next version of what is there, or stays beside it under the name in `localData`. Where the content is not on " +
            "the server the status is `upload_required`, and the conflict ends when the content has arrived.",
          access: "deviceWriter",
          data: ResolvedRecord,
        }),
      },
    );
}
