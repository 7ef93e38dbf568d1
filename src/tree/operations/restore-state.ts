/**
 * Restores nodes to a former state (features/mobile/rewind and the version history of folders). Nothing is overwritten;
 * a taken name is numbered.
 */
import type { Transaction } from "../../db/transaction.ts";
import { newId } from "../../lib/id.ts";
import { joinPath, ROOT_PATH } from "../../lib/path.ts";
import { resolveName } from "./create.ts";
import { ensureFolderId } from "./make-folder.ts";
import { FILE, FOLDER, metadataToJson, tagsToJson } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../model/types.ts";
import { type DeletedFile, type FormerContent, fingerprint, type Labels, locationOf } from "../tables/undo.ts";
import { applyFileChanges, updateFolder } from "./update.ts";
import { addVersion } from "../tables/versions.ts";

/** The location to restore to. */
export interface RestoredLocation {
  /** Path of the folder; created if missing. */
  readonly folder: string;
  readonly name: string;
}

/** A deleted file to be created again. */
export interface FileToRecreate {
  readonly accountId: number;
  readonly former: FormerNode;
  readonly location: RestoredLocation;
  readonly labels: Labels;
  readonly file: DeletedFile;
  /**
   * The version to become the current content. Earlier versions are created again if their blobs are still available.
   */
  readonly version: number;
  readonly quotaBytes: number | null;
}

/** A deleted folder to be created again. */
export interface FolderToRecreate {
  readonly accountId: number;
  readonly former: FormerNode;
  readonly location: RestoredLocation;
  readonly labels: Labels;
}

/** The deleted node that a new one replaces. */
interface FormerNode {
  readonly nodeId: number;
  readonly publicId: string;
}

/** @see TreeWriter.restoreState */
export function restoreState(
  store: TreeStore,
  tx: Transaction,
  node: TreeNode,
  location: RestoredLocation | undefined,
  labels: Labels | undefined,
): TreeNode {
  const folderPath = location?.folder;
  const name = location && freeName(store, tx, node, location);
  const metadata = labels && metadataChanges(node.metadata, labels.metadata);
  if (node.kind === "folder") return updateFolder(store, tx, node, { name, folderPath, metadata });
  const { tags, isPublic } = labels ?? {};
  return applyFileChanges(store, tx, node, { name, folderPath, metadata, tags, isPublic });
}

/** @see TreeWriter.stepAside */
export function stepAside(store: TreeStore, tx: Transaction, node: TreeNode): TreeNode {
  const name = store.names.numbered(tx, locationOf(node).parentId, node.name);
  return node.kind === "folder" ? updateFolder(store, tx, node, { name }) : applyFileChanges(store, tx, node, { name });
}

/** @see TreeWriter.restoreContent */
export function restoreContent(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  version: number,
  by: { readonly createdBy: number; readonly quotaBytes: number | null },
): FileNode | undefined {
  const file = store.findFile(ref);
  const former =
    file &&
    store.sqlite
      .query<{ blobId: number; sizeBytes: number; mediaType: string }, [number, number]>(
        `SELECT blob_id AS blobId, size_bytes AS sizeBytes, media_type AS mediaType FROM versions
         WHERE node_id = ?1 AND version = ?2`,
      )
      .get(file.id, version);
  if (file === undefined || former === null || former === undefined) return undefined;
  // The file has this content already.
  if (former.blobId === file.blobId) return file;
  store.blobs.share(former.blobId, store.clock.nowMs());
  addVersion(store, tx, store.nodes.get(file.id), { ...former, ...by });
  return store.getFile(file.id);
}

/** @see TreeWriter.recreateFile */
export function recreateFile(store: TreeStore, tx: Transaction, lost: FileToRecreate): FileNode | undefined {
  const { accountId, file, labels, location, version, former, quotaBytes } = lost;
  const contents = file.contents
    .filter((content) => content.version <= version)
    .flatMap((content) => {
      const blob = store.blobs.find(content.digest);
      return blob === undefined ? [] : [{ ...content, blobId: blob.id }];
    });
  const [current, ...earlier] = contents;
  if (current?.version !== version) return undefined;
  const folderId = ensureFolderId(store, tx, accountId, location.folder);
  const name = resolveName(store, tx, folderId, location.name, "rename");
  if (typeof name !== "string") return undefined;
  store.locks.requireUnlocked(accountId, folderId);
  const nowMs = store.clock.nowMs();
  const versionBytes = earlier.reduce((sum, content) => sum + content.sizeBytes, 0);
  const totals = { files: 1, fileBytes: current.sizeBytes, versionBytes };
  const seq = store.accounts.take(accountId, totals, quotaBytes, tx);
  const originalName = file.originalName ?? location.name;
  const id = store.nodes.insert(tx, {
    publicId: newId("file", nowMs),
    accountId,
    parentId: folderId,
    kind: FILE,
    name,
    createdAtMs: file.createdAtMs,
    modifiedAtMs: nowMs,
    seq,
    sizeBytes: current.sizeBytes,
    mediaType: current.mediaType,
    blobId: current.blobId,
    version,
    contentAtMs: current.createdAtMs,
    contentBy: current.createdBy,
    contentDeviceId: null,
    originalName: originalName === name ? null : originalName,
    fileModifiedAt: file.fileModifiedAt,
    capturedAt: file.capturedAt,
    isPublic: labels.isPublic,
    tags: tagsToJson(labels.tags),
    metadata: metadataToJson(labels.metadata),
  });
  store.blobs.share(current.blobId, nowMs);
  earlier.forEach((content, index) => {
    const next = index === 0 ? current : earlier[index - 1];
    remakeVersion(store, id, content, next?.createdAtMs ?? nowMs, nowMs);
  });
  store.accounts.record(accountId, seq, id);
  store.accounts.countType(accountId, current.mediaType, 1, current.sizeBytes);
  store.tags.add(accountId, id, labels.tags);
  store.deletions.forget(accountId, current.blobId);
  const created = store.getFile(id);
  store.undo.note({ accountId, seq, ...former, kind: FILE, what: "restore" }, () => ({
    restored: { nodeId: id, publicId: created.publicId },
    placeTo: locationOf(created),
    labelsTo: fingerprint(created),
    contentTo: version,
    dateTo: created.fileModifiedAt,
  }));
  store.emitFileEvent(tx, "file.created", created);
  return created;
}

/** @see TreeWriter.recreateFolder */
export function recreateFolder(store: TreeStore, tx: Transaction, lost: FolderToRecreate): FolderNode {
  const { accountId, former, location, labels } = lost;
  const path = joinPath(location.folder, location.name);
  const isMissing = store.paths.findId(accountId, path) === undefined;
  const created = store.getFolder(ensureFolderId(store, tx, accountId, path));
  const folder =
    isMissing && Object.keys(labels.metadata).length > 0
      ? updateFolder(store, tx, created, { metadata: { ...labels.metadata } })
      : created;
  if (folder.path === ROOT_PATH) return folder;
  // A journal number of its own: if the folder existed already, there is no change to share one with.
  const seq = store.accounts.take(accountId, {});
  store.undo.note({ accountId, seq, ...former, kind: FOLDER, what: "restore" }, () => ({
    restored: { nodeId: folder.id, publicId: folder.publicId },
    placeTo: locationOf(folder),
    labelsTo: fingerprint({ tags: [], metadata: folder.metadata, isPublic: false }),
  }));
  return folder;
}

function remakeVersion(
  store: TreeStore,
  nodeId: number,
  content: FormerContent & { blobId: number },
  replacedAtMs: number,
  nowMs: number,
): void {
  const { version, blobId, sizeBytes, mediaType, createdAtMs, createdBy } = content;
  store.blobs.share(blobId, nowMs);
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by, replaced_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    )
    .run(nodeId, version, blobId, sizeBytes, mediaType, createdAtMs, createdBy, replacedAtMs);
}

/** The name, or a numbered one if another node has it. */
function freeName(store: TreeStore, tx: Transaction, node: TreeNode, { folder, name }: RestoredLocation): string {
  const folderId = ensureFolderId(store, tx, node.accountId, folder);
  const holder = store.names.find(folderId, name);
  return holder === undefined || holder.id === node.id ? name : store.names.numbered(tx, folderId, name);
}

/** The changes that turn the current metadata into the target. */
function metadataChanges(current: Labels["metadata"], target: Labels["metadata"]): Record<string, string | null> {
  const removed = Object.keys(current).filter((key) => !(key in target));
  return { ...Object.fromEntries(removed.map((key) => [key, null])), ...target };
}
