/** A page of a shared folder or album, according to the query. */
import { notFound } from "../../../errors.ts";
import { type Query, readChoice, readInteger } from "../../../http/fields.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { AlbumService } from "../../library/albums/service.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, SortField, SortOrder, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { ShareAccess } from "./share-access.ts";
import type { OpenedShare, SharedAlbum } from "./types.ts";

/** A page, and its folder. */
export interface SharedListing {
  readonly folder: FolderNode;
  readonly nodes: readonly TreeNode[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly sort: SortField;
  readonly order: SortOrder;
}

/** The query of a listing, for the document. */
export const SHARED_LISTING_QUERY = {
  folder: { type: "string", default: "/", description: "Path within the shared folder, which is / itself" },
  page: { type: "integer", minimum: 1, default: 1 },
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  sort: {
    type: "string",
    enum: ["name", "size", "createdAt", "modifiedAt", "position"],
    description: "By default name. Of an album: position (the default) or name",
  },
  order: { type: "string", enum: ["asc", "desc"], default: "asc" },
};

const LIMIT_MAX = 100;
/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / LIMIT_MAX);

/** How a page is read if the query does not say. */
interface ListingDefaults {
  readonly limit: number;
  /** The orders that the query may name; the first one is the default. */
  readonly sorts: readonly [SortField, ...SortField[]];
}

const API_DEFAULTS: ListingDefaults = { limit: 20, sorts: ["name", "size", "createdAt", "modifiedAt"] };

/** @throws AppError invalid_field | invalid_path | not_found | not_a_folder */
export async function readSharedListing(
  shareAccess: ShareAccess,
  tree: TreeReader,
  opened: OpenedShare,
  query: Query,
  { limit: defaultLimit, sorts }: ListingDefaults = API_DEFAULTS,
): Promise<SharedListing> {
  const { page, limit, order } = readPage(query, defaultLimit);
  const sort = readChoice(query["sort"], "sort", sorts) ?? sorts[0];
  const folder = shareAccess.folder(opened, normalizePath(query["folder"] || ROOT_PATH));
  const offset = (page - 1) * limit;
  const found = await tree.list({ accountId: opened.share.accountId, folder, sort, order, offset, limit });
  return { ...found, folder, page, limit, sort, order };
}

/** A page of a shared album. */
export interface SharedAlbumListing {
  readonly files: readonly FileNode[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly sort: AlbumSort;
  readonly order: SortOrder;
}

type AlbumSort = (typeof ALBUM_SORTS)[number];

/** Not by time: a share may hide when its photos were taken. */
const ALBUM_SORTS = ["position", "name"] as const;

/** @throws AppError invalid_field | invalid_path | not_found for any folder but `/` */
export async function readSharedAlbum(
  albums: Pick<AlbumService, "page">,
  album: SharedAlbum,
  query: Query,
  defaultLimit = 20,
): Promise<SharedAlbumListing> {
  const { page, limit, order } = readPage(query, defaultLimit);
  const sort = readChoice(query["sort"], "sort", ALBUM_SORTS) ?? "position";
  if (normalizePath(query["folder"] || ROOT_PATH) !== ROOT_PATH) throw notFound(say`This folder was not found.`);
  const found = await albums.page(album, { sort, order, offset: (page - 1) * limit, limit });
  return { ...found, page, limit, sort, order };
}

function readPage(query: Query, defaultLimit: number) {
  return {
    page: readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 }),
    limit: readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: defaultLimit }),
    order: readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc",
  } as const;
}
