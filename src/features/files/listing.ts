/** GET /api/files: the query string as the tree understands it. */
import { notFound } from "../../errors.ts";
import { type Query, readBoolean, readChoice, readInteger } from "../../http/fields.ts";
import { normalizePath } from "../../lib/path.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FolderNode, NodePage, SortField } from "../tree/types.ts";

/** One page, and what it is a page of. */
export interface Listing extends NodePage {
  readonly folder: FolderNode;
  readonly page: number;
  readonly limit: number;
}

const SORTS = ["name", "size", "createdAt", "modifiedAt"] as const satisfies readonly SortField[];
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/**
 * The page that a query string asks for.
 * @throws AppError invalid_field | invalid_path | not_found
 */
export async function readListing(tree: TreeReader, accountId: number, query: Query): Promise<Listing> {
  const path = normalizePath(query["folder"] || "/");
  const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
  const sort = readChoice(query["sort"], "sort", SORTS) ?? "name";
  const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc";
  const kind = readChoice(query["type"], "type", ["file", "folder"]);
  const tagMode = readChoice(query["tagMode"], "tagMode", ["all", "any"]) ?? "all";
  const recursive = readBoolean(query["recursive"], "recursive");
  const tags = query["tags"]
    ?.split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  const search = query["search"] || undefined;
  const mediaTypePattern = query["mimeType"] || undefined;

  const folder = tree.findFolderByPath(accountId, path);
  if (folder === undefined) throw notFound("This folder");
  const place = { accountId, folder, kind, sort, order, offset: (page - 1) * limit, limit };
  const hasTags = tags !== undefined && tags.length > 0;
  const isFiltered = search !== undefined || hasTags || mediaTypePattern !== undefined || recursive === true;
  const found = isFiltered
    ? await tree.find({
        ...place,
        search,
        tags: hasTags ? tags : undefined,
        tagMode,
        mediaTypePattern,
        recursive: recursive ?? (search !== undefined || hasTags),
      })
    : await tree.list(place);
  return { ...found, folder, page, limit };
}
