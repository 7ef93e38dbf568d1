/** Texts of these routes in the OpenAPI document. */
import type { RouteDocs } from "../../../http/documented.ts";
import { LIMIT_MAX, PhotosRecord, QUERY_OF_PHOTOS, TimelineRecord } from "./model.ts";

const DESCRIPTION =
  "Pictures and films of one's own, by the time at which they were taken: as the device or the content tells, else when " +
  "the file was last changed, else when it came. What others share and what is in the trash is not among them.";

export const list = (): RouteDocs => ({
  tag: "Files",
  summary: "Pictures and films, newest first",
  description:
    `${DESCRIPTION} Pages by cursor: nothing is met twice or passed over, whatever comes or goes meanwhile. ` +
    "`at` begins with a day, a month or a year and goes back from its end.",
  query: {
    ...QUERY_OF_PHOTOS,
    at: { type: "string", example: "2026-07", description: "A day, a month or a year" },
    cursor: { type: "string", description: "nextCursor of the page before" },
    limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: 100 },
    full: { type: "boolean", default: false, description: "With all that lists tell of files" },
  },
  data: PhotosRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});

export const timeline = (): RouteDocs => ({
  tag: "Files",
  summary: "How many pictures and films were taken on each day",
  description: DESCRIPTION,
  query: QUERY_OF_PHOTOS,
  data: TimelineRecord,
  errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
});
