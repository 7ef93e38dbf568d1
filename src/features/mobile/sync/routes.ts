import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { readInteger, readQuery, readInstant } from "../../../http/fields.ts";
import { type authGuard, deviceOf } from "../../accounts/auth/guard.ts";
import type { Principal } from "../../accounts/auth/principal.ts";
import { presentConflict } from "../conflicts/present.ts";
import type { ConflictService } from "../conflicts/service.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import { SYNC_QUERY, SyncResponseBody, SyncStatusRecord } from "./model.ts";
import { presentStatus, presentSyncData } from "./present.ts";
import type { SyncService } from "./service.ts";

/** What the routes of synchronisation work with. */
export interface SyncRoutesOptions {
  readonly sync: SyncService;
  readonly conflicts: ConflictService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
}

const DESCRIPTION =
  "Pages in the order of each one's last change, own changes included; each id once, in its latest state. Keep " +
  "nextSyncToken and ask with it until hasMore is false: nothing is missed or told twice while others write.";

/** GET /api/mobile/sync/status and GET /api/mobile/sync (api.md, Mobile endpoints; contract §7). */
export function syncRoutes({ sync, conflicts, guard, hasThumbnail }: SyncRoutesOptions) {
  const answer = (principal: Principal, request: Request, wantsFolders: boolean) => {
    const query = readQuery(requestContextOf(request).query);
    const lastSync = readInstant(query["lastSync"], "lastSync");
    const { syncToken } = query;
    if (syncToken === "") throw invalidField("syncToken", "syncToken is empty. Leave it out to begin anew.");
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

  return new Elysia({ name: "sync-routes", prefix: "/api/mobile/sync" })
    .use(guard)
    .get(
      "/status",
      async ({ principal, request }) =>
        ok(presentStatus(await answer(principal, request, false), openConflicts(principal))),
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "Which files have changed since",
          description: DESCRIPTION,
          access: "device",
          query: SYNC_QUERY,
          data: SyncStatusRecord,
          errors: ["invalid_field", "overloaded"],
        }),
      },
    )
    .get(
      "/",
      async ({ principal, request }) => {
        const context = { baseUrl: requestContextOf(request).baseUrl, hasThumbnail };
        const changes = await answer(principal, request, true);
        return { success: true as const, syncData: presentSyncData(changes, openConflicts(principal), context) };
      },
      {
        access: "device",
        ...documented({
          tag: "Mobile",
          summary: "What has changed since, files and folders in full",
          description: DESCRIPTION,
          access: "device",
          query: SYNC_QUERY,
          body: SyncResponseBody,
          errors: ["invalid_field", "overloaded"],
        }),
      },
    );
}
