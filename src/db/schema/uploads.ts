import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Upload sessions: the files that a device announced in one call of upload/init, and when they expire. */
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
    /** Extended with each chunk received for any of its files. */
    expiresAt: integer("expires_at").notNull(),
    /** JSON of the options in effect: wifiOnly, chunkSize, maxRetries. */
    options: text("options").notNull().default("{}"),
  },
  (table) => [
    uniqueIndex("upload_sessions_public").on(table.publicId),
    index("upload_sessions_expiry").on(table.expiresAt),
    index("upload_sessions_account").on(table.accountId),
  ],
);

/** A file that is uploaded in chunks. Its bytes are in `uploads/<public_id>` until it is complete. */
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
    /** 0 for a tus upload. */
    deviceId: integer("device_id").notNull(),
    /** Chosen by the client and returned. Of a tus upload: its sender. */
    localId: text("local_id").notNull(),
    name: text("name").notNull(),
    folderPath: text("folder_path").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** As announced. */
    mediaType: text("media_type"),
    /** As announced: the digest that the complete file must have. */
    digest: blob("digest", { mode: "buffer" }),
    chunkSizeBytes: integer("chunk_size_bytes").notNull(),
    totalChunks: integer("total_chunks").notNull(),
    status: text("status").notNull(),
    /** Reserved of the account's quota; 0 once it has ended. */
    reservedBytes: integer("reserved_bytes").notNull(),
    onConflict: text("on_conflict").notNull(),
    /** The file whose next version this becomes, and the version that it replaces. */
    targetId: text("target_id"),
    baseDigest: blob("base_digest", { mode: "buffer" }),
    /** Part of the signatures of its URLs: changing it invalidates them. */
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    /** Sent by an automatic backup. */
    isAutomatic: integer("is_automatic").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** When it was completed, canceled or found expired. */
    endedAt: integer("ended_at"),
    /** When its failure was reported, so that it is reported once. */
    failedAt: integer("failed_at"),
    /** Public id of the resulting file. */
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

/** Complete, durable chunks of an upload. */
export const uploadChunks = sqliteTable(
  "upload_chunks",
  {
    uploadId: integer("upload_id")
      .notNull()
      .references(() => uploads.id, { onDelete: "cascade" }),
    idx: integer("idx").notNull(),
    /** 1 while other bytes, complete and durable in a second file, replace it: repeated after a crash. */
    isReplacing: integer("is_replacing").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.uploadId, table.idx] })],
);

/** Additional columns of a tus upload, whose row in {@link uploads} has device 0. */
export const tusUploads = sqliteTable(
  "tus_uploads",
  {
    uploadId: integer("upload_id")
      .primaryKey()
      .references(() => uploads.id, { onDelete: "cascade" }),
    /** The account that created it; null for a guest of a drop box. */
    senderId: integer("sender_id").references(() => users.id, { onDelete: "cascade" }),
    /** Public id of the target drop box; null if an account uploads. */
    shareId: text("share_id"),
    /** `whole`, `partial` or `final` (tus, Concatenation). */
    kind: text("kind").notNull(),
    /**
     * JSON: of a final upload, the public ids of its parts in order; of a concatenated part, that of the final upload.
     */
    parts: text("parts"),
    /** The number of durable bytes from the start. */
    offsetBytes: integer("offset_bytes").notNull().default(0),
    /** 0 until a client with a deferred length sends it. */
    isLengthKnown: integer("is_length_known").notNull(),
    /** Upload-Metadata as received. */
    metadata: text("metadata").notNull(),
  },
  (table) => [
    index("tus_uploads_sender").on(table.senderId).where(sql`sender_id IS NOT NULL`),
    check("tus_uploads_offset", sql`offset_bytes >= 0`),
    check("tus_uploads_sender", sql`(sender_id IS NULL) <> (share_id IS NULL)`),
  ],
);

/** The durable chunks of an upload of a sync client, whose row in {@link uploads} has device 0. */
export const clientChunks = sqliteTable(
  "client_chunks",
  {
    uploadId: integer("upload_id")
      .notNull()
      .references(() => uploads.id, { onDelete: "cascade" }),
    /** Orders the chunks; the number at the start of the name. */
    number: integer("number").notNull(),
    /** As the client wrote it. */
    name: text("name").notNull(),
    /** Empty for the file `uploads/<public_id>`, to which chunks in order are appended; else the end of another name. */
    file: text("file").notNull(),
    offsetBytes: integer("offset_bytes").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.uploadId, table.number] }),
    check("client_chunks_bytes", sql`offset_bytes >= 0 AND size_bytes >= 0`),
  ],
);
