import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How far the objects in `blobs/journal/` hold what an account has. Outlives the account until its objects are removed. */
export const storeJournal = sqliteTable("store_journal", {
  accountId: integer("account_id").primaryKey(),
  /** Names the folder of its objects. */
  publicId: text("public_id").notNull(),
  /** Of the last object written; 0 for none. */
  number: integer("number").notNull(),
  /** The account's journal number up to which the objects tell everything. */
  seq: integer("seq").notNull(),
  /** Size of the newest object that holds everything, */
  fullBytes: integer("full_bytes").notNull(),
  /** and of all after it. */
  laterBytes: integer("later_bytes").notNull(),
  /** The database's epoch when it was written: another one has gone on from a snapshot. */
  epoch: text("epoch").notNull(),
});

/** Shares that have ended and are not noted beside the contents yet. */
export const endedShares = sqliteTable("ended_shares", {
  publicId: text("public_id").primaryKey(),
  endedAt: integer("ended_at").notNull(),
});

/** What changed without a number in the account's journal: its row (node 0), earlier contents, shares, what left the trash. */
export const storeJournalRescanQueue = sqliteTable(
  "store_journal_again",
  {
    accountId: integer("account_id").notNull(),
    nodeId: integer("node_id").notNull(),
    /** Grows with each change, so that one that comes while the row is being answered is not lost. */
    times: integer("times").notNull().default(1),
    /** Public id of what came out of the trash: where the node is no more, it is gone, and nothing else tells its name. */
    gone: text("gone"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.nodeId] })],
);
