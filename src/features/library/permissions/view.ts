/**
 * How somebody sees an account's tree. One's own as it is. What is shared is seen from the share: a shared folder is `/`,
 * what is in it lies in `/`, and a file that is shared by itself lies in `/`. Nothing above is ever named, in errors
 * neither, and whether the owner made something public is the owner's matter.
 */
import { AppError } from "../../../errors.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeNode } from "../../../tree/model/types.ts";

/** See the head of this file. */
export interface TreeView {
  /** A node that the tree gave, as it is to be shown. */
  show<N extends TreeNode>(node: N): N;
  /** The owner's path for one that the caller gave. @throws AppError invalid_path where it gets too long */
  toOwner(path: string): string;
  /** Runs what touches the tree; what it throws tells the caller's paths. */
  run<T>(deed: () => T): T;
}

/** An account as its owner sees it. */
export const OWN_VIEW: TreeView = {
  show: (node) => node,
  toOwner: (path) => path,
  run: (deed) => deed(),
};

/** An account as somebody sees it with whom `base` is shared, a node with the owner's paths. */
export function sharedView(base: TreeNode): TreeView {
  const basePath = base.kind === "folder" ? base.path : base.folder;
  const prefix = basePath === ROOT_PATH ? ROOT_PATH : `${basePath}/`;
  // What has left the share meanwhile shows nothing of where it went.
  const toCaller = (path: string) => (path.startsWith(prefix) ? `/${path.slice(prefix.length)}` : ROOT_PATH);
  return {
    show: (node) => {
      const folder = toCaller(node.folder);
      const seen = node.kind === "file" ? { folder, isPublic: false } : { folder, path: toCaller(node.path) };
      return { ...node, ...seen };
    },
    toOwner: (path) => {
      if (path === ROOT_PATH) return basePath;
      return normalizePath(prefix + path.slice(1));
    },
    run: (deed) => {
      try {
        return deed();
      } catch (error) {
        throw error instanceof AppError ? translate(error, toCaller) : error;
      }
    },
  };
}

/** The tree's errors quote the owner's paths and sums: they are told anew. */
function translate(error: AppError, toCaller: (path: string) => string): AppError {
  const { reason, details } = error;
  if (reason === "quota_exceeded") {
    const message = "The owner of this share does not have enough space. Ask the owner to free up space.";
    const { limit, of } = details;
    return new AppError(reason, message, { limit, ...(of !== undefined && { of }) }, error);
  }
  const path = details["path"];
  if (typeof path !== "string") return error;
  const seen = toCaller(path);
  const message =
    reason === "not_a_folder"
      ? `"${seen}" is a file. Choose a folder.`
      : `You can't move or copy this into "${seen}". Choose another folder.`;
  return new AppError(reason, message, { ...details, path: seen }, error);
}
