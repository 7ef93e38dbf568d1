import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Blobs. A row is written only after its bytes are durable, and removed before its bytes are. */
export const blobs = sqliteTable(
  "blobs",
  {
    id: integer("id").primaryKey(),
    /** sha256, 32 raw bytes. */
    digest: blob("digest", { mode: "buffer" }).notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** CRC-32 of the whole blob, for ZIP entries. */
    crc32: integer("crc32").notNull(),
    /** How many nodes and versions refer to it. */
    refs: integer("refs").notNull(),
    createdAt: integer("created_at").notNull(),
    /** When it was last stored, reused or released: the grace period of garbage collection starts here. */
    touchedAt: integer("touched_at").notNull(),
    /** When a scrub last found a digest mismatch; a new upload never reuses such a blob. */
    damagedAt: integer("damaged_at"),
    /** When a scrub last found that it matches its digest. */
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

/** Blobs moved out of the store; a later run of garbage collection deletes their files. */
export const quarantine = sqliteTable("quarantine", {
  digest: blob("digest", { mode: "buffer" }).primaryKey(),
  sizeBytes: integer("size_bytes").notNull(),
  since: integer("since").notNull(),
});

/** Blobs without a thumbnail, with the reason: only another program version tries again. */
export const thumbnailFailures = sqliteTable("thumbnail_failures", {
  digest: blob("digest", { mode: "buffer" }).primaryKey(),
  reason: text("reason").notNull(),
  program: text("program").notNull(),
  failedAt: integer("failed_at").notNull(),
});
