import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Contents that lie in a bucket: beside their copy on this disk, or alone. */
export const remoteBlobs = sqliteTable(
  "remote_blobs",
  {
    /** sha256, 32 raw bytes. The content's row in `blobs` may be gone already: then the object goes, too. */
    digest: blob("digest", { mode: "buffer" }).primaryKey(),
    sizeBytes: integer("size_bytes").notNull(),
    /** When the service had acknowledged all of it. */
    storedAt: integer("stored_at").notNull(),
    /** When it was last read whole from there, and found so. */
    verifiedAt: integer("verified_at"),
    /** When the copy on this disk was last used; null where there is none. */
    usedAt: integer("used_at"),
    /** Since when it is being removed from the bucket: it counts as not being there. */
    leavingAt: integer("leaving_at"),
    /** What the service gave as its ETag when it was stored, without quotes; null where nobody has asked for it. */
    etag: text("etag"),
    /** Since when the object is known to be damaged: it counts neither as a good copy nor as one that need not be sent. */
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
