import { Elysia } from "elysia";
import { invalidField } from "../../../errors.ts";
import { documented } from "../../../http/documented.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Query, readBoolean, readChoice, readInteger, readQuery } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { parseTagList } from "../../../tree/model/labels.ts";
import { NEWEST, readCursor, readPlaceAt } from "./cursor.ts";
import { PhotosRecord, QUERY_OF_PHOTOS, TimelineRecord } from "./model.ts";
import { type PhotoContext, presentPhotos, presentTimeline } from "./present.ts";
import type { PhotoService } from "./service.ts";
import { PHOTO_TYPES, type PhotoFilter, type PhotoPosition } from "./types.ts";

/** What the routes of photos work with. */
export interface PhotoRoutesOptions {
  readonly photos: PhotoService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: PhotoContext["hasThumbnail"];
}

const LIMIT_MAX = 1_000;

const DESCRIPTION =
  "Pictures and films of one's own, by the time at which they were taken: as the device or the content tells, else when " +
  "the file was last changed, else when it came. What others share and what is in the trash is not among them.";

/** GET /api/photos and /api/photos/timeline. */
export function photoRoutes({ photos, guard, hasThumbnail }: PhotoRoutesOptions) {
  return new Elysia({ name: "photo-routes", prefix: "/api/photos" })
    .use(guard)
    .get(
      "/",
      async ({ principal, request }) => {
        const { baseUrl, query: queryString } = requestContextOf(request);
        const query = readQuery(queryString);
        const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: 100 });
        const page = await photos.page(principal.user.id, readFilter(query), readPlace(query), limit);
        const files = readBoolean(query["full"], "full") === true ? photos.files(page.photos) : undefined;
        return ok({ ...presentPhotos(page, { baseUrl, hasThumbnail }, files), isIndexing: !photos.isComplete });
      },
      {
        access: "reader",
        ...documented({
          tag: "Files",
          summary: "Pictures and films, newest first",
          description:
            `${DESCRIPTION} Pages by cursor: nothing is met twice or passed over, whatever comes or goes meanwhile. ` +
            "`at` begins with a day, a month or a year and goes back from its end.",
          access: "reader",
          query: {
            ...QUERY_OF_PHOTOS,
            at: { type: "string", example: "2026-07", description: "A day, a month or a year" },
            cursor: { type: "string", description: "nextCursor of the page before" },
            limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: 100 },
            full: { type: "boolean", default: false, description: "With all that lists tell of files" },
          },
          data: PhotosRecord,
          errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
        }),
      },
    )
    .get(
      "/timeline",
      async ({ principal, request }) => {
        const accountId = principal.user.id;
        // Asked before the days are counted: where it is over, they are the last word on what came until then.
        const state = { isIndexing: !photos.isComplete, isSettling: photos.isSettling(accountId) };
        const timeline = await photos.timeline(accountId, readFilter(readQuery(requestContextOf(request).query)));
        return ok({ ...presentTimeline(timeline), ...state });
      },
      {
        access: "reader",
        ...documented({
          tag: "Files",
          summary: "How many pictures and films were taken on each day",
          description: DESCRIPTION,
          access: "reader",
          query: QUERY_OF_PHOTOS,
          data: TimelineRecord,
          errors: ["invalid_field", "invalid_path", "not_found", "overloaded"],
        }),
      },
    );
}

function readFilter(query: Query): PhotoFilter {
  const folder = query["folder"] || undefined;
  return {
    type: readChoice(query["type"] || undefined, "type", PHOTO_TYPES),
    tags: parseTagList(query["tags"] ?? ""),
    folderPath: folder === undefined ? undefined : normalizePath(folder),
  };
}

/** @throws AppError invalid_field */
function readPlace(query: Query): PhotoPosition {
  const { at, cursor } = query;
  if (at !== undefined && cursor !== undefined) {
    throw invalidField("at", "at says where to begin, cursor where to go on. Send one of them.");
  }
  if (cursor !== undefined) return readCursor(cursor);
  return at === undefined ? NEWEST : readPlaceAt(at);
}
