import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** What one call of upload/init began: the files that a device is about to send, and until when it may. */
export const uploadSessions = sqliteTable(
  "upload_sessions",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    deviceId: integer("device_id").notNull(),
    createdAt: integer("created_at").notNull(),
    /** Moves on with each chunk that arrives for any file of it. */
    expiresAt: integer("expires_at").notNull(),
    /** JSON of the options as they hold: wifiOnly, chunkSize, maxRetries. */
    options: text("options").notNull().default("{}"),
  },
  (table) => [
    uniqueIndex("upload_sessions_public").on(table.publicId),
    index("upload_sessions_expiry").on(table.expiresAt),
    index("upload_sessions_account").on(table.accountId),
  ],
);

/** A file that is being sent in chunks. Its bytes lie in `uploads/<public_id>` until it is completed. */
export const uploads = sqliteTable(
  "uploads",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    sessionId: integer("session_id")
      .notNull()
      .references(() => uploadSessions.id, { onDelete: "cascade" }),
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** 0 for an upload by tus. */
    deviceId: integer("device_id").notNull(),
    /** As the client named it; echoed. Of an upload by tus: who sends it. */
    localId: text("local_id").notNull(),
    name: text("name").notNull(),
    folderPath: text("folder_path").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** As announced. */
    mediaType: text("media_type"),
    /** As announced: what the whole must have. */
    digest: blob("digest", { mode: "buffer" }),
    chunkSizeBytes: integer("chunk_size_bytes").notNull(),
    totalChunks: integer("total_chunks").notNull(),
    status: text("status").notNull(),
    /** Held of the account's quota; 0 once it has ended. */
    reservedBytes: integer("reserved_bytes").notNull(),
    onConflict: text("on_conflict").notNull(),
    /** The file whose next version this becomes, and the content that it is to follow. */
    targetId: text("target_id"),
    baseDigest: blob("base_digest", { mode: "buffer" }),
    /** Goes into the signatures of its addresses, which die with it. */
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    /** Sent by an unattended backup. */
    isAutomatic: integer("is_automatic").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** When it was completed, cancelled or found expired. */
    endedAt: integer("ended_at"),
    /** When its failure was told, so that it is told once. */
    failedAt: integer("failed_at"),
    /** Public id of the file that it became. */
    fileId: text("file_id"),
  },
  (table) => [
    uniqueIndex("uploads_public").on(table.publicId),
    index("uploads_session").on(table.sessionId),
    index("uploads_account").on(table.accountId),
    index("uploads_open").on(table.deviceId, table.localId).where(sql`ended_at IS NULL`),
    index("uploads_reserved").on(table.accountId, table.reservedBytes).where(sql`reserved_bytes > 0`),
    check("uploads_bytes", sql`size_bytes >= 0 AND reserved_bytes >= 0`),
  ],
);

/** The chunks of an upload that are whole and on disk. */
export const uploadChunks = sqliteTable(
  "upload_chunks",
  {
    uploadId: integer("upload_id")
      .notNull()
      .references(() => uploads.id, { onDelete: "cascade" }),
    idx: integer("idx").notNull(),
    /** 1 while other bytes, whole and durable in a side file, are being put in its place: done again after a crash. */
    isReplacing: integer("is_replacing").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.idx] })],
);

/** What an upload by the tus protocol has beside its row of {@link uploads}, whose device is 0. */
export const tusUploads = sqliteTable(
  "tus_uploads",
  {
    uploadId: integer("upload_id")
      .primaryKey()
      .references(() => uploads.id, { onDelete: "cascade" }),
    /** The account that began it; null where a guest of a drop box did. */
    senderId: integer("sender_id").references(() => users.id, { onDelete: "cascade" }),
    /** Public id of the drop box that it goes into; null where an account sends. */
    shareId: text("share_id"),
    /** `whole`, `partial` or `final` (tus, Concatenation). */
    kind: text("kind").notNull(),
    /** JSON: of a final one, the public ids of its parts, in their order; of a part that was joined, of the one it went into. */
    parts: text("parts"),
    /** So many bytes from the start are on the device. */
    offsetBytes: integer("offset_bytes").notNull().default(0),
    /** 0 until a client that deferred its length tells it. */
    isLengthKnown: integer("is_length_known").notNull(),
    /** Upload-Metadata as it came. */
    metadata: text("metadata").notNull(),
  },
  (table) => [
    index("tus_uploads_sender").on(table.senderId).where(sql`sender_id IS NOT NULL`),
    check("tus_uploads_offset", sql`offset_bytes >= 0`),
    check("tus_uploads_sender", sql`(sender_id IS NULL) <> (share_id IS NULL)`),
  ],
);
