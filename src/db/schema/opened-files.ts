import { index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";
import { nodes } from "./nodes.ts";
import { users } from "./users.ts";

/** The files that each account opened last: its own, and those that others share with it. Written at most a second late. */
export const openedFiles = sqliteTable(
  "opened_files",
  {
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    nodeId: integer("node_id")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    openedAt: integer("opened_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.nodeId] }), index("opened_files_node").on(table.nodeId)],
);
