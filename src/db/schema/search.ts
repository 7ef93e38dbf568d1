import { blob, index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { sql } from "drizzle-orm";

/** The journal number up to which the word index includes an account's changes. */
export const searchCursors = sqliteTable("search_cursors", {
  accountId: integer("account_id").primaryKey(),
  seq: integer("seq").notNull(),
});

/** One row: the progress of the index over nodes older than it, and the version of its format. */
export const searchBackfills = sqliteTable("search_fill", {
  id: integer("id").primaryKey(),
  /** If it differs from the program's, everything has to be indexed again. */
  format: integer("format").notNull(),
  /** Nodes with this id or more, */
  nextId: integer("next_id").notNull(),
  /** up to this one, still have to be indexed; the journals name those with larger ids. */
  untilId: integer("until_id").notNull(),
});

/** Blobs with new metadata: their files have to be indexed again, although they did not change. */
export const searchRescanQueue = sqliteTable("search_again", {
  digest: blob("digest").primaryKey(),
  /** The files after this account's node still have to be indexed, in the order of the index nodes_blob. */
  afterAccountId: integer("after_account_id").notNull().default(0),
  afterNodeId: integer("after_node_id").notNull().default(0),
});

/** Embedded metadata of photos, audio and videos, by blob. */
export const mediaInfo = sqliteTable(
  "media_info",
  {
    digest: blob("digest").primaryKey(),
    /** Pixels as displayed: rotated by the EXIF orientation. */
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
    /** Why there is no metadata; another program version tries again. */
    failure: text("failure"),
    program: text("program").notNull(),
    readAt: integer("read_at").notNull(),
    /** The identifier that the photo and the video of a Live Photo share. */
    contentId: text("content_id"),
    /** The video inside a photo. */
    motionOffset: integer("motion_offset"),
    motionBytes: integer("motion_bytes"),
    /** Version of the reader: older rows are read again. */
    reading: integer("reading").notNull().default(0),
    /** The nearest town, in `places`. */
    placeId: integer("place_id"),
  },
  (table) => [
    index("media_info_failures").on(table.program).where(sql`failure IS NOT NULL`),
    index("media_info_reading").on(table.reading),
    index("media_info_content").on(table.contentId).where(sql`content_id IS NOT NULL`),
  ],
);

/** The queue of blobs whose metadata has to be extracted; survives a restart. */
export const mediaQueue = sqliteTable("media_queue", {
  digest: blob("digest").primaryKey(),
  /** The media type of a file with this blob; null for a retry: that of any file. */
  mediaType: text("media_type"),
  /** Attempts that ended with a crash of the process. */
  attempts: integer("attempts").notNull().default(0),
});
