import { type Static, Type } from "@sinclair/typebox";
import { readInstant } from "../../../http/fields.ts";
import { t } from "elysia";
import { parseChecksum } from "../../../blobs/digest.ts";
import { normalizeName, normalizePath } from "../../../lib/path.ts";
import { Conflicts, ItemError } from "../conflicts/model.ts";
import type { LocalChange } from "../mass-change/types.ts";

const Change = t.Object({
  action: t.Union([
    t.Literal("upload"),
    t.Literal("update"),
    t.Literal("rename"),
    t.Literal("move"),
    t.Literal("delete"),
  ]),
  localId: t.String({ minLength: 1, maxLength: 512, description: "The device's own name for the file" }),
  fileId: t.Optional(t.String({ maxLength: 100, description: "Required, except for upload" })),
  name: t.Optional(t.String()),
  folder: t.Optional(t.String({ description: "Absolute path" })),
  size: t.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  checksum: t.Optional(t.String({ description: "sha256:<hex> of the content that the device has" })),
  baseChecksum: t.Optional(
    t.String({ description: "sha256:<hex> of the content on which the device's content is based" }),
  ),
  lastModified: t.Optional(t.String({ description: "ISO 8601" })),
  automatic: t.Optional(
    t.Boolean({ description: "Sent by an automatic backup: files that the user deleted are not created again" }),
  ),
});

/** POST /api/mobile/sync/files */
export const SyncFilesBody = t.Object({
  syncToken: t.Optional(t.String({ description: "The device's position; later changes by others cause conflicts" })),
  localChanges: t.Array(Change, { maxItems: 1000 }),
});

/** Parses one change. @throws AppError invalid_path | invalid_field */
export function readChange(item: Static<typeof Change>): LocalChange {
  const { action, localId, fileId, name, folder, size, checksum, baseChecksum, lastModified, automatic } = item;
  return {
    action,
    localId,
    fileId,
    name: name === undefined ? undefined : normalizeName(name),
    folder: folder === undefined ? undefined : normalizePath(folder),
    sizeBytes: size,
    digest: checksum === undefined ? undefined : parseChecksum(checksum),
    baseDigest: baseChecksum === undefined ? undefined : parseChecksum(baseChecksum, "baseChecksum"),
    lastModified: readInstant(lastModified, "lastModified"),
    isAutomatic: automatic,
  };
}

/** Response of sync/files. */
export const SyncFilesRecord = {
  type: "object",
  required: ["results", "conflicts", "nextSyncToken"],
  properties: {
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["localId", "status"],
        properties: {
          localId: { type: "string" },
          status: {
            type: "string",
            enum: ["applied", "upload_required", "already_stored", "conflict", "rejected"],
          },
          fileId: {
            type: "string",
            description: "The file that it created or changed, or the file to send the content for",
          },
          conflictId: {
            type: "string",
            description: "The conflict that it caused; with upload_required, the conflict that its content will end",
          },
          error: ItemError,
        },
      },
    },
    conflicts: { ...Conflicts, description: "All conflicts that this device has to resolve" },
    nextSyncToken: { type: "string" },
  },
};
