import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable } from "drizzle-orm/sqlite-core";

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
  },
  (table) => [
    index("remote_blobs_local").on(table.usedAt, table.sizeBytes).where(sql`used_at IS NOT NULL`),
    check("remote_blobs_digest", sql`length(${table.digest}) = 32`),
  ],
);
