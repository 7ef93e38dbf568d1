import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { FolderPath, Timestamp } from "../../../http/fields.ts";

/** POST /api/files/{id}/extract */
export const ExtractBody = t.Object({
  folderPath: t.Optional(FolderPath),
  share: t.Optional(t.String({ description: "Id of a share with you: folderPath is a path below it" })),
  name: t.Optional(t.String({ description: "Name of the new folder; by default that of the archive" })),
});

/** The progress and the result of an extraction. */
export const ExtractionRecord = t.Object({
  id: t.String(),
  fileId: t.String(),
  fileName: t.String(),
  state: t.Union(["waiting", "running", "done", "failed", "canceled"].map((state) => t.Literal(state))),
  files: Type.Integer(),
  filesDone: Type.Integer(),
  bytes: Type.Integer(),
  bytesDone: Type.Integer(),
  startedAt: Timestamp,
  folder: t.Union([t.Object({ id: t.String(), path: FolderPath }), t.Null()]),
  error: t.Union([
    t.Object({ reason: t.String(), message: t.String(), details: t.Record(t.String(), t.Unknown()) }),
    t.Null(),
  ]),
});

/** A file or folder in an archive. */
export const ArchiveEntryRecord = t.Object({
  name: t.String(),
  path: t.String(),
  type: t.Union([t.Literal("file"), t.Literal("folder")]),
  mimeType: t.Optional(t.String()),
  size: t.Optional(Type.Integer()),
  compressedSize: t.Optional(Type.Integer()),
  modifiedAt: t.Union([Timestamp, t.Null()]),
  isEncrypted: t.Boolean(),
});
