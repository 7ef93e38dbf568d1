import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { documented } from "../../http/documented.ts";
import { ok } from "../../http/envelope.ts";
import { type authGuard, deviceOf, takesJson } from "../auth/guard.ts";
import { presentConflict } from "../conflicts/present.ts";
import type { ConflictService } from "../conflicts/service.ts";
import { readChange, SyncFilesBody, SyncFilesRecord } from "./model.ts";
import { presentOutcome } from "./present.ts";
import type { LocalChangeService, ReadChange } from "./service.ts";

/** Sync tokens, as far as needed here: a place in an account's journal that its devices carry as a text. */
export interface JournalTokens {
  /**
   * The journal number that a token stands for.
   * @throws AppError invalid_field for one that is not ours, or of another account
   */
  parse(accountId: number, text: string): { readonly seq: number };
  /** The token of a place in the journal. */
  issue(accountId: number, cursor: { readonly seq: number }): string;
}

/** What the routes of local changes work with. */
export interface LocalChangeRoutesOptions {
  readonly localChanges: LocalChangeService;
  readonly conflicts: ConflictService;
  readonly tokens: JournalTokens;
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
      const outcomes = await localChanges.apply(user, device, changes, sinceSeq);
      const stand = localChanges.standAfter(user, device.id, sinceSeq ?? 0);
      // Where it stays at its place, so does the token itself, with all that it says of a run under way.
      const isMoved = syncToken === undefined || stand !== sinceSeq;
      return ok({
        results: outcomes.map(presentOutcome),
        conflicts: conflicts.listOpen(device.id).map(presentConflict),
        nextSyncToken: isMoved ? tokens.issue(user.id, { seq: stand }) : syncToken,
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
