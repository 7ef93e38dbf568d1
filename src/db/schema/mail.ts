import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Outgoing emails, and for a week their results. */
export const mails = sqliteTable(
  "mails",
  {
    /** Never reused: an attempt in progress refers to it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    /** The account it is about; null for a recipient without one. */
    accountId: integer("account_id"),
    /** The category, for limits and for the log: `password-reset`, `invite` … */
    kind: text("kind").notNull(),
    /** The envelope recipient. */
    recipient: text("recipient").notNull(),
    /** Case-folded: emails to one recipient are sent in order. */
    recipientKey: text("recipient_key").notNull(),
    /**
     * The Message-ID without angle brackets; the same in every attempt, so that mail programs show a duplicate once.
     */
    messageId: text("message_id").notNull(),
    subject: text("subject").notNull(),
    /** Emptied as soon as the email is sent or dropped: it may contain links that grant access. */
    text: text("text").notNull(),
    html: text("html").notNull(),
    state: text("state", { enum: ["waiting", "sent", "refused", "expired"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    dueAt: integer("due_at").notNull(),
    /** After this time it is not sent any more. */
    expiresAt: integer("expires_at").notNull(),
    finishedAt: integer("finished_at"),
    lastError: text("last_error"),
    /** The account that caused it by sharing; null for all other mails. */
    causedBy: integer("caused_by"),
  },
  (table) => [
    index("mails_waiting").on(table.recipientKey, table.id).where(sql`finished_at IS NULL`),
    index("mails_due").on(table.dueAt).where(sql`finished_at IS NULL`),
    index("mails_expiry").on(table.expiresAt).where(sql`finished_at IS NULL`),
    index("mails_recipient").on(table.recipientKey, table.createdAt),
    index("mails_account").on(table.accountId, table.createdAt).where(sql`account_id IS NOT NULL`),
    index("mails_causer").on(table.causedBy, table.createdAt).where(sql`caused_by IS NOT NULL`),
    index("mails_done").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
    check("mails_state", sql`${table.state} IN ('waiting','sent','refused','expired')`),
    check("mails_finished", sql`(${table.finishedAt} IS NULL) = (${table.state} = 'waiting')`),
  ],
);

/** The current password reset link of each account. */
export const passwordResets = sqliteTable(
  "password_resets",
  {
    userId: integer("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** Digest of the email and password hash at creation: a change of either invalidates the link. */
    basis: blob("basis", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [uniqueIndex("password_resets_token").on(table.tokenHash)],
);

/** The links with which new people choose their first password. The row stays until they have signed in. */
export const welcomes = sqliteTable(
  "welcomes",
  {
    userId: integer("user_id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    createdAt: integer("created_at").notNull(),
    /** 0 once the account was disabled or its email changed. */
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [uniqueIndex("welcomes_token").on(table.tokenHash)],
);

/**
 * Addresses for which a password reset was requested. A job checks later whether they have an account, so that timing
 * reveals nothing.
 */
export const resetRequests = sqliteTable(
  "reset_requests",
  { emailKey: text("email_key").primaryKey(), askedAt: integer("asked_at").notNull() },
  (table) => [index("reset_requests_age").on(table.askedAt)],
);

/** The account of each subject of an OpenID Connect provider. */
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
