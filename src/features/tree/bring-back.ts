/**
 * Brings into a tree what another state of it tells: a database that was put back to an earlier time, and what was noted
 * since. Ids, times and numbers of versions are those of before; a taken name is numbered. Quotas don't refuse it: what was
 * accepted once is kept.
 */
import type { BlobRef } from "../../blobs/blob-store.ts";
import type { Transaction } from "../../db/transaction.ts";
import { notFound } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { invariant } from "../../lib/invariant.ts";
import { resolveName } from "./create.ts";
import { folderRow } from "./make-folder.ts";
import { FILE, metadataToJson, tagsToJson } from "./rows.ts";
import type { TreeStore } from "./store.ts";
import type { FileNode, FolderNode, NodeRef } from "./types.ts";
import { addVersion } from "./versions.ts";

/** A content that lies in the store. */
export interface BroughtContent {
  readonly version: number;
  readonly blob: BlobRef;
  readonly mediaType: string;
  readonly createdAtMs: number;
  /** The user (row id) who stored it; null where nobody knows any more. */
  readonly createdBy: number | null;
}

/** What a brought node has, whatever its kind. */
interface BroughtNode {
  /** Where it goes. */
  readonly folder: NodeRef;
  /** Free, in every account; undefined for a new one. */
  readonly publicId: string | undefined;
  readonly name: string;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A file to be made. */
export interface BroughtFile extends BroughtNode {
  /** Oldest first; the last one is its content. */
  readonly contents: readonly BroughtContent[];
  /** Where it differs from the name. */
  readonly originalName: string | undefined;
  readonly fileModifiedAt: string | undefined;
  readonly capturedAt: string | undefined;
  readonly tags: readonly string[];
}

/** A folder to be made. */
export type BroughtFolder = BroughtNode;

/** A content that follows the present one of a file. */
export interface FollowingContent extends BroughtContent {
  readonly fileModifiedAt: string | undefined;
  readonly capturedAt: string | undefined;
}

/** @see TreeWriter.bringFile */
export function bringFile(store: TreeStore, tx: Transaction, brought: BroughtFile): FileNode {
  const { accountId } = brought.folder;
  const parentId = folderIdOf(store, brought.folder);
  const present = brought.contents.at(-1);
  invariant(present !== undefined, "a file has a content");
  const earlier = brought.contents.slice(0, -1);
  const name = freeName(store, tx, parentId, brought.name);
  const nowMs = store.clock.nowMs();
  const { sizeBytes } = present.blob;
  const versionBytes = earlier.reduce((sum, { blob }) => sum + blob.sizeBytes, 0);
  const seq = store.accounts.take(
    accountId,
    { files: 1, fileBytes: sizeBytes, versionBytes, isUnlimited: true },
    null,
    tx,
  );
  const blobId = store.blobs.acquire(present.blob, nowMs);
  const originalName = brought.originalName ?? brought.name;
  const id = store.nodes.insert(tx, {
    publicId: brought.publicId ?? newId("file", nowMs),
    accountId,
    parentId,
    kind: FILE,
    name,
    createdAtMs: brought.createdAtMs,
    modifiedAtMs: brought.modifiedAtMs,
    seq,
    sizeBytes,
    mediaType: present.mediaType,
    blobId,
    contentBy: present.createdBy,
    contentDeviceId: null,
    originalName: originalName === name ? null : originalName,
    fileModifiedAt: brought.fileModifiedAt ?? null,
    capturedAt: brought.capturedAt ?? null,
    isPublic: false,
    tags: tagsToJson(brought.tags),
    metadata: metadataToJson(brought.metadata),
  });
  store.sqlite
    .query<undefined, [number, number, number]>("UPDATE nodes SET version = ?2, content_at = ?3 WHERE id = ?1")
    .run(id, present.version, present.createdAtMs);
  earlier.forEach((content, index) => {
    addEarlier(store, id, content, brought.contents[index + 1]?.createdAtMs ?? nowMs);
  });
  store.accounts.record(accountId, seq, id);
  store.accounts.countType(accountId, present.mediaType, 1, sizeBytes);
  store.tags.add(accountId, id, brought.tags);
  store.deletions.forget(accountId, blobId);
  const file = store.getFile(id);
  store.tell(tx, "file.created", file);
  return file;
}

/** @see TreeWriter.bringFolder */
export function bringFolder(store: TreeStore, tx: Transaction, brought: BroughtFolder): FolderNode {
  const { accountId } = brought.folder;
  const parentId = folderIdOf(store, brought.folder);
  const name = freeName(store, tx, parentId, brought.name);
  const seq = store.accounts.take(accountId, { folders: 1, isUnlimited: true });
  const row = folderRow(accountId, parentId, name, store.clock.nowMs(), seq);
  const id = store.nodes.insert(tx, {
    ...row,
    publicId: brought.publicId ?? row.publicId,
    createdAtMs: brought.createdAtMs,
    modifiedAtMs: brought.modifiedAtMs,
    metadata: metadataToJson(brought.metadata),
  });
  store.accounts.record(accountId, seq, id);
  store.paths.freeze();
  const folder = store.getFolder(id);
  store.tellOfFolder(tx, "folder.created", folder);
  return folder;
}

/** @see TreeWriter.bringContent */
export function bringContent(store: TreeStore, tx: Transaction, ref: NodeRef, content: FollowingContent): FileNode {
  const file = store.findFile(ref);
  if (file === undefined) throw notFound("The file");
  const { blob, createdAtMs, createdBy, ...rest } = content;
  const blobId = store.blobs.acquire(blob, store.clock.nowMs());
  addVersion(store, tx, store.nodes.get(file.id), {
    ...rest,
    blobId,
    sizeBytes: blob.sizeBytes,
    createdBy: createdBy ?? file.accountId,
    quotaBytes: null,
  });
  store.sqlite
    .query<undefined, [number, number]>("UPDATE nodes SET content_at = ?2 WHERE id = ?1")
    .run(file.id, createdAtMs);
  return store.getFile(file.id);
}

function folderIdOf(store: TreeStore, ref: NodeRef): number {
  const folder = store.findFolder(ref);
  if (folder === undefined) throw notFound("The folder");
  return folder.id;
}

function freeName(store: TreeStore, tx: Transaction, parentId: number, wanted: string): string {
  const name = resolveName(store, tx, parentId, wanted, "rename");
  invariant(typeof name === "string", "a name that is numbered is no other file's");
  return name;
}

function addEarlier(store: TreeStore, nodeId: number, content: BroughtContent, replacedAtMs: number): void {
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
