import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Blobs in the bucket, with or without a copy on this disk. */
export const remoteBlobs = sqliteTable(
  "remote_blobs",
  {
    /** sha256, 32 raw bytes. If its row in `blobs` is gone, the object will be deleted too. */
    digest: blob("digest", { mode: "buffer" }).primaryKey(),
    sizeBytes: integer("size_bytes").notNull(),
    /** When the service acknowledged the complete object. */
    storedAt: integer("stored_at").notNull(),
    /** When it was last read completely from the bucket and found intact. */
    verifiedAt: integer("verified_at"),
    /** When the copy on this disk was last used; null if there is none. */
    usedAt: integer("used_at"),
    /** When its removal from the bucket began: it counts as absent. */
    leavingAt: integer("leaving_at"),
    /** The service's ETag when it was stored, without quotes; null if not yet requested. */
    etag: text("etag"),
    /** When the object was found damaged: it does not count as a good copy, and must be sent again. */
    damagedAt: integer("damaged_at"),
  },
  (table) => [
    index("remote_blobs_local").on(table.usedAt, table.sizeBytes).where(sql`used_at IS NOT NULL`),
    index("remote_blobs_damaged").on(table.digest).where(sql`damaged_at IS NOT NULL`),
    index("remote_blobs_reading")
      .on(sql`coalesce(verified_at, stored_at)`, table.digest)
      .where(sql`used_at IS NULL AND leaving_at IS NULL`),
    check("remote_blobs_digest", sql`length(${table.digest}) = 32`),
  ],
);
