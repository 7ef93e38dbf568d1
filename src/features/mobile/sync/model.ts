import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { Checksum, FolderPath, Timestamp } from "../../../http/fields.ts";
import { Conflicts } from "../conflicts/model.ts";

/** A changed file in the short form. */
/** A file in a list of changes. */
export const ChangedFile = t.Object({
  id: t.String(),
  name: t.String(),
  folder: FolderPath,
  size: Type.Integer({ minimum: 0 }),
  modifiedAt: Timestamp,
  checksum: Checksum,
});

const DeletedFile = t.Object({ id: t.String(), deletedAt: Timestamp });

const DeletedItem = t.Object({
  id: t.String(),
  type: t.Union([t.Literal("file"), t.Literal("folder")]),
  deletedAt: Timestamp,
});

function responseOf(changed: object, deleted: object) {
  return {
    type: "object",
    required: ["lastSyncAt", "hasChanges", "changes", "conflicts", "nextSyncToken", "hasMore", "resetRequired"],
    properties: {
      lastSyncAt: { type: "string", format: "date-time", nullable: true, description: "Last request of this device" },
      hasChanges: { type: "boolean" },
      changes: {
        type: "object",
        required: ["created", "updated", "deleted"],
        properties: {
          created: { type: "array", items: changed, description: "Unknown if the token has none" },
          updated: { type: "array", items: changed, description: "Also those whose folder was renamed or moved" },
          deleted: { type: "array", items: deleted },
        },
      },
      conflicts: { ...Conflicts, description: "Conflicts that this device has to resolve" },
      nextSyncToken: { type: "string", description: "Send it with the next request" },
      hasMore: { type: "boolean", description: "Send the next request with nextSyncToken at once" },
      resetRequired: {
        type: "boolean",
        description: "The token is older than the recorded deletions: start again without one",
      },
    },
  };
}

/** `data` of GET /api/mobile/sync/status. */
export const SyncStatusRecord = responseOf(ChangedFile, DeletedFile);

/** Response of GET /api/mobile/sync. */
export const SyncResponseBody = {
  type: "object",
  required: ["success", "syncData"],
  properties: {
    success: { type: "boolean", const: true },
    syncData: responseOf({ anyOf: [ref("FileItem"), ref("FolderItem")] }, DeletedItem),
  },
};

/** The query parameters of both routes. */
export const SYNC_QUERY = {
  syncToken: { type: "string", description: "The last nextSyncToken; wins over lastSync" },
  lastSync: { type: "string", format: "date-time", description: "Server time, inclusive; a token is more exact" },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 500,
    description: "A page may have fewer entries if paths or metadata are long: check hasMore",
  },
};
