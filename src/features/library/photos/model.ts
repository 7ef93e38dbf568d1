import { Type } from "@sinclair/typebox";
import { t } from "elysia";
import { ref } from "../../../http/documented.ts";
import { PHOTO_TYPES } from "./types.ts";

const Count = Type.Integer({ minimum: 0 });
const CountOrNone = t.Union([Count, t.Null()]);

/** A picture or film. */
export const Photo = t.Object({
  id: t.String(),
  name: t.String(),
  isVideo: t.Boolean(),
  mimeType: t.String(),
  size: Count,
  width: t.Union([Count, t.Null()], { description: "Pixels as they are to be seen" }),
  height: CountOrNone,
  durationSeconds: t.Union([t.Number({ minimum: 0 }), t.Null()]),
  takenAt: t.String({
    format: "date-time",
    examples: ["2026-07-01T12:30:00.000+02:00"],
    description: "With the offset of the place, where that is known; its first ten characters are the day there",
  }),
  thumbnailUrl: t.String(),
  hasThumbnail: t.Boolean(),
});

/** With `full`, the record of a file besides. */
const PhotoRecord = { anyOf: [Photo, { allOf: [ref("FileItem"), Photo] }] };

const IsIndexing = t.Boolean({ description: "What was stored before this version is still being looked through" });

/** GET /api/photos */
export const PhotosRecord = {
  type: "object",
  required: ["photos", "nextCursor", "isIndexing"],
  properties: {
    photos: { type: "array", items: PhotoRecord },
    nextCursor: t.Union([t.String(), t.Null()], { description: "For the photos behind these; null at the end" }),
    isIndexing: IsIndexing,
  },
};

/** GET /api/photos/timeline */
export const TimelineRecord = t.Object({
  days: t.Array(t.Object({ date: t.String({ format: "date", examples: ["2026-07-01"] }), count: Count }), {
    description: "Days on which something was taken, the newest first",
  }),
  total: Count,
  isIndexing: IsIndexing,
  isSettling: t.Boolean({
    description: "What came lately may yet go to another day: its content is still to be asked when it was taken",
  }),
});

/** The filters in the query string of both, for the document. */
export const QUERY_OF_PHOTOS = {
  type: { type: "string", enum: [...PHOTO_TYPES] },
  tags: { type: "string", description: "Labels that all must carry, separated by commas" },
  folder: { type: "string", description: "Only below this folder" },
};

export const LIMIT_MAX = 1_000;
