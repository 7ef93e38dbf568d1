import { sql } from "drizzle-orm";
import { check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { devices } from "./devices.ts";

/** Operations that devices queued while offline: pending, waiting, or done. */
export const queueOperations = sqliteTable(
  "queue_operations",
  {
    /** Grows in the order of receipt. */
    id: integer("id").primaryKey(),
    accountId: integer("account_id").notNull(),
    deviceId: integer("device_id")
      .notNull()
      .references(() => devices.id, { onDelete: "cascade" }),
    /** Chosen by the device; unique per device. */
    operationId: text("operation_id").notNull(),
    type: text("type", { enum: ["upload", "delete"] }).notNull(),
    /** 0 high, 1 normal, 2 low. */
    priority: integer("priority").notNull(),
    /** As reported by the device, but not later than its receipt. */
    createdAt: integer("created_at").notNull(),
    receivedAt: integer("received_at").notNull(),
    /** Of an upload: the normalized path at which a file is expected. */
    remotePath: text("remote_path"),
    /** Of a delete: public id of the file. */
    fileId: text("file_id"),
    /** 0 queued, 1 failed, 2 completed. */
    status: integer("status").notNull(),
    attempts: integer("attempts").notNull(),
    /** JSON {reason, message, details}: why it failed, or why it is on hold. */
    error: text("error"),
    /** The hold of the mass-change guard that it waits for. */
    holdId: text("hold_id"),
    finishedAt: integer("finished_at"),
  },
  (table) => [
    uniqueIndex("queue_operations_named").on(table.deviceId, table.operationId),
    index("queue_operations_listed").on(table.deviceId, table.status, table.priority, table.createdAt, table.id),
    index("queue_operations_runnable")
      .on(table.deviceId, table.priority, table.createdAt, table.id)
      .where(sql`status = 0 AND type = 'delete' AND hold_id IS NULL`),
    index("queue_operations_held").on(table.holdId).where(sql`hold_id IS NOT NULL`),
    index("queue_operations_waiting").on(table.accountId, table.remotePath).where(sql`status = 0 AND type = 'upload'`),
    index("queue_operations_age").on(table.receivedAt).where(sql`status = 0`),
    index("queue_operations_finished").on(table.finishedAt).where(sql`finished_at IS NOT NULL`),
    check("queue_operations_type", sql`${table.type} IN ('upload', 'delete')`),
    check("queue_operations_status", sql`${table.status} IN (0, 1, 2)`),
  ],
);
