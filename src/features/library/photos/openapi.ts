/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import {
  ASPECTS_MAX,
  AspectsRecord,
  LIMIT_MAX,
  MEMORY_PHOTOS,
  MemoriesRecord,
  PhotosRecord,
  PlacesRecord,
  QUERY_OF_PHOTOS,
  TimelineRecord,
} from "./model.ts";

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "List photos and videos, newest first",
  description:
    "Your photos and videos, by the time at which they were taken: as reported by the device or the file, " +
    "otherwise the time of the last change, otherwise the time of the upload. Items that others share and items " +
    "in the trash are not included. " +
    `Pages use a cursor: no item is listed twice or skipped while others are added or removed. ` +
    "`at` starts at the end of a day, a month or a year and continues with older items.",
  query: {
    ...QUERY_OF_PHOTOS,
    at: { type: "string", example: "2026-07", description: "A day, a month or a year" },
    cursor: { type: "string", description: "nextCursor of the previous page" },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: 100 },
    full: { type: "boolean", default: false, description: "Include all fields of file listings" },
  },
  data: PhotosRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});

export const timeline = (): RouteDocs => ({
  tag: "Files",
  summary: "Count photos and videos per day",
  description: "The same photos and videos as GET /api/photos.",
  query: QUERY_OF_PHOTOS,
  data: TimelineRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});

export const places = (): RouteDocs => ({
  tag: "Files",
  summary: "List the places of photos and videos",
  description:
    "The towns nearest to where your photos and videos were taken, most photos first, at most 5,000. A photo without " +
    "a position has no place; one that is more than 100 km from all towns is elsewhere. Town data: GeoNames, CC BY 4.0.",
  data: PlacesRecord,
  errors: ["overloaded"],
});

export const aspects = (): RouteDocs => ({
  tag: "Files",
  summary: "List the aspect ratios of photos and videos",
  description:
    "The same photos and videos as GET /api/photos, in the same order, as one number each, for the layout of a grid.",
  query: {
    ...QUERY_OF_PHOTOS,
    at: { type: "string", example: "2026-07", description: "A day, a month or a year" },
    cursor: { type: "string", description: "nextCursor of the previous page" },
    limit: { type: "integer", minimum: 1, maximum: ASPECTS_MAX, default: 1_000 },
  },
  data: AspectsRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});

export const memories = (): RouteDocs => ({
  tag: "Files",
  summary: "List the photos of a date in earlier years",
  description:
    "Photos and videos that were taken on the same date in the 150 years before, by the local date of their location. " +
    `Each year has its count and at most ${MEMORY_PHOTOS} photos; GET /api/photos?at= lists them all. ` +
    "In years without February 29, February 28 also returns the photos of February 29.",
  query: { date: { type: "string", format: "date", description: "Required. The client's local date" } },
  data: MemoriesRecord,
  errors: ["invalid_field", "overloaded"],
});
