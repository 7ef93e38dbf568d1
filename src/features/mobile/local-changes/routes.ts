import { AppError } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import { presentConflict } from "../conflicts/present.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { SyncTokens } from "../sync/cursor.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { readChange, SyncFilesBody } from "./model.ts";
import { presentOutcome } from "./present.ts";
import type { LocalChangeService, ReadChange } from "./service.ts";

/** Options of {@link localChangeRoutes}. */
export interface LocalChangeRoutesOptions {
  readonly localChanges: LocalChangeService;
  readonly conflicts: ConflictService;
  readonly tokens: SyncTokens;
  readonly guard: ReturnType<typeof authGuard>;
}

/** The route /api/mobile/sync/files. */
export function localChangeRoutes({ localChanges, conflicts, tokens, guard }: LocalChangeRoutesOptions) {
  return new Router({ guard }).post(
    "/api/mobile/sync/files",
    {
      access: "deviceWriter",
      scope: "device",
      rate: "sync",
      audit: "unaudited",
      docs: docs.reportChanges,
      body: SyncFilesBody,
    },
    async ({ principal, body, request }) => {
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
      // If the position is unchanged, the same token is returned: it also has the state of a run of sync pages.
      const isUnchanged = syncToken !== undefined && standSeq === sinceSeq;
      return ok({
        results: outcomes.map((outcome) => presentOutcome(outcome, request)),
        conflicts: conflicts.listOpen(device.id).map(presentConflict),
        nextSyncToken: isUnchanged ? syncToken : tokens.issue(user.id, { seq: standSeq }),
      });
    },
  );
}
