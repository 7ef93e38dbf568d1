import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Users. `id` is the key in the database, `public_id` the id in the API. */
export const users = sqliteTable(
  "users",
  {
    /** Never reused: counts and running work of a deleted account must not become another user's. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    /** As the user wrote it. */
    email: text("email").notNull(),
    /** Case-folded: used to sign in, and unique. */
    emailKey: text("email_key").notNull(),
    name: text("name").notNull(),
    role: text("role", { enum: ["admin", "user", "viewer"] }).notNull(),
    plan: text("plan", { enum: ["free", "pro", "enterprise"] }).notNull(),
    passwordHash: text("password_hash").notNull(),
    disabledAt: integer("disabled_at"),
    createdAt: integer("created_at").notNull(),
    /** Language, time zone, theme …: JSON as PUT /api/users/settings merges it. */
    settings: text("settings").notNull().default("{}"),
    /** The name folded, for the administrators' search. */
    nameKey: text("name_key"),
    /** When any of their sessions or API keys was last used; updated by triggers, so that it outlives them. */
    lastActiveAt: integer("last_active_at"),
    /** The email folded by compatibility and case, and its UTS 39 skeleton: they detect look-alikes. */
    emailFolded: text("email_folded"),
    emailSkeleton: text("email_skeleton"),
    /** The version of the program and of Unicode's tables that computed these forms; null if they are missing. */
    emailForms: text("email_forms"),
    /** Since when the email waits for confirmation; null if it is confirmed or needs no confirmation. */
    emailUnconfirmedSince: integer("email_unconfirmed_since"),
    /** 0 if nobody knows the password, because the server generated it. */
    hasPassword: integer("has_password").notNull().default(1),
  },
  (table) => [
    uniqueIndex("users_public").on(table.publicId),
    uniqueIndex("users_email").on(table.emailKey),
    index("users_email_folded").on(table.emailFolded).where(sql`email_folded IS NOT NULL`),
    index("users_email_skeleton").on(table.emailSkeleton).where(sql`email_skeleton IS NOT NULL`),
    index("users_email_forms").on(table.emailForms),
    index("users_admins").on(table.id).where(sql`role = 'admin'`),
    index("users_unconfirmed").on(table.id).where(sql`email_unconfirmed_since IS NOT NULL`),
    index("users_people")
      .on(table.nameKey, table.id)
      .where(sql`disabled_at IS NULL AND email_unconfirmed_since IS NULL`),
    check("users_role", sql`${table.role} IN ('admin','user','viewer')`),
    check("users_plan", sql`${table.plan} IN ('free','pro','enterprise')`),
  ],
);

/** Sessions. A token is valid only while its row exists and has not expired. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["web", "mobile", "cli"] }).notNull(),
    userAgent: text("user_agent"),
    clientAddress: text("client_address"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    lastSeenAt: integer("last_seen_at").notNull(),
    /** Its device; null for sign-ins without one. A foreign key, in the migration. */
    deviceId: integer("device_id"),
    /** Public id of the first session of the sign-in; null for that session itself. */
    originId: text("origin_id"),
    /** Until when its owner counts as confirmed; null if never, and after a password change. */
    confirmedUntil: integer("confirmed_until"),
  },
  (table) => [
    uniqueIndex("sessions_public").on(table.publicId),
    index("sessions_user").on(table.userId),
    index("sessions_expiry").on(table.expiresAt),
    index("sessions_device").on(table.deviceId).where(sql`device_id IS NOT NULL`),
  ],
);

/** Links that confirm email addresses. Stored for a day, because they count the emails per hour. */
export const emailConfirmations = sqliteTable(
  "email_confirmations",
  {
    tokenHash: blob("token_hash", { mode: "buffer" }).primaryKey(),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** The recipient address; it confirms no other one. */
    emailKey: text("email_key").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("email_confirmations_user").on(table.userId, table.createdAt),
    index("email_confirmations_email").on(table.emailKey, table.createdAt),
    index("email_confirmations_age").on(table.createdAt),
  ],
);

/** Single-use tokens that create an account: the set-up link of the first start, and invitations. */
export const invites = sqliteTable(
  "invites",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** `setup` creates the first administrator, `invite` an account. */
    kind: text("kind", { enum: ["setup", "invite"] }).notNull(),
    emailKey: text("email_key"),
    role: text("role", { enum: ["admin", "user", "viewer"] }).notNull(),
    plan: text("plan", { enum: ["free", "pro", "enterprise"] }),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    usedAt: integer("used_at"),
    /** The address it is limited to, as written. */
    email: text("email"),
    /** `users.id` of the administrator who created it; null for the command line. */
    createdBy: integer("created_by"),
    /** `users.id` of the account that it created. */
    usedBy: integer("used_by"),
  },
  (table) => [uniqueIndex("invites_public").on(table.publicId), uniqueIndex("invites_token").on(table.tokenHash)],
);
