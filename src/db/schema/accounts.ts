import { sql } from "drizzle-orm";
import { check, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Totals of a user's files, and the head of the change journal. One row per user, with the same id. */
export const accounts = sqliteTable(
  "accounts",
  {
    id: integer("id")
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    rootId: integer("root_id").notNull(),
    /** The last journal number assigned. */
    seq: integer("seq").notNull().default(0),
    /** Tombstones up to this number have been removed. */
    floorSeq: integer("floor_seq").notNull().default(0),
    files: integer("files").notNull().default(0),
    folders: integer("folders").notNull().default(0),
    fileBytes: integer("file_bytes").notNull().default(0),
    versionBytes: integer("version_bytes").notNull().default(0),
    trashBytes: integer("trash_bytes").notNull().default(0),
    /** Null: the plan's. Negative: none. */
    quotaBytes: integer("quota_bytes"),
    /** Bytes reserved for uploads in progress; they count against the quota. */
    reservedBytes: integer("reserved_bytes").notNull().default(0),
    /** When the last journal number was assigned; never goes back, so that times in the journal are in order. */
    changedAt: integer("changed_at").notNull().default(0),
    /** Files and folders in the trash. */
    trashNodes: integer("trash_nodes").notNull().default(0),
  },
  (table) => [
    check(
      "accounts_counts",
      sql`${table.files} >= 0 AND ${table.folders} >= 0 AND ${table.fileBytes} >= 0 AND ${table.versionBytes} >= 0 AND ${table.trashBytes} >= 0`,
    ),
  ],
);

/** Files and bytes by media type, updated with each change, so that usage needs no scan. */
export const usageTypes = sqliteTable(
  "usage_types",
  {
    accountId: integer("account_id").notNull(),
    type: text("type").notNull(),
    files: integer("files").notNull(),
    bytes: integer("bytes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.type] })],
);

/** Uploads and downloads by account and month (`2026-01`), written with a delay (`jobs/write-behind.ts`). */
export const transfers = sqliteTable(
  "transfers",
  {
    accountId: integer("account_id").notNull(),
    period: text("period").notNull(),
    uploads: integer("uploads").notNull().default(0),
    uploadedBytes: integer("uploaded_bytes").notNull().default(0),
    downloads: integer("downloads").notNull().default(0),
    downloadedBytes: integer("downloaded_bytes").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.period] })],
);
