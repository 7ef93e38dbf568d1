import { blob, index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sql } from "drizzle-orm";

/** Up to which journal number the index of words holds what an account has. */
export const searchCursors = sqliteTable("search_cursors", {
  accountId: integer("account_id").primaryKey(),
  seq: integer("seq").notNull(),
});

/** One row: how far the index has been filled with what was there before it, and in which form it is. */
export const searchBackfills = sqliteTable("search_fill", {
  id: integer("id").primaryKey(),
  /** Another one than the program's: everything is to be indexed anew. */
  format: integer("format").notNull(),
  /** Nodes with this id or more, */
  nextId: integer("next_id").notNull(),
  /** up to this one, are still to be indexed; those with larger ids are told by the journals. */
  untilId: integer("until_id").notNull(),
});

/** Contents that have told something of themselves: what has them is to be indexed again, without a change of its own. */
export const searchRescanQueue = sqliteTable("search_again", {
  digest: blob("digest").primaryKey(),
  /** Those behind this account's node are still to be indexed, in the order of the index nodes_blob. */
  afterAccountId: integer("after_account_id").notNull().default(0),
  afterNodeId: integer("after_node_id").notNull().default(0),
});

/** What pictures, sounds and films tell of themselves, by content. */
export const mediaInfo = sqliteTable(
  "media_info",
  {
    digest: blob("digest").primaryKey(),
    /** Pixels, as it is to be seen: turned where the picture says so. */
    width: integer("width"),
    height: integer("height"),
    /** Exif 2.32, 1 to 8. */
    orientation: integer("orientation"),
    durationMs: integer("duration_ms"),
    /** ISO 8601 with an offset. */
    takenAt: text("taken_at"),
    /** Make and model. */
    camera: text("camera"),
    /** Degrees. */
    latitude: real("latitude"),
    longitude: real("longitude"),
    codec: text("codec"),
    /** Bits per second. */
    bitrate: integer("bitrate"),
    title: text("title"),
    artist: text("artist"),
    album: text("album"),
    /** Why there is nothing; tried again by another version of the program. */
    failure: text("failure"),
    program: text("program").notNull(),
    readAt: integer("read_at").notNull(),
  },
  (table) => [index("media_info_failures").on(table.program).where(sql`failure IS NOT NULL`)],
);

/** Contents that are to be asked what they tell of themselves; survives a restart. */
export const mediaQueue = sqliteTable("media_queue", {
  digest: blob("digest").primaryKey(),
  /** As a file that has it says; null for what is tried again: any file's. */
  mediaType: text("media_type"),
  /** Tries that ended with the process that was asked. */
  attempts: integer("attempts").notNull().default(0),
});
