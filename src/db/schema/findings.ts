import { sql } from "drizzle-orm";
import { blob, check, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * Damage found by scrubs of the store and checks of the database: one open finding per blob. Resolved findings stay.
 */
export const findings = sqliteTable(
  "findings",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    kind: text("kind", { enum: ["damaged", "missing", "unreadable", "database"] }).notNull(),
    /** sha256 of the blob, 32 raw bytes; null for damage to the database. */
    digest: blob("digest", { mode: "buffer" }),
    sizeBytes: integer("size_bytes"),
    /** A sentence without file names. */
    detail: text("detail").notNull(),
    foundAt: integer("found_at").notNull(),
    /** When it was last found. */
    seenAt: integer("seen_at").notNull(),
    /** When administrators and owners were notified. */
    toldAt: integer("told_at"),
    resolvedAt: integer("resolved_at"),
    /** healed: found intact since; removed: nothing refers to the blob any more. */
    resolution: text("resolution", { enum: ["healed", "removed"] }),
  },
  (table) => [
    uniqueIndex("findings_public").on(table.publicId),
    uniqueIndex("findings_open").on(sql`coalesce(digest, x'')`).where(sql`resolved_at IS NULL`),
    check("findings_kind", sql`${table.kind} IN ('damaged','missing','unreadable','database')`),
    check("findings_digest", sql`(${table.kind} = 'database') = (${table.digest} IS NULL)`),
    check("findings_resolved", sql`(${table.resolvedAt} IS NULL) = (${table.resolution} IS NULL)`),
    check("findings_resolution", sql`${table.resolution} IN ('healed','removed')`),
  ],
);
