import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The trash: one row per trashed file or folder, without rows for what is below a folder. A trashed node has its own
 * negated id as `nodes.parent_id`: its chain does not end at the root, so no query finds it, and its name is free. Only
 * `tree` writes here.
 */
export const trash = sqliteTable(
  "trash",
  {
    nodeId: integer("node_id").primaryKey(),
    accountId: integer("account_id").notNull(),
    trashedAt: integer("trashed_at").notNull(),
    /** Journal number of the change, and of its tombstone. */
    seq: integer("seq").notNull(),
    /** Where it was: the folder, which may be gone, and its path at that time. */
    parentId: integer("parent_id").notNull(),
    folder: text("folder").notNull(),
    /** Sums of what lies in it, itself included. */
    files: integer("files").notNull(),
    folders: integer("folders").notNull(),
    fileBytes: integer("file_bytes").notNull(),
    versionBytes: integer("version_bytes").notNull(),
    /** JSON: media type → [files, bytes]. `usage_types` still counts them. */
    types: text("types"),
    /** JSON: key of a label → files. `tags` still counts them. */
    tags: text("tags"),
  },
  (table) => [
    index("trash_account").on(table.accountId, table.trashedAt),
    index("trash_age").on(table.trashedAt),
    index("trash_folders").on(table.accountId).where(sql`folders > 0`),
  ],
);
