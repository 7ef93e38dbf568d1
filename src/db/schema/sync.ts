import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { devices } from "./devices.ts";

const deviceId = () =>
  integer("device_id")
    .notNull()
    .references(() => devices.id, { onDelete: "cascade" });

/**
 * Changes that a device brought and that could not be carried out beside what others had done. A resolved one stays for
 * some weeks, so that the same change sent again is told how it ended.
 */
export const conflicts = sqliteTable(
  "conflicts",
  {
    id: integer("id").primaryKey(),
    /** `cfl_…` */
    publicId: text("public_id").notNull(),
    accountId: integer("account_id").notNull(),
    deviceId: deviceId(),
    /** Of the change; the same one makes no second conflict. */
    fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
    type: text("type", { enum: ["modified", "deleted", "name"] }).notNull(),
    /** Public id of the file that the change is about; of the one that has the name, for a new file. */
    fileId: text("file_id").notNull(),
    /** Public id of the file on the other side; differs from `fileId` where a rename or move met a taken name. */
    remoteFileId: text("remote_file_id").notNull(),
    /** JSON of the device's change. */
    change: text("change").notNull(),
    detectedAt: integer("detected_at").notNull(),
    /** 1 where keep_local was chosen and the content is still to come. */
    awaitsContent: integer("awaits_content").notNull().default(0),
    resolution: text("resolution", { enum: ["keep_remote", "keep_local"] }),
    resolvedAt: integer("resolved_at"),
    /** Public id of the file that the resolution left; null where it left none. */
    outcomeFileId: text("outcome_file_id"),
  },
  (table) => [
    uniqueIndex("conflicts_public").on(table.publicId),
    uniqueIndex("conflicts_change").on(table.deviceId, table.fingerprint),
    index("conflicts_open").on(table.deviceId, table.fileId).where(sql`resolved_at IS NULL`),
    index("conflicts_awaiting").on(table.deviceId).where(sql`awaits_content = 1`),
    index("conflicts_resolved").on(table.resolvedAt).where(sql`resolved_at IS NOT NULL`),
    check("conflicts_type", sql`${table.type} IN ('modified','deleted','name')`),
  ],
);

/** Changes of devices that were carried out and whose repetition the tree alone could not tell from a new wish. */
export const appliedChanges = sqliteTable(
  "applied_changes",
  {
    deviceId: deviceId(),
    fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
    /** Public id of the file that it made or changed. */
    fileId: text("file_id").notNull(),
    /** The request that brought it. */
    callId: text("call_id").notNull(),
    /** Journal number of the file when it was done. */
    seq: integer("seq").notNull(),
    appliedAt: integer("applied_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deviceId, table.fingerprint] }),
    index("applied_changes_file").on(table.deviceId, table.fileId),
    index("applied_changes_age").on(table.appliedAt),
  ],
);

/** The last call of each device that brought changes: a phone that missed the answer sends the same again. */
export const lastCalls = sqliteTable("last_calls", {
  deviceId: integer("device_id")
    .primaryKey()
    .references(() => devices.id, { onDelete: "cascade" }),
  fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
  /** Where the account's journal ended after it. */
  headSeq: integer("head_seq").notNull(),
  /** JSON: an outcome for each change; null for one that was refused. */
  outcomes: text("outcomes").notNull(),
});

/** How many files a device deleted and replaced, by the second; what the mass-change brake counts. */
export const changeCounts = sqliteTable(
  "change_counts",
  {
    deviceId: deviceId(),
    /** The beginning of the second. */
    at: integer("at").notNull(),
    deletions: integer("deletions").notNull(),
    replacements: integer("replacements").notNull(),
  },
  (table) => [primaryKey({ columns: [table.deviceId, table.at] }), index("change_counts_age").on(table.at)],
);

/** Times at which a device was stopped because it deleted or replaced far too much; each waits for a person's word. */
export const holds = sqliteTable(
  "holds",
  {
    id: integer("id").primaryKey(),
    /** `hold_…` */
    publicId: text("public_id").notNull(),
    accountId: integer("account_id").notNull(),
    deviceId: deviceId(),
    /** How many changes were held, those that were carried out since included. */
    changes: integer("changes").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
    decision: text("decision", { enum: ["accepted", "declined"] }),
    decidedAt: integer("decided_at"),
  },
  (table) => [
    uniqueIndex("holds_public").on(table.publicId),
    index("holds_account").on(table.accountId),
    index("holds_device").on(table.deviceId, table.decidedAt),
    index("holds_expiry").on(table.expiresAt),
    check("holds_decision", sql`${table.decision} IN ('accepted','declined')`),
  ],
);

/** The changes of a hold, in the order in which they came; one that was carried out is gone. */
export const heldChanges = sqliteTable(
  "held_changes",
  {
    id: integer("id").primaryKey(),
    holdId: integer("hold_id")
      .notNull()
      .references(() => holds.id, { onDelete: "cascade" }),
    deviceId: integer("device_id").notNull(),
    fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
    /** JSON of the change. */
    change: text("change").notNull(),
  },
  (table) => [
    uniqueIndex("held_changes_change").on(table.deviceId, table.fingerprint),
    index("held_changes_hold").on(table.holdId, table.id),
  ],
);
