import { index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";
import { nodes } from "./nodes.ts";
import { users } from "./users.ts";

/**
 * Files and folders that an account marked as favorites: its own, and those that others share with it. A row stays while
 * the node is in the trash or no longer shared.
 */
export const favorites = sqliteTable(
  "favorites",
  {
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.nodeId] }), index("favorites_node").on(table.nodeId)],
);
