import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import { ROOT_PATH } from "../../../lib/path.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { ClientTree, Item, MountedShare } from "./client-tree.ts";

/** Dependencies of {@link FavoriteItems}. */
export interface FavoriteItemsOptions {
  readonly tree: Pick<TreeReader, "findByIds">;
  readonly clientTree: ClientTree;
  readonly favorites: Pick<FavoriteService, "visibleIds">;
}

/** An item, and the names that lead to it from the root. */
export interface NamedItem {
  readonly item: Item;
  readonly names: readonly string[];
}

/** Finds the favorites of the signed-in account in the tree that its app password sees. */
export class FavoriteItems {
  readonly #options: FavoriteItemsOptions;

  constructor(options: FavoriteItemsOptions) {
    this.#options = options;
  }

  /**
   * The favorites below a folder, in slices. Each slice reads at most `limit` of them, and may be empty.
   * @param folder the names from the root to the folder
   * @throws AppError overloaded
   */
  async *below(
    principal: AppPasswordPrincipal,
    folder: readonly string[],
    limit: number,
  ): AsyncGenerator<readonly NamedItem[], void> {
    const { tree, clientTree, favorites } = this.#options;
    const ids = await favorites.visibleIds(principal.user, "name", "asc");
    const sharesName = clientTree.sharesNameOf(principal);
    const shares = sharesName === undefined ? [] : clientTree.mountedShares(principal);
    for (let start = 0; start < ids.length; start += limit) {
      const nodes = tree.findByIds([...ids.subarray(start, start + limit)]);
      yield nodes.flatMap((node) => {
        const found =
          node.accountId === principal.user.id
            ? this.#ownItem(principal, node)
            : this.#receivedItem(principal, node, { shares, sharesName });
        return found !== undefined && isBelow(found.names, folder) ? [found] : [];
      });
    }
  }

  #ownItem(principal: AppPasswordPrincipal, node: TreeNode): NamedItem | undefined {
    const root = this.#options.clientTree.rootOf(principal);
    const names = namesBelow(pathOf(node), root.node.path);
    return names && { item: { ...root, node, isRoot: false }, names };
  }

  /** The item in the oldest share that contains it. */
  #receivedItem(
    principal: AppPasswordPrincipal,
    node: TreeNode,
    { shares, sharesName }: { readonly shares: readonly MountedShare[]; readonly sharesName: string | undefined },
  ): NamedItem | undefined {
    for (const mounted of shares) {
      if (mounted.node.accountId !== node.accountId || sharesName === undefined) continue;
      const names = mounted.node.id === node.id ? [] : namesBelow(pathOf(node), pathOf(mounted.node));
      if (names === undefined) continue;
      const top = this.#options.clientTree.topOf(principal, mounted);
      return { item: { ...top, node }, names: [sharesName, mounted.name, ...names] };
    }
    return undefined;
  }
}

function pathOf(node: TreeNode): string {
  if (node.kind === "folder") return node.path;
  return node.folder === ROOT_PATH ? `/${node.name}` : `${node.folder}/${node.name}`;
}

/** The names from a folder to a path below it; undefined for other paths. */
function namesBelow(path: string, folder: string): string[] | undefined {
  const prefix = folder === ROOT_PATH ? ROOT_PATH : `${folder}/`;
  return path.startsWith(prefix) && path.length > prefix.length ? path.slice(prefix.length).split("/") : undefined;
}

function isBelow(names: readonly string[], folder: readonly string[]): boolean {
  return names.length > folder.length && folder.every((name, index) => names[index] === name);
}
