import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Former locations of nodes that were renamed, moved, trashed or deleted, to show the tree at an earlier time. At a
 * given time a node was where its first later row says, or where it is now if there is none. Only `tree` writes here.
 * Rows stay for the time that history covers.
 */
export const formerPlaces = sqliteTable(
  "former_places",
  {
    nodeId: integer("node_id").notNull(),
    /** Journal number of the change that moved it away. */
    seq: integer("seq").notNull(),
    accountId: integer("account_id").notNull(),
    /** When it was moved away, by the account's own clock, which never goes back. */
    at: integer("at").notNull(),
    /** The folder it was in; 0 if it was in the trash. */
    parentId: integer("parent_id").notNull(),
    /** As in `nodes`. */
    kind: integer("kind").notNull(),
    name: text("name").notNull(),
    /** `fold(name)`. */
    sortKey: text("sort_key").notNull(),
    /** Journal number of its creation: a deleted node has no row in `nodes` that has it. */
    bornSeq: integer("born_seq").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.nodeId, table.seq] }),
    index("former_places_folder").on(table.parentId, table.seq),
    index("former_places_age").on(table.accountId, table.at),
  ],
);
