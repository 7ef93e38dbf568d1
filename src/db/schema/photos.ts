import { blob, index, integer, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * Pictures and films that lie in a tree, by when they were taken. Triggers keep it with `nodes` and `media_info`; the view
 * `photo_sources` says what belongs here. Nobody else writes it, but for the filling of a database that had none.
 */
export const photos = sqliteTable(
  "photos",
  {
    nodeId: integer("node_id").primaryKey(),
    accountId: integer("account_id").notNull(),
    /** As in `nodes`: what lies in a folder that is gone is told by it. */
    parentId: integer("parent_id").notNull(),
    /** Days since 1970, where it was taken. */
    day: integer("day").notNull(),
    /** What a clock showed where it was taken, in milliseconds since 1970 as if that were UTC. */
    takenAt: integer("taken_at").notNull(),
    /** Of that clock; null where nobody told. */
    offsetMinutes: integer("offset_minutes"),
    isVideo: integer("is_video").notNull(),
  },
  (table) => [
    index("photos_taken").on(table.accountId, table.day, table.takenAt, table.nodeId, table.parentId, table.isVideo),
  ],
);

/** One row: nodes from `next_id` to `until_id` were there before `photos` and are still to be looked at. */
export const photoBackfills = sqliteTable("photo_fill", {
  id: integer("id").primaryKey(),
  nextId: integer("next_id").notNull(),
  untilId: integer("until_id").notNull(),
});

/** Contents that have told something of themselves and that many files have: those behind this account's node wait. */
export const photoRescanQueue = sqliteTable("photos_again", {
  digest: blob("digest").primaryKey(),
  afterAccountId: integer("after_account_id").notNull(),
  afterNodeId: integer("after_node_id").notNull(),
});
