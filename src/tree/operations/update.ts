/** Renames, moves and other changes of existing nodes. A change writes one node, however much is below it. */
import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { say } from "../../translations/say.ts";
import { mergeMetadata } from "../model/labels.ts";
import { ensureFolderId } from "./make-folder.ts";
import { nameTaken } from "../tables/names.ts";
import { metadataToJson, tagsToJson } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type {
  FileChanges,
  FileNode,
  FolderChanges,
  FolderNode,
  NodeRef,
  Precondition,
  TreeNode,
} from "../model/types.ts";
import { changeOf, subjectOf } from "../tables/undo.ts";

/** @see TreeWriter.updateFile */
export function updateFile(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  changes: FileChanges,
  precondition?: Precondition,
): FileNode {
  const file = store.findFile(ref);
  if (file === undefined) throw notFound(say`The file was not found.`);
  precondition?.(file);
  return applyFileChanges(store, tx, file, changes);
}

/** Changes a file that was read in this transaction. If nothing differs, nothing is written. */
export function applyFileChanges(store: TreeStore, tx: Transaction, file: FileNode, changes: FileChanges): FileNode {
  const { name = file.name, tags = file.tags, isPublic = file.isPublic } = changes;
  const parentId = targetFolder(store, tx, file, changes.folderPath);
  const metadata = metadataToJson(mergeMetadata(file.metadata, changes.metadata ?? {}));
  const isUnmoved = parentId === file.parentId && name === file.name;
  const fileModifiedAt = changes.fileModifiedAt === file.fileModifiedAt ? undefined : changes.fileModifiedAt;
  const hasSameLabels = tagsToJson(tags) === tagsToJson(file.tags) && metadata === metadataToJson(file.metadata);
  const isSame = hasSameLabels && fileModifiedAt === undefined;
  if (isUnmoved && isSame && isPublic === file.isPublic) return file;
  // Removing the public flag is allowed despite a lock.
  const isOnlyHidden = isSame && !isPublic;
  if (!isUnmoved) takeName(store, tx, file, parentId, name);
  else if (!isOnlyHidden) store.locks.requireUnlocked(file.accountId, file.id);
  const row = store.nodes.get(file.id);
  const seq = store.accounts.take(file.accountId, {});
  if (!isUnmoved) store.history.noteLeft(row, seq);
  const originalName = row.original_name ?? file.name;
  store.nodes.update(tx, row, {
    parentId,
    name,
    originalName: originalName === name ? null : originalName,
    modifiedAtMs: store.clock.nowMs(),
    seq,
    fileModifiedAt,
    isPublic,
    tags: tagsToJson(tags),
    metadata,
  });
  store.accounts.record(file.accountId, seq, file.id);
  if (changes.mediaType !== undefined && changes.mediaType !== file.mediaType) retype(store, file, changes.mediaType);
  if (changes.tags !== undefined) {
    store.tags.remove(file.accountId, file.id, file.tags);
    store.tags.add(file.accountId, file.id, tags);
  }
  const changed = store.getFile(file.id);
  store.undo.note(subjectOf(file, seq, "change"), () => changeOf(file, changed));
  if (!isUnmoved) store.emitFileEvent(tx, "file.moved", changed);
  return changed;
}

/** Changes the media type of a file with the same content, and the totals of both types. */
function retype(store: TreeStore, { accountId, id, mediaType: before, sizeBytes }: FileNode, mediaType: string): void {
  store.nodes.setMediaType(id, mediaType);
  store.accounts.countType(accountId, before, -1, -sizeBytes);
  store.accounts.countType(accountId, mediaType, 1, sizeBytes);
}

/** @see TreeWriter.updateFolder */
export function updateFolder(store: TreeStore, tx: Transaction, ref: NodeRef, changes: FolderChanges): FolderNode {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound(say`The folder was not found.`);
  const { name = folder.name } = changes;
  const isRoot = folder.parentId === null;
  if (isRoot && (name !== folder.name || changes.folderPath !== undefined)) {
    throw new AppError("invalid_path", say`You can't rename or move the root folder. Choose a folder inside it.`, {
      field: changes.name === undefined ? "folder" : "name",
    });
  }
  const metadata = metadataToJson(mergeMetadata(folder.metadata, changes.metadata ?? {}));
  if (isRoot) return updateRootMetadata(store, folder, metadata);
  const parentId = targetFolder(store, tx, folder, changes.folderPath);
  if (parentId !== folder.parentId) rejectInside(store, folder, parentId, changes.folderPath);
  const isUnmoved = parentId === folder.parentId && name === folder.name;
  if (isUnmoved && metadata === metadataToJson(folder.metadata)) return folder;
  if (!isUnmoved) {
    const { heights } = store.nodes;
    heights.rejectTooDeep(folder.id, parentId, name, heights.sizeOfPathTo(folder.id));
    takeName(store, tx, folder, parentId, name);
  } else store.locks.requireUnlocked(folder.accountId, folder.id);
  const seq = store.accounts.take(folder.accountId, {});
  const row = store.nodes.get(folder.id);
  if (!isUnmoved) store.history.noteLeft(row, seq);
  store.nodes.update(tx, row, {
    parentId,
    name,
    originalName: null,
    modifiedAtMs: store.clock.nowMs(),
    seq,
    isPublic: false,
    tags: null,
    metadata,
  });
  if (!isUnmoved) {
    store.nodes.setPathSeq(folder.id, seq);
    store.paths.drop();
  }
  store.accounts.record(folder.accountId, seq, folder.id);
  const changed = store.getFolder(folder.id);
  store.undo.note(subjectOf(folder, seq, "change"), () => changeOf(folder, changed));
  return changed;
}

/** @see TreeWriter.move */
export function move(store: TreeStore, tx: Transaction, ref: NodeRef, destinationPath: string): TreeNode {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound(say`The file or folder was not found.`);
  const changes = { folderPath: destinationPath };
  return node.kind === "file" ? applyFileChanges(store, tx, node, changes) : updateFolder(store, tx, node, changes);
}

/**
 * Rejects moving or copying a folder into itself. Compares ids, so the destination must exist; the rejection rolls back
 * its creation.
 * @throws AppError invalid_path if the destination is the folder itself or below it
 */
export function rejectInside(
  store: TreeStore,
  folder: FolderNode,
  destinationId: number,
  destinationPath: string | undefined,
): void {
  if (!store.paths.isWithin(destinationId, folder.id)) return;
  throw new AppError("invalid_path", say`You can't move or copy "${folder.path}" into itself. Choose another folder.`, {
    field: "folder",
    path: destinationPath,
  });
}

function targetFolder(store: TreeStore, tx: Transaction, node: TreeNode, folderPath: string | undefined): number {
  if (folderPath !== undefined && folderPath !== node.folder) {
    return ensureFolderId(store, tx, node.accountId, folderPath);
  }
  return node.parentId ?? node.id;
}

/** Checks that the new name is free and no lock prevents the change, and releases the old name. */
function takeName(store: TreeStore, tx: Transaction, node: TreeNode, parentId: number, name: string): void {
  if (store.names.find(parentId, name) !== undefined) throw nameTaken(name);
  store.locks.unlockForMove(node, node.parentId, parentId);
  if (node.parentId !== null) store.names.freed(tx, node.parentId);
}

/** Changes the metadata of a root, which has nothing else that changes. */
function updateRootMetadata(store: TreeStore, root: FolderNode, metadata: string | null): FolderNode {
  if (metadata === metadataToJson(root.metadata)) return root;
  store.locks.requireUnlocked(root.accountId, root.id);
  const seq = store.accounts.take(root.accountId, {});
  store.sqlite.run("UPDATE nodes SET metadata = ?2, modified_at = ?3, seq = ?4 WHERE id = ?1", [
    root.id,
    metadata,
    store.clock.nowMs(),
    seq,
  ]);
  store.accounts.record(root.accountId, seq, root.id);
  return store.getFolder(root.id);
}
