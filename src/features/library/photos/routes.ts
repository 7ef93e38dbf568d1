import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Query, readBoolean, readChoice, readInteger, queryOf, readQuery } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import { parseTagList } from "../../../tree/model/labels.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { LIMIT_MAX } from "./model.ts";
import { NEWEST, readCursor, readDatePosition } from "./cursor.ts";
import { type PhotoContext, presentPhotos, presentTimeline } from "./present.ts";
import type { PhotoService } from "./service.ts";
import { PHOTO_TYPES, type PhotoFilter, type PhotoPosition } from "./types.ts";

/** Dependencies of the routes of photos. */
export interface PhotoRoutesOptions {
  readonly photos: PhotoService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: PhotoContext["hasThumbnail"];
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
}

/** GET /api/photos and /api/photos/timeline. */
export function photoRoutes({ photos, guard, hasThumbnail, favorites }: PhotoRoutesOptions) {
  return new Router({ name: "photo-routes", prefix: "/api/photos", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.list },
      async ({ principal, request }) => {
        const { baseUrl, query: queryString } = requestContextOf(request);
        const query = readQuery(queryString);
        const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: 100 });
        const page = await photos.page(principal.user.id, readFilter(query), readPosition(query), limit);
        const files = readBoolean(query["full"], "full") === true ? photos.files(page.photos) : undefined;
        const marked = favorites.among(
          principal.user,
          page.photos.map(({ nodeId: id }) => ({ id })),
        );
        const context = { baseUrl, hasThumbnail, favorites: marked };
        return ok({ ...presentPhotos(page, context, files), isIndexing: !photos.isComplete });
      },
    )
    .get(
      "/timeline",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.timeline },
      async ({ principal, request }) => {
        const accountId = principal.user.id;
        // Read before the days are counted: once it is false, the counts include everything stored until then.
        const state = { isIndexing: !photos.isComplete, isSettling: photos.isSettling(accountId) };
        const timeline = await photos.timeline(accountId, readFilter(queryOf(request)));
        return ok({ ...presentTimeline(timeline), ...state });
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
function readPosition(query: Query): PhotoPosition {
  const { at, cursor } = query;
  if (at !== undefined && cursor !== undefined) {
    throw invalidField("at", "You can't combine at and cursor. Send at to start at a date, or cursor to continue.");
  }
  if (cursor !== undefined) return readCursor(cursor);
  return at === undefined ? NEWEST : readDatePosition(at);
}
