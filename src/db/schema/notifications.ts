import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { devices } from "./devices.ts";

/** The push target of a device, its preferences, and when its next message is due. */
export const pushTargets = sqliteTable(
  "push_targets",
  {
    deviceId: integer("device_id")
      .primaryKey()
      .references(() => devices.id, { onDelete: "cascade" }),
    /**
     * Of the device that registered it last; a plain URL, of one device in each account. Null: none, or its push
     * service has forgotten it.
     */
    token: text("token"),
    /** The platform registered with the token. */
    platform: text("platform"),
    /** The group whose deliveries share a limit: the host if the token is a URL, otherwise the platform. */
    lane: text("lane"),
    /** JSON of all preferences; null if the device registered none, so that the user's settings apply. */
    preferences: text("preferences"),
    /** After a failed attempt nothing is sent to the device before this time. */
    pausedUntil: integer("paused_until").notNull().default(0),
    /** When the dispatcher must look at the device again; null if nothing waits. */
    nextAt: integer("next_at"),
  },
  (table) => [
    index("push_targets_token").on(table.token).where(sql`token IS NOT NULL`),
    index("push_targets_next").on(table.nextAt).where(sql`next_at IS NOT NULL`),
  ],
);

/** The inbox: every message of an account, delivered or not. */
export const notifications = sqliteTable(
  "notifications",
  {
    /** Never reused: an attempt in progress refers to it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    accountId: integer("account_id").notNull(),
    publicId: text("public_id").notNull(),
    category: text("category", { enum: ["uploads", "shares", "storage", "security"] }).notNull(),
    title: text("title").notNull(),
    body: text("body").notNull(),
    /** JSON object of strings. */
    data: text("data").notNull(),
    collapseKey: text("collapse_key"),
    /** If set: only for this device. */
    onlyDeviceId: integer("only_device_id"),
    /** If set: for all devices except this one, which caused the message. */
    exceptDeviceId: integer("except_device_id"),
    /** The time of the current text: a message that groups several uploads is updated by each. */
    createdAt: integer("created_at").notNull(),
    readAt: integer("read_at"),
  },
  (table) => [
    uniqueIndex("notifications_public").on(table.publicId),
    index("notifications_account").on(table.accountId, table.createdAt, table.id),
    index("notifications_unread").on(table.accountId).where(sql`read_at IS NULL`),
    index("notifications_age").on(table.createdAt),
    check("notifications_category", sql`${table.category} IN ('uploads','shares','storage','security')`),
  ],
);

/** The outbox: a message to be delivered to a device. Written in the transaction that creates the message. */
export const pushDeliveries = sqliteTable(
  "push_deliveries",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    notificationId: integer("notification_id")
      .notNull()
      .references(() => notifications.id, { onDelete: "cascade" }),
    deviceId: integer("device_id")
      .notNull()
      .references(() => devices.id, { onDelete: "cascade" }),
    /** `queued` and `held` (by quiet hours) wait; `dropped` was superseded or is not wanted any more. */
    state: text("state", { enum: ["queued", "held", "delivered", "gone", "failed", "dropped"] }).notNull(),
    collapseKey: text("collapse_key"),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    /** Not sent before this time. Earlier due times are sent first; a failed attempt keeps its position. */
    dueAt: integer("due_at").notNull(),
    /** Null while it waits. */
    finishedAt: integer("finished_at"),
    lastError: text("last_error"),
  },
  (table) => [
    index("push_deliveries_waiting").on(table.deviceId, table.dueAt, table.id).where(sql`finished_at IS NULL`),
    index("push_deliveries_device").on(table.deviceId),
    index("push_deliveries_notification").on(table.notificationId),
    index("push_deliveries_done").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
    check("push_deliveries_state", sql`${table.state} IN ('queued','held','delivered','gone','failed','dropped')`),
    check("push_deliveries_finished", sql`(${table.finishedAt} IS NULL) = (${table.state} IN ('queued','held'))`),
  ],
);

/** Uploads of a device that are reported in one message, because they follow each other closely. */
export const uploadBursts = sqliteTable(
  "upload_bursts",
  {
    deviceId: integer("device_id")
      .notNull()
      .references(() => devices.id, { onDelete: "cascade" }),
    kind: text("kind", { enum: ["completed", "failed"] }).notNull(),
    notificationId: integer("notification_id")
      .notNull()
      .references(() => notifications.id, { onDelete: "cascade" }),
    files: integer("files").notNull(),
    pushes: integer("pushes").notNull(),
    /** When its last push was sent, or will be. */
    pushedAt: integer("pushed_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deviceId, table.kind] }),
    index("upload_bursts_notification").on(table.notificationId),
    check("upload_bursts_kind", sql`${table.kind} IN ('completed','failed')`),
  ],
);
