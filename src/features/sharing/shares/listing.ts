/** A page of a shared folder, according to the query. */
import { type Query, readChoice, readInteger } from "../../../http/fields.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FolderNode, SortField, SortOrder, TreeNode } from "../../../tree/model/types.ts";
import type { ShareAccess } from "./share-access.ts";
import type { OpenedShare } from "./types.ts";

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
  sort: { type: "string", enum: ["name", "size", "createdAt", "modifiedAt"], default: "name" },
  order: { type: "string", enum: ["asc", "desc"], default: "asc" },
};

/** @throws AppError invalid_field | invalid_path | not_found | not_a_folder */
export async function readSharedListing(
  shareAccess: ShareAccess,
  tree: TreeReader,
  opened: OpenedShare,
  query: Query,
  defaultLimit = 20,
): Promise<SharedListing> {
  const page = readInteger(query, "page", { min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 });
  const limit = readInteger(query, "limit", { min: 1, max: 100, default: defaultLimit });
  const sort = readChoice(query["sort"], "sort", ["name", "size", "createdAt", "modifiedAt"]) ?? "name";
  const order = readChoice(query["order"], "order", ["asc", "desc"]) ?? "asc";
  const folder = shareAccess.folder(opened, normalizePath(query["folder"] || ROOT_PATH));
  const offset = (page - 1) * limit;
  const found = await tree.list({ accountId: opened.share.accountId, folder, sort, order, offset, limit });
  return { ...found, folder, page, limit, sort, order };
}
