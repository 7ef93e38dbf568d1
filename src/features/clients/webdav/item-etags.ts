import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { FolderState } from "../../../tree/model/types.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { User } from "../../accounts/users/types.ts";
import { type ClientTree, isWholeTree, type Item, type MountedShare } from "./client-tree.ts";

/** Dependencies of {@link ItemEtags}. */
export interface ItemEtagsOptions {
  readonly tree: Pick<TreeReader, "folderStates">;
  readonly treeWriter: Pick<TreeWriter, "settleFolders">;
  readonly clientTree: Pick<ClientTree, "mountedShares">;
}

/**
 * The ETags of items as a client sees them. Sync clients look below a folder only where its ETag has changed. So the
 * ETags of "Shared with me" and of the root change with everything in received shares, and those of shared folders with
 * the permission of the share.
 */
export class ItemEtags {
  readonly #options: ItemEtagsOptions;

  constructor(options: ItemEtagsOptions) {
    this.#options = options;
  }

  /** Updates what a user's ETags depend on. Call it before any other method. Undefined if nothing has changed. */
  settle(user: User): Promise<void> | undefined {
    const { treeWriter, clientTree } = this.#options;
    const owners = clientTree.mountedShares({ user }).map(({ share }) => share.owner.id);
    return treeWriter.settleFolders([...new Set([user.id, ...owners])]);
  }

  /** The strong ETag of an item, with its quotes. Synchronous: folders show the state that was settled last. */
  of(item: Item): string {
    const { node, owner, share, canWrite } = item;
    if (node.kind === "file") return `"${node.digest}"`;
    const state = this.#options.tree.folderStates([node.id]).get(node.id);
    invariant(state !== undefined, "a folder in a tree has a state");
    if (!isWholeTree(item)) return folderEtag(state, shareSuffix(share, canWrite));
    return folderEtag(state, this.rootSuffix(this.#options.clientTree.mountedShares({ user: owner })));
  }

  /** The ETag of the folder "Shared with me" with these shares in it, with its quotes. */
  ofShares(shares: readonly MountedShare[]): string {
    return `"${this.#hashOf(shares)}"`;
  }

  /** What the ETag of a root ends with whose user received these shares: their state. */
  rootSuffix(shares: readonly MountedShare[]): string {
    return shares.length === 0 ? "" : `-${this.#hashOf(shares)}`;
  }

  #hashOf(shares: readonly MountedShare[]): string {
    const states = this.#options.tree.folderStates(shares.map(({ node }) => node.id));
    const shown = shares.map(({ name, share, node }) => [
      share.publicId,
      name,
      share.canWrite,
      node.kind === "file" ? [node.digest, node.fileAtMs] : states.get(node.id)?.etag,
    ]);
    return Bun.hash(JSON.stringify(shown)).toString(36);
  }
}

/** What the ETags of folders in a share end with; empty in the own tree. */
export function shareSuffix(share: MountedShare | undefined, canWrite: boolean): string {
  if (share === undefined) return "";
  return canWrite ? "-w" : "-r";
}

/** The ETag of a folder with a suffix inside its quotes. */
export function folderEtag({ etag }: FolderState, suffix: string): string {
  return suffix === "" ? etag : `${etag.slice(0, -1)}${suffix}"`;
}
