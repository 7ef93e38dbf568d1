import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { Motion } from "../../../http/fields.ts";
import { ref } from "../../../http/documented.ts";
import { ShareMarkRecord } from "../files/model.ts";
import { PHOTO_TYPES } from "./types.ts";

const Count = Type.Integer({ minimum: 0 });
const CountOrNone = t.Union([Count, t.Null()]);

/** A picture or video. */
export const Photo = t.Object({
  id: t.String(),
  name: t.String(),
  isVideo: t.Boolean(),
  mimeType: t.String(),
  size: Count,
  width: t.Union([Count, t.Null()], { description: "Pixels as displayed" }),
  height: CountOrNone,
  durationSeconds: t.Union([t.Number({ minimum: 0 }), t.Null()]),
  takenAt: t.String({
    format: "date-time",
    examples: ["2026-07-01T12:30:00.000+02:00"],
    description: "With the UTC offset of the location, if known; the first ten characters are the local date",
  }),
  motion: Motion,
  motionFileId: t.Union([t.String(), t.Null()], { description: "The file of its own" }),
  thumbnailUrl: t.String(),
  hasThumbnail: t.Boolean(),
  isFavorite: t.Boolean({ description: "Whether it is your favorite" }),
  shared: t.Union([ShareMarkRecord, t.Null()], { description: "Your live shares of it; null if you do not share it" }),
});

const { width, height, durationSeconds, takenAt, motion, motionFileId } = Photo.properties;

/** The fields of a photo or video in the record of any file. */
export const PhotoFields = t.Object(
  { width, height, durationSeconds, takenAt: t.Union([takenAt, t.Null()]), motion, motionFileId },
  { description: "All null for a file that is no photo or video" },
);

/** With `full`, also the fields of a file. */
const PhotoRecord = { anyOf: [Photo, { allOf: [ref("FileItem"), Photo] }] };

const IsIndexing = t.Boolean({ description: "Files stored before this version are still being indexed" });

/** GET /api/photos */
export const PhotosRecord = {
  type: "object",
  required: ["photos", "nextCursor", "isIndexing"],
  properties: {
    photos: { type: "array", items: PhotoRecord },
    nextCursor: t.Union([t.String(), t.Null()], { description: "Cursor for the next photos; null at the end" }),
    isIndexing: IsIndexing,
  },
};

/** GET /api/photos/timeline */
export const TimelineRecord = t.Object({
  days: t.Array(t.Object({ date: t.String({ format: "date", examples: ["2026-07-01"] }), count: Count }), {
    description: "Days with photos, newest first",
  }),
  total: Count,
  isIndexing: IsIndexing,
  isSettling: t.Boolean({
    description: "Recent photos may move to another day: their capture time is not read yet",
  }),
});

/** The API's id of the place of photos far from all towns. */
export const ELSEWHERE = "elsewhere";

/** GET /api/photos/places */
export const PlacesRecord = t.Object({
  places: t.Array(
    t.Object({
      id: t.String({ description: "The id of the town at GeoNames, or elsewhere", examples: ["2267057"] }),
      name: t.String({ description: "In the spelling of GeoNames; empty for elsewhere" }),
      region: t.Union([t.String(), t.Null()]),
      country: t.Union([t.String(), t.Null()], { description: "ISO 3166-1 alpha-2" }),
      latitude: t.Union([t.Number(), t.Null()]),
      longitude: t.Union([t.Number(), t.Null()]),
      count: Count,
      coverFileId: t.String({ description: "The newest photo" }),
      coverUrl: t.String(),
      hasCover: t.Boolean(),
    }),
  ),
  isSettling: t.Boolean({ description: "Recent photos may be missing: their position is not read yet" }),
});

/** GET /api/photos/aspects */
export const AspectsRecord = t.Object({
  days: t.Array(
    t.Object({
      date: t.String({ format: "date" }),
      aspects: t.Array(Count, {
        description: "Width divided by height as displayed, in percent, of each photo of the day; 0 if not known yet",
        examples: [[133, 75]],
      }),
    }),
    { description: "Newest first. The first and the last day of a page can continue on the pages next to it" },
  ),
  nextCursor: t.Union([t.String(), t.Null()], { description: "Cursor for the next photos; null at the end" }),
});

/** GET /api/photos/memories */
export const MemoriesRecord = t.Object({
  memories: t.Array(
    t.Object({
      date: t.String({ format: "date" }),
      count: Count,
      photos: t.Array(Photo, { description: "The newest of the day" }),
    }),
    { description: "One day per year, latest first" },
  ),
});

/** The filters in the query string of both routes, for the OpenAPI document. */
export const QUERY_OF_PHOTOS = {
  type: { type: "string", enum: [...PHOTO_TYPES] },
  tags: { type: "string", description: "Tags that all files must have, separated by commas" },
  folder: { type: "string", description: "Only below this folder" },
  place: { type: "string", description: "Only from this place of GET /api/photos/places" },
};

export const LIMIT_MAX = 1_000;

/** Shapes per page. */
export const ASPECTS_MAX = 5_000;

/** Photos per year in GET /api/photos/memories. */
export const MEMORY_PHOTOS = 6;
