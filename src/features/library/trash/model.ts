import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { FolderPath, Timestamp } from "../../../http/fields.ts";
import { FailedItems, FileIds } from "../files/model.ts";

/** POST /api/files/trash and …/restore */
export const TrashBody = t.Object({
  fileIds: FileIds,
});

/** A file or a folder in the trash. */
export const TrashedItem = {
  allOf: [
    { oneOf: [ref("FileItem"), ref("FolderItem")] },
    t.Object({
      originalFolder: FolderPath,
      trashedAt: Timestamp,
      deletedAt: Timestamp,
      expiresAt: Timestamp,
    }),
  ],
};

/** Response of POST trash. */
export const MovedToTrashRecord = {
  type: "object",
  required: ["trashed", "failed"],
  properties: { trashed: { type: "array", items: TrashedItem }, failed: FailedItems },
};

/** Response of GET trash. */
export const TrashRecord = {
  type: "object",
  required: ["files", "pagination"],
  properties: { files: { type: "array", items: TrashedItem }, pagination: ref("Pagination") },
};

/** Response of POST trash/restore. */
export const RestoredRecord = {
  type: "object",
  required: ["restored", "failed"],
  properties: {
    restored: { type: "array", items: { oneOf: [ref("FileItem"), ref("FolderItem")] } },
    failed: FailedItems,
  },
};

/** Response of DELETE trash. */
export const EmptiedRecord = t.Object({
  deleted: Type.Integer({
    minimum: 0,
    description: "Files and folders; a folder with everything below it counts once",
  }),
});
