/** GET /api/files: parses the query string and lists a folder. */
import { invalidField, notFound } from "../../../errors.ts";
import { type Query, readBoolean, readChoice, readInteger } from "../../../http/fields.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { OWN_VIEW, type TreeView } from "../permissions/view.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, NodePage, SortField, TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";
import type { User } from "../../accounts/users/types.ts";

/** A page of a folder. */
export interface Listing extends NodePage {
  readonly folder: Pick<FolderNode, "path" | "name" | "folder">;
  readonly page: number;
  readonly limit: number;
}

/** The sorts of listings. */
export const LISTING_SORTS = [
  "name",
  "natural",
  "size",
  "createdAt",
  "modifiedAt",
  "fileModifiedAt",
] as const satisfies readonly SortField[];
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
/** Beyond any list; page × limit stays exact. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

/**
 * The page that a query string requests: of the user's own tree or, with `share`, of a share with them.
 * @throws AppError invalid_field | invalid_path | not_found
 */
export async function readListing(
  { tree, permissions }: { readonly tree: TreeReader; readonly permissions: Permissions },
  user: User,
  query: Query,
): Promise<Listing> {
  const path = normalizePath(query["folder"] || "/");
  const page = readInteger(query, "page", { min: 1, max: PAGE_MAX, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: LIMIT_MAX, default: LIMIT_DEFAULT });
  const sort = readChoice(query["sort"], "sort", LISTING_SORTS) ?? "name";
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

  const opened = query["share"] === undefined ? undefined : permissions.received(user, query["share"]);
  if (opened?.node.kind === "file") return listOne(opened.node, opened.view, path, page, limit);
  const { owner, view } = opened ?? { owner: user, view: OWN_VIEW };
  const accountId = owner.id;
  const folder = tree.findFolderByPath(accountId, view.toOwner(path));
  if (folder === undefined) throw notFound(say`This folder was not found.`);
  const hasTags = tags !== undefined && tags.length > 0;
  const isFiltered = search !== undefined || hasTags || mediaTypePattern !== undefined || recursive === true;
  const around = findAround(tree, folder, kind, query["around"]);
  if (around !== undefined && isFiltered) {
    throw invalidField("around", say`around can't be combined with search, tags, mimeType or recursive.`);
  }
  const location = { accountId, folder, kind, sort, order, around, offset: (page - 1) * limit, limit };
  const found = isFiltered
    ? await tree.find({
        ...location,
        search,
        tags: hasTags ? tags : undefined,
        tagMode,
        mediaTypePattern,
        recursive: recursive ?? (search !== undefined || hasTags),
      })
    : await tree.list(location);
  const position = { page: around === undefined ? page : (found.offset ?? 0) / limit + 1, limit };
  if (opened === undefined) return { ...found, folder, ...position };
  return { ...found, nodes: found.nodes.map((node) => view.show(node)), folder: view.show(folder), ...position };
}

/** The item in `around`. @throws AppError not_found if the listing does not have it */
function findAround(
  tree: TreeReader,
  folder: FolderNode,
  kind: TreeNode["kind"] | undefined,
  id: string | undefined,
): TreeNode | undefined {
  if (id === undefined || id === "") return undefined;
  const node = tree.findNode(folder.accountId, id);
  if (node?.parentId !== folder.id || (kind !== undefined && kind !== node.kind))
    throw notFound(say`This item was not found.`);
  return node;
}

/** A share of a single file: a folder with that file in it. */
function listOne(file: FileNode, view: TreeView, path: string, page: number, limit: number): Listing {
  if (path !== ROOT_PATH) throw notFound(say`This folder was not found.`);
  const folder = { path: ROOT_PATH, name: ROOT_PATH, folder: ROOT_PATH };
  return { nodes: page === 1 ? [view.show(file)] : [], total: 1, folder, page, limit };
}
