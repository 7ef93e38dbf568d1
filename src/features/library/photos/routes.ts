import { invalidField } from "../../../errors.ts";
import { ok } from "../../../http/envelope.ts";
import { requestContextOf } from "../../../http/request-context.ts";
import { type Query, readBoolean, readChoice, readInteger, queryOf, readQuery } from "../../../http/fields.ts";
import { normalizePath } from "../../../lib/path.ts";
import { ELSEWHERE_ID } from "../../media/places/types.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import { parseTagList } from "../../../tree/model/labels.ts";
import { say } from "../../../translations/say.ts";
import { Router } from "../../accounts/routing/router.ts";
import * as docs from "./openapi.ts";
import { ASPECTS_MAX, ELSEWHERE, LIMIT_MAX, MEMORY_PHOTOS } from "./model.ts";
import { NEWEST, readCursor, readDatePosition, readDay } from "./cursor.ts";
import {
  type PhotoContext,
  presentAspects,
  presentMemories,
  presentPhotos,
  presentPlaces,
  presentTimeline,
} from "./present.ts";
import type { PhotoService } from "./service.ts";
import { type Photo, PHOTO_TYPES, type PhotoFilter, type PhotoPosition } from "./types.ts";
import type { User } from "../../accounts/users/types.ts";

/** Dependencies of the routes of photos. */
export interface PhotoRoutesOptions {
  readonly photos: PhotoService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: PhotoContext["hasThumbnail"];
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
}

/** The routes below /api/photos. */
export function photoRoutes({ photos, guard, hasThumbnail, favorites, shareMarks }: PhotoRoutesOptions) {
  const marksOf = (user: User, shown: readonly Photo[]) => {
    const nodes = shown.map(({ nodeId: id }) => ({ id }));
    return { favorites: favorites.among(user, nodes), shares: shareMarks.among(user, nodes) };
  };
  return new Router({ prefix: "/api/photos", guard })
    .get(
      "/",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.list },
      async ({ principal, request }) => {
        const { baseUrl, query: queryString } = requestContextOf(request);
        const query = readQuery(queryString);
        const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: 100 });
        const page = await photos.page(principal.user.id, readFilter(query), readPosition(query), limit);
        const files = readBoolean(query["full"], "full") === true ? photos.files(page.photos) : undefined;
        const context = { baseUrl, hasThumbnail, ...marksOf(principal.user, page.photos) };
        return ok({ ...presentPhotos(page, context, files), isIndexing: !photos.isComplete });
      },
    )
    .get(
      "/places",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.places },
      async ({ principal, request }) => {
        const { baseUrl } = requestContextOf(request);
        const accountId = principal.user.id;
        const isSettling = photos.isSettling(accountId);
        return ok({ places: presentPlaces(await photos.places(accountId), { baseUrl, hasThumbnail }), isSettling });
      },
    )
    .get(
      "/timeline",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.timeline },
      async ({ principal, request }) => {
        const accountId = principal.user.id;
        // Read before the days are counted: once it is false, the counts include everything stored until then.
        const state = {
          isIndexing: !photos.isComplete,
          isSettling: photos.isSettling(accountId),
        };
        const timeline = await photos.timeline(accountId, readFilter(queryOf(request)));
        return ok({ ...presentTimeline(timeline), ...state });
      },
    )
    .get(
      "/aspects",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.aspects },
      async ({ principal, request }) => {
        const query = queryOf(request);
        const limit = readInteger(query, "limit", { min: 1, max: ASPECTS_MAX, default: 1_000 });
        const position = readPosition(query);
        return ok(presentAspects(await photos.aspects(principal.user.id, readFilter(query), position, limit)));
      },
    )
    .get(
      "/memories",
      { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited", docs: docs.memories },
      async ({ principal, request }) => {
        const { baseUrl, query: queryString } = requestContextOf(request);
        const day = readDay(readQuery(queryString)["date"]);
        const memories = await photos.memories(principal.user.id, day, MEMORY_PHOTOS);
        const marks = marksOf(
          principal.user,
          memories.flatMap((memory) => memory.photos),
        );
        return ok(presentMemories(memories, { baseUrl, hasThumbnail, ...marks }));
      },
    );
}

function readFilter(query: Query): PhotoFilter {
  const folder = query["folder"] || undefined;
  return {
    type: readChoice(query["type"] || undefined, "type", PHOTO_TYPES),
    tags: parseTagList(query["tags"] ?? ""),
    folderPath: folder === undefined ? undefined : normalizePath(folder),
    placeId: readPlace(query["place"] || undefined),
  };
}

/** @throws AppError invalid_field */
function readPlace(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text === ELSEWHERE) return ELSEWHERE_ID;
  if (!/^\d{1,10}$/.test(text))
    throw invalidField("place", say`place must be the id of a place of GET /api/photos/places.`);
  return Number(text);
}

/** @throws AppError invalid_field */
function readPosition(query: Query): PhotoPosition {
  const { at, cursor } = query;
  if (at !== undefined && cursor !== undefined) {
    throw invalidField("at", say`You can't combine at and cursor. Send at to start at a date, or cursor to continue.`);
  }
  if (cursor !== undefined) return readCursor(cursor);
  return at === undefined ? NEWEST : readDatePosition(at);
}
