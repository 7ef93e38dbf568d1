import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Contents on disk. A row is written only when its bytes are durable; it goes before its bytes do. */
export const blobs = sqliteTable(
  "blobs",
  {
    id: integer("id").primaryKey(),
    /** sha256, 32 raw bytes. */
    digest: blob("digest", { mode: "buffer" }).notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Of the whole content, for ZIP entries. */
    crc32: integer("crc32").notNull(),
    /** How many nodes and versions name it. */
    refs: integer("refs").notNull(),
    createdAt: integer("created_at").notNull(),
    /** When it was last stored, found again or let go: the grace period of collection runs from here. */
    touchedAt: integer("touched_at").notNull(),
    /** When a reading last found it unlike its digest; such content is never shared with a new upload (D10). */
    damagedAt: integer("damaged_at"),
    /** When a reading last found it equal to its digest (D26). */
    verifiedAt: integer("verified_at"),
  },
  (table) => [
    uniqueIndex("blobs_digest").on(table.digest),
    index("blobs_unreferenced").on(table.touchedAt).where(sql`refs = 0`),
    index("blobs_reading").on(sql`coalesce(verified_at, created_at)`, table.id).where(sql`damaged_at IS NULL`),
    index("blobs_damaged").on(table.damagedAt, table.id).where(sql`damaged_at IS NOT NULL`),
    check("blobs_refs", sql`${table.refs} >= 0`),
  ],
);

/** Contents taken out of the store, waiting to be unlinked by a later pass of the collector (D8). */
export const quarantine = sqliteTable("quarantine", {
  digest: blob("digest", { mode: "buffer" }).primaryKey(),
  sizeBytes: integer("size_bytes").notNull(),
  since: integer("since").notNull(),
});

/** Contents that no thumbnail could be made of, with the reason: tried again only by another program version (D32). */
export const thumbnailFailures = sqliteTable("thumbnail_failures", {
  digest: blob("digest", { mode: "buffer" }).primaryKey(),
  reason: text("reason").notNull(),
  program: text("program").notNull(),
  failedAt: integer("failed_at").notNull(),
});
