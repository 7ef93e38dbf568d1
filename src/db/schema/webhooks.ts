import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Webhooks. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    /** Never reused: deliveries in progress refer to their webhook by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    url: text("url").notNull(),
    /** JSON array of event names. */
    events: text("events").notNull(),
    /** Input of the signing secret, together with the server's key: the database alone can't sign. */
    nonce: blob("nonce", { mode: "buffer" }).notNull(),
    /** Input of the previous secret, which also signs until then. */
    formerNonce: blob("former_nonce", { mode: "buffer" }),
    formerUntil: integer("former_until"),
    isActive: integer("is_active").notNull().default(1),
    /** Why the server disabled it. */
    stoppedBecause: text("stopped_because"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** Consecutive failed attempts; no attempt before `paused_until`. */
    failures: integer("failures").notNull().default(0),
    pausedUntil: integer("paused_until").notNull().default(0),
    /** Unfinished deliveries, and events that were dropped because too many were waiting. */
    waiting: integer("waiting").notNull().default(0),
    dropped: integer("dropped").notNull().default(0),
  },
  (table) => [uniqueIndex("webhooks_public").on(table.publicId), index("webhooks_account").on(table.accountId)],
);

/** Deliveries: the outbox, and its log. */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    id: integer("id").primaryKey({ autoIncrement: true }),
    /** The `webhook-id` header: the same at each attempt. */
    publicId: text("public_id").notNull(),
    webhookId: integer("webhook_id")
      .notNull()
      .references(() => webhooks.id, { onDelete: "cascade" }),
    event: text("event").notNull(),
    /** The ordering key: the id of the file, folder, share or device. */
    lane: text("lane").notNull(),
    /** As it is sent. */
    body: text("body").notNull(),
    /** 1 for the first unfinished delivery of its ordering key: the only one that may be sent. */
    isHead: integer("is_head").notNull(),
    state: text("state", { enum: ["queued", "delivered", "failed"] }).notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    dueAt: integer("due_at").notNull(),
    finishedAt: integer("finished_at"),
    lastStatus: integer("last_status"),
    lastError: text("last_error"),
  },
  (table) => [
    uniqueIndex("webhook_deliveries_public").on(table.publicId),
    index("webhook_deliveries_webhook").on(table.webhookId, table.id),
    index("webhook_deliveries_lane").on(table.webhookId, table.lane, table.id).where(sql`finished_at IS NULL`),
    index("webhook_deliveries_due").on(table.webhookId, table.dueAt, table.id).where(sql`is_head = 1`),
    index("webhook_deliveries_age").on(table.createdAt),
    check("webhook_deliveries_state", sql`${table.state} IN ('queued','delivered','failed')`),
    check("webhook_deliveries_finished", sql`(${table.finishedAt} IS NULL) = (${table.state} = 'queued')`),
  ],
);
