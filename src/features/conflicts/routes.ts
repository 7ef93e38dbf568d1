import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { type authGuard, deviceOf, takesJson } from "../auth/guard.ts";
import { readResolution, ResolveBody, ResolvedRecord } from "./model.ts";
import { presentConflict, presentResolved } from "./present.ts";
import type { ConflictService, ResolveOutcome } from "./service.ts";
import type { ResolveRequest } from "./types.ts";

/** What the conflict routes work with. */
export interface ConflictRoutesOptions {
  readonly conflicts: ConflictService;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/mobile/conflicts/resolve (api.md, Mobile endpoints; contract §7). */
export function conflictRoutes({ conflicts, guard }: ConflictRoutesOptions) {
  return new Elysia({ name: "conflict-routes" }).use(guard).post(
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
