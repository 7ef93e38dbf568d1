/**
 * Moves nodes to the trash, restores and purges them. A trashed node keeps its row, its id and everything below it;
 * only its parent is replaced by minus its own id. No path from a root leads to it, so no reader finds it, and it
 * occupies no name. Its totals move from those of the tree to those of the trash. `usage_types` and `tags` still count
 * it, and readers subtract it.
 */
import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { parentPath, ROOT_PATH } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { deleteRowsBelow } from "./delete.ts";
import { type FolderSize, totalsOf } from "./measure-folder.ts";
import { isShortened } from "../tables/folder-paths.ts";
import { addSizes, sizeOfStep, sizeOfPath } from "../tables/heights.ts";
import type { StoredNode } from "../tables/node-rows.ts";
import { FILE, FOLDER, parseTags } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { NodeRef, TrashedNode, TreeNode } from "../model/types.ts";
import { getTrashed, insertTrashRow, removeTrashRow, toTrashedNode, type TrashRow } from "../tables/trash.ts";
import { dropVersions } from "../tables/versions.ts";

/** Rows of a purged folder deleted at once; `reapSome` deletes the rest. */
const ROWS_AT_ONCE_MAX = 64;
/** @see TreeWriter.trash */
export function trashNode(store: TreeStore, tx: Transaction, ref: NodeRef, measured?: FolderSize): TrashedNode {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound(say`The file or folder was not found.`);
  const { accountId, parentId } = node;
  if (parentId === null) {
    const message = say`You can't move the root folder to the trash. Choose items inside it.`;
    throw new AppError("invalid_path", message, { field: "fileIds" });
  }
  store.locks.unlockForMove(node, parentId);
  const totals = totalsOf(store, node, measured);
  if (node.kind === "file") store.emitFileEvent(tx, "file.deleted", node);
  else store.emitFolderEvent(tx, "folder.deleted", node);
  const { files, folders, fileBytes, versionBytes } = totals;
  const trashBytes = fileBytes + versionBytes;
  const seq = store.accounts.take(accountId, {
    files: -files,
    folders: -folders,
    fileBytes: -fileBytes,
    versionBytes: -versionBytes,
    trashBytes,
    trashNodes: files + folders,
  });
  const row = store.nodes.get(node.id);
  const nowMs = store.clock.nowMs();
  store.history.noteLeft(row, seq);
  store.sqlite.query("UPDATE nodes SET parent_id = -id, seq = ?2 WHERE id = ?1").run(node.id, seq);
  store.nodes.children.changed(tx, { accountId, folderId: parentId, kind: row.kind, before: row });
  store.accounts.writeTrashTombstone(accountId, seq, row, nowMs);
  insertTrashRow(store, node, { parentId, seq, nowMs, totals });
  store.names.freed(tx, parentId);
  if (row.kind === FOLDER) store.paths.drop();
  return { node, folder: node.folder, trashedAtMs: nowMs };
}

/** @see TreeWriter.restore */
export function restoreNode(store: TreeStore, tx: Transaction, ref: NodeRef): TreeNode {
  const { trashed, row } = getTrashed(store, ref);
  const { account_id: accountId, file_bytes: fileBytes, version_bytes: versionBytes } = trashed;
  const parentId = folderToReturnTo(store, trashed);
  store.locks.requireUnlocked(accountId, parentId);
  const isTaken = store.names.find(parentId, row.name) !== undefined;
  const name = isTaken ? store.names.numbered(tx, parentId, row.name) : row.name;
  if (row.kind === FOLDER) rejectTooDeep(store, row, trashed, parentId, name);
  const seq = store.accounts.take(accountId, {
    files: trashed.files,
    folders: trashed.folders,
    fileBytes,
    versionBytes,
    trashBytes: -(fileBytes + versionBytes),
    trashNodes: -(trashed.files + trashed.folders),
  });
  store.history.noteReturned(row, seq);
  store.nodes.reattach(tx, row, { parentId, name, seq });
  if (row.kind === FOLDER) {
    store.nodes.setPathSeq(row.id, seq);
    store.paths.drop();
  }
  store.accounts.dropTombstone(accountId, trashed.seq);
  store.accounts.record(accountId, seq, row.id);
  if (row.blob_id !== null) store.deletions.forget(accountId, row.blob_id);
  removeTrashRow(store, row.id);
  const node = store.findById(row.id);
  invariant(node !== undefined, "a restored node is in the tree");
  if (node.kind === "file") store.emitFileEvent(tx, "file.created", node);
  else store.emitFolderEvent(tx, "folder.created", node);
  return node;
}

/** A location no deeper than the former one is accepted. @throws AppError path_too_long */
function rejectTooDeep(store: TreeStore, row: StoredNode, trashed: TrashRow, parentId: number, name: string): void {
  const { heights } = store.nodes;
  // A shortened path does not show how deep the folder was; it may return to its former folder.
  const wasBeyond = isShortened(trashed.folder) && parentId === trashed.parent_id;
  const folder = wasBeyond ? heights.sizeOfPathTo(parentId) : sizeOfPath(trashed.folder);
  heights.rejectTooDeep(row.id, parentId, name, addSizes(folder, sizeOfStep(row.name)));
}

/** The former folder, even if moved; if it is gone, the nearest existing folder on its former path. */
function folderToReturnTo(store: TreeStore, { account_id: accountId, parent_id: parentId, folder }: TrashRow): number {
  if (store.paths.pathOf(parentId) !== undefined) return parentId;
  for (let path = folder; ; path = parentPath(path)) {
    const id = store.paths.findId(accountId, path);
    if (id !== undefined) return id;
    invariant(path !== ROOT_PATH, "an account has a root folder");
  }
}

/** @see TreeWriter.purge */
export function purgeNode(store: TreeStore, tx: Transaction, ref: NodeRef): TrashedNode {
  const { trashed, row } = getTrashed(store, ref);
  const found = toTrashedNode(store, trashed);
  const { account_id: accountId, file_bytes: fileBytes, version_bytes: versionBytes } = trashed;
  const seq = store.accounts.take(accountId, {
    trashBytes: -(fileBytes + versionBytes),
    trashNodes: -(trashed.files + trashed.folders),
  });
  const subject = { accountId, seq, nodeId: row.id, publicId: row.public_id, kind: row.kind, what: "delete" } as const;
  // A rewind treats it as deleted from its folder; the history shows that it was in the trash.
  store.undo.note(subject, () => store.undo.describe({ ...row, parent_id: trashed.parent_id }, trashed.folder));
  store.accounts.record(accountId, seq, row.id);
  removeTrashRow(store, row.id);
  if (row.kind === FILE) purgeFile(store, row);
  else {
    // `reapSome` writes tombstones for everything below, for devices that have not synced since it was trashed.
    store.accounts.dropTombstone(accountId, trashed.seq);
    store.sqlite.query("UPDATE nodes SET parent_id = NULL WHERE id = ?1").run(row.id);
    deleteRowsBelow(store, tx, row.id, ROWS_AT_ONCE_MAX);
  }
  return found;
}

/** Deletes a file in the trash. Its tombstone was written when it was trashed and stays. */
function purgeFile(store: TreeStore, row: StoredNode): void {
  const nowMs = store.clock.nowMs();
  const { account_id: accountId, media_type: mediaType, blob_id: blobId, size_bytes: sizeBytes } = row;
  invariant(mediaType !== null && blobId !== null, "a file has a blob and a type");
  store.tags.remove(accountId, row.id, parseTags(row.tags));
  store.accounts.countType(accountId, mediaType, -1, -sizeBytes);
  store.deletions.note(accountId, blobId, nowMs);
  store.blobs.release(blobId, nowMs);
  dropVersions(store, row.id, nowMs);
  store.accounts.dropAccess(row.id);
  store.nodes.deleteName(row);
  store.nodes.deleteUncounted(row);
}
