import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Who did what, from where, and when. Append-only: triggers of the migration refuse every UPDATE, and every DELETE of
 * what is younger than the retention, which stands in `meta` under `audit.keep_ms`. People are named by their
 * public ids and e-mails, as they were at the time: the log outlives whom it tells of.
 */
export const audit = sqliteTable(
  "audit",
  {
    /** In the order of writing, never given again. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    at: integer("at").notNull(),
    /** Who did it; null where nobody was signed in. */
    userId: text("user_id"),
    /** The e-mail at that time, or as it was given at a sign-in. */
    email: text("email"),
    /** By which credential. */
    via: text("via", { enum: ["web", "mobile", "key", "cli", "system", "none"] }).notNull(),
    /** Which one: the name of the device or the key, the system's user of a command. */
    viaName: text("via_name"),
    action: text("action").notNull(),
    /** The account that it was done to; the doer's own in most cases. */
    subjectId: text("subject_id"),
    subjectEmail: text("subject_email"),
    targetType: text("target_type"),
    /** As the API shows it. Never a name of a file or folder: an administrator sees no contents. */
    targetId: text("target_id"),
    outcome: text("outcome", { enum: ["done", "refused", "failed"] }).notNull(),
    /** Why not: the reason that was answered. */
    reason: text("reason"),
    clientAddress: text("client_address"),
    userAgent: text("user_agent"),
    /** How often: refusals that repeat within a minute share a row. */
    times: integer("times").notNull().default(1),
    /** JSON, without secrets. */
    details: text("details").notNull().default("{}"),
  },
  (table) => [
    index("audit_at").on(table.at),
    index("audit_user").on(table.userId, table.id).where(sql`user_id IS NOT NULL`),
    index("audit_subject").on(table.subjectId, table.id).where(sql`subject_id IS NOT NULL`),
    index("audit_action").on(table.action, table.id),
    index("audit_address").on(table.clientAddress, table.id).where(sql`client_address IS NOT NULL`),
    index("audit_target").on(table.targetId, table.id).where(sql`target_id IS NOT NULL`),
    check("audit_via", sql`${table.via} IN ('web','mobile','key','cli','system','none')`),
    check("audit_outcome", sql`${table.outcome} IN ('done','refused','failed')`),
  ],
);
