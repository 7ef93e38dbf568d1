/**
 * Merges nodes and versions that were recorded after the state to which the database was restored. Ids, times and
 * version numbers stay; a taken name is numbered. Quotas are not checked, because everything was accepted before.
 */
import type { BlobRef } from "../../blobs/blob-store.ts";
import type { Transaction } from "../../db/transaction.ts";
import { notFound } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { invariant } from "../../lib/invariant.ts";
import { say } from "../../translations/say.ts";
import { resolveName } from "./create.ts";
import { folderRow } from "./make-folder.ts";
import { FILE, metadataToJson, tagsToJson } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FileNode, FolderNode, NodeRef } from "../model/types.ts";
import { addVersion } from "../tables/versions.ts";

/** A version whose blob is in the store. */
export interface MergedContent {
  readonly version: number;
  readonly blob: BlobRef;
  readonly mediaType: string;
  readonly createdAtMs: number;
  /** Row id of the user who stored it; null if unknown. */
  readonly createdBy: number | null;
}

/** The fields of merged files and folders. */
interface MergedNode {
  /** The folder to merge it into. */
  readonly folder: NodeRef;
  /** Unused in every account; undefined for a new id. */
  readonly publicId: string | undefined;
  readonly name: string;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A file to be created. */
export interface MergedFile extends MergedNode {
  /** Oldest first; the last one is the current content. */
  readonly contents: readonly MergedContent[];
  /** If it differs from the name. */
  readonly originalName: string | undefined;
  readonly fileModifiedAt: string | undefined;
  readonly capturedAt: string | undefined;
  readonly tags: readonly string[];
}

/** A folder to be created. */
export type MergedFolder = MergedNode;

/** A version that follows the current one of a file. */
export interface NextContent extends MergedContent {
  readonly fileModifiedAt: string | undefined;
  readonly capturedAt: string | undefined;
}

/** @see TreeWriter.mergeFile */
export function mergeFile(store: TreeStore, tx: Transaction, merged: MergedFile): FileNode {
  const { accountId } = merged.folder;
  const parentId = folderIdOf(store, merged.folder);
  const current = merged.contents.at(-1);
  invariant(current !== undefined, "a file has at least one version");
  const earlier = merged.contents.slice(0, -1);
  const name = freeName(store, tx, parentId, merged.name);
  const nowMs = store.clock.nowMs();
  const { sizeBytes } = current.blob;
  const versionBytes = earlier.reduce((sum, { blob }) => sum + blob.sizeBytes, 0);
  const seq = store.accounts.take(
    accountId,
    { files: 1, fileBytes: sizeBytes, versionBytes, isUnlimited: true },
    null,
    tx,
  );
  const blobId = store.blobs.acquire(current.blob, nowMs);
  const originalName = merged.originalName ?? merged.name;
  const id = store.nodes.insert(tx, {
    publicId: merged.publicId ?? newId("file", nowMs),
    accountId,
    parentId,
    kind: FILE,
    name,
    createdAtMs: merged.createdAtMs,
    modifiedAtMs: merged.modifiedAtMs,
    seq,
    sizeBytes,
    mediaType: current.mediaType,
    blobId,
    version: current.version,
    contentAtMs: current.createdAtMs,
    contentBy: current.createdBy,
    contentDeviceId: null,
    originalName: originalName === name ? null : originalName,
    fileModifiedAt: merged.fileModifiedAt ?? null,
    capturedAt: merged.capturedAt ?? null,
    isPublic: false,
    tags: tagsToJson(merged.tags),
    metadata: metadataToJson(merged.metadata),
  });
  earlier.forEach((content, index) => {
    addEarlier(store, id, content, merged.contents[index + 1]?.createdAtMs ?? nowMs);
  });
  store.accounts.record(accountId, seq, id);
  store.accounts.countType(accountId, current.mediaType, 1, sizeBytes);
  store.tags.add(accountId, id, merged.tags);
  store.deletions.forget(accountId, blobId);
  const file = store.getFile(id);
  store.emitFileEvent(tx, "file.created", file);
  return file;
}

/** @see TreeWriter.mergeFolder */
export function mergeFolder(store: TreeStore, tx: Transaction, merged: MergedFolder): FolderNode {
  const { accountId } = merged.folder;
  const parentId = folderIdOf(store, merged.folder);
  const name = freeName(store, tx, parentId, merged.name);
  const seq = store.accounts.take(accountId, { folders: 1, isUnlimited: true });
  const row = folderRow(accountId, parentId, name, store.clock.nowMs(), seq);
  const id = store.nodes.insert(tx, {
    ...row,
    publicId: merged.publicId ?? row.publicId,
    createdAtMs: merged.createdAtMs,
    modifiedAtMs: merged.modifiedAtMs,
    metadata: metadataToJson(merged.metadata),
  });
  store.accounts.record(accountId, seq, id);
  store.paths.freeze();
  const folder = store.getFolder(id);
  store.emitFolderEvent(tx, "folder.created", folder);
  return folder;
}

/** @see TreeWriter.mergeContent */
export function mergeContent(store: TreeStore, tx: Transaction, ref: NodeRef, content: NextContent): FileNode {
  const file = store.findFile(ref);
  if (file === undefined) throw notFound(say`The file was not found.`);
  const { blob, createdAtMs, createdBy, ...rest } = content;
  const blobId = store.blobs.acquire(blob, store.clock.nowMs());
  addVersion(store, tx, store.nodes.get(file.id), {
    ...rest,
    blobId,
    sizeBytes: blob.sizeBytes,
    contentAtMs: createdAtMs,
    createdBy: createdBy ?? file.accountId,
    quotaBytes: null,
  });
  return store.getFile(file.id);
}

function folderIdOf(store: TreeStore, ref: NodeRef): number {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound(say`The folder was not found.`);
  return folder.id;
}

function freeName(store: TreeStore, tx: Transaction, parentId: number, preferred: string): string {
  const name = resolveName(store, tx, parentId, preferred, "rename");
  invariant(typeof name === "string", "a name that is numbered is no other file's");
  return name;
}

function addEarlier(store: TreeStore, nodeId: number, content: MergedContent, replacedAtMs: number): void {
  const { version, blob, mediaType, createdAtMs, createdBy } = content;
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by, replaced_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    )
    .run(
      nodeId,
      version,
      store.blobs.acquire(blob, store.clock.nowMs()),
      blob.sizeBytes,
      mediaType,
      createdAtMs,
      createdBy,
      replacedAtMs,
    );
}
