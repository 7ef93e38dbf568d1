import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/**
 * Phones, tablets and other machines that keep files in sync. The row of a removed one stays, without anything that opens
 * the account: what it did can still be told and undone.
 */
export const devices = sqliteTable(
  "devices",
  {
    /** Never given again: the journal names devices by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** As the device chose it (`deviceInfo.deviceId`); unique within the user. */
    publicId: text("public_id").notNull(),
    name: text("name").notNull(),
    platform: text("platform").notNull(),
    model: text("model"),
    osVersion: text("os_version"),
    appVersion: text("app_version"),
    registeredAt: integer("registered_at").notNull(),
    lastActiveAt: integer("last_active_at").notNull(),
    removedAt: integer("removed_at"),
    /** JSON of the settings that were ever set. */
    settings: text("settings").notNull().default("{}"),
    /** When it last asked for changes. */
    lastSyncAt: integer("last_sync_at"),
  },
  (table) => [uniqueIndex("devices_public").on(table.userId, table.publicId)],
);

/**
 * Refresh tokens, by their sha256; each is used once. All of a device come from its one sign-in: another sign-in, a
 * sign-out and a removal leave none.
 */
export const refreshTokens = sqliteTable(
  "refresh_tokens",
  {
    id: integer("id").primaryKey(),
    deviceId: integer("device_id")
      .notNull()
      .references(() => devices.id, { onDelete: "cascade" }),
    tokenHash: blob("token_hash", { mode: "buffer" }).notNull(),
    /** The access token's session that was given along with it. */
    sessionId: text("session_id").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    usedAt: integer("used_at"),
    /** The token that stands in its place: it was exchanged for that one, or (where `usedAt` is null) gave way to it. */
    successorId: integer("successor_id"),
  },
  (table) => [
    uniqueIndex("refresh_tokens_token").on(table.tokenHash),
    index("refresh_tokens_device").on(table.deviceId),
    index("refresh_tokens_expiry").on(table.expiresAt),
    index("refresh_tokens_successor").on(table.successorId).where(sql`successor_id IS NOT NULL`),
  ],
);
