/**
 * Who may do what with which node: the one place that turns an id from a request into a node (D51). Whatever takes a file
 * or folder id asks here, in its route and again inside the deed that changes something; nothing decides by paths.
 */
import { notFound } from "../../errors.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../tree/types.ts";
import type { User } from "../users/types.ts";

/**
 * What is wanted of a node: `read` it, `write` it (its content, its labels, what is below it), or what its `owner` alone
 * may do: share or publish it, and see whom it is shared with.
 */
export type Need = "read" | "write" | "own";

/** A node that somebody may use, and in whose account it lies. */
export interface Permitted<N extends TreeNode> {
  readonly node: N;
  /** Whose quota, limits and journal it touches; the caller, as they ask, where the node is their own. */
  readonly owner: User;
  readonly isOwn: boolean;
}

/** What {@link Permissions} works with. */
export interface PermissionsOptions {
  readonly tree: TreeReader;
}

/** See the head of this file. All methods are synchronous and may be called inside a deed. */
export class Permissions {
  readonly #options: PermissionsOptions;

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** @throws AppError not_found for what the user may not even see; share_permission where the share allows less */
  file(user: User, publicId: string, need: Need): Permitted<FileNode> {
    const { node, ...rest } = this.#find(user, publicId, need, "This file");
    if (node.kind !== "file") throw notFound("This file");
    return { node, ...rest };
  }

  /** @throws as {@link file} */
  folder(user: User, publicId: string, need: Need): Permitted<FolderNode> {
    const { node, ...rest } = this.#find(user, publicId, need, "This folder");
    if (node.kind !== "folder") throw notFound("This folder");
    return { node, ...rest };
  }

  /** A file or a folder. @throws as {@link file} */
  node(user: User, publicId: string, need: Need): Permitted<TreeNode> {
    return this.#find(user, publicId, need, "This file or folder");
  }

  #find(user: User, publicId: string, _need: Need, what: string): Permitted<TreeNode> {
    const node = this.#options.tree.findNode(user.id, publicId);
    if (node === undefined) throw notFound(what);
    return { node, owner: user, isOwn: true };
  }
}
