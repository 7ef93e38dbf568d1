import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/**
 * Phones, tablets and other devices that sync files. The row of a removed device stays, without credentials, so that
 * its changes can still be shown and undone.
 */
export const devices = sqliteTable(
  "devices",
  {
    /** Never reused: the journal refers to devices by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** Chosen by the device (`deviceInfo.deviceId`); unique per user. */
    publicId: text("public_id").notNull(),
    name: text("name").notNull(),
    platform: text("platform").notNull(),
    model: text("model"),
    osVersion: text("os_version"),
    appVersion: text("app_version"),
    registeredAt: integer("registered_at").notNull(),
    lastActiveAt: integer("last_active_at").notNull(),
    removedAt: integer("removed_at"),
    /** JSON of all settings that were set. */
    settings: text("settings").notNull().default("{}"),
    /** When it last requested changes. */
    lastSyncAt: integer("last_sync_at"),
    /** 1 for the hidden row of an app password or of a browser. Lists and limits leave these rows out. */
    isApp: integer("is_app").notNull().default(0),
    /** For the hidden row of a sign-in that has subscribed to Web Push: public id of its first session. */
    sessionOrigin: text("session_origin"),
  },
  (table) => [
    uniqueIndex("devices_public").on(table.userId, table.publicId),
    uniqueIndex("devices_session_origin").on(table.sessionOrigin).where(sql`session_origin IS NOT NULL`),
  ],
);

/**
 * Refresh tokens, by their sha256; each is used once. All tokens of a device come from one sign-in: a new sign-in, a
 * sign-out and a removal delete them.
 */
export const refreshTokens = sqliteTable(
  "refresh_tokens",
  {
    id: integer("id").primaryKey(),
    deviceId: integer("device_id")
      .notNull()
      .references(() => devices.id, { onDelete: "cascade" }),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** The session of the access token issued with it. */
    sessionId: text("session_id").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    usedAt: integer("used_at"),
    /** The token that replaced it: by a refresh, or (if `usedAt` is null) by a new sign-in. */
    successorId: integer("successor_id"),
  },
  (table) => [
    uniqueIndex("refresh_tokens_token").on(table.tokenHash),
    index("refresh_tokens_device").on(table.deviceId),
    index("refresh_tokens_expiry").on(table.expiresAt),
    index("refresh_tokens_successor").on(table.successorId).where(sql`successor_id IS NOT NULL`),
  ],
);
