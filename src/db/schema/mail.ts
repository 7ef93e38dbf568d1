import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Mails on their way out, and for a week what became of them. */
export const mails = sqliteTable(
  "mails",
  {
    /** Never given again: an attempt under way names it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    /** Whose it is; null for somebody who has no account. */
    accountId: integer("account_id"),
    /** What it is about, for limits and for the log: `password-reset`, `invite` … */
    kind: text("kind").notNull(),
    /** As it is written on the envelope. */
    recipient: text("recipient").notNull(),
    /** Folded: mails to one recipient leave in order. */
    recipientKey: text("recipient_key").notNull(),
    /** Without the angle brackets; the same in every attempt, so that a mail that came twice is shown once. */
    messageId: text("message_id").notNull(),
    subject: text("subject").notNull(),
    /** Emptied as soon as the mail is sent or given up: links in it open something. */
    text: text("text").notNull(),
    html: text("html").notNull(),
    state: text("state", { enum: ["waiting", "sent", "refused", "expired"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    dueAt: integer("due_at").notNull(),
    /** From then on it is of no use any more. */
    expiresAt: integer("expires_at").notNull(),
    finishedAt: integer("finished_at"),
    lastError: text("last_error"),
  },
  (table) => [
    index("mails_waiting").on(table.recipientKey, table.id).where(sql`finished_at IS NULL`),
    index("mails_due").on(table.dueAt).where(sql`finished_at IS NULL`),
    index("mails_expiry").on(table.expiresAt).where(sql`finished_at IS NULL`),
    index("mails_recipient").on(table.recipientKey, table.createdAt),
    index("mails_account").on(table.accountId, table.createdAt).where(sql`account_id IS NOT NULL`),
    index("mails_done").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
    check("mails_state", sql`${table.state} IN ('waiting','sent','refused','expired')`),
    check("mails_finished", sql`(${table.finishedAt} IS NULL) = (${table.state} = 'waiting')`),
  ],
);

/** The one link of each account by which a new password can be set now. */
export const passwordResets = sqliteTable(
  "password_resets",
  {
    userId: integer("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** Digest of the e-mail and the password hash for which it was made: with either of them it ends. */
    basis: blob("basis", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [uniqueIndex("password_resets_token").on(table.tokenHash)],
);

/** Addresses for which a reset was asked, known here or not, until somebody looks whether they are. */
export const resetRequests = sqliteTable(
  "reset_requests",
  { emailKey: text("email_key").primaryKey(), askedAt: integer("asked_at").notNull() },
  (table) => [index("reset_requests_age").on(table.askedAt)],
);

/** Who a provider's subject is here. */
export const oidcIdentities = sqliteTable(
  "oidc_identities",
  {
    issuer: text("issuer").notNull(),
    subject: text("subject").notNull(),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] }), index("oidc_identities_user").on(table.userId)],
);
