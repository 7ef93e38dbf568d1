import { AppError, notFound } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { invariant } from "../../../lib/invariant.ts";
import { say } from "../../../translations/say.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import type { DeviceRef } from "../../accounts/auth/principal.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { ConflictParams, DecideBody, readResolution, ResolveBody } from "./model.ts";
import { presentConflict, presentResolved } from "./present.ts";
import type { ConflictService, ResolveOutcome } from "./service.ts";
import type { ResolveRequest } from "./types.ts";

/** Options of {@link conflictRoutes}. */
export interface ConflictRoutesOptions {
  readonly conflicts: ConflictService;
  readonly devices: { list(accountId: number): readonly DeviceRef[] };
  readonly guard: ReturnType<typeof authGuard>;
}

/** The maximum of conflicts in a response. */
const LISTED_MAX = 1_000;

/** The routes below /api/mobile/conflicts, and those below /api/users/conflicts, where a user decides for a device. */
export function conflictRoutes({ conflicts, devices, guard }: ConflictRoutesOptions) {
  const openOf = (accountId: number) =>
    devices
      .list(accountId)
      .flatMap((device) => conflicts.listOpen(device.id).map((conflict) => ({ conflict, device })));
  return new Router({ guard })
    .get(
      "/api/users/conflicts",
      { access: "writer", scope: "never", rate: "profile", audit: "unaudited", docs: docs.list },
      ({ principal }) => {
        const open = openOf(principal.user.id).map(({ conflict }) => conflict);
        const oldestFirst = open.toSorted((one, other) => one.detectedAtMs - other.detectedAtMs);
        return ok({ conflicts: oldestFirst.slice(0, LISTED_MAX).map(presentConflict) });
      },
    )
    .post(
      "/api/users/conflicts/:conflictId",
      {
        access: "writer",
        scope: "never",
        rate: "profile",
        audit: { action: "conflict.decide", target: "conflict", targetParam: "conflictId", files: "changes" },
        docs: docs.decide,
        params: ConflictParams,
        body: DecideBody,
      },
      async ({ principal, params, body, request }) => {
        const { conflictId } = params;
        const found = openOf(principal.user.id).find(({ conflict }) => conflict.publicId === conflictId);
        if (found === undefined) throw notFound(say`The conflict was not found.`);
        const [outcome] = await conflicts.resolve(principal.user, found.device, [{ conflictId, ...body }]);
        invariant(outcome !== undefined, "one resolution has one outcome");
        if (outcome.status === "rejected") throw outcome.error;
        return ok(presentResolved(outcome, request));
      },
    )
    .post(
      "/api/mobile/conflicts/resolve",
      {
        access: "deviceWriter",
        scope: "device",
        rate: "general",
        audit: "unaudited",
        docs: docs.resolve,
        body: ResolveBody,
      },
      async ({ principal, body, request }) => {
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
          results: results.filter((entry) => "status" in entry).map((entry) => presentResolved(entry, request)),
          conflicts: conflicts.listOpen(device.id).map(presentConflict),
        });
      },
    );
}
