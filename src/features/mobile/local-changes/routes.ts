import { Elysia } from "elysia";
import { AppError } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, deviceOf, takesJson } from "../../accounts/auth/guard.ts";
import { presentConflict } from "../conflicts/present.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { SyncTokens } from "../sync/cursor.ts";
import { readChange, SyncFilesBody, SyncFilesRecord } from "./model.ts";
import { presentOutcome } from "./present.ts";
import type { LocalChangeService, ReadChange } from "./service.ts";

/** What the routes of local changes work with. */
export interface LocalChangeRoutesOptions {
  readonly localChanges: LocalChangeService;
  readonly conflicts: ConflictService;
  readonly tokens: SyncTokens;
  readonly guard: ReturnType<typeof authGuard>;
}

/** /api/mobile/sync/files (api.md, Mobile endpoints; contract §7). */
export function localChangeRoutes({ localChanges, conflicts, tokens, guard }: LocalChangeRoutesOptions) {
  return new Elysia({ name: "local-change-routes" }).use(guard).post(
    "/api/mobile/sync/files",
    async ({ principal, body }) => {
      const { user } = principal;
      const device = deviceOf(principal);
      const { syncToken, localChanges: items } = body;
      const sinceSeq = syncToken === undefined ? undefined : tokens.parse(user.id, syncToken).seq;
      const changes = items.map((item): ReadChange => {
        try {
          return readChange(item);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return { localId: item.localId, error };
        }
      });
      const { outcomes, standSeq = 0 } = await localChanges.apply(user, device, changes, sinceSeq);
      // Where it stays at its place, so does the token itself, with all that it says of a run under way.
      const isAsBefore = syncToken !== undefined && standSeq === sinceSeq;
      return ok({
        results: outcomes.map(presentOutcome),
        conflicts: conflicts.listOpen(device.id).map(presentConflict),
        nextSyncToken: isAsBefore ? syncToken : tokens.issue(user.id, { seq: standSeq }),
      });
    },
    {
      ...takesJson("deviceWriter", SyncFilesBody),
      ...documented({
        takesJson: true,
        tag: "Mobile",
        summary: "Bring what changed on the device",
        description:
          "Each change by itself, in order; sent again, it changes nothing and gets the same answer. `upload_required`: " +
          "send the content by upload/init, with `fileId` where one is given. `baseChecksum` is the content that the " +
          "device's own came from: where the server has another, or, without it, where others changed the file since " +
          "`syncToken`, it is a conflict. A deletion and an upload of the same bytes in one call are a move. Deletions " +
          "and replacements far beyond what is usual are `rejected` with the reason `confirmation_required` until a " +
          "person has confirmed the hold that `details.holdId` names.",
        access: "deviceWriter",
        data: SyncFilesRecord,
      }),
    },
  );
}
