import { errorItem } from "../../../http/error-response.ts";
import { ok, paginate } from "../../../http/envelope.ts";
import { IdParams, type Query, queryOf, readChoice, readInteger } from "../../../http/fields.ts";
import { type Clock, toTimestamp } from "../../../lib/clock.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { authGuard } from "../../accounts/auth/guard.ts";
import { CHANGE_FILES } from "../../accounts/routing/declaration.ts";
import { Router } from "../../accounts/routing/router.ts";
import type { FavoriteService } from "../favorites/service.ts";
import type { ShareMarks } from "../marks/share-marks.ts";
import { presentContextOf, presentFileItem } from "../files/present.ts";
import { presentPhotoFields } from "../photos/present.ts";
import * as docs from "./openapi.ts";
import {
  AddItemsBody,
  ALBUMS_LIMIT_MAX,
  CreateAlbumBody,
  ITEMS_LIMIT_MAX,
  MoveItemsBody,
  RemoveItemsBody,
  UpdateAlbumBody,
} from "./model.ts";
import { presentAlbum } from "./present.ts";
import type { AlbumService } from "./service.ts";
import { type AddedItems, ALBUM_SORTS, ITEM_SORTS, type PageQuery } from "./types.ts";

/** Dependencies of {@link albumRoutes}. */
export interface AlbumRoutesOptions {
  readonly albums: AlbumService;
  readonly guard: ReturnType<typeof authGuard>;
  readonly hasThumbnail: (file: FileNode) => boolean;
  /** Finds the nodes that the caller marked. */
  readonly favorites: Pick<FavoriteService, "among">;
  /** Finds the nodes that the caller shares. */
  readonly shareMarks: Pick<ShareMarks, "among">;
  readonly clock: Clock;
}

const LIST = { access: "reader", scope: "files:read", rate: "listing", audit: "unaudited" } as const;
const CHANGE_ALBUM = {
  ...CHANGE_FILES,
  audit: { action: "album.change", target: "album", targetParam: "id", files: "all" },
  params: IdParams,
} as const;
/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / ALBUMS_LIMIT_MAX);

/** /api/albums, and the albums of a file. */
export function albumRoutes({ albums, guard, hasThumbnail, favorites, shareMarks, clock }: AlbumRoutesOptions) {
  const router = new Router({ guard });
  router
    .get("/api/albums", { ...LIST, docs: docs.list }, async ({ principal, request }) => {
      const { page, limit, ...query } = readPage(queryOf(request), ALBUM_SORTS, ALBUMS_LIMIT_MAX);
      const found = await albums.list(principal.user, { ...query, limit });
      const context = presentContextOf(request, hasThumbnail);
      return ok({
        albums: found.albums.map((album) => presentAlbum(album, context)),
        pagination: paginate(page, limit, found.total),
      });
    })
    .post(
      "/api/albums",
      {
        ...CHANGE_FILES,
        audit: { action: "album.create", target: "album", files: "all" },
        docs: docs.create,
        body: CreateAlbumBody,
      },
      async ({ principal, body, request, set }) => {
        const { name, description = "", fileIds = [] } = body;
        const { album, added } = await albums.create(principal.user, { name, description, fileIds });
        set.status = 201;
        return ok({
          ...presentAlbum(album, presentContextOf(request, hasThumbnail)),
          failed: presentFailed(request, added),
        });
      },
    )
    .get("/api/albums/:id", { ...LIST, docs: docs.get, params: IdParams }, async ({ principal, params, request }) =>
      ok(presentAlbum(await albums.get(principal.user, params.id), presentContextOf(request, hasThumbnail))),
    )
    .patch(
      "/api/albums/:id",
      { ...CHANGE_ALBUM, docs: docs.update, body: UpdateAlbumBody },
      async ({ principal, params, body, request }) => {
        const album = await albums.update(principal.user, params.id, body);
        return ok(presentAlbum(album, presentContextOf(request, hasThumbnail)));
      },
    )
    .delete(
      "/api/albums/:id",
      {
        ...CHANGE_FILES,
        audit: { action: "album.delete", target: "album", targetParam: "id", files: "changes" },
        docs: docs.remove,
        params: IdParams,
      },
      async ({ principal, params }) => {
        const { publicId: id, name } = await albums.delete(principal.user, params.id);
        return ok({ id, name, deletedAt: toTimestamp(clock.nowMs()) }, "The album was deleted. Its files were not.");
      },
    )
    .get(
      "/api/files/:id/albums",
      { ...LIST, docs: docs.ofFile, params: IdParams },
      async ({ principal, params, request }) => {
        const found = await albums.listOf(principal.user, params.id);
        const context = presentContextOf(request, hasThumbnail);
        return ok({ albums: found.map((album) => presentAlbum(album, context)) });
      },
    );
  return addItemRoutes(router, { albums, hasThumbnail, favorites, shareMarks });
}

/** /api/albums/{id}/items */
function addItemRoutes(
  router: Router,
  {
    albums,
    hasThumbnail,
    favorites,
    shareMarks,
  }: Pick<AlbumRoutesOptions, "albums" | "hasThumbnail" | "favorites" | "shareMarks">,
): Router {
  return router
    .get(
      "/api/albums/:id/items",
      { ...LIST, docs: docs.items, params: IdParams },
      async ({ principal, params, request }) => {
        const { page, limit, ...query } = readPage(queryOf(request), ITEM_SORTS, ITEMS_LIMIT_MAX);
        const { files, photos, total } = await albums.items(principal.user, params.id, { ...query, limit });
        const marks = [favorites.among(principal.user, files), shareMarks.among(principal.user, files)] as const;
        const context = presentContextOf(request, hasThumbnail, ...marks);
        return ok({
          items: files.map((file) => ({
            ...presentPhotoFields(photos.get(file.id)),
            ...presentFileItem(file, context),
          })),
          pagination: paginate(page, limit, total),
        });
      },
    )
    .get(
      "/api/albums/:id/aspects",
      { ...LIST, docs: docs.aspects, params: IdParams },
      async ({ principal, params }) => {
        const shapes = await albums.shapes(principal.user, params.id);
        return ok({ fileIds: shapes.map(({ fileId }) => fileId), aspects: shapes.map(({ aspect }) => aspect) });
      },
    )
    .post(
      "/api/albums/:id/items",
      { ...CHANGE_ALBUM, docs: docs.addItems, body: AddItemsBody },
      async ({ principal, params, body, request }) => {
        const { album, ...added } = await albums.addItems(principal.user, params.id, body.fileIds, body.before);
        const [first] = added.failed;
        if (first !== undefined && added.failed.length === new Set(body.fileIds).size) throw first.error;
        return ok({
          added: added.added,
          alreadyThere: added.alreadyThere,
          failed: presentFailed(request, added),
          album: presentAlbum(album, presentContextOf(request, hasThumbnail)),
        });
      },
    )
    .post(
      "/api/albums/:id/items/move",
      { ...CHANGE_ALBUM, docs: docs.moveItems, body: MoveItemsBody },
      async ({ principal, params, body, request }) => {
        const album = await albums.moveItems(principal.user, params.id, body.fileIds, body.before);
        return ok({ album: presentAlbum(album, presentContextOf(request, hasThumbnail)) });
      },
    )
    .post(
      "/api/albums/:id/items/remove",
      { ...CHANGE_ALBUM, docs: docs.removeItems, body: RemoveItemsBody },
      async ({ principal, params, body, request }) => {
        const { removed, album } = await albums.removeItems(principal.user, params.id, body.fileIds);
        return ok({ removed, album: presentAlbum(album, presentContextOf(request, hasThumbnail)) });
      },
    );
}

function presentFailed(request: Request, { failed }: AddedItems) {
  return failed.map(({ id, error }) => ({ id, error: errorItem(error, request) }));
}

/** @throws AppError invalid_field */
function readPage<Sort extends string>(
  query: Query,
  sorts: readonly [Sort, ...Sort[]],
  limitMax: number,
): PageQuery<Sort> & { readonly page: number } {
  const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: limitMax, default: 100 });
  const sort = readChoice(query["sort"], "sort", sorts) ?? sorts[0];
  const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc";
  return { page, limit, sort, order, offset: (page - 1) * limit };
}
