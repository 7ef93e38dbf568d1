/** Texts of these routes in the OpenAPI document. */
import { ref, type RouteDocs, type Schema } from "../../../http/documented.ts";
import {
  AddedItemsRecord,
  AlbumItemsRecord,
  AlbumPageRecord,
  ALBUMS_LIMIT_MAX,
  AlbumsRecord,
  CreatedAlbumRecord,
  DeletedAlbumRecord,
  ItemAspectsRecord,
  ITEMS_LIMIT_MAX,
  MovedItemsRecord,
  RemovedItemsRecord,
} from "./model.ts";
import { ALBUM_SORTS, ALBUMS_MAX, ITEM_SORTS, ITEMS_MAX } from "./types.ts";

const OWN = ["not_found", "share_permission"] as const;

function pageQuery(sorts: readonly string[], limitMax: number): Readonly<Record<string, Schema>> {
  return {
    sort: { type: "string", enum: sorts, default: sorts[0] },
    order: { type: "string", enum: ["asc", "desc"], default: "asc" },
    page: { type: "integer", minimum: 1, default: 1 },
    limit: { type: "integer", minimum: 1, maximum: limitMax, default: 100 },
  };
}

export const list = (): RouteDocs => ({
  tag: "Albums",
  summary: "List your albums",
  description: "GET /api/shares/received lists albums of others.",
  query: pageQuery(ALBUM_SORTS, ALBUMS_LIMIT_MAX),
  data: AlbumPageRecord,
  errors: ["invalid_field"],
});

export const create = (): RouteDocs => ({
  tag: "Albums",
  summary: "Create an album",
  description: `At most ${ALBUMS_MAX} albums, each with at most ${ITEMS_MAX} files of your own. The request fails if every file failed.`,
  status: 201,
  data: CreatedAlbumRecord,
  errors: ["quota_exceeded", "not_found"],
});

export const get = (): RouteDocs => ({
  tag: "Albums",
  summary: "Get an album of yours, or one shared with you",
  data: ref("Album"),
  errors: ["not_found"],
});

export const update = (): RouteDocs => ({
  tag: "Albums",
  summary: "Rename or describe an album, or choose its cover",
  data: ref("Album"),
  errors: OWN,
});

export const remove = (): RouteDocs => ({
  tag: "Albums",
  summary: "Delete an album",
  description: "Its shares end. Its files stay.",
  data: DeletedAlbumRecord,
  errors: OWN,
});

export const items = (): RouteDocs => ({
  tag: "Albums",
  summary: "List the files of an album",
  description: "In the album's own order by default. Files in the trash are left out, and return to their place.",
  query: pageQuery(ITEM_SORTS, ITEMS_LIMIT_MAX),
  data: AlbumItemsRecord,
  errors: ["not_found", "invalid_field"],
});

export const aspects = (): RouteDocs => ({
  tag: "Albums",
  summary: "List the ids and aspect ratios of all files of an album",
  description: "In the album's own order, so that a client can lay out the album before it loads the files.",
  data: ItemAspectsRecord,
  errors: ["not_found", "overloaded"],
});

export const addItems = (): RouteDocs => ({
  tag: "Albums",
  summary: "Add files to an album",
  description:
    "1 to 1,000 files of your own, in this order. Files that are in the album stay in their place. The request fails " +
    "only if every file failed.",
  data: AddedItemsRecord,
  errors: [...OWN, "quota_exceeded"],
});

export const moveItems = (): RouteDocs => ({
  tag: "Albums",
  summary: "Move files within an album",
  description: "In the order of fileIds. Ids that are not in the album are left out.",
  data: MovedItemsRecord,
  errors: OWN,
});

export const removeItems = (): RouteDocs => ({
  tag: "Albums",
  summary: "Remove files from an album",
  description: "The files themselves stay.",
  data: RemovedItemsRecord,
  errors: OWN,
});

export const ofFile = (): RouteDocs => ({
  tag: "Albums",
  summary: "List your albums that a file is in",
  data: AlbumsRecord,
  errors: ["not_found"],
});
