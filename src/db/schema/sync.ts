import { sql } from "drizzle-orm";
import { blob, check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { devices } from "./devices.ts";

const deviceId = () =>
  integer("device_id")
    .notNull()
    .references(() => devices.id, { onDelete: "cascade" });

/**
 * Conflicts: changes of a device that contradict changes by others. A resolved conflict stays for some weeks, so that
 * the same change sent again gets the same resolution.
 */
export const conflicts = sqliteTable(
  "conflicts",
  {
    id: integer("id").primaryKey(),
    /** `cfl_…` */
    publicId: text("public_id").notNull(),
    accountId: integer("account_id").notNull(),
    deviceId: deviceId(),
    /** Digest of the change, so that the same change creates no second conflict. */
    fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
    type: text("type", { enum: ["modified", "deleted", "name"] }).notNull(),
    /** Public id of the changed file; for a new file, of the one that has its name. */
    fileId: text("file_id").notNull(),
    /** Public id of the file on the server; differs from `fileId` if a rename or move found the name taken. */
    remoteFileId: text("remote_file_id").notNull(),
    /** JSON of the device's change. */
    change: text("change").notNull(),
    detectedAt: integer("detected_at").notNull(),
    /** 1 if keep_local was chosen and the upload is still missing. */
    awaitsContent: integer("awaits_content").notNull().default(0),
    resolution: text("resolution", { enum: ["keep_remote", "keep_local"] }),
    resolvedAt: integer("resolved_at"),
    /** Public id of the file after the resolution; null if there is none. */
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

/** Applied changes of devices whose repetition would look like a new change. */
export const appliedChanges = sqliteTable(
  "applied_changes",
  {
    deviceId: deviceId(),
    fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
    /** Public id of the file that it created or changed. */
    fileId: text("file_id").notNull(),
    /** The request that contained it. */
    callId: text("call_id").notNull(),
    /** Journal number of the file after the change. */
    seq: integer("seq").notNull(),
    appliedAt: integer("applied_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.deviceId, table.fingerprint] }),
    index("applied_changes_file").on(table.deviceId, table.fileId),
    index("applied_changes_age").on(table.appliedAt),
  ],
);

/** The last request with changes of each device: a phone that missed the response sends the same request again. */
export const lastCalls = sqliteTable("last_calls", {
  deviceId: integer("device_id")
    .primaryKey()
    .references(() => devices.id, { onDelete: "cascade" }),
  fingerprint: blob("fingerprint", { mode: "buffer" }).notNull(),
  /** The head of the account's journal after it. */
  headSeq: integer("head_seq").notNull(),
  /** JSON: a result for each change; null for a rejected one. */
  outcomes: text("outcomes").notNull(),
});

/** How many files a device deleted and replaced, per second; the mass-change guard counts them. */
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

/** Holds: a device deleted or replaced far more than usual, and a person must approve its changes. */
export const holds = sqliteTable(
  "holds",
  {
    id: integer("id").primaryKey(),
    /** `hold_…` */
    publicId: text("public_id").notNull(),
    accountId: integer("account_id").notNull(),
    deviceId: deviceId(),
    /** The number of held changes, including those applied since. */
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

/** The held changes of a hold, in the order of receipt; applied ones are removed. */
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
