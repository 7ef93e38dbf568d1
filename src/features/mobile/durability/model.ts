import { t } from "elysia";
import { Checksum, Timestamp } from "../../../http/fields.ts";

const FileId = t.String({ minLength: 1, maxLength: 200 });
const TimestampOrNull = t.Union([Timestamp, t.Null()]);

/** The maximum of files in one request. */
export const FILES_MAX = 500;

/** POST files/durability */
export const DurabilityBody = t.Object({
  fileIds: t.Optional(t.Array(FileId, { maxItems: FILES_MAX })),
  files: t.Optional(
    t.Array(t.Object({ fileId: FileId, checksum: t.Optional(Checksum) }), {
      maxItems: FILES_MAX,
      description: "Instead of or in addition to fileIds, with the bytes that the device has",
    }),
  ),
  verify: t.Optional(t.Boolean({ description: "Read the files first: at most 1 GiB per request" })),
});

/** The durability of a file's current content. */
export const DurabilityRecord = t.Object({
  fileId: t.String(),
  checksum: Checksum,
  matches: t.Optional(t.Boolean({ description: "Whether the given checksum is that of the current content" })),
  stored: t.Boolean({ description: "The bytes are on disk; they were synced before the upload was confirmed" }),
  storedAt: Timestamp,
  verifiedAt: TimestampOrNull,
  verified: t.Boolean({ description: "Read and found intact; with verify, by this request" }),
  damaged: t.Boolean(),
  reason: t.Optional(
    t.Union(
      [t.Literal("verify_limit"), t.Literal("overloaded"), t.Literal("storage_error"), t.Literal("content_missing")],
      { description: "Why it was not read although verify asked for that" },
    ),
  ),
  snapshotAt: TimestampOrNull,
});

const UnknownFile = t.Object({
  fileId: t.String(),
  stored: t.Literal(false),
  error: t.Object({
    code: t.String(),
    message: t.String(),
    details: t.Object({ reason: t.String() }, { additionalProperties: true }),
  }),
});

/** Response of files/durability. */
export const DurabilityListRecord = t.Object({ files: t.Array(t.Union([DurabilityRecord, UnknownFile])) });
