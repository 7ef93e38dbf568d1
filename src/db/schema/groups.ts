import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { shares } from "./shares.ts";
import { users } from "./users.ts";

/** Groups of accounts, which administrators make. A share may be for a group. */
export const groups = sqliteTable(
  "groups",
  {
    id: integer("id").primaryKey(),
    publicId: text("public_id").notNull(),
    name: text("name").notNull(),
    /** The name folded: unique, and used to search. */
    nameKey: text("name_key").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("groups_public").on(table.publicId), uniqueIndex("groups_name").on(table.nameKey)],
);

export const groupMembers = sqliteTable(
  "group_members",
  {
    groupId: integer("group_id")
      .notNull()
      .references(() => groups.id, { onDelete: "cascade" }),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    addedAt: integer("added_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.groupId, table.userId] }), index("group_members_user").on(table.userId)],
);

/** Shares with a group whose members are not notified yet. */
export const groupNotices = sqliteTable("group_notices", {
  shareId: integer("share_id")
    .primaryKey()
    .references(() => shares.id, { onDelete: "cascade" }),
  /** `users.id` of the last member who was notified; 0 for none. */
  afterUserId: integer("after_user_id").notNull(),
});

/** Shares of a group that a member removed from their own lists. They stay hidden if the member leaves and comes back. */
export const hiddenShares = sqliteTable(
  "hidden_shares",
  {
    shareId: integer("share_id")
      .notNull()
      .references(() => shares.id, { onDelete: "cascade" }),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
  },
  (table) => [primaryKey({ columns: [table.shareId, table.userId] }), index("hidden_shares_user").on(table.userId)],
);
