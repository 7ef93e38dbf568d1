import type { Transaction, Writer } from "../db/transaction.ts";
import {
  mergeContent,
  mergeFile,
  mergeFolder,
  type MergedFile,
  type MergedFolder,
  type NextContent,
} from "./operations/merge-newer.ts";
import { sweepJournal } from "./journal/sweep.ts";
import { copy, copyLarge } from "./operations/copy.ts";
import { createFile, createFolder } from "./operations/create.ts";
import { deleteFile, deleteFolder, detachRoot, reapSome } from "./operations/delete.ts";
import { createAccountRoot, ensureFolderId } from "./operations/make-folder.ts";
import {
  type LostFile,
  type LostFolder,
  type RestoredLocation,
  putBack,
  putContentBack,
  remakeFile,
  remakeFolder,
  stepAside,
} from "./operations/put-back.ts";
import type { TreeStore } from "./tables/store.ts";
import type {
  CopyOptions,
  DeletedNode,
  FileChanges,
  FileNode,
  FileVersion,
  FolderChanges,
  FolderNode,
  NewContent,
  NewFile,
  NewFolder,
  NodeRef,
  Precondition,
  TrashedNode,
  TreeNode,
} from "./model/types.ts";
import type { Labels } from "./tables/undo.ts";
import { purgeNode, restoreNode, trashNode, type FolderSize } from "./operations/trash.ts";
import { move, updateFile, updateFolder } from "./operations/update.ts";
import { deleteVersion, type PruneOptions, pruneVersions, replaceContent, restoreVersion } from "./tables/versions.ts";

/**
 * The only writer of nodes and journal. Every method is synchronous and is called inside a deed (`Writer.run`); what it
 * throws undoes the deed. Nodes are named by account and public id and read again here, so that what a caller read before
 * need not be true any more. Each change takes the next journal number of the account; where nothing is other than before,
 * nothing is written.
 */
export class TreeWriter {
  readonly #store: TreeStore;

  constructor(store: TreeStore) {
    this.#store = store;
  }

  /**
   * Carries out a deed in the name of a device: the journal notes it with each change, and a content remembers it.
   * Synchronous, inside a deed.
   */
  by<T>(deviceId: number | undefined, deed: () => T): T {
    return this.#store.by(deviceId ?? null, deed);
  }

  /**
   * Carries out a deed that undoes what a device did: its changes are noted as that device's, not to be undone again.
   * Whose name the journal has is said by {@link by}. Synchronous, inside a deed.
   */
  rewinding<T>(deviceId: number, deed: () => T): T {
    const { undo } = this.#store;
    undo.rewoundDeviceId = deviceId;
    try {
      return deed();
    } finally {
      undo.rewoundDeviceId = null;
    }
  }

  /**
   * Puts a node back where it was and gives it its former labels, as far as given. A taken name is numbered, a missing
   * folder made. Inside {@link rewinding}, as the following ones.
   * @throws AppError not_found | not_a_folder; invalid_path for a folder into itself
   */
  putBack(tx: Transaction, node: TreeNode, place: RestoredLocation | undefined, labels: Labels | undefined): TreeNode {
    return putBack(this.#store, tx, node, place, labels);
  }

  /** Gives a file or folder, not a root, another name in its folder, numbered as where a name is taken. */
  stepAside(tx: Transaction, node: TreeNode): TreeNode {
    return stepAside(this.#store, tx, node);
  }

  /**
   * Makes an earlier version of a file its next content. Undefined where the file or that version is gone.
   * @throws AppError quota_exceeded
   */
  putContentBack(
    tx: Transaction,
    file: NodeRef,
    version: number,
    by: { readonly createdBy: number; readonly quotaBytes: number | null },
  ): FileNode | undefined {
    return putContentBack(this.#store, tx, file, version, by);
  }

  /**
   * Makes a deleted file again: a new node with the contents, labels and times of the former one. A taken name is
   * numbered. Undefined where the content is not kept any more.
   * @throws AppError quota_exceeded | not_a_folder
   */
  remakeFile(tx: Transaction, lost: LostFile): FileNode | undefined {
    return remakeFile(this.#store, tx, lost);
  }

  /** Makes a deleted folder again; where one is at its path already, that is taken. @throws AppError not_a_folder */
  remakeFolder(tx: Transaction, lost: LostFolder): FolderNode {
    return remakeFolder(this.#store, tx, lost);
  }

  /**
   * Makes a file of another state of this tree, with its id, times and versions. A taken name is numbered; quotas are not
   * checked.
   * @throws AppError not_found where the folder is gone
   */
  mergeFile(tx: Transaction, merged: MergedFile): FileNode {
    return mergeFile(this.#store, tx, merged);
  }

  /** The same for a folder. @throws AppError not_found where the folder that it goes into is gone */
  mergeFolder(tx: Transaction, merged: MergedFolder): FolderNode {
    return mergeFolder(this.#store, tx, merged);
  }

  /** Gives a file its next content, with the time of that; quotas are not checked. @throws AppError not_found */
  mergeContent(tx: Transaction, file: NodeRef, content: NextContent): FileNode {
    return mergeContent(this.#store, tx, file, content);
  }

  /** Forgets what devices did before the time: up to `limit` rows of each device of an account. @returns how many */
  sweepUndo(_tx: Transaction, accountId: number, olderThanMs: number, limit: number): number {
    return this.#store.undo.sweep(accountId, olderThanMs, limit);
  }

  /**
   * Promises bytes of an account's quota to an upload that is under way (D22), or, with a negative number, takes such a
   * promise back. Files are not checked against it twice: take it back in the deed that makes the file.
   * @param quotaBytes null for no limit
   * @throws AppError quota_exceeded
   */
  reserveBytes(_tx: Transaction, accountId: number, bytes: number, quotaBytes: number | null): void {
    this.#store.accounts.reserve(accountId, bytes, quotaBytes);
  }

  /** Makes the root of a new account, whose row exists. @returns its row id */
  createAccountRoot(_tx: Transaction, accountId: number): number {
    return createAccountRoot(this.#store, accountId);
  }

  /**
   * The folder at a normalised path, with everything on the way to it made where it is missing.
   * @throws AppError not_a_folder where a file is in the way
   */
  ensureFolder(tx: Transaction, accountId: number, path: string): FolderNode {
    return this.#store.getFolder(ensureFolderId(this.#store, tx, accountId, path));
  }

  /** @throws AppError name_taken | not_a_folder */
  createFolder(tx: Transaction, input: NewFolder): FolderNode {
    return createFolder(this.#store, tx, input);
  }

  /**
   * Makes a file, or with `onConflict: "version"` gives the file of that name its next content (`isNew` false; labels and
   * metadata given are then taken over, others stay).
   * @throws AppError name_taken | not_a_folder | quota_exceeded
   */
  createFile(tx: Transaction, input: NewFile): { file: FileNode; isNew: boolean } {
    return createFile(this.#store, tx, input);
  }

  /**
   * Gives a file its next content; the present one becomes an earlier version, which counts in usage. Every call is a new
   * version, of the same bytes too.
   * @throws AppError not_found | quota_exceeded; what the precondition throws
   */
  replaceContent(tx: Transaction, input: NewContent): FileNode {
    return replaceContent(this.#store, tx, input);
  }

  /**
   * Renames, moves, labels, describes, publishes a file.
   * @throws AppError not_found | name_taken | not_a_folder | invalid_field; what the precondition throws
   */
  updateFile(tx: Transaction, file: NodeRef, changes: FileChanges, precondition?: Precondition): FileNode {
    return updateFile(this.#store, tx, file, changes, precondition);
  }

  /**
   * Renames, moves, describes a folder; one row, however much is in it.
   * @throws AppError not_found | name_taken | not_a_folder | invalid_field; invalid_path for the root and into itself
   */
  updateFolder(tx: Transaction, folder: NodeRef, changes: FolderChanges): FolderNode {
    return updateFolder(this.#store, tx, folder, changes);
  }

  /**
   * Puts a file or folder into another folder, made where it is missing. To where it is already: nothing happens.
   * @throws AppError not_found | name_taken | not_a_folder; invalid_path for the root and into itself
   */
  move(tx: Transaction, node: NodeRef, destinationPath: string): TreeNode {
    return move(this.#store, tx, node, destinationPath);
  }

  /**
   * Copies a file, or a folder with all below it, by reference to the same contents. `isNew` is false where a file became
   * a version of another.
   * @throws AppError not_found | name_taken | not_a_folder | quota_exceeded; invalid_path for a folder into itself;
   *   invalid_request where a folder has more than `COPY_NODES_MAX` below it (see {@link copyLarge})
   */
  copy(
    tx: Transaction,
    node: NodeRef,
    destinationPath: string,
    options: CopyOptions,
  ): { node: TreeNode; isNew: boolean } {
    return copy(this.#store, tx, node, destinationPath, options);
  }

  /**
   * Copies a folder of any size in many short deeds, between which others write. The copy appears whole, at the end, or
   * not at all; what changes in the source meanwhile may be in it or not. Not inside a deed.
   * @param deviceId the device in whose name it is done, as in {@link by}
   * @throws AppError as `copy` does
   */
  copyLarge(
    writer: Writer,
    folder: NodeRef,
    destinationPath: string,
    options: CopyOptions,
    deviceId?: number,
  ): Promise<FolderNode> {
    return copyLarge(this.#store, writer, folder, destinationPath, options, deviceId ?? null);
  }

  /** Removes a file with all its versions, for good. @throws AppError not_found; what the precondition throws */
  deleteFile(tx: Transaction, file: NodeRef, precondition?: Precondition): DeletedNode {
    return deleteFile(this.#store, tx, file, precondition);
  }

  /**
   * Removes a folder with all below it, for good, at once for every reader and in the account's sums. Rows of large ones
   * are left for {@link reapSome}.
   * @throws AppError not_found; invalid_path for the root; folder_not_empty with `onlyEmpty`
   */
  deleteFolder(tx: Transaction, folder: NodeRef, options?: { readonly onlyEmpty?: boolean | undefined }): DeletedNode {
    return deleteFolder(this.#store, tx, folder, options);
  }

  /**
   * Puts a file, or a folder with all below it, into the trash: gone at once for every reader, in one row. It counts in the
   * quota still.
   * @param measured what {@link TreeReader.weigh} gave for it, for a folder of many files
   * @throws AppError not_found; invalid_path for the root
   */
  trash(tx: Transaction, node: NodeRef, measured?: FolderSize): TrashedNode {
    return trashNode(this.#store, tx, node, measured);
  }

  /**
   * Takes out of the trash: into the folder that it was in, or where that is gone, into the nearest on its former path that
   * is there; under a numbered name where its own is taken. It is what it was, with the same id.
   * @throws AppError not_found; invalid_path where its path would be too long
   */
  restore(tx: Transaction, node: NodeRef): TreeNode {
    return restoreNode(this.#store, tx, node);
  }

  /** Deletes what is in the trash for good; rows of large folders are left for {@link reapSome}. @throws AppError not_found */
  purge(tx: Transaction, node: NodeRef): TrashedNode {
    return purgeNode(this.#store, tx, node);
  }

  /** Cuts the whole tree of an account off: gone at once for every reader; its rows are left for {@link reapSome}. */
  detachRoot(_tx: Transaction, accountId: number): void {
    detachRoot(this.#store, accountId);
  }

  /**
   * Takes some rows of deleted folders apart: tombstones, labels, references. To be called at the start and after a
   * folder was deleted, again and again until it returns 0; by the server alone.
   * @returns rows removed
   */
  reapSome(tx: Transaction, limit = 20): number {
    return reapSome(this.#store, tx, limit);
  }

  /**
   * Forgets deletions and superseded journal rows older than the time, a bounded step of one account.
   * @returns where to go on, 0 at the end
   */
  sweepJournal(_tx: Transaction, accountId: number, olderThanMs: number, afterSeq: number): number {
    return sweepJournal(this.#store.sqlite, accountId, olderThanMs, afterSeq);
  }

  /**
   * Makes an earlier version the file's next content, also where its bytes are those of the present one; of the present
   * version nothing happens.
   * @throws AppError not_found | quota_exceeded; what the precondition throws
   */
  restoreVersion(
    tx: Transaction,
    file: NodeRef,
    version: number,
    by: {
      readonly createdBy: number;
      readonly quotaBytes: number | null;
      readonly precondition?: Precondition | undefined;
    },
  ): FileNode {
    return restoreVersion(this.#store, tx, file, version, by);
  }

  /** Drops an earlier version for good and frees its bytes in the quota. @throws AppError not_found | version_conflict */
  deleteVersion(_tx: Transaction, file: NodeRef, version: number): FileVersion {
    return deleteVersion(this.#store, file, version);
  }

  /** Forgets where nodes of an account were before the time: up to `limit` rows. @returns how many */
  sweepHistory(_tx: Transaction, accountId: number, olderThanMs: number, limit: number): number {
    return this.#store.history.sweep(accountId, olderThanMs, limit);
  }

  /**
   * Drops earlier contents that no rule keeps: those beyond the newest `keepOf` of a file that were also replaced before
   * the time, and that no share is pinned to.
   * Looks at about `limit` rows; `nextNodeId` is where to go on, 0 at the end.
   */
  pruneVersions(_tx: Transaction, options: PruneOptions): { removed: number; nextNodeId: number } {
    return pruneVersions(this.#store, options);
  }
}
