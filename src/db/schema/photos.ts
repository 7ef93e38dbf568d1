import { blob, index, integer, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * Photos and videos in the tree, by the time they were taken. Triggers on `nodes` and `media_info` maintain it; the
 * view
 * `photo_sources` defines its rows. Only the backfill of older databases writes to it otherwise.
 */
export const photos = sqliteTable(
  "photos",
  {
    nodeId: integer("node_id").primaryKey(),
    accountId: integer("account_id").notNull(),
    /** As in `nodes`; it identifies entries in deleted folders. */
    parentId: integer("parent_id").notNull(),
    /** Days since 1970, in the time zone where it was taken. */
    day: integer("day").notNull(),
    /** The local time where it was taken, in milliseconds since 1970 as if it were UTC. */
    takenAt: integer("taken_at").notNull(),
    /** The UTC offset of that time; null if unknown. */
    offsetMinutes: integer("offset_minutes"),
    isVideo: integer("is_video").notNull(),
  },
  (table) => [
    index("photos_taken").on(table.accountId, table.day, table.takenAt, table.nodeId, table.parentId, table.isVideo),
  ],
);

/** One row: nodes from `next_id` to `until_id` are older than this table and still have to be processed. */
export const photoBackfills = sqliteTable("photo_fill", {
  id: integer("id").primaryKey(),
  nextId: integer("next_id").notNull(),
  untilId: integer("until_id").notNull(),
});

/** Blobs with new metadata that many files share: the files after this account's node still have to be processed. */
export const photoRescanQueue = sqliteTable("photos_again", {
  digest: blob("digest").primaryKey(),
  afterAccountId: integer("after_account_id").notNull(),
  afterNodeId: integer("after_node_id").notNull(),
});
