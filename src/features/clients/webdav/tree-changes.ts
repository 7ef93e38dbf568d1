/** Moves and copies for WebDAV. Each is one transaction, except copies of very large folders, also to another account. */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { COPY_NODES_MAX } from "../../../tree/operations/copy.ts";
import type { FolderSize } from "../../../tree/operations/measure-folder.ts";
import type { CopyOptions, FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { AppPasswordPrincipal } from "../../accounts/auth/principal.ts";
import type { User } from "../../accounts/users/types.ts";
import { typeUnderName } from "../../library/files/media-type.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { actingDevice, type Permissions } from "../../library/permissions/permissions.ts";
import { UserTreeWriter, type WriteTarget } from "../../library/permissions/user-tree-writer.ts";
import type { Turns } from "../../../lib/turns.ts";
import { say } from "../../../translations/say.ts";
import type { Address } from "./address.ts";
import { type ClientTree, type FolderItem, isFolderItem, isShareTop, type Item, requireWrite } from "./client-tree.ts";
import type { Conditions } from "./conditions.ts";
import { missingFolder, movedAway, notThere, sharesOnly, WebDavError } from "../errors.ts";

/** Dependencies of {@link TreeChanges}. */
export interface TreeChangesOptions {
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly permissions: Permissions;
  readonly clientTree: ClientTree;
  readonly limitsOf: (user: User) => Pick<StorageLimits, "plan" | "quotaBytes">;
  readonly turns: Turns;
  /** Reserves disk space for the rows of a copy. @returns a function that releases it @throws AppError disk_full */
  readonly reserveSpace: (bytes: number) => () => void;
}

/** A move or a copy. */
export interface Relocation {
  readonly principal: AppPasswordPrincipal;
  readonly from: Address;
  readonly to: Address;
  readonly conditions: Conditions;
  /** Requires that the app password still allows changes. Called in each transaction. */
  readonly confirm: () => void;
  /** Whether an item at the destination may be replaced. */
  readonly overwrites: boolean;
  /** The totals of a folder at the destination. */
  readonly replacedSize?: FolderSize | undefined;
}

/** The item at the destination afterwards, and whether there was none before. */
export interface Relocated {
  readonly node: TreeNode;
  readonly isNew: boolean;
}

/** A checked destination. */
export interface CheckedDestination {
  readonly parent: FolderItem;
  readonly name: string;
  readonly replaced: Item | undefined;
  /** The totals of a folder that is replaced, if they were read before. */
  readonly replacedSize?: FolderSize | undefined;
}

/** Moves and copies. All writes are durable when a promise resolves. */
export class TreeChanges {
  readonly #options: TreeChangesOptions;
  readonly #userTreeWriter: UserTreeWriter;

  constructor(options: TreeChangesOptions) {
    this.#options = options;
    this.#userTreeWriter = new UserTreeWriter(options.treeWriter, (owner) => options.limitsOf(owner).plan);
  }

  /**
   * Checks a move or a copy: before its transaction, and again in it.
   * @throws AppError not_found | share_permission | precondition_failed; WebDavError 403 onto itself or below, 409 without
   *   a folder above
   */
  check(relocation: Relocation, isMove: boolean): { readonly source: Item; readonly destination: CheckedDestination } {
    const { principal, from, to, conditions, overwrites } = relocation;
    const { clientTree } = this.#options;
    const source = clientTree.find(principal, from);
    if (source.kind === "shares") throw new WebDavError(403, say`This folder can't be moved or copied.`);
    if (source.kind !== "item") throw notThere();
    if (isMove) requireMovable(source);
    conditions.check(source);
    const target = clientTree.find(principal, to);
    const destination = this.#destination(principal, target, to);
    if (destination.replaced !== undefined && !overwrites) {
      throw new WebDavError(
        412,
        say`There is already a file or folder at the destination. Choose another name, or allow the program to replace it.`,
      );
    }
    this.#rejectInside(source, destination);
    requireWrite(destination.parent);
    if (destination.replaced !== undefined && !(isMove && destination.replaced.node.id === source.node.id)) {
      conditions.checkForm(destination.replaced, to);
    }
    return { source, destination: { ...destination, replacedSize: relocation.replacedSize } };
  }

  /**
   * Moves an item. A file that moves onto a file becomes its next version: programs that save to a temporary name and
   * rename it then keep the id, the links and the history of the file.
   */
  async move(relocation: Relocation): Promise<Relocated> {
    const { writer, tree } = this.#options;
    const { source: checked, destination: target } = this.check(relocation, true);
    if (!isInOneAccount(checked, target) && isBeyondOneStep(tree, checked)) return this.#copyLarge(relocation, true);
    return writer.run((tx) => {
      relocation.confirm();
      const { source, destination } = this.check(relocation, true);
      const user = { ...relocation.principal.user, lockTokens: relocation.conditions.lockTokens };
      this.#permit(user, source, destination, true);
      if (!isInOneAccount(source, destination)) return this.#moveAcross(tx, user, source, destination);
      if (isFileOntoFile(source, destination)) return this.#moveOntoFile(tx, user, source, destination);
      this.#clear(tx, user, destination, source);
      const { treeWriter } = this.#options;
      const { name, parent } = destination;
      const changes = { name, folderPath: parent.node.path };
      const node = this.#write(user, parent, () =>
        source.node.kind === "file"
          ? treeWriter.updateFile(tx, source.node, {
              ...changes,
              mediaType: typeUnderName(source.node.mediaType, name),
            })
          : treeWriter.updateFolder(tx, source.node, changes),
      );
      return { node, isNew: destination.replaced === undefined };
    });
  }

  /**
   * Copies an item; no bytes are written.
   * @param isShallow copies a folder without what is in it
   */
  async copy(relocation: Relocation, isShallow: boolean): Promise<Relocated> {
    const { writer, tree } = this.#options;
    const { source } = this.check(relocation, false);
    const isLarge = !isShallow && isBeyondOneStep(tree, source);
    if (isLarge) return this.#copyLarge(relocation, false);
    return writer.run((tx) => {
      relocation.confirm();
      const { source: now, destination } = this.check(relocation, false);
      const user = { ...relocation.principal.user, lockTokens: relocation.conditions.lockTokens };
      this.#permit(user, now, destination, false);
      if (!isFileOntoFile(now, destination)) this.#clear(tx, user, destination, now);
      const node = this.#write(user, destination.parent, () =>
        isFolderItem(now) && isShallow
          ? this.#copyEmpty(tx, now.node, destination)
          : this.#copyNow(tx, user, now, destination),
      );
      return { node, isNew: destination.replaced === undefined };
    });
  }

  /** Copies a folder with its properties, and without what is in it (RFC 4918, section 9.8.3). */
  #copyEmpty(tx: Transaction, { id, metadata }: FolderNode, { parent, name }: CheckedDestination): TreeNode {
    const { tree, treeWriter } = this.#options;
    const made = treeWriter.createFolder(tx, {
      accountId: parent.owner.id,
      parentPath: parent.node.path,
      name,
      metadata,
    });
    treeWriter.changeProperties(tx, made, tree.propertiesOf([id]).get(id) ?? []);
    return made;
  }

  /**
   * Copies in many transactions. The last one shows the copy, and clears its place.
   * @param isMove also moves the original to the trash, in the last transaction
   */
  async #copyLarge(relocation: Relocation, isMove: boolean): Promise<Relocated> {
    const { writer, tree, treeWriter, turns, reserveSpace } = this.#options;
    const { principal } = relocation;
    const user = { ...principal.user, lockTokens: relocation.conditions.lockTokens };
    return turns.take([principal.user.id], async () => {
      const { source, destination } = this.check(relocation, isMove);
      this.#permit(user, source, destination, isMove);
      const measured = isMove ? await tree.measure(source.node) : undefined;
      const admit = (tx: Transaction) => {
        relocation.confirm();
        const now = this.check(relocation, isMove);
        // The copy is attached at the path of the destination as it was at the beginning.
        if (now.source.node.id !== source.node.id || !isSameDestination(now.destination, destination))
          throw movedAway();
        this.#permit(user, now.source, now.destination, isMove);
        this.#clear(tx, user, now.destination, now.source);
        if (measured !== undefined) this.#trashCopied(tx, user, now.source, measured);
      };
      const options = { ...this.#copyOptions(user, destination), reserveSpace, admit };
      const folderPath = destination.parent.node.path;
      const isOwn = destination.parent.share === undefined;
      const copy = treeWriter.copyLarge(writer, source.node, folderPath, options, actingDevice(user, { isOwn }));
      const node = await this.#userTreeWriter.explainRejection(this.#targetOf(destination.parent), copy);
      return { node, isNew: destination.replaced === undefined };
    });
  }

  /**
   * Moves the original of a copy to the trash. A change of it during the copy may be missing there, and must not
   * disappear.
   * @throws WebDavError 409 if content, names or labels in its account changed since it was measured
   */
  #trashCopied(tx: Transaction, user: User, source: Item, measured: FolderSize): void {
    const { tree, treeWriter } = this.#options;
    if (!tree.isCurrent(source.node, measured)) {
      throw new WebDavError(409, say`Something changed while the folder was moved. Move it again.`);
    }
    this.#write(user, source, () => void treeWriter.trash(tx, source.node, measured));
  }

  /** @param freedBytes what the same transaction deletes afterwards: it does not count for the quota */
  #copyNow(tx: Transaction, user: User, source: Item, destination: CheckedDestination, freedBytes = 0): TreeNode {
    const { node } = source;
    const mediaType = node.kind === "file" ? typeUnderName(node.mediaType, destination.name) : undefined;
    const common = this.#copyOptions(user, destination);
    const quotaBytes = common.quotaBytes === null ? null : common.quotaBytes + freedBytes;
    const options = { ...common, quotaBytes, mediaType };
    return this.#options.treeWriter.copy(tx, node, destination.parent.node.path, options).node;
  }

  #copyOptions(user: User, { parent, name, replaced }: CheckedDestination): CopyOptions {
    return {
      accountId: parent.owner.id,
      name,
      onConflict: replaced?.node.kind === "file" ? "version" : "error",
      preserveMetadata: true,
      createdBy: user.id,
      quotaBytes: this.#options.limitsOf(parent.owner).quotaBytes,
      lockTokens: user.lockTokens,
    };
  }

  /** Moves to another account: a node never changes its account, so it is copied, and the original goes to the trash. */
  #moveAcross(tx: Transaction, user: User, source: Item, destination: CheckedDestination): Relocated {
    if (!isFileOntoFile(source, destination)) this.#clear(tx, user, destination, source);
    const node = this.#write(user, destination.parent, () => this.#copyNow(tx, user, source, destination));
    this.#write(user, source, () => void this.#options.treeWriter.trash(tx, source.node));
    return { node, isNew: destination.replaced === undefined };
  }

  #moveOntoFile(tx: Transaction, user: User, source: Item, destination: CheckedDestination): Relocated {
    const { treeWriter } = this.#options;
    const { node: moved } = source;
    const isTemporary = moved.kind === "file" && this.#hasNoHistory(moved);
    const node = this.#write(user, destination.parent, () => {
      const copied = this.#copyNow(tx, user, source, destination, isTemporary ? moved.sizeBytes : 0);
      if (isTemporary) treeWriter.deleteFile(tx, moved);
      else treeWriter.trash(tx, moved);
      return copied;
    });
    return { node, isNew: false };
  }

  /**
   * Whether a file is temporary: it has no earlier content, or only the empty one that LOCK gave it. Any other goes to
   * the trash with its versions, and still counts for the quota.
   */
  #hasNoHistory(file: FileNode): boolean {
    if (file.version === 1) return true;
    return this.#options.tree
      .listVersions(file)
      .every(({ version, sizeBytes }) => version === file.version || sizeBytes === 0);
  }

  /** Moves what is at the destination to the trash. */
  #clear(tx: Transaction, user: User, { parent, replaced, replacedSize }: CheckedDestination, source: Item): void {
    if (replaced === undefined || replaced.node.id === source.node.id) return;
    this.#write(user, parent, () => void this.#options.treeWriter.trash(tx, replaced.node, replacedSize));
  }

  /** The decisions of `permissions`, which knows all shares of a node. */
  #permit(user: User, source: Item, { parent, replaced }: CheckedDestination, isMove: boolean): void {
    const { permissions } = this.#options;
    permissions.node(user, source.node.publicId, isMove ? "manage" : "read");
    permissions.folder(user, parent.node.publicId, "write");
    if (replaced !== undefined && replaced.node.kind === "folder") {
      permissions.node(user, replaced.node.publicId, "manage");
    }
  }

  #write<T>(user: User, item: Item, change: () => T): T {
    return this.#userTreeWriter.write(user, this.#targetOf(item), change);
  }

  #targetOf({ owner, share }: Item): WriteTarget {
    return { owner, isOwn: share === undefined, view: this.#options.clientTree.viewOf(share) };
  }

  #destination(
    principal: AppPasswordPrincipal,
    target: ReturnType<ClientTree["find"]>,
    to: Address,
  ): CheckedDestination {
    if (target.kind === "missing_parent") throw missingFolder();
    if (target.kind === "free") {
      if (target.parent.kind === "shares") throw sharesOnly();
      return { parent: target.parent, name: target.name, replaced: undefined };
    }
    if (target.kind === "shares" || target.isRoot) throw new WebDavError(403, say`This folder can't be replaced.`);
    if (isShareTop(target)) {
      throw new WebDavError(403, say`Only the owner can replace a shared item. Save your changes in it instead.`);
    }
    const parent = this.#options.clientTree.find(principal, { user: to.user, names: to.names.slice(0, -1) });
    if (parent.kind !== "item" || !isFolderItem(parent)) throw missingFolder();
    return { parent, name: target.node.name, replaced: target };
  }

  /** RFC 4918, sections 9.8.5 and 9.9.4: the source and the destination are the same, or one is in the other. */
  #rejectInside(source: Item, { parent, replaced }: CheckedDestination): void {
    const { tree } = this.#options;
    const isSame = replaced?.node.id === source.node.id;
    const isInside = isFolderItem(source) && tree.isWithin(parent.node, source.node.id);
    const isAbove = replaced !== undefined && isFolderItem(replaced) && tree.isWithin(source.node, replaced.node.id);
    if (isSame || isInside || isAbove) {
      throw new WebDavError(
        403,
        say`An item can't be moved or copied onto itself, into itself, or onto a folder above it.`,
      );
    }
  }
}

/** Whether an item is too large to be copied in one transaction. */
function isBeyondOneStep(tree: TreeReader, { node }: Item): boolean {
  const { files, folders } = tree.countBelow(node, COPY_NODES_MAX);
  return files + folders > COPY_NODES_MAX;
}

function isInOneAccount({ owner }: Item, { parent }: CheckedDestination): boolean {
  return owner.id === parent.owner.id;
}

function isFileOntoFile(source: Item, { replaced }: CheckedDestination): boolean {
  return source.node.kind === "file" && replaced?.node.kind === "file";
}

/** Whether two destinations are the same name in the same folder, which was not moved in between. */
function isSameDestination(one: CheckedDestination, other: CheckedDestination): boolean {
  const [{ id, path }, otherFolder] = [one.parent.node, other.parent.node];
  return id === otherFolder.id && path === otherFolder.path && one.name === other.name;
}

function requireMovable(source: Item): void {
  requireWrite(source);
  if (source.isRoot) throw new WebDavError(403, say`The root folder can't be moved.`);
  if (isShareTop(source)) {
    throw new WebDavError(
      403,
      say`Only the owner can rename, move, or delete a shared item. To stop using it, leave the share.`,
    );
  }
}
