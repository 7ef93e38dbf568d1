import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { users } from "./users.ts";

/** Albums: files of one account in an order of their own. */
export const albums = sqliteTable(
  "albums",
  {
    /** Never used again: the store journal knows a deleted album by it. */
    id: integer("id").primaryKey({ autoIncrement: true }),
    publicId: text("public_id").notNull(),
    accountId: integer("account_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** The folded name. */
    sortKey: text("sort_key").notNull(),
    description: text("description").notNull().default(""),
    /** The file that the owner chose; null: the first one. */
    coverId: integer("cover_id"),
    /** Items that are not hidden; triggers maintain it. */
    items: integer("items").notNull().default(0),
    createdAt: integer("created_at").notNull(),
    modifiedAt: integer("modified_at").notNull(),
  },
  (table) => [
    uniqueIndex("albums_public").on(table.publicId),
    index("albums_name").on(table.accountId, table.sortKey, table.id),
  ],
);

/** The files of albums. A trigger deletes the items of a deleted file. */
export const albumItems = sqliteTable(
  "album_items",
  {
    albumId: integer("album_id")
      .notNull()
      .references(() => albums.id, { onDelete: "cascade" }),
    nodeId: integer("node_id").notNull(),
    /** Ascending, with gaps. */
    position: integer("position").notNull(),
    /** 1: the file itself is in the trash. A file in a folder that is in the trash is not marked. */
    isHidden: integer("is_hidden").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.albumId, table.nodeId] }),
    index("album_items_position").on(table.albumId, table.position, table.isHidden),
    index("album_items_node").on(table.nodeId),
  ],
);
