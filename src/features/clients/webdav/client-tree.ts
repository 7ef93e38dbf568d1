/**
 * What an app password sees as its tree: the account's folders or one of them, and the shares that the account received
 * in the folder "Shared with me". Names lead to nodes here; `permissions` still decides about each change.
 */
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import type { AppPasswordService } from "../../accounts/app-passwords/service.ts";
import { AppError, notFound } from "../../../errors.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import { say } from "../../../translations/say.ts";
import type { ReceivedShareService } from "../../sharing/received/service.ts";
import type { ReceivedShare } from "../../sharing/received/types.ts";
import { OWN_VIEW, sharedView, type TreeView } from "../../library/permissions/view.ts";
import type { Address } from "./address.ts";

/** Dependencies of {@link ClientTree}. */
export interface ClientTreeOptions {
  readonly tree: TreeReader;
  readonly appPasswords: Pick<AppPasswordService, "namesAccount">;
  readonly receivedShares: Pick<ReceivedShareService, "list" | "hasAny">;
}

/** A received share, and its name in "Shared with me". */
export interface MountedShare {
  readonly share: ReceivedShare;
  readonly name: string;
  /** The shared node, with the paths of its owner. */
  readonly node: TreeNode;
}

/** A file or folder. */
export interface Item {
  readonly kind: "item";
  /** With the paths of its owner. */
  readonly node: TreeNode;
  readonly owner: User;
  /** The received share that leads to it; undefined in the own tree. */
  readonly share: MountedShare | undefined;
  /** The top of what the app password sees. */
  readonly isRoot: boolean;
  /** Whether this app password may change it. The top of a share can be neither moved nor deleted even then. */
  readonly canWrite: boolean;
}

/** An {@link Item} that is a folder. */
export interface FolderItem extends Item {
  readonly node: FolderNode;
}

/** The folder "Shared with me", which exists only in this view. */
export interface SharesFolder {
  readonly kind: "shares";
  readonly name: string;
}

/** A name that is free in an existing folder. */
export interface FreeName {
  readonly kind: "free";
  readonly parent: FolderItem | SharesFolder;
  readonly name: string;
}

/** A name in a folder that does not exist. */
export interface MissingParent {
  readonly kind: "missing_parent";
}

export type Resource = Item | SharesFolder | FreeName | MissingParent;

const SHARES_NAME = "Shared with me";

/** Finds nodes by the addresses of clients. All methods are synchronous, and may be called inside a transaction. */
export class ClientTree {
  readonly #options: ClientTreeOptions;

  constructor(options: ClientTreeOptions) {
    this.#options = options;
  }

  /**
   * What an address names.
   * @throws AppError not_found for the tree of another account
   */
  find(principal: AppPasswordPrincipal, { user, names }: Pick<Address, "user" | "names">): Resource {
    if (user !== undefined && !this.#options.appPasswords.namesAccount(principal.user, user))
      throw notFound(say`This address was not found.`);
    const root = this.rootOf(principal);
    const [first, ...rest] = names;
    if (first === undefined) return root;
    const isShares = first.startsWith(SHARES_NAME) && this.#childOf(root, first) === undefined;
    if (isShares && first === this.sharesNameOf(principal)) return this.#findShared(principal, first, rest);
    return this.#walk(root, names);
  }

  /** The root folder that an app password sees. @throws AppError not_found if its folder is gone */
  rootOf({ user, appPassword }: AppPasswordPrincipal): FolderItem {
    const { tree } = this.#options;
    const { folderId, canWrite } = appPassword;
    const node = folderId === null ? tree.getRoot(user.id) : tree.findById(folderId);
    if (node?.kind !== "folder") throw notFound(say`The folder of this app password was not found.`);
    return { kind: "item", node, owner: user, share: undefined, isRoot: true, canWrite };
  }

  /** The name of "Shared with me" in the root; undefined if this app password sees no shares. */
  sharesNameOf(principal: AppPasswordPrincipal): string | undefined {
    const { user, appPassword } = principal;
    if (appPassword.folderId !== null || !this.#options.receivedShares.hasAny(user)) return undefined;
    const rootId = this.rootOf(principal).node.id;
    for (let name = SHARES_NAME, number = 2; ; number++) {
      if (this.#options.tree.findNodeIn(rootId, name) === undefined) return name;
      name = numberedName(SHARES_NAME, number);
    }
  }

  /**
   * The received shares, oldest first, with their names in "Shared with me". If two shares have the same name, the newer
   * one gets a number, so a new share never renames an older one.
   */
  mountedShares({ user }: Pick<AppPasswordPrincipal, "user">): MountedShare[] {
    const taken = new Set<string>();
    // The next number of each name: an account can receive a thousand shares of one name.
    const numbers = new Map<string, number>();
    return this.#options.receivedShares
      .list(user)
      .reverse()
      .map((share) => {
        const node = share.ownersNode;
        // The name of a root is a slash, which no address can contain.
        const base = (node.name === ROOT_PATH ? share.owner.email : node.name).replaceAll("/", "_");
        let name = base;
        let number = numbers.get(base) ?? 2;
        for (; taken.has(name); number++) name = numberedName(base, number);
        numbers.set(base, number);
        taken.add(name);
        return { share, name, node };
      });
  }

  /** The item at the top of a received share. */
  topOf({ appPassword }: AppPasswordPrincipal, mounted: MountedShare): Item {
    const { share, node } = mounted;
    const canWrite = appPassword.canWrite && share.canWrite;
    return { kind: "item", node, owner: share.owner, share: mounted, isRoot: false, canWrite };
  }

  /** How the caller sees the tree of an item. */
  viewOf(share: MountedShare | undefined): TreeView {
    return share === undefined ? OWN_VIEW : sharedView(share.node);
  }

  #findShared(principal: AppPasswordPrincipal, name: string, names: readonly string[]): Resource {
    const folder: SharesFolder = { kind: "shares", name };
    const [first, ...rest] = names;
    if (first === undefined) return folder;
    const mounted = this.mountedShares(principal).find((candidate) => candidate.name === first);
    if (mounted === undefined)
      return rest.length === 0 ? { kind: "free", parent: folder, name: first } : MISSING_PARENT;
    const top = this.topOf(principal, mounted);
    if (rest.length === 0) return top;
    return isFolderItem(top) ? this.#walk(top, rest) : MISSING_PARENT;
  }

  #walk(top: FolderItem, names: readonly string[]): Resource {
    const { tree } = this.#options;
    const name = names.at(-1);
    if (name === undefined) return top;
    const path = names.slice(0, -1).reduce(joinPath, top.node.path);
    const folder = path === top.node.path ? top.node : tree.findFolderByPath(top.owner.id, path);
    if (folder === undefined) return MISSING_PARENT;
    const parent: FolderItem = { ...top, node: folder, isRoot: top.isRoot && folder.id === top.node.id };
    return this.#childOf(parent, name) ?? { kind: "free", parent, name };
  }

  #childOf(parent: FolderItem, name: string): Item | undefined {
    const node = this.#options.tree.findNodeIn(parent.node.id, name);
    return node && { ...parent, node, isRoot: false };
  }
}

const MISSING_PARENT: MissingParent = { kind: "missing_parent" };

/** Whether an item is a folder. */
export function isFolderItem(item: Item): item is FolderItem {
  return item.node.kind === "folder";
}

/** Whether an item is the root of an account, for an app password without a folder. */
export function isWholeTree({ isRoot, node }: Item): boolean {
  return isRoot && node.parentId === null;
}

/** Whether an item is the top of a received share. */
export function isShareTop({ share, node }: Item): boolean {
  return share?.node.id === node.id;
}

/** The share to name in requests to services, and the path below it; the own path without a share. */
export function locationOf({ share, node }: FolderItem): { readonly share: string | undefined; readonly path: string } {
  if (share === undefined) return { share: undefined, path: node.path };
  const top = share.node.kind === "folder" ? share.node.path : ROOT_PATH;
  if (top === ROOT_PATH) return { share: share.share.publicId, path: node.path };
  return { share: share.share.publicId, path: node.path.slice(top.length) || ROOT_PATH };
}

/** @throws AppError share_permission if the app password may not change this item */
export function requireWrite({ canWrite, share }: Item): void {
  if (canWrite) return;
  throw new AppError(
    "share_permission",
    share === undefined
      ? say`This app password is read-only. Create one that can change files in Settings, under Connect devices.`
      : say`You can only view this share. Ask its owner for write access.`,
  );
}
