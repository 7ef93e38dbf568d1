/**
 * Decides which user may do what with which node. Only this code turns an id of a signed-in request into a node: every
 * route with a file or folder id calls it, and calls it again inside the transaction of a change. Paths decide nothing.
 *
 * A node belongs to its owner. Other accounts can access it through a share of the node, of a folder above it, or of an
 * album with the file. The share must not have expired, and its owner must not be disabled. If several shares cover the
 * node, the best permission applies, and its paths begin at the outermost share. An album only allows reading: its file
 * appears alone, as a single shared file does.
 */
import type { Database } from "bun:sqlite";
import { AppError, invalidField, notFound } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import { parentPath, ROOT_PATH } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { UserService } from "../../accounts/users/service.ts";
import type { User } from "../../accounts/users/types.ts";
import { AlbumGrants } from "./album-grants.ts";
import { type Grant, type SharedRoot, ShareGrants } from "./grants.ts";
import { OWN_VIEW, sharedView, type TreeView } from "./view.ts";

/**
 * A permission on a node:
 * - `read`: read it
 * - `versions`: see its earlier versions
 * - `write`: change its content, its tags, and everything below it
 * - `manage`: rename, move or delete it. A recipient can't do this with the shared node itself.
 * - `own`: share or publish it, or see its recipients. Only the owner can.
 */
export type Permission = "read" | "versions" | "write" | "manage" | "own";

/** A node that a user may use, and its owner. */
export interface PermittedNode<N extends TreeNode> {
  /** The node as the caller sees it: paths of shared nodes begin at the share and reveal none of the owner's. */
  readonly node: N;
  /** The account whose quota, limits and journal it uses: the caller, if the node is their own. */
  readonly owner: User;
  readonly isOwn: boolean;
  /** Public id of the share that its paths begin at; undefined for an own node, and for a file of a shared album. */
  readonly share: string | undefined;
  /** Whether the caller may change its content, its tags, and everything below it. */
  readonly canWrite: boolean;
  /** Whether the caller may rename, move, and delete it. */
  readonly canManage: boolean;
  /** Whether the caller may see earlier versions. */
  readonly showsVersions: boolean;
  /** How the caller sees the node and its surroundings: for results and errors of the tree. */
  readonly view: TreeView;
}

/** A folder that a user may add something to. It need not exist yet. */
export interface TreeLocation {
  readonly owner: User;
  readonly isOwn: boolean;
  /** The owner's path. */
  readonly path: string;
  readonly view: TreeView;
}

/** An album that a user may see, and its owner. */
export interface AlbumPermit {
  /** Row id. */
  readonly albumId: number;
  readonly owner: User;
  readonly isOwn: boolean;
}

/** The node of a share between accounts, as its recipient may use it. */
export interface ReceivedNode {
  readonly owner: User;
  /** With the paths of the owner. */
  readonly node: TreeNode;
  readonly canWrite: boolean;
  readonly view: TreeView;
}

/** Dependencies of {@link Permissions}. */
export interface PermissionsOptions {
  readonly sqlite: Database;
  readonly tree: TreeReader;
  readonly users: Pick<UserService, "findById">;
  readonly clock: Clock;
}

/** Checks permissions. All methods are synchronous and may be called inside a transaction. */
export class Permissions {
  readonly #options: PermissionsOptions;
  readonly #grants: ShareGrants;
  readonly #albums: AlbumGrants;

  constructor(options: PermissionsOptions) {
    this.#options = options;
    this.#grants = new ShareGrants(options.sqlite);
    this.#albums = new AlbumGrants(options.sqlite);
  }

  /** @throws AppError not_found if the user can't see it; share_permission if the share does not grant this permission */
  file(user: User, publicId: string, permission: Permission): PermittedNode<FileNode> {
    const { node, owner, isOwn, share, canWrite, canManage, showsVersions, view } = this.#find(
      user,
      publicId,
      permission,
      "file",
      say`This file was not found.`,
    );
    if (node.kind !== "file") throw notFound(say`This file was not found.`);
    // Named one by one, as copying the rest of an object is slow, and every download comes here.
    return { node, owner, isOwn, share, canWrite, canManage, showsVersions, view };
  }

  /** Whether a user can see a file. */
  canRead(user: User, publicId: string): boolean {
    try {
      this.file(user, publicId, "read");
      return true;
    } catch (error) {
      if (error instanceof AppError && error.reason === "not_found") return false;
      throw error;
    }
  }

  /** @throws as {@link file} */
  folder(user: User, publicId: string, permission: Permission): PermittedNode<FolderNode> {
    const { node, ...rest } = this.#find(user, publicId, permission, "folder", say`This folder was not found.`);
    if (node.kind !== "folder") throw notFound(say`This folder was not found.`);
    return { node, ...rest };
  }

  /** A file or a folder. @throws as {@link file} */
  node(user: User, publicId: string, permission: Permission): PermittedNode<TreeNode> {
    return this.#find(user, publicId, permission, undefined, say`This file or folder was not found.`);
  }

  /**
   * An album: `read` for its owner and for the recipients of its shares, `own` for its owner.
   * @throws AppError not_found | share_permission
   */
  album(user: User, publicId: string, permission: "read" | "own"): AlbumPermit {
    const { users, clock } = this.#options;
    const found = this.#albums.find(publicId);
    if (found?.accountId === user.id) return { albumId: found.id, owner: user, isOwn: true };
    const isShared = found !== undefined && this.#albums.isShared(found.id, user.id, clock.nowMs());
    const owner = isShared ? users.findById(found.accountId) : undefined;
    if (found === undefined || owner?.disabledAtMs !== null) throw notFound(say`This album was not found.`);
    if (permission === "own") {
      throw new AppError("share_permission", say`Only the owner can change or share this album. Ask the owner.`);
    }
    return { albumId: found.id, owner, isOwn: false };
  }

  /**
   * The target of an upload, copy or move: a normalized path of the caller's own tree or, with the id of a received
   * share, below that share.
   * @throws AppError not_found for a share that the caller does not (or no longer) have; invalid_field for one of a
   *   single file; share_permission; invalid_path if the path of the owner gets too long
   */
  location(user: User, path: string, shareId: string | undefined): TreeLocation {
    if (shareId === undefined) return { owner: user, isOwn: true, path, view: OWN_VIEW };
    const { owner, node, view } = this.received(user, shareId);
    if (node.kind === "file")
      throw invalidField("share", say`This share is a single file. You can't add anything to it.`);
    return this.#writable(user, { owner, isOwn: false, path: view.toOwner(path), view });
  }

  /** Like {@link location}, for a path in the tree of a node that the user already has. */
  locationInSameTree(user: User, { owner, isOwn, view }: PermittedNode<TreeNode>, path: string): TreeLocation {
    const target = { owner, isOwn, path: view.toOwner(path), view };
    return isOwn ? target : this.#writable(user, target);
  }

  /** The node of a received share while it is live. @throws AppError not_found */
  received(user: User, shareId: string): ReceivedNode {
    const { tree, clock } = this.#options;
    const grant = this.#grants.received(shareId, user.id, clock.nowMs());
    const node = grant && tree.findById(grant.nodeId);
    const owner = node && this.#findOwner(user, node);
    if (grant === undefined || node === undefined || owner === undefined)
      throw notFound(say`This share was not found.`);
    return { owner, node, canWrite: grant.canWrite, view: sharedView(node) };
  }

  /** The files and folders that other accounts share with the user now: what a search may look into. */
  receivedRoots(user: User): SharedRoot[] {
    const { tree, clock, users } = this.#options;
    if (!this.#grants.hasAny(user.id)) return [];
    return this.#grants.roots(user.id, clock.nowMs()).filter(({ accountId, nodeId }) => {
      if (accountId === user.id || users.findById(accountId)?.disabledAtMs !== null) return false;
      return tree.findById(nodeId) !== undefined;
    });
  }

  /** Other accounts that have shared something with the user for writing. */
  writableOwners(user: User): User[] {
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
    permission: Permission,
    kind: TreeNode["kind"] | undefined,
    what: Message,
  ): PermittedNode<TreeNode> {
    const { tree } = this.#options;
    const own = tree.findNode(user.id, publicId);
    if (own !== undefined) {
      return {
        node: own,
        owner: user,
        isOwn: true,
        share: undefined,
        canWrite: true,
        canManage: true,
        showsVersions: true,
        view: OWN_VIEW,
      };
    }
    // A user without shares gets the response in the same time for every id.
    const node = this.#grants.hasAny(user.id) ? tree.findAnywhere(publicId) : undefined;
    if (node === undefined || (kind ?? node.kind) !== node.kind) throw notFound(what);
    const grants = this.#findGrants(user, node);
    const outermost = grants.at(-1);
    const base = outermost && (outermost.height === 0 ? node : tree.findById(outermost.nodeId));
    const owner = base && this.#findOwner(user, node);
    if (base === undefined || owner === undefined) throw notFound(what);
    requirePermission(permission, grants);
    const view = sharedView(base);
    return { node: view.show(node), owner, isOwn: false, share: outermost?.share, ...combined(grants), view };
  }

  /** The owner of a node in another account, unless disabled. */
  #findOwner(user: User, node: TreeNode): User | undefined {
    if (node.accountId === user.id) return undefined;
    const owner = this.#options.users.findById(node.accountId);
    return owner?.disabledAtMs === null ? owner : undefined;
  }

  #findGrants(user: User, node: TreeNode): Grant[] {
    const nowMs = this.#options.clock.nowMs();
    const grants = this.#grants.above(node.id, user.id, nowMs);
    const isInAlbum = node.kind === "file" && this.#albums.isItemOfShared(node.id, user.id, nowMs);
    return isInAlbum
      ? [{ share: undefined, nodeId: node.id, height: 0, canWrite: false, showsVersions: false }, ...grants]
      : grants;
  }

  /** Checks the nearest existing folder: missing ones are created in it. */
  #writable(user: User, target: TreeLocation): TreeLocation {
    const { tree } = this.#options;
    for (let path = target.path; ; path = parentPath(path)) {
      const folder = tree.findFolderByPath(target.owner.id, path);
      if (folder !== undefined) requirePermission("write", this.#findGrants(user, folder));
      if (folder !== undefined || path === ROOT_PATH) return target;
    }
  }
}

/** The device to record in the journal; undefined for changes in another account. */
export function actingDevice(user: User, { isOwn }: { readonly isOwn: boolean }): number | undefined {
  return isOwn ? user.viaDeviceId : undefined;
}

const REJECTION_MESSAGES = {
  versions: say`This share shows only the current version. Ask the owner to share earlier versions too.`,
  write: say`You can only view this share. Ask the owner for write access, or make your own copy.`,
  manage: say`Only the owner can rename, move, or delete this shared item. To stop using it, leave the share.`,
  own: say`Only the owner can share or publish this. Ask the owner, or make your own copy.`,
};

/** The error for an action that only the owner may take. */
export function ownerRequired(): AppError {
  return new AppError("share_permission", REJECTION_MESSAGES.own);
}

/** The best of what these shares of a node, and of folders above it, grant. */
function combined(grants: readonly Grant[]): Pick<PermittedNode<TreeNode>, "canWrite" | "canManage" | "showsVersions"> {
  return {
    canWrite: grants.some(({ canWrite }) => canWrite),
    canManage: grants.some(({ canWrite, height }) => canWrite && height > 0),
    showsVersions: grants.some(({ showsVersions }) => showsVersions),
  };
}

/** @throws AppError share_permission if none of these shares grants it */
function requirePermission(permission: Permission, grants: readonly Grant[]): void {
  if (permission === "read") return;
  const { canWrite, canManage, showsVersions } = combined(grants);
  if ({ versions: showsVersions, write: canWrite, manage: canManage, own: false }[permission]) return;
  throw new AppError(
    "share_permission",
    REJECTION_MESSAGES[permission === "manage" && !canWrite ? "write" : permission],
  );
}
