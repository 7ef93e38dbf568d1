/**
 * Who may do what with which node: the one place that turns an id from a request into a node. Whatever takes a file
 * or folder id asks here, in its route and again inside a transaction that changes something; nothing decides by paths.
 *
 * A node is its owner's. Somebody else reaches it by a live share between accounts (contract §5) on it or on a folder
 * above it: one that has not expired, of an owner who is not disabled. Where several cover it, the best permission counts,
 * and it is seen from the outermost of them.
 */
import type { Database } from "bun:sqlite";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { parentPath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { type Grant, Grants } from "./grants.ts";
import { OWN_VIEW, sharedView, type TreeView } from "./view.ts";

/**
 * What is wanted of a node: `read` it, see its `versions` (its earlier contents), `write` it (its content, its labels, what is below it), `place` it (rename, move,
 * delete it: what was itself shared stays where and what its owner made it), or what its `owner` alone may do: share or
 * publish it, and see whom it is shared with.
 */
export type Need = "read" | "versions" | "write" | "place" | "own";

/** A node that somebody may use, and in whose account it lies. */
export interface Permitted<N extends TreeNode> {
  /** As the caller sees it: the paths of what is shared begin at the share, and are none of the owner's. */
  readonly node: N;
  /** Whose quota, limits and journal it touches; the caller, as they ask, where the node is their own. */
  readonly owner: User;
  readonly isOwn: boolean;
  /** Whether the caller may see earlier contents. */
  readonly showsVersions: boolean;
  /** How the caller sees it and what is near it: for whatever the tree gives or throws afterwards. */
  readonly view: TreeView;
}

/** A folder that somebody may put something into, whether it is there already or not. */
export interface TreeLocation {
  readonly owner: User;
  readonly isOwn: boolean;
  /** The owner's path. */
  readonly path: string;
  readonly view: TreeView;
}

/** What a share between accounts opens for its recipient. */
export interface Opened {
  readonly owner: User;
  /** With the owner's paths. */
  readonly node: TreeNode;
  readonly canWrite: boolean;
  readonly view: TreeView;
}

/** What {@link Permissions} works with. */
export interface PermissionsOptions {
  readonly sqlite: Database;
  readonly tree: TreeReader;
  readonly users: Pick<UserService, "findById">;
  readonly clock: Clock;
}

/** See the head of this file. All methods are synchronous and may be called inside a transaction. */
export class Permissions {
  readonly #options: PermissionsOptions;
  readonly #grants: Grants;

  constructor(options: PermissionsOptions) {
    this.#options = options;
    this.#grants = new Grants(options.sqlite);
  }

  /** @throws AppError not_found for what the user may not even see; share_permission where the share allows less */
  file(user: User, publicId: string, need: Need): Permitted<FileNode> {
    const { node, ...rest } = this.#find(user, publicId, need, "file", "This file");
    if (node.kind !== "file") throw notFound("This file");
    return { node, ...rest };
  }

  /** @throws as {@link file} */
  folder(user: User, publicId: string, need: Need): Permitted<FolderNode> {
    const { node, ...rest } = this.#find(user, publicId, need, "folder", "This folder");
    if (node.kind !== "folder") throw notFound("This folder");
    return { node, ...rest };
  }

  /** A file or a folder. @throws as {@link file} */
  node(user: User, publicId: string, need: Need): Permitted<TreeNode> {
    return this.#find(user, publicId, need, undefined, "This file or folder");
  }

  /**
   * Where something is to be put: a normalized path of the caller's own tree or, with the id of a received share, below it.
   * @throws AppError not_found for a share that is not, or not any more, the caller's; invalid_field for one of a single
   *   file; share_permission; invalid_path where the owner's path gets too long
   */
  place(user: User, path: string, shareId: string | undefined): TreeLocation {
    if (shareId === undefined) return { owner: user, isOwn: true, path, view: OWN_VIEW };
    const { owner, node, view } = this.received(user, shareId);
    if (node.kind === "file") throw invalidField("share", "This share is a single file. You can't add anything to it.");
    return this.#writable(user, { owner, isOwn: false, path: view.toOwner(path), view });
  }

  /** As {@link place}, for a path that stands beside a node in a request: in the same tree, seen in the same way. */
  locationBeside(user: User, { owner, isOwn, view }: Permitted<TreeNode>, path: string): TreeLocation {
    const place = { owner, isOwn, path: view.toOwner(path), view };
    return isOwn ? place : this.#writable(user, place);
  }

  /** What a received share opens, as long as it does. @throws AppError not_found */
  received(user: User, shareId: string): Opened {
    const { tree, clock } = this.#options;
    const grant = this.#grants.received(shareId, user.id, clock.nowMs());
    const node = grant && tree.findById(grant.nodeId);
    const owner = node && this.#ownerOf(user, node);
    if (grant === undefined || node === undefined || owner === undefined) throw notFound("This share");
    return { owner, node, canWrite: grant.canWrite, view: sharedView(node) };
  }

  /** Others into whose accounts the user may put something. */
  hosts(user: User): User[] {
    const { users, clock } = this.#options;
    const ids = this.#grants.writableAccounts(user.id, clock.nowMs());
    return ids.flatMap((id) => {
      const owner = users.findById(id);
      return owner?.disabledAtMs === null ? [owner] : [];
    });
  }

  #find(
    user: User,
    publicId: string,
    need: Need,
    kind: TreeNode["kind"] | undefined,
    what: string,
  ): Permitted<TreeNode> {
    const { tree } = this.#options;
    const own = tree.findNode(user.id, publicId);
    if (own !== undefined) return { node: own, owner: user, isOwn: true, showsVersions: true, view: OWN_VIEW };
    // Who has nothing shared with them gets their answer in the same time for every id.
    const node = this.#grants.hasAny(user.id) ? tree.findAnywhere(publicId) : undefined;
    if (node === undefined || (kind ?? node.kind) !== node.kind) throw notFound(what);
    const grants = this.#grantsOf(user, node);
    const outermost = grants.at(-1);
    const base = outermost && (outermost.height === 0 ? node : tree.findById(outermost.nodeId));
    const owner = base && this.#ownerOf(user, node);
    if (base === undefined || owner === undefined) throw notFound(what);
    checkNeed(need, grants);
    const view = sharedView(base);
    const showsVersions = grants.some((grant) => grant.showsVersions);
    return { node: view.show(node), owner, isOwn: false, showsVersions, view };
  }

  /** The other account that a node lies in, while what it shares is open. */
  #ownerOf(user: User, node: TreeNode): User | undefined {
    if (node.accountId === user.id) return undefined;
    const owner = this.#options.users.findById(node.accountId);
    return owner?.disabledAtMs === null ? owner : undefined;
  }

  #grantsOf(user: User, node: TreeNode): Grant[] {
    return this.#grants.above(node.id, user.id, this.#options.clock.nowMs());
  }

  /** What is not there yet is made in the nearest folder that is. */
  #writable(user: User, place: TreeLocation): TreeLocation {
    const { tree } = this.#options;
    for (let path = place.path; ; path = parentPath(path)) {
      const folder = tree.findFolderByPath(place.owner.id, path);
      if (folder !== undefined) checkNeed("write", this.#grantsOf(user, folder));
      if (folder !== undefined || path === ROOT_PATH) return place;
    }
  }
}

/** The device in whose name something is done: the journal of somebody else's account knows none of ours. */
export function actingDevice(user: User, { isOwn }: { readonly isOwn: boolean }): number | undefined {
  return isOwn ? user.viaDeviceId : undefined;
}

const REJECTIONS = {
  versions: "This share shows only the current version. Ask the owner to share earlier versions too.",
  write: "You can only view this share. Ask the owner for write access, or make your own copy.",
  place: "Only the owner can rename, move, or delete this shared item. To stop using it, leave the share.",
  own: "Only the owner can share or publish this. Ask the owner, or make your own copy.",
};

/** The refusal of what only the owner of something may do with it. */
export function forOwnersAlone(): AppError {
  return new AppError("share_permission", REJECTIONS.own);
}

/** @throws AppError share_permission where none of these shares allows it */
function checkNeed(need: Need, grants: readonly Grant[]): void {
  if (need === "read") return;
  const isAllowed = grants.some(({ canWrite, showsVersions, height }) => {
    if (need === "versions") return showsVersions;
    return canWrite && (need === "write" || (need === "place" && height > 0));
  });
  if (isAllowed) return;
  const canWrite = grants.some((grant) => grant.canWrite);
  throw new AppError("share_permission", REJECTIONS[need === "place" && !canWrite ? "write" : need]);
}
