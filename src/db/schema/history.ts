import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Where nodes were before they were renamed, moved, put into the trash or deleted by a device, for looking at the tree as
 * it was. At a moment a node was where its first row after that moment says, else where it is now. Only `tree`
 * writes here; kept for as long as one may look back.
 */
export const formerPlaces = sqliteTable(
  "former_places",
  {
    nodeId: integer("node_id").notNull(),
    /** Journal number of the change that took it away from there. */
    seq: integer("seq").notNull(),
    accountId: integer("account_id").notNull(),
    /** When it left, by the account's own clock, which never goes back. */
    at: integer("at").notNull(),
    /** The folder that it was in; 0 where it was in the trash. */
    parentId: integer("parent_id").notNull(),
    /** As in `nodes`. */
    kind: integer("kind").notNull(),
    name: text("name").notNull(),
    /** `fold(name)`. */
    sortKey: text("sort_key").notNull(),
    /** Journal number of its making: there is no row of `nodes` to tell it once it is deleted. */
    bornSeq: integer("born_seq").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.nodeId, table.seq] }),
    index("former_places_folder").on(table.parentId, table.seq),
    index("former_places_age").on(table.accountId, table.at),
  ],
);
