/** Contents of a file one after the other. The present one is the node's own; every earlier one is a row of `versions`. */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import type { StoredNode } from "./node-rows.ts";
import { FILE } from "./rows.ts";
import type { TreeStore } from "./store.ts";
import type { FileNode, NewContent } from "./types.ts";

/** A content that has its reference for the file to come. */
export interface Content {
  readonly blobId: number;
  readonly sizeBytes: number;
  readonly mediaType: string;
}

/** A content that takes the place of another, its reference taken already. */
export interface NextContent extends Content {
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  readonly fileModifiedAt?: string | undefined;
  readonly capturedAt?: string | undefined;
}

/** Which versions are dropped: both beyond the newest `keepOf` of their file and older than the time. */
export interface PruneOptions {
  /** How many earlier contents of a file are kept in any case, by account. */
  readonly keepOf: (accountId: number) => number;
  /** Those that came before this. */
  readonly olderThanMs: number;
  /** Versions looked at in one deed. */
  readonly limit: number;
  /** Where the last call ended; 0 to begin. */
  readonly afterNodeId: number;
}

/** @see TreeWriter.replaceContent */
export function replaceContent(store: TreeStore, tx: Transaction, input: NewContent): FileNode {
  const file = store.findFile(input.file);
  if (file === undefined) throw notFound("The file");
  input.precondition?.(file);
  const blobId = store.blobs.acquire(input.blob, store.clock.nowMs());
  addVersion(store, tx, store.nodes.get(file.id), { ...input, blobId, sizeBytes: input.blob.sizeBytes });
  return store.getFile(file.id);
}

/** Makes the file's content its newest earlier version and the given one its content. @throws AppError quota_exceeded */
export function addVersion(store: TreeStore, tx: Transaction, row: StoredNode, next: NextContent): void {
  const { account_id: accountId, size_bytes: oldBytes, media_type: oldType, blob_id: oldBlobId, version } = row;
  invariant(
    oldType !== null && oldBlobId !== null && version !== null && row.content_at !== null,
    "a file has a content, its type, its number and its time",
  );
  const sums = { fileBytes: next.sizeBytes - oldBytes, versionBytes: oldBytes };
  const seq = store.accounts.take(accountId, sums, next.quotaBytes, tx);
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at, created_by)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
    )
    .run(row.id, version, oldBlobId, oldBytes, oldType, row.content_at, row.content_by);
  store.nodes.setContent(tx, row, {
    blobId: next.blobId,
    sizeBytes: next.sizeBytes,
    mediaType: next.mediaType,
    version: version + 1,
    nowMs: store.clock.nowMs(),
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
    seen: { name: file.name, folder: file.folder },
  }));
  store.tell(tx, "file.updated", file);
}

interface VersionRow {
  readonly node_id: number;
  readonly version: number;
  readonly blob_id: number;
  readonly size_bytes: number;
  readonly created_at: number;
}

/** Drops all earlier contents of a file that goes. @returns their bytes */
export function dropVersions(store: TreeStore, nodeId: number, nowMs: number): number {
  const rows = store.sqlite
    .query<VersionRow, [number]>(
      "SELECT node_id, version, blob_id, size_bytes, created_at FROM versions WHERE node_id = ?1",
    )
    .all(nodeId);
  for (const row of rows) store.blobs.release(row.blob_id, nowMs);
  if (rows.length > 0) store.sqlite.run("DELETE FROM versions WHERE node_id = ?1", [nodeId]);
  return rows.reduce((sum, row) => sum + row.size_bytes, 0);
}

/** @see TreeWriter.pruneVersions */
export function pruneVersions(store: TreeStore, options: PruneOptions): { removed: number; nextNodeId: number } {
  const { keepOf, olderThanMs, limit, afterNodeId } = options;
  const rows = versionsFrom(store.sqlite, afterNodeId, limit);
  let removed = 0;
  for (const [nodeId, versions] of groupByNode(rows)) {
    // Newest first; what is younger than the time stays, however many there are.
    const file = store.findById(nodeId);
    // What is cut off from the tree is left to the reaper; its bytes are not counted any more.
    if (file === undefined) continue;
    const expendable = versions.sort((a, b) => b.version - a.version).slice(keepOf(file.accountId));
    for (const row of expendable) {
      if (row.created_at >= olderThanMs) continue;
      dropVersion(store, file.accountId, nodeId, row);
      removed++;
    }
  }
  const isEnd = rows.length < limit;
  return { removed, nextNodeId: isEnd ? 0 : (rows.at(-1)?.node_id ?? 0) };
}

/** About `limit` versions of whole files, those of the last file completed. */
function versionsFrom(sqlite: Database, afterNodeId: number, limit: number): VersionRow[] {
  const select = "SELECT node_id, version, blob_id, size_bytes, created_at FROM versions";
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

/** Drops one version of a file in the tree. */
function dropVersion(store: TreeStore, accountId: number, nodeId: number, row: VersionRow): void {
  store.accounts.take(accountId, { numbers: 0, versionBytes: -row.size_bytes });
  store.sqlite.run("DELETE FROM versions WHERE node_id = ?1 AND version = ?2", [nodeId, row.version]);
  store.blobs.release(row.blob_id, store.clock.nowMs());
}
