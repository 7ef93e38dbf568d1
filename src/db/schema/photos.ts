import { sql } from "drizzle-orm";
import { blob, index, integer, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

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
    /** The nearest town, in `places`; null if the file has no position. */
    placeId: integer("place_id"),
  },
  (table) => [
    index("photos_taken").on(table.accountId, table.day, table.takenAt, table.nodeId, table.parentId, table.isVideo),
    index("photos_place")
      .on(table.accountId, table.placeId, table.day, table.takenAt, table.nodeId, table.parentId, table.isVideo)
      .where(sql`place_id IS NOT NULL`),
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

/** Towns where photos were taken, by their id at GeoNames. Row 0 is for photos far from all towns. */
export const places = sqliteTable("places", {
  id: integer("id").primaryKey(),
  name: text("name").notNull(),
  region: text("region"),
  /** ISO 3166-1 alpha-2. */
  country: text("country"),
  latitude: real("latitude"),
  longitude: real("longitude"),
});

/**
 * The nearest towns of files whose metadata has a location. The position in the file itself takes precedence. Triggers
 * update `photos`.
 */
export const filePlaces = sqliteTable("file_places", {
  nodeId: integer("node_id").primaryKey(),
  placeId: integer("place_id").notNull(),
});

/** Files whose town is still to be found: triggers add them when their location changes. */
export const placeQueue = sqliteTable("place_queue", {
  nodeId: integer("node_id").primaryKey(),
});

/** Live Photos in two files. */
export const livePairs = sqliteTable(
  "live_pairs",
  {
    photoId: integer("photo_id").primaryKey(),
    videoId: integer("video_id").notNull(),
    accountId: integer("account_id").notNull().default(0),
    /** 1 if the files are in two folders. */
    isApart: integer("is_apart").notNull().default(0),
    /** 1 if the video has no row in `photos`; 0 while exactly one of the files is in a deleted folder. */
    hidesVideo: integer("hides_video").notNull().default(1),
  },
  (table) => [
    uniqueIndex("live_pairs_video").on(table.videoId),
    index("live_pairs_apart").on(table.accountId, table.photoId).where(sql`is_apart = 1`),
  ],
);

/** Accounts whose folders were deleted or restored: their pairs in two folders after this photo are still to be checked. */
export const livePairRechecks = sqliteTable("live_rechecks", {
  accountId: integer("account_id").primaryKey(),
  afterPhotoId: integer("after_photo_id").notNull(),
});

/** Files whose pair has to be looked for again: triggers add them, the backfill of photos removes them. */
export const livePairQueue = sqliteTable("live_queue", {
  nodeId: integer("node_id").primaryKey(),
});
