import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

const userId = () =>
  integer("user_id")
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });

/** API keys. Only the sha256 of a key is stored, by which it is looked up. */
export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    userId: userId(),
    name: text("name").notNull(),
    keyHash: blob("key_hash", { mode: "buffer" }).notNull(),
    /** The first characters of the key, so that its owner recognizes it. */
    prefix: text("prefix").notNull(),
    /** Separated by spaces. */
    scopes: text("scopes").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    lastUsedAt: integer("last_used_at"),
    /** A revoked key is rejected; its row stays for a while, so that the error can say why. */
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("api_keys_public").on(table.publicId),
    uniqueIndex("api_keys_hash").on(table.keyHash),
    index("api_keys_user").on(table.userId, table.id),
    index("api_keys_revoked").on(table.revokedAt).where(sql`revoked_at IS NOT NULL`),
  ],
);

/** Passwords for WebDAV and sync programs. Only the sha256 of a password is stored, by which it is looked up. */
export const appPasswords = sqliteTable(
  "app_passwords",
  {
    /** Never reused: a request in progress is checked by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    userId: userId(),
    /** Its hidden row in `devices`, which the journal refers to. */
    deviceId: integer("device_id").notNull(),
    name: text("name").notNull(),
    passwordHash: blob("password_hash", { mode: "buffer" }).notNull(),
    canWrite: integer("can_write").notNull(),
    /** The row id of the only folder that it opens, which may be gone; null for the whole tree. */
    folderId: integer("folder_id"),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at"),
    lastUsedAt: integer("last_used_at"),
    lastAddress: text("last_address"),
    /** The User-Agent of the program that used it last. */
    lastClient: text("last_client"),
    /** A revoked password is rejected; its row stays for a while, as with API keys. */
    revokedAt: integer("revoked_at"),
  },
  (table) => [
    uniqueIndex("app_passwords_public").on(table.publicId),
    uniqueIndex("app_passwords_hash").on(table.passwordHash),
    index("app_passwords_user").on(table.userId, table.id),
    index("app_passwords_revoked").on(table.revokedAt).where(sql`revoked_at IS NOT NULL`),
  ],
);

/** Earlier addresses of accounts. Programs that were set up with one sign in as before, with their app password. */
export const formerEmails = sqliteTable(
  "former_emails",
  {
    userId: userId(),
    emailKey: text("email_key").notNull(),
    changedAt: integer("changed_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.emailKey] })],
);

/** The authenticator app of an account, from its set-up on; required at sign-in once enabled. */
export const twoFactors = sqliteTable("two_factors", {
  userId: integer("user_id")
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** AES-256-GCM with the server's key: nonce, tag, ciphertext. The database alone can't produce codes. */
  sealedSecret: blob("sealed_secret", { mode: "buffer" }).notNull(),
  createdAt: integer("created_at").notNull(),
  enabledAt: integer("enabled_at"),
  /** The latest time step whose code was used: this and earlier steps are not accepted again. */
  lastStep: integer("last_step").notNull().default(0),
});

/** Unused recovery codes, for a lost authenticator app. Each can be used once. */
export const recoveryCodes = sqliteTable(
  "recovery_codes",
  {
    userId: userId(),
    codeHash: blob("code_hash", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

/** Passkeys: public keys of authenticators (WebAuthn). */
export const passkeys = sqliteTable(
  "passkeys",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    userId: userId(),
    name: text("name").notNull(),
    /** The host name for which it was created; it does not work under another one. */
    rpId: text("rp_id").notNull(),
    credentialId: blob("credential_id", { mode: "buffer" }).notNull(),
    /** COSE. */
    publicKey: blob("public_key", { mode: "buffer" }).notNull(),
    /** The authenticator's signature counter; 0 if it does not count. */
    counter: integer("counter").notNull(),
    /** JSON: the authenticator's transports, a hint for browsers. */
    transports: text("transports").notNull(),
    isBackedUp: integer("is_backed_up").notNull(),
    createdAt: integer("created_at").notNull(),
    lastUsedAt: integer("last_used_at"),
  },
  (table) => [
    uniqueIndex("passkeys_public").on(table.publicId),
    uniqueIndex("passkeys_credential").on(table.credentialId),
    index("passkeys_user").on(table.userId, table.id),
  ],
);
