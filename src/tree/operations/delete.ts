/**
 * Deletes files and folders. A file is deleted at once. A folder is cut off from the tree in one row: no reader finds
 * anything below it, and its totals leave the account in the same transaction. The rows below are deleted afterwards, a
 * few at a time; those of small folders at once.
 */
import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { joinPath } from "../../lib/path.ts";
import { say } from "../../translations/say.ts";
import { ROOT_NAME } from "../tables/folder-paths.ts";
import { PATH_BYTES_MAX } from "../tables/heights.ts";
import type { StoredNode } from "../tables/node-rows.ts";
import { FILE, parseTags } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { DeletedNode, NodeRef, Precondition } from "../model/types.ts";
import { type Removal, subjectOf } from "../tables/undo.ts";
import { dropVersions } from "../tables/versions.ts";

/** Rows deleted within the deletion itself (a few milliseconds). */
const ROWS_AT_ONCE_MAX = 64;

/** @see TreeWriter.deleteFile */
export function deleteFile(store: TreeStore, tx: Transaction, ref: NodeRef, precondition?: Precondition): DeletedNode {
  const file = store.findFile(ref);
  if (file === undefined) throw notFound(say`The file was not found.`);
  precondition?.(file);
  store.locks.unlockForMove(file, file.parentId);
  store.emitFileEvent(tx, "file.deleted", file);
  const row = store.nodes.get(file.id);
  const nowMs = store.clock.nowMs();
  removeRow(store, row, nowMs, { isCounted: true, folder: file.folder });
  store.nodes.deleteName(row);
  store.nodes.children.changed(tx, { accountId: file.accountId, folderId: file.parentId, kind: FILE, before: row });
  store.names.freed(tx, file.parentId);
  return { publicId: file.publicId, name: file.name, deletedAtMs: nowMs };
}

/** @see TreeWriter.deleteFolder */
export function deleteFolder(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  options: { readonly onlyEmpty?: boolean | undefined } = {},
): DeletedNode {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound(say`The folder was not found.`);
  if (folder.parentId === null) {
    throw new AppError("invalid_path", say`You can't delete the root folder. Delete items inside it.`, { field: "id" });
  }
  if (options.onlyEmpty === true && folder.itemCount > 0) {
    const message = say`The folder is not empty. Empty it first, or set recursive=true to delete everything.`;
    throw new AppError("folder_not_empty", message, { itemCount: folder.itemCount });
  }
  store.locks.unlockForMove(folder, folder.parentId);
  store.emitFolderEvent(tx, "folder.deleted", folder);
  const totals = totalsBelow(store, folder.accountId, folder.id);
  const seq = store.accounts.take(folder.accountId, {
    files: -totals.files,
    folders: -totals.folders,
    fileBytes: -totals.fileBytes,
    versionBytes: -totals.versionBytes,
  });
  const row = store.nodes.get(folder.id);
  store.undo.note(subjectOf(folder, seq, "delete"), () => store.undo.describe(row, folder.folder));
  store.nodes.cutOff(tx, row, seq);
  store.accounts.record(folder.accountId, seq, folder.id);
  store.names.freed(tx, folder.parentId);
  store.paths.drop();
  deleteRowsBelow(store, tx, folder.id, ROWS_AT_ONCE_MAX);
  return { publicId: folder.publicId, name: folder.name, deletedAtMs: store.clock.nowMs() };
}

/** @see TreeWriter.detachRoot */
export function detachRoot(store: TreeStore, accountId: number): void {
  const rootId = store.paths.rootOf(accountId);
  if (rootId === undefined) return;
  store.locks.endAll(accountId);
  // The trash is deleted with the tree, whose root goes last. The names may be taken there, so they are replaced.
  store.sqlite
    .query(
      "UPDATE nodes SET parent_id = ?2, name = 'erased-' || id WHERE id IN (SELECT node_id FROM trash WHERE account_id = ?1)",
    )
    .run(accountId, rootId);
  store.sqlite.query("DELETE FROM trash WHERE account_id = ?1").run(accountId);
  // With any other name it counts as a cut-off folder. Deleting it expects a row in the search index, which roots do
  // not have.
  store.sqlite.query("UPDATE nodes SET name = 'erased' WHERE id = ?1").run(rootId);
  store.sqlite.query("INSERT INTO node_names (rowid, t) VALUES (?1, ?2)").run(rootId, ROOT_NAME);
  store.sqlite
    .query(
      // The account has no tree from now on; the negative number still shows whose root it was.
      `UPDATE accounts SET root_id = -root_id, files = 0, folders = 0, file_bytes = 0, version_bytes = 0, trash_bytes = 0,
         trash_nodes = 0 WHERE id = ?1`,
    )
    .run(accountId);
  store.accounts.touch(accountId);
  store.paths.drop();
}

/** @see TreeWriter.reapSome */
export function reapSome(store: TreeStore, tx: Transaction, limit: number): number {
  const cutOff = store.sqlite
    .query<{ id: number }, [string]>(
      "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id IS NULL AND kind = 0 AND name <> ?1",
    )
    .all(ROOT_NAME);
  let removed = 0;
  for (const { id } of cutOff) {
    if (removed >= limit) break;
    if (!store.underConstruction.has(id)) removed += deleteRowsBelow(store, tx, id, limit - removed);
  }
  return removed;
}

/** The totals of a folder and everything below it. */
export function totalsBelow(
  store: TreeStore,
  accountId: number,
  folderId: number,
): { files: number; folders: number; fileBytes: number; versionBytes: number } {
  const subtree = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
    SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)`;
  const totals = store.sqlite
    .query<{ files: number; bytes: number }, [number]>(
      `${subtree} SELECT count(*) AS files, ifnull(sum(n.size_bytes), 0) AS bytes
       FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1`,
    )
    .get(folderId);
  const folders = store.sqlite.query<{ folders: number }, [number]>(`${subtree} SELECT count(*) AS folders FROM s`);
  const versionBytes =
    store.accounts.usage(accountId).versionBytes === 0 ? 0 : versionBytesBelow(store, subtree, folderId);
  const { files = 0, bytes = 0 } = totals ?? {};
  return { files, folders: folders.get(folderId)?.folders ?? 0, fileBytes: bytes, versionBytes };
}

function versionBytesBelow(store: TreeStore, subtree: string, folderId: number): number {
  const row = store.sqlite
    .query<{ bytes: number }, [number]>(
      `${subtree} SELECT ifnull(sum(v.size_bytes), 0) AS bytes
       FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 1
       CROSS JOIN versions v ON v.node_id = n.id`,
    )
    .get(folderId);
  return row?.bytes ?? 0;
}

/** Levels that one step descends; a deeper tree takes several steps. */
const LEVELS_PER_STEP = 500;

/**
 * Deletes up to `limit` rows of a cut-off folder, from the bottom up. It continues where the last step ended:
 * descending a thousand levels for every few rows would take most of the time. The position is cached after the commit,
 * as a cut-off folder never changes again.
 * @returns how many rows; at least 1 if there are more
 */
export function deleteRowsBelow(store: TreeStore, tx: Transaction, folderId: number, limit: number): number {
  const filesOf = store.sqlite.query<{ id: number }, [number, number]>(
    "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = 1 LIMIT ?2",
  );
  const folderIn = store.sqlite.query<{ id: number; name: string }, [number]>(
    "SELECT id, name FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = 0 LIMIT 1",
  );
  const nowMs = store.clock.nowMs();
  const removal = store.undo.findRemoval(folderId);
  const levels = [...(store.deletionPaths.get(folderId) ?? [{ id: folderId, path: removal?.path ?? "" }])];
  const deepest = levels.length + LEVELS_PER_STEP;
  const gone: StoredNode[] = [];
  const remove = (id: number, folder: string) => {
    const node = store.nodes.get(id);
    removeRow(store, node, nowMs, { isCounted: false, folder, removal });
    gone.push(node);
  };
  while (gone.length < limit && levels.length < deepest) {
    const at = levels.at(-1);
    if (at === undefined) break;
    const files = filesOf.all(at.id, limit - gone.length);
    for (const { id } of files) remove(id, at.path);
    if (gone.length >= limit) break;
    const below = folderIn.get(at.id);
    // A longer path could not be created again.
    if (below !== null)
      levels.push({ id: below.id, path: at.path.length > PATH_BYTES_MAX ? at.path : joinPath(at.path, below.name) });
    else {
      levels.pop();
      remove(at.id, levels.at(-1)?.path ?? "");
    }
  }
  tx.afterCommit(() => {
    if (levels.length > 0) store.deletionPaths.set(folderId, levels);
    else store.deletionPaths.delete(folderId);
  });
  // Together, because the search index flushes its buffer whenever other tables are written in between.
  for (const node of gone) store.nodes.deleteName(node);
  return levels.length > 0 ? Math.max(1, gone.length) : gone.length;
}

/** The circumstances of the deletion of a row. */
interface RowRemoval {
  /** Whether the totals of the account still include it. */
  readonly isCounted: boolean;
  /** Path of its folder, or of its former folder. */
  readonly folder: string;
  /** The device that deleted it, if it is deleted with a folder above it. */
  readonly removal?: Removal | undefined;
}

/** Deletes one node and writes its tombstone. The caller deletes its name and adjusts the counts of its folder. */
function removeRow(
  store: TreeStore,
  node: StoredNode,
  nowMs: number,
  { isCounted, folder, removal }: RowRemoval,
): void {
  const { account_id: accountId, kind, size_bytes: sizeBytes } = node;
  // The cut-off folder itself has its row already.
  const undo = node.parent_id === null ? undefined : store.undo.describeIfRecorded(node, folder, removal);
  if (kind === FILE) {
    invariant(node.media_type !== null && node.blob_id !== null, "a file has a blob and a type");
    store.tags.remove(accountId, node.id, parseTags(node.tags));
    store.accounts.countType(accountId, node.media_type, -1, -sizeBytes);
    store.deletions.note(accountId, node.blob_id, nowMs);
    store.blobs.release(node.blob_id, nowMs);
  }
  const versionBytes = kind === FILE && (node.version ?? 1) > 1 ? dropVersions(store, node.id, nowMs) : 0;
  const totals = isCounted ? { files: -1, fileBytes: -sizeBytes, versionBytes: -versionBytes } : {};
  const seq = store.accounts.take(accountId, totals);
  store.accounts.writeTombstone(accountId, seq, node, nowMs);
  if (undo !== undefined) {
    const subject = { accountId, seq, nodeId: node.id, publicId: node.public_id, kind };
    if (isCounted) store.undo.note({ ...subject, what: "delete" }, () => undo);
    else if (removal !== undefined) store.undo.noteReaped(subject, undo, removal);
  }
  store.nodes.deleteUncounted(node);
}
