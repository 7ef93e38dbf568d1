/**
 * How a user sees the tree of an account. Their own tree is unchanged. A shared folder appears as `/`, and a single
 * shared file appears in `/`. Folders above the share are never named, not even in errors. Recipients can't see whether
 * the owner published something.
 */
import { AppError } from "../../../errors.ts";
import { normalizePath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { say } from "../../../translations/say.ts";

/** Translates between the paths of the owner and those of the caller. */
export interface TreeView {
  /** A node as the caller sees it. */
  show<N extends TreeNode>(node: N): N;
  /** The path of the owner for a path of the caller. @throws AppError invalid_path if it gets too long */
  toOwner(path: string): string;
  /** Runs a change of the tree; its errors contain the paths of the caller. */
  run<T>(change: () => T): T;
}

/** An account as its owner sees it. */
export const OWN_VIEW: TreeView = {
  show: (node) => node,
  toOwner: (path) => path,
  run: (change) => change(),
};

/** An account as seen by a recipient of `base`, a node with the paths of the owner. */
export function sharedView(base: TreeNode): TreeView {
  const basePath = base.kind === "folder" ? base.path : base.folder;
  const prefix = basePath === ROOT_PATH ? ROOT_PATH : `${basePath}/`;
  // A node that was moved out of the share must not reveal its new location.
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
    run: (change) => {
      try {
        return change();
      } catch (error) {
        throw error instanceof AppError ? translate(error, toCaller) : error;
      }
    },
  };
}

/** Errors of the tree contain the owner's paths and totals. Replaces them with messages for the caller. */
function translate(error: AppError, toCaller: (path: string) => string): AppError {
  const { reason, details } = error;
  if (reason === "quota_exceeded") {
    const message = say`The owner of this share does not have enough space. Ask the owner to free up space.`;
    const { limit, of } = details;
    return new AppError(reason, message, { limit, ...(of !== undefined && { of }) }, error);
  }
  const path = details["path"];
  if (typeof path !== "string") return error;
  const seen = toCaller(path);
  const message =
    reason === "not_a_folder"
      ? say`"${seen}" is a file. Choose a folder.`
      : say`You can't move or copy this into "${seen}". Choose another folder.`;
  return new AppError(reason, message, { ...details, path: seen }, error);
}
