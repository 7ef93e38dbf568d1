import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { readInteger, queryOf, readInstant } from "../../../http/fields.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { presentConflict } from "../conflicts/present.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import { presentContextOf } from "../../library/files/present.ts";
import * as docs from "./openapi.ts";
import { presentStatus, presentSyncData } from "./present.ts";
import type { SyncService } from "./service.ts";

/** Options of {@link syncRoutes}. */
export interface SyncRoutesOptions {
  readonly sync: SyncService;
  readonly conflicts: ConflictService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  readonly favorites: Pick<FavoriteService, "among">;
}

/** The routes GET /api/mobile/sync/status and GET /api/mobile/sync. */
export function syncRoutes({ sync, conflicts, guard, hasThumbnail, favorites }: SyncRoutesOptions) {
  const readPage = (principal: Principal, request: Request, wantsFolders: boolean) => {
    const query = queryOf(request);
    const lastSync = readInstant(query["lastSync"], "lastSync");
    const { syncToken } = query;
    if (syncToken === "") throw invalidField("syncToken", say`syncToken is empty. Leave it out to start again.`);
    return sync.changes({
      accountId: principal.user.id,
      deviceId: deviceOf(principal).id,
      syncToken,
      lastSyncMs: lastSync === undefined ? undefined : Date.parse(lastSync),
      limit: readInteger(query, "limit", { min: 1, max: 1000, default: 500 }),
      wantsFolders,
    });
  };
  const openConflicts = (principal: Principal) => conflicts.listOpen(deviceOf(principal).id).map(presentConflict);

  return new Router({ prefix: "/api/mobile/sync", guard })
    .get(
      "/status",
      { access: "device", scope: "device", rate: "sync", audit: "unaudited", docs: docs.status },
      async ({ principal, request }) =>
        ok(presentStatus(await readPage(principal, request, false), openConflicts(principal))),
    )
    .get(
      "/",
      { access: "device", scope: "device", rate: "sync", audit: "unaudited", docs: docs.changes },
      async ({ principal, request }) => {
        const changes = await readPage(principal, request, true);
        const nodes = changes.entries.flatMap((entry) => (entry.change === "deleted" ? [] : [entry.node]));
        const context = presentContextOf(request, hasThumbnail, favorites.among(principal.user, nodes));
        return { success: true as const, syncData: presentSyncData(changes, openConflicts(principal), context) };
      },
    );
}
