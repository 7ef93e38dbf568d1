/** The versions of a file. The current one is in the row of the node; each earlier one is a row of `versions`. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { toDigest } from "../../blobs/digest.ts";
import { AppError, notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { say } from "../../translations/say.ts";
import type { StoredNode } from "./node-rows.ts";
import { FILE } from "../model/rows.ts";
import type { TreeStore } from "./store.ts";
import type { FileNode, FileVersion, NewContent, NodeRef, Precondition } from "../model/types.ts";

/** Content of a file; its blob reference is already counted. */
export interface Content {
  readonly blobId: number;
  readonly sizeBytes: number;
  readonly mediaType: string;
}

/** The next content of a file; its blob reference is already counted. */
export interface NextContent extends Content {
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  /** When it was stored; now by default. */
  readonly contentAtMs?: number | undefined;
  readonly fileModifiedAt?: string | undefined;
  readonly capturedAt?: string | undefined;
}

/**
 * The versions to delete: those that are both older than the newest `retainedVersions` of their file and replaced before
 * the time.
 */
export interface PruneOptions {
  /** How many earlier versions of a file are always retained, by account. */
  readonly retainedVersions: (accountId: number) => number;
  /** Versions replaced at or after this time are retained: the version history may show them. */
  readonly olderThanMs: number;
  /** Versions read in one transaction. */
  readonly limit: number;
  /** Where the last call ended; 0 to begin. */
  readonly afterNodeId: number;
}

/** Who restores a version, and under which conditions. */
export interface VersionRestore {
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  readonly precondition?: Precondition | undefined;
}

/** @see TreeWriter.replaceContent */
export function replaceContent(store: TreeStore, tx: Transaction, input: NewContent): FileNode {
  const file = store.findFile(input.file);
  if (file === undefined) throw notFound(say`The file was not found.`);
  input.precondition?.(file);
  const blobId = store.blobs.acquire(input.blob, store.clock.nowMs());
  addVersion(store, tx, store.nodes.get(file.id), { ...input, blobId, sizeBytes: input.blob.sizeBytes });
  return store.getFile(file.id);
}

/**
 * Turns the current content into the newest earlier version, and stores the next content. @throws AppError
 * quota_exceeded | locked
 */
export function addVersion(store: TreeStore, tx: Transaction, row: StoredNode, next: NextContent): void {
  const { account_id: accountId, size_bytes: oldBytes, media_type: oldType, blob_id: oldBlobId, version } = row;
  invariant(
    oldType !== null && oldBlobId !== null && version !== null && row.content_at !== null,
    "a file has a blob, type, version and content time",
  );
  store.locks.requireUnlocked(accountId, row.id);
  const change = { fileBytes: next.sizeBytes - oldBytes, versionBytes: oldBytes };
  const seq = store.accounts.take(accountId, change, next.quotaBytes, tx);
  const nowMs = store.clock.nowMs();
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by, replaced_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    )
    .run(row.id, version, oldBlobId, oldBytes, oldType, row.content_at, row.content_by, nowMs);
  store.nodes.setContent(tx, row, {
    blobId: next.blobId,
    sizeBytes: next.sizeBytes,
    mediaType: next.mediaType,
    version: version + 1,
    nowMs,
    contentAtMs: next.contentAtMs,
    contentBy: next.createdBy,
    contentDeviceId: store.actorDeviceId,
    seq,
    fileModifiedAt: next.fileModifiedAt ?? null,
    capturedAt: next.capturedAt ?? null,
  });
  store.accounts.record(accountId, seq, row.id);
  store.accounts.countType(accountId, oldType, -1, -oldBytes);
  store.accounts.countType(accountId, next.mediaType, 1, next.sizeBytes);
  store.deletions.forget(accountId, next.blobId);
  const subject = { accountId, seq, nodeId: row.id, publicId: row.public_id, kind: FILE, what: "content" } as const;
  const file = store.getFile(row.id);
  store.undo.note(subject, () => ({
    contentFrom: version,
    contentTo: version + 1,
    dateFrom: row.file_modified_at,
    dateTo: file.fileModifiedAt,
    seen: { name: file.name, folder: file.folder },
  }));
  store.emitFileEvent(tx, "file.updated", file);
}

interface VersionRow {
  readonly node_id: number;
  readonly version: number;
  readonly blob_id: number;
  readonly size_bytes: number;
  readonly replaced_at: number;
}

/** Columns of a {@link VersionRow}. */
const VERSION_COLUMNS = "node_id, version, blob_id, size_bytes, replaced_at";

/** Deletes all earlier versions of a file that is being deleted. @returns their bytes */
export function dropVersions(store: TreeStore, nodeId: number, nowMs: number): number {
  const rows = store.sqlite
    .query<VersionRow, [number]>(`SELECT ${VERSION_COLUMNS} FROM versions WHERE node_id = ?1`)
    .all(nodeId);
  for (const row of rows) store.blobs.release(row.blob_id, nowMs);
  if (rows.length > 0) store.sqlite.run("DELETE FROM versions WHERE node_id = ?1", [nodeId]);
  return rows.reduce((sum, row) => sum + row.size_bytes, 0);
}

/** @see TreeWriter.pruneVersions */
export function pruneVersions(store: TreeStore, options: PruneOptions): { removed: number; nextNodeId: number } {
  const { retainedVersions, olderThanMs, limit, afterNodeId } = options;
  const rows = versionsFrom(store.sqlite, afterNodeId, limit);
  let removed = 0;
  for (const [nodeId, versions] of groupByNode(rows)) {
    // Newest first. Versions younger than the time stay, however many there are.
    const file = store.findById(nodeId);
    // A cut-off file is left to `reapSome`; its bytes are no longer counted.
    if (file === undefined) continue;
    const expendable = versions.sort((a, b) => b.version - a.version).slice(retainedVersions(file.accountId));
    for (const row of expendable) {
      if (row.replaced_at >= olderThanMs || isPinned(store, row)) continue;
      dropVersion(store, file.accountId, nodeId, row);
      removed++;
    }
  }
  const isEnd = rows.length < limit;
  return { removed, nextNodeId: isEnd ? 0 : (rows.at(-1)?.node_id ?? 0) };
}

/** About `limit` versions, with all versions of the last file. */
function versionsFrom(sqlite: Database, afterNodeId: number, limit: number): VersionRow[] {
  const select = `SELECT ${VERSION_COLUMNS} FROM versions`;
  const rows = sqlite
    .query<VersionRow, [number, number]>(`${select} WHERE node_id > ?1 ORDER BY node_id, version LIMIT ?2`)
    .all(afterNodeId, limit);
  const last = rows.at(-1);
  if (rows.length < limit || last === undefined) return rows;
  const rest = sqlite
    .query<VersionRow, [number, number]>(`${select} WHERE node_id = ?1 AND version > ?2`)
    .all(last.node_id, last.version);
  return [...rows, ...rest];
}

function groupByNode(rows: readonly VersionRow[]): Map<number, VersionRow[]> {
  const groups = new Map<number, VersionRow[]>();
  for (const row of rows) {
    const group = groups.get(row.node_id);
    if (group === undefined) groups.set(row.node_id, [row]);
    else group.push(row);
  }
  return groups;
}

/** Deletes one version of a file in the tree. */
function dropVersion(store: TreeStore, accountId: number, nodeId: number, row: VersionRow): void {
  store.accounts.take(accountId, { numbers: 0, versionBytes: -row.size_bytes });
  store.sqlite.run("DELETE FROM versions WHERE node_id = ?1 AND version = ?2", [nodeId, row.version]);
  store.blobs.release(row.blob_id, store.clock.nowMs());
}

/** Whether a share is pinned to this version. Index shares_node. */
function isPinned(store: TreeStore, { node_id: nodeId, version }: VersionRow): boolean {
  return (
    store.sqlite
      .query<{ found: number }, [number, number]>(
        "SELECT 1 AS found FROM shares WHERE node_id = ?1 AND pinned_version = ?2 LIMIT 1",
      )
      .get(nodeId, version) !== null
  );
}

interface ListedRow {
  readonly version: number;
  readonly digest: string;
  readonly blob_id: number;
  readonly size_bytes: number;
  readonly media_type: string;
  readonly created_at: number;
  readonly created_by: number | null;
}

const LISTED = `SELECT version, (SELECT lower(hex(digest)) FROM blobs WHERE id = versions.blob_id) AS digest, blob_id,
  size_bytes, media_type, created_at, created_by FROM versions WHERE node_id = ?1`;

/** @see TreeReader.listVersions */
export function listVersions(store: TreeStore, file: FileNode): FileVersion[] {
  const earlier = store.sqlite.query<ListedRow, [number]>(`${LISTED} ORDER BY version DESC`).all(file.id);
  const current: FileVersion = {
    version: file.version,
    digest: file.digest,
    sizeBytes: file.sizeBytes,
    mediaType: file.mediaType,
    createdAtMs: file.contentAtMs,
    createdBy: store.nodes.get(file.id).content_by,
  };
  return [current, ...earlier.map(toVersion)];
}

/** @see TreeReader.findVersion */
export function findVersion(store: TreeStore, file: FileNode, version: number): FileNode | undefined {
  if (version === file.version) return file;
  const row = findRow(store, file.id, version);
  if (row === undefined) return undefined;
  const { digest, sizeBytes, mediaType, createdAtMs } = toVersion(row);
  return { ...file, version, digest, sizeBytes, mediaType, blobId: row.blob_id, contentAtMs: createdAtMs };
}

function findRow(store: TreeStore, nodeId: number, version: number): ListedRow | undefined {
  return (
    store.sqlite.query<ListedRow, [number, number]>(`${LISTED} AND version = ?2`).get(nodeId, version) ?? undefined
  );
}

function toVersion(row: ListedRow): FileVersion {
  return {
    version: row.version,
    digest: toDigest(row.digest),
    sizeBytes: row.size_bytes,
    mediaType: row.media_type,
    createdAtMs: row.created_at,
    createdBy: row.created_by,
  };
}

/** @see TreeWriter.restoreVersion */
export function restoreVersion(
  store: TreeStore,
  tx: Transaction,
  ref: NodeRef,
  version: number,
  by: VersionRestore,
): FileNode {
  const { precondition, ...rest } = by;
  const file = store.findFile(ref);
  if (file === undefined) throw notFound(say`The file was not found.`);
  precondition?.(file);
  if (version === file.version) return file;
  const former = findRow(store, file.id, version);
  if (former === undefined) throw notFound(say`This version was not found.`);
  store.blobs.share(former.blob_id, store.clock.nowMs());
  const { blob_id: blobId, size_bytes: sizeBytes, media_type: mediaType } = former;
  addVersion(store, tx, store.nodes.get(file.id), { blobId, sizeBytes, mediaType, ...rest });
  return store.getFile(file.id);
}

/** @see TreeWriter.deleteVersion */
export function deleteVersion(store: TreeStore, ref: NodeRef, version: number): FileVersion {
  const file = store.findFile(ref);
  if (file === undefined) throw notFound(say`The file was not found.`);
  if (version === file.version) {
    throw new AppError(
      "version_conflict",
      say`Version ${version} is the current version. Restore another version first, or delete the file.`,
      { version },
    );
  }
  const row = store.sqlite
    .query<VersionRow, [number, number]>(`SELECT ${VERSION_COLUMNS} FROM versions WHERE node_id = ?1 AND version = ?2`)
    .get(file.id, version);
  const listed = findRow(store, file.id, version);
  if (row === null || listed === undefined) throw notFound(say`This version was not found.`);
  dropVersion(store, file.accountId, file.id, row);
  return toVersion(listed);
}
