import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { FolderState, TreeNode } from "../../../tree/model/types.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { User } from "../../accounts/users/types.ts";
import { type ClientTree, isWholeTree, type Item, type MountedShare } from "./client-tree.ts";

/** Dependencies of {@link ItemEtags}. */
export interface ItemEtagsOptions {
  readonly tree: Pick<TreeReader, "folderStates" | "isFresh" | "propertiesOf">;
  readonly treeWriter: Pick<TreeWriter, "refreshFolders">;
  readonly clientTree: Pick<ClientTree, "mountedShares">;
}

/** The ETag of a folder that has changed since it was refreshed: no client has seen its next one. */
const CHANGED = '"changed"';

/**
 * The ETags of items as a client sees them. Sync clients look below a folder only where its ETag has changed. So the
 * ETags of "Shared with me" and of the root change with everything in received shares, and those of all folders with
 * the permission to change them, which clients store for each item.
 */
export class ItemEtags {
  readonly #options: ItemEtagsOptions;

  constructor(options: ItemEtagsOptions) {
    this.#options = options;
  }

  /**
   * Updates what a user's ETags depend on. Call it before listing folders. Undefined if nothing has changed. While
   * nothing can be written, folders keep their former ETags: clients see the changes below them later.
   */
  refresh(user: User): Promise<void> | undefined {
    const { treeWriter, clientTree } = this.#options;
    const owners = clientTree.mountedShares({ user }).map(({ share }) => share.owner.id);
    return treeWriter.refreshFolders([...new Set([user.id, ...owners])])?.catch(allowStale);
  }

  /**
   * The strong ETag of an item, with its quotes, for conditions. Synchronous, so it refreshes nothing: a folder that has
   * changed since has an ETag that matches none that a client has seen.
   */
  of(item: Item): string {
    const { node, owner, share, canWrite } = item;
    const { tree, clientTree } = this.#options;
    if (node.kind === "file") return `"${node.digest}"`;
    const state = tree.folderStates([node.id]).get(node.id);
    invariant(state !== undefined, "a folder in a tree has a state");
    const isFresh = (shown: TreeNode) => shown.kind === "file" || tree.isFresh(shown);
    if (!isFresh(node)) return CHANGED;
    if (!isWholeTree(item)) return folderEtag(state, permissionSuffix(share, canWrite));
    const shares = clientTree.mountedShares({ user: owner });
    if (!shares.every((mounted) => isFresh(mounted.node))) return CHANGED;
    return folderEtag(state, this.rootSuffix(shares, canWrite));
  }

  /**
   * The ETag of the folder "Shared with me" with these shares in it, with its quotes.
   * @param canWrite whether the app password may write
   */
  ofShares(shares: readonly MountedShare[], canWrite: boolean): string {
    return `"${this.#hashOf(shares, canWrite)}"`;
  }

  /** What the ETag of a root ends with whose user received these shares: their state, and the permission. */
  rootSuffix(shares: readonly MountedShare[], canWrite: boolean): string {
    const suffix = permissionSuffix(undefined, canWrite);
    return shares.length === 0 ? suffix : `-${this.#hashOf(shares, canWrite)}${suffix}`;
  }

  /** What listings show of the tops of shares and below them. */
  #hashOf(shares: readonly MountedShare[], canWrite: boolean): string {
    const { tree } = this.#options;
    const ids = shares.map(({ node }) => node.id);
    const [states, properties] = [tree.folderStates(ids), tree.propertiesOf(ids)];
    const shown = shares.map(({ name, share, node }) => [
      share.publicId,
      name,
      share.canWrite && canWrite,
      node.kind === "file" ? [node.digest, node.mediaType, node.fileAtMs, node.contentAtMs] : states.get(node.id)?.etag,
      properties.get(node.id),
    ]);
    return Bun.hash(JSON.stringify(shown)).toString(36);
  }
}

/** On a full disk, people must see their files to delete some. A command may lock the database for a while. */
function allowStale(error: unknown): void {
  if (!(error instanceof AppError) || !["disk_full", "database_busy"].includes(error.reason)) throw error;
}

/** What the ETags of folders end with: in a share, and where nothing may be changed. */
export function permissionSuffix(share: MountedShare | undefined, canWrite: boolean): string {
  if (!canWrite) return "-r";
  return share === undefined ? "" : "-w";
}

/** The ETag of a folder with a suffix inside its quotes. */
export function folderEtag({ etag }: FolderState, suffix: string): string {
  return suffix === "" ? etag : `${etag.slice(0, -1)}${suffix}"`;
}
