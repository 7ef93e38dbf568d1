import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The audit log: who did what, from where, and when. Append-only: triggers reject every UPDATE, and every DELETE of
 * rows younger than the retention in `meta` (`audit.keep_ms`). Users are recorded by public id and email at the time,
 * because the log outlives them.
 */
export const audit = sqliteTable(
  "audit",
  {
    /** In the order of writing; never reused. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    at: integer("at").notNull(),
    /** The acting user; null if nobody was signed in. */
    userId: text("user_id"),
    /** The email at that time, or the one given at a sign-in. */
    email: text("email"),
    /** The kind of credential. */
    via: text("via", { enum: ["web", "mobile", "key", "cli", "system", "none", "app"] }).notNull(),
    /** The credential: the name of the device or key, or the system user of a command. */
    viaName: text("via_name"),
    action: text("action").notNull(),
    /** The affected account; usually that of the acting user. */
    subjectId: text("subject_id"),
    subjectEmail: text("subject_email"),
    targetType: text("target_type"),
    /** As the API returns it. Never the name of a file or folder: administrators don't see users' files. */
    targetId: text("target_id"),
    outcome: text("outcome", { enum: ["done", "refused", "failed"] }).notNull(),
    /** The error reason of the response; null if the action succeeded. */
    reason: text("reason"),
    clientAddress: text("client_address"),
    userAgent: text("user_agent"),
    /** The number of occurrences: equal rejections within a minute share a row. */
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
    check("audit_via", sql`${table.via} IN ('web','mobile','key','cli','system','none','app')`),
    check("audit_outcome", sql`${table.outcome} IN ('done','refused','failed')`),
  ],
);
