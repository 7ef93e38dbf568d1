import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * How far the objects in `blobs/journal/` include an account's changes. The row outlives the account until its objects
 * are removed.
 */
export const storeJournal = sqliteTable("store_journal", {
  accountId: integer("account_id").primaryKey(),
  /** The name of the folder of its objects. */
  publicId: text("public_id").notNull(),
  /** The number of the last object written; 0 for none. */
  number: integer("number").notNull(),
  /** The account's journal number up to which the objects are complete. */
  seq: integer("seq").notNull(),
  /** Size of the newest object with the full state, */
  fullBytes: integer("full_bytes").notNull(),
  /** and of all after it. */
  laterBytes: integer("later_bytes").notNull(),
  /** The database's epoch when it was written: a database restored from a snapshot has another one. */
  epoch: text("epoch").notNull(),
});

/** Ended shares, groups and memberships that are not yet recorded in the metadata journal. */
export const endedShares = sqliteTable("ended_shares", {
  publicId: text("public_id").primaryKey(),
  endedAt: integer("ended_at").notNull(),
});

/**
 * Changes without a number in the account's journal: the account's row (node 0), earlier versions, shares, items that
 * left the trash, and albums (their negated id).
 */
export const storeJournalRescanQueue = sqliteTable(
  "store_journal_again",
  {
    accountId: integer("account_id").notNull(),
    nodeId: integer("node_id").notNull(),
    /** Grows with each change, so that a change during processing is not lost. */
    times: integer("times").notNull().default(1),
    /** Public id of an item that left the trash: if the node is gone, nothing else has it. */
    gone: text("gone"),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.nodeId] })],
);
