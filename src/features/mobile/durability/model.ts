import { t } from "elysia";
import { Checksum, Timestamp } from "../../../http/fields.ts";

const FileId = t.String({ minLength: 1, maxLength: 200 });
const TimestampOrNull = t.Union([Timestamp, t.Null()]);

/** Files that one call may ask about. */
export const ASKED_MAX = 500;

/** POST files/durability */
export const DurabilityBody = t.Object({
  fileIds: t.Optional(t.Array(FileId, { maxItems: ASKED_MAX })),
  files: t.Optional(
    t.Array(t.Object({ fileId: FileId, checksum: t.Optional(Checksum) }), {
      maxItems: ASKED_MAX,
      description: "In place of fileIds, or beside them: with the bytes that the device has",
    }),
  ),
  verify: t.Optional(t.Boolean({ description: "Read the contents again first: 1 GiB a call" })),
});

/** What the server can say of a file's present content. */
export const DurabilityRecord = t.Object({
  fileId: t.String(),
  checksum: Checksum,
  matches: t.Optional(t.Boolean({ description: "Whether the checksum asked about is the present content's" })),
  stored: t.Boolean({ description: "The bytes lie on disk; they were synced before the file was acknowledged" }),
  storedAt: Timestamp,
  verifiedAt: TimestampOrNull,
  verified: t.Boolean({ description: "Read again and found whole; with verify, by this very call" }),
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

/** Answer of files/durability. */
export const DurabilityListRecord = t.Object({ files: t.Array(t.Union([DurabilityRecord, UnknownFile])) });
