import type { Transaction, Writer } from "../db/transaction.ts";
import { type FolderBuild, FolderBuilder } from "./operations/build-folder.ts";
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
  type FileToRecreate,
  type FolderToRecreate,
  type RestoredLocation,
  restoreState,
  restoreContent,
  recreateFile,
  recreateFolder,
  stepAside,
} from "./operations/restore-state.ts";
import { changeProperties } from "./operations/change-properties.ts";
import type { PropertyChange } from "./tables/properties.ts";
import type { Locks } from "./tables/locks.ts";
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
import type { FolderSize } from "./operations/measure-folder.ts";
import { noteShownChange, refreshEverything, refreshFolders } from "./operations/refresh-folders.ts";
import { purgeNode, restoreNode, trashNode } from "./operations/trash.ts";
import { move, updateFile, updateFolder } from "./operations/update.ts";
import type { VersionRestore } from "./tables/versions.ts";
import { deleteVersion, type PruneOptions, pruneVersions, replaceContent, restoreVersion } from "./tables/versions.ts";

/**
 * The only writer of nodes and journal. Every method is synchronous and runs inside a transaction (`Writer.run`);
 * throwing rolls it back. Nodes are identified by account and public id and read again here, because what the caller
 * read before may be outdated. Each change takes the next journal number of the account. If nothing differs, nothing is
 * written.
 */
export class TreeWriter {
  readonly #store: TreeStore;
  /** The locks of WebDAV clients. */
  readonly locks: Pick<Locks, "add" | "requireUnlocked" | "requireMovable" | "end" | "extend" | "sweep">;

  constructor(store: TreeStore) {
    this.#store = store;
    this.locks = store.locks;
  }

  /**
   * Runs `body` in the name of a device: the journal records it with each change, and so does new content. Synchronous,
   * inside a transaction.
   */
  by<T>(deviceId: number | undefined, body: () => T): T {
    return this.#store.by(deviceId ?? null, body);
  }

  /**
   * Runs `body` with these lock tokens: it may change what their locks cover. Every other change of something locked
   * throws AppError locked. The caller has checked that the tokens are those of the user. Synchronous, inside a
   * transaction.
   */
  withLockTokens<T>(tokens: readonly string[], body: () => T): T {
    return this.#store.locks.withLockTokens(tokens, body);
  }

  /**
   * Runs `body`, which undoes what a device did: its changes are recorded as those of the device and are not undone
   * again. The journal records the device given to {@link by}. Synchronous, inside a transaction.
   */
  rewinding<T>(deviceId: number, body: () => T): T {
    const { undo } = this.#store;
    undo.rewoundDeviceId = deviceId;
    try {
      return body();
    } finally {
      undo.rewoundDeviceId = null;
    }
  }

  /**
   * Moves a node back to its former location and restores its former labels, as far as given. A taken name is numbered,
   * a missing folder created. This and the following methods run inside {@link rewinding}.
   * @throws AppError not_found | not_a_folder; invalid_path for a folder into itself
   */
  restoreState(
    tx: Transaction,
    node: TreeNode,
    location: RestoredLocation | undefined,
    labels: Labels | undefined,
  ): TreeNode {
    return restoreState(this.#store, tx, node, location, labels);
  }

  /** Renames a file or folder (not a root) to a numbered name in its folder, to free its name. */
  stepAside(tx: Transaction, node: TreeNode): TreeNode {
    return stepAside(this.#store, tx, node);
  }

  /**
   * Stores an earlier version of a file as its next content. Undefined if the file or that version is gone.
   * @throws AppError quota_exceeded
   */
  restoreContent(
    tx: Transaction,
    file: NodeRef,
    version: number,
    by: { readonly createdBy: number; readonly quotaBytes: number | null },
  ): FileNode | undefined {
    return restoreContent(this.#store, tx, file, version, by);
  }

  /**
   * Creates a deleted file again: a new node with the versions, labels and times of the former one. A taken name is
   * numbered. Undefined if the content is no longer available.
   * @throws AppError quota_exceeded | not_a_folder
   */
  recreateFile(tx: Transaction, lost: FileToRecreate): FileNode | undefined {
    return recreateFile(this.#store, tx, lost);
  }

  /** Creates a deleted folder again, or uses the one at its path. @throws AppError not_a_folder */
  recreateFolder(tx: Transaction, lost: FolderToRecreate): FolderNode {
    return recreateFolder(this.#store, tx, lost);
  }

  /**
   * Creates a file from another state of this tree, with its id, times and versions. A taken name is numbered; quotas
   * are not checked.
   * @throws AppError not_found if the folder is gone
   */
  mergeFile(tx: Transaction, merged: MergedFile): FileNode {
    return mergeFile(this.#store, tx, merged);
  }

  /** The same for a folder. @throws AppError not_found if its parent is gone */
  mergeFolder(tx: Transaction, merged: MergedFolder): FolderNode {
    return mergeFolder(this.#store, tx, merged);
  }

  /** Stores the next content of a file, with its time; quotas are not checked. @throws AppError not_found */
  mergeContent(tx: Transaction, file: NodeRef, content: NextContent): FileNode {
    return mergeContent(this.#store, tx, file, content);
  }

  /** Deletes undo rows older than the time: up to `limit` rows of each device of an account. @returns how many */
  sweepUndo(_tx: Transaction, accountId: number, olderThanMs: number, limit: number): number {
    return this.#store.undo.sweep(accountId, olderThanMs, limit);
  }

  /**
   * Reserves bytes of the quota for an upload in progress, or releases them if negative. Release them in the
   * transaction that creates the file, which checks the quota itself.
   * @param quotaBytes null for no limit
   * @throws AppError quota_exceeded
   */
  reserveBytes(_tx: Transaction, accountId: number, bytes: number, quotaBytes: number | null): void {
    this.#store.accounts.reserve(accountId, bytes, quotaBytes);
  }

  /** Creates the root of a new account, whose row exists. @returns its row id */
  createAccountRoot(_tx: Transaction, accountId: number): number {
    return createAccountRoot(this.#store, accountId);
  }

  /**
   * The folder at a normalized path; creates it and its missing ancestors.
   * @throws AppError not_a_folder if a file is in the way
   */
  ensureFolder(tx: Transaction, accountId: number, path: string): FolderNode {
    return this.#store.getFolder(ensureFolderId(this.#store, tx, accountId, path));
  }

  /** @throws AppError name_taken | not_a_folder */
  createFolder(tx: Transaction, input: NewFolder): FolderNode {
    return createFolder(this.#store, tx, input);
  }

  /**
   * Creates a file, or with `onConflict: "version"` stores the next content of the file with that name (`isNew` false;
   * tags and metadata are replaced if given).
   * @throws AppError name_taken | not_a_folder | quota_exceeded
   */
  createFile(tx: Transaction, input: NewFile): { file: FileNode; isNew: boolean } {
    return createFile(this.#store, tx, input);
  }

  /**
   * Stores the next content of a file; the current one becomes an earlier version, which counts towards the quota.
   * Every call creates a version, even with the same bytes.
   * @throws AppError not_found | quota_exceeded; what the precondition throws
   */
  replaceContent(tx: Transaction, input: NewContent): FileNode {
    return replaceContent(this.#store, tx, input);
  }

  /**
   * Renames, moves, tags, describes or publishes a file.
   * @throws AppError not_found | name_taken | not_a_folder | invalid_field; what the precondition throws
   */
  updateFile(tx: Transaction, file: NodeRef, changes: FileChanges, precondition?: Precondition): FileNode {
    return updateFile(this.#store, tx, file, changes, precondition);
  }

  /**
   * Renames, moves or describes a folder; one row, however much is in it.
   * @throws AppError not_found | name_taken | not_a_folder | invalid_field; invalid_path for the root and for a folder
   *   into itself
   */
  updateFolder(tx: Transaction, folder: NodeRef, changes: FolderChanges): FolderNode {
    return updateFolder(this.#store, tx, folder, changes);
  }

  /**
   * Stores and removes properties of clients, in order. A property that is missing already counts as removed.
   * @throws AppError not_found; quota_exceeded above `PROPERTY_BYTES_MAX`
   */
  changeProperties(tx: Transaction, node: NodeRef, changes: readonly PropertyChange[]): void {
    changeProperties(this.#store, tx, node, changes);
  }

  /**
   * Moves a file or folder into another folder, which is created if missing. Does nothing if it is there already.
   * @throws AppError not_found | name_taken | not_a_folder; invalid_path for the root and for a folder into itself
   */
  move(tx: Transaction, node: NodeRef, destinationPath: string): TreeNode {
    return move(this.#store, tx, node, destinationPath);
  }

  /**
   * Copies a file, or a folder with all below it, by reference to the same blobs. `isNew` is false if a file became
   * a version of another.
   * @throws AppError not_found | name_taken | not_a_folder | quota_exceeded; invalid_path for a folder into itself;
   *   invalid_request if a folder has more than `COPY_NODES_MAX` below it (see {@link copyLarge})
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
   * Copies a folder of any size in many short transactions, between which others write. The copy appears complete at
   * the end, or not at all. A change in the source during the copy may be included or not. Not inside a transaction.
   * @param deviceId the device that copies, as in {@link by}
   * @throws AppError as `copy` does
   */
  copyLarge(
    writer: Writer,
    folder: NodeRef,
    destinationPath: string,
    options: CopyOptions,
    deviceId?: number,
  ): Promise<FolderNode> {
    return copyLarge(this.#store, writer, folder, destinationPath, { ...options, deviceId });
  }

  /** Begins a folder of new files: see {@link FolderBuilder}. Not inside a transaction. */
  buildFolder(writer: Writer, build: FolderBuild): Promise<FolderBuilder> {
    return FolderBuilder.begin(this.#store, writer, build);
  }

  /** Notes a change of a node that listings show and that is stored elsewhere: ETags of the folders above change. */
  noteShownChange(_tx: Transaction, nodeId: number): void {
    noteShownChange(this.#store, nodeId);
  }

  /**
   * Updates the ETags and sizes of the folders of accounts, durably: a client must never see an ETag again for another
   * state, not even after a crash. Undefined if nothing changed, within microseconds. Not inside a transaction.
   * @throws AppError disk_full | database_busy | database_error
   */
  refreshFolders(accountIds: readonly number[]): Promise<void> | undefined {
    return refreshFolders(this.#store, accountIds);
  }

  /** Refreshes the folders of all accounts, and adds up the sizes that are missing. @returns folders refreshed and filled */
  refreshEverything(signal: AbortSignal): Promise<{ refreshed: number; filled: number }> {
    return refreshEverything(this.#store, signal);
  }

  /** Deletes a file with all its versions, permanently. @throws AppError not_found; what the precondition throws */
  deleteFile(tx: Transaction, file: NodeRef, precondition?: Precondition): DeletedNode {
    return deleteFile(this.#store, tx, file, precondition);
  }

  /**
   * Deletes a folder with all below it, permanently: immediately for all readers and in the totals of the account. The
   * rows of large folders are left to {@link reapSome}.
   * @throws AppError not_found; invalid_path for the root; folder_not_empty with `onlyEmpty`
   */
  deleteFolder(tx: Transaction, folder: NodeRef, options?: { readonly onlyEmpty?: boolean | undefined }): DeletedNode {
    return deleteFolder(this.#store, tx, folder, options);
  }

  /**
   * Moves a file, or a folder with all below it, to the trash: immediately for all readers, in one row. It still counts
   * towards the quota.
   * @param measured the result of {@link TreeReader.measure}, for a folder of many files
   * @throws AppError not_found; invalid_path for the root
   */
  trash(tx: Transaction, node: NodeRef, measured?: FolderSize): TrashedNode {
    return trashNode(this.#store, tx, node, measured);
  }

  /**
   * Restores from the trash to the former folder or, if that is gone, to the nearest existing folder on its former
   * path; under a numbered name if its own is taken. The id stays the same.
   * @throws AppError not_found; invalid_path if its path would be too long
   */
  restore(tx: Transaction, node: NodeRef): TreeNode {
    return restoreNode(this.#store, tx, node);
  }

  /**
   * Deletes a node in the trash permanently; rows of large folders are left to {@link reapSome}. @throws AppError
   * not_found
   */
  purge(tx: Transaction, node: NodeRef): TrashedNode {
    return purgeNode(this.#store, tx, node);
  }

  /** Cuts off the whole tree of an account: immediately for all readers; its rows are left to {@link reapSome}. */
  detachRoot(_tx: Transaction, accountId: number): void {
    detachRoot(this.#store, accountId);
  }

  /**
   * Deletes some rows of deleted folders, with tombstones, tags and references. The server calls it at startup and
   * after a folder was deleted, until it returns 0.
   * @returns rows deleted
   */
  reapSome(tx: Transaction, limit = 20): number {
    return reapSome(this.#store, tx, limit);
  }

  /**
   * Deletes tombstones and superseded journal rows older than the time: one bounded step of one account.
   * @returns where to continue, 0 at the end
   */
  sweepJournal(_tx: Transaction, accountId: number, olderThanMs: number, afterSeq: number): number {
    return sweepJournal(this.#store.sqlite, accountId, olderThanMs, afterSeq);
  }

  /**
   * Stores an earlier version as the next content, even if its bytes equal the current ones; does nothing for the
   * current version.
   * @throws AppError not_found | quota_exceeded; what the precondition throws
   */
  restoreVersion(tx: Transaction, file: NodeRef, version: number, by: VersionRestore): FileNode {
    return restoreVersion(this.#store, tx, file, version, by);
  }

  /**
   * Deletes an earlier version permanently and frees its bytes in the quota. @throws AppError not_found |
   * version_conflict
   */
  deleteVersion(_tx: Transaction, file: NodeRef, version: number): FileVersion {
    return deleteVersion(this.#store, file, version);
  }

  /** Deletes history rows of an account older than the time: up to `limit`. @returns how many */
  sweepHistory(_tx: Transaction, accountId: number, olderThanMs: number, limit: number): number {
    return this.#store.history.sweep(accountId, olderThanMs, limit);
  }

  /**
   * Deletes earlier versions that no rule retains: those older than the newest `retainedVersions` of a file that were
   * also replaced before the time, and that no share is pinned to. Reads about `limit` rows.
   * @returns `nextNodeId`: where to continue, 0 at the end
   */
  pruneVersions(_tx: Transaction, options: PruneOptions): { removed: number; nextNodeId: number } {
    return pruneVersions(this.#store, options);
  }
}
