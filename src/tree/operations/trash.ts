/**
 * The trash. What is put there keeps its row, its id and all below it; only its parent is replaced by its own negated id.
 * So no way from a root leads to it: every reader finds it gone at once, as it does with a folder that was deleted, and it
 * holds no name. What it counts for moves from the sums of the tree to those of the trash; `usage_types` and `tags` go on
 * counting it, and are told without it where they are read.
 */
import { rows } from "../../db/reader.ts";
import type { Transaction } from "../../db/transaction.ts";
import { AppError, notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { fold, parentPath, ROOT_PATH } from "../../lib/path.ts";
import { usageType } from "../tables/accounts.ts";
import { takeApart } from "./delete.ts";
import { isShortened } from "../tables/folder-paths.ts";
import { addWays, stepTo, wayOf } from "../tables/heights.ts";
import type { StoredNode } from "../tables/node-rows.ts";
import { FILE, FOLDER, NODE_COLUMNS, type NodeRow, parseTags, toNode } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { NodeRef, TagSums, TrashedNode, TrashSums, TreeNode, TypeSums } from "../model/types.ts";
import { dropVersions } from "../tables/versions.ts";

/** What a folder counts for, and the state of its account that this is true of. */
export interface FolderSize {
  readonly head: string;
  readonly sums: TrashSums;
}

/** A row of `trash`. */
interface TrashRow {
  readonly node_id: number;
  readonly account_id: number;
  readonly trashed_at: number;
  readonly seq: number;
  readonly parent_id: number;
  readonly folder: string;
  readonly files: number;
  readonly folders: number;
  readonly file_bytes: number;
  readonly version_bytes: number;
}

const TRASH_COLUMNS = `t.node_id, t.account_id, t.trashed_at, t.seq, t.parent_id, t.folder, t.files, t.folders, t.file_bytes,
  t.version_bytes`;

/** Rows of a purged folder that go at once; the rest is left for the reaper. */
const REAP_AT_ONCE = 64;
/** Accounts with so many files have their folders weighed in the reading thread; what is smaller is weighed in place. */
export const MEASURED_IN_READER_MIN = 2_000;

const SUBTREE = `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
  SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)`;
const FILES_BELOW = "FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 1";

const MEASURE_FOLDERS = `${SUBTREE} SELECT count(*) AS folders FROM s`;
const MEASURE_TYPES = `${SUBTREE} SELECT n.media_type AS type, count(*) AS files, sum(n.size_bytes) AS bytes ${FILES_BELOW} GROUP BY 1`;
const MEASURE_TAGS = `${SUBTREE} SELECT j.value AS tag, count(*) AS files ${FILES_BELOW} CROSS JOIN json_each(n.tags) j
  WHERE n.tags IS NOT NULL GROUP BY 1`;
const MEASURE_VERSIONS = `${SUBTREE} SELECT ifnull(sum(v.size_bytes), 0) AS bytes ${FILES_BELOW}
  CROSS JOIN versions v ON v.node_id = n.id`;

/** Changes with everything that changes sums; versions are dropped without a number of the journal. */
const HEAD = "SELECT seq || ' ' || version_bytes AS head FROM accounts WHERE id = ?1";

interface Measured {
  readonly folders: readonly { readonly folders: number }[];
  readonly types: readonly { readonly type: string; readonly files: number; readonly bytes: number }[];
  readonly tags: readonly { readonly tag: string; readonly files: number }[];
  readonly versions: readonly { readonly bytes: number }[];
}

/** What a folder and all below it counts for, read off the event loop; true for as long as the account is at `head`. */
export async function measureInReader(store: TreeStore, accountId: number, folderId: number): Promise<FolderSize> {
  const [heads, folders, types, tags, versions] = await store.reader.read([
    rows<{ head: string }>(HEAD, [accountId]),
    rows<Measured["folders"][number]>(MEASURE_FOLDERS, [folderId]),
    rows<Measured["types"][number]>(MEASURE_TYPES, [folderId]),
    rows<Measured["tags"][number]>(MEASURE_TAGS, [folderId]),
    rows<Measured["versions"][number]>(MEASURE_VERSIONS, [folderId]),
  ]);
  return { head: heads[0]?.head ?? "", sums: toSums({ folders, types, tags, versions }) };
}

function measureHere(store: TreeStore, folderId: number): TrashSums {
  const all = <Row>(sql: string) => store.sqlite.query<Row, [number]>(sql).all(folderId);
  return toSums({
    folders: all(MEASURE_FOLDERS),
    types: all(MEASURE_TYPES),
    tags: all(MEASURE_TAGS),
    versions: all(MEASURE_VERSIONS),
  });
}

function toSums({ folders, types, tags, versions }: Measured): TrashSums {
  const byType: Record<string, [number, number]> = {};
  for (const { type, files, bytes } of types) {
    const sum = (byType[usageType(type)] ??= [0, 0]);
    sum[0] += files;
    sum[1] += bytes;
  }
  const byTag: Record<string, number> = {};
  for (const { tag, files } of tags) byTag[fold(tag)] = (byTag[fold(tag)] ?? 0) + files;
  return {
    files: types.reduce((sum, { files }) => sum + files, 0),
    folders: folders[0]?.folders ?? 0,
    fileBytes: types.reduce((sum, { bytes }) => sum + bytes, 0),
    versionBytes: versions[0]?.bytes ?? 0,
    types: byType,
    tags: byTag,
  };
}

/** @see TreeWriter.trash */
export function trashNode(store: TreeStore, tx: Transaction, ref: NodeRef, measured?: FolderSize): TrashedNode {
  const node = store.findNode(ref);
  if (node === undefined) throw notFound("The file or folder");
  const { accountId, parentId } = node;
  if (parentId === null) {
    const message = "You can't move the root folder to the trash. Choose items inside it.";
    throw new AppError("invalid_path", message, { field: "fileIds" });
  }
  const sums = sumsOf(store, node, measured);
  if (node.kind === "file") store.tell(tx, "file.deleted", node);
  else store.emitFolderEvent(tx, "folder.deleted", node);
  const { files, folders, fileBytes, versionBytes } = sums;
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
  store.nodes.childChanged(tx, parentId, row.kind, row, undefined);
  store.accounts.writeTrashTombstone(accountId, seq, row, nowMs);
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO trash (node_id, account_id, trashed_at, seq, parent_id, folder, files, folders, file_bytes, version_bytes,
         types, tags) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    )
    .run(
      node.id,
      accountId,
      nowMs,
      seq,
      parentId,
      node.folder,
      files,
      folders,
      fileBytes,
      versionBytes,
      toJson(sums.types),
      toJson(sums.tags),
    );
  store.names.freed(tx, parentId);
  if (row.kind === FOLDER) store.paths.drop();
  return { node, folder: node.folder, trashedAtMs: nowMs };
}

function sumsOf(store: TreeStore, node: TreeNode, measured: FolderSize | undefined): TrashSums {
  if (node.kind === "folder") {
    const head = measured && store.sqlite.query<{ head: string }, [number]>(HEAD).get(node.accountId)?.head;
    return measured !== undefined && measured.head === head ? measured.sums : measureHere(store, node.id);
  }
  return {
    files: 1,
    folders: 0,
    fileBytes: node.sizeBytes,
    versionBytes: node.version > 1 ? versionBytesOf(store, node.id) : 0,
    types: { [usageType(node.mediaType)]: [1, node.sizeBytes] },
    tags: Object.fromEntries(node.tags.map((tag) => [fold(tag), 1])),
  };
}

function versionBytesOf(store: TreeStore, nodeId: number): number {
  const row = store.sqlite
    .query<{ bytes: number }, [number]>("SELECT ifnull(sum(size_bytes), 0) AS bytes FROM versions WHERE node_id = ?1")
    .get(nodeId);
  return row?.bytes ?? 0;
}

function toJson(sums: object): string | null {
  return Object.keys(sums).length === 0 ? null : JSON.stringify(sums);
}

/** @see TreeWriter.restore */
export function restoreNode(store: TreeStore, tx: Transaction, ref: NodeRef): TreeNode {
  const { trashed, row } = getTrashed(store, ref);
  const { account_id: accountId, file_bytes: fileBytes, version_bytes: versionBytes } = trashed;
  const parentId = folderToReturnTo(store, trashed);
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
  store.accounts.unbury(accountId, trashed.seq);
  store.accounts.record(accountId, seq, row.id);
  if (row.blob_id !== null) store.deletions.forget(accountId, row.blob_id);
  removeTrashRow(store, row.id);
  const node = store.findById(row.id);
  invariant(node !== undefined, "what was put back is in the tree");
  if (node.kind === "file") store.tell(tx, "file.created", node);
  else store.emitFolderEvent(tx, "folder.created", node);
  return node;
}

/** A place no deeper than the former one is not refused. @throws AppError path_too_long */
function rejectTooDeep(store: TreeStore, row: StoredNode, trashed: TrashRow, parentId: number, name: string): void {
  const { heights } = store.nodes;
  // A shortened path does not say how deep it was; it may go back to the folder that it was in.
  const wasBeyond = isShortened(trashed.folder) && parentId === trashed.parent_id;
  const folder = wasBeyond ? heights.wayTo(parentId) : wayOf(trashed.folder);
  heights.rejectTooDeep(row.id, parentId, name, addWays(folder, stepTo(row.name)));
}

/** The folder that it was in, wherever that is now; where it is gone, the nearest on its former path that is there. */
function folderToReturnTo(store: TreeStore, { account_id: accountId, parent_id: parentId, folder }: TrashRow): number {
  if (store.paths.pathOf(parentId) !== undefined) return parentId;
  for (let path = folder; ; path = parentPath(path)) {
    const id = store.paths.findId(accountId, path);
    if (id !== undefined) return id;
    invariant(path !== ROOT_PATH, "an account has a top folder");
  }
}

/** @see TreeWriter.purge */
export function purgeNode(store: TreeStore, tx: Transaction, ref: NodeRef): TrashedNode {
  const { trashed, row } = getTrashed(store, ref);
  const found = describe(store, trashed);
  const { account_id: accountId, file_bytes: fileBytes, version_bytes: versionBytes } = trashed;
  const seq = store.accounts.take(accountId, {
    trashBytes: -(fileBytes + versionBytes),
    trashNodes: -(trashed.files + trashed.folders),
  });
  const subject = { accountId, seq, nodeId: row.id, publicId: row.public_id, kind: row.kind, what: "delete" } as const;
  // For undoing it was in its folder; for looking back it is known to have been in the trash.
  store.undo.note(subject, () => store.undo.describe({ ...row, parent_id: trashed.parent_id }, trashed.folder));
  store.accounts.record(accountId, seq, row.id);
  removeTrashRow(store, row.id);
  if (row.kind === FILE) purgeFile(store, row);
  else {
    // The reaper writes tombstones of all below it, for those who have not asked since it went into the trash.
    store.accounts.unbury(accountId, trashed.seq);
    store.sqlite.query("UPDATE nodes SET parent_id = NULL WHERE id = ?1").run(row.id);
    takeApart(store, tx, row.id, REAP_AT_ONCE);
  }
  return found;
}

/** What devices were told when it was put into the trash stays told: its tombstone is the one of then. */
function purgeFile(store: TreeStore, row: StoredNode): void {
  const nowMs = store.clock.nowMs();
  const { account_id: accountId, media_type: mediaType, blob_id: blobId, size_bytes: sizeBytes } = row;
  invariant(mediaType !== null && blobId !== null, "a file has a content and its type");
  store.tags.remove(accountId, row.id, parseTags(row.tags));
  store.accounts.countType(accountId, mediaType, -1, -sizeBytes);
  store.deletions.note(accountId, blobId, nowMs);
  store.blobs.release(blobId, nowMs);
  dropVersions(store, row.id, nowMs);
  store.accounts.dropAccess(row.id);
  store.nodes.deleteName(row);
  store.nodes.deleteUncounted(row);
}

function getTrashed(store: TreeStore, { accountId, publicId }: NodeRef): { trashed: TrashRow; row: StoredNode } {
  const trashed = store.sqlite
    .query<TrashRow, [string, number]>(
      `SELECT ${TRASH_COLUMNS} FROM nodes n CROSS JOIN trash t ON t.node_id = n.id
       WHERE n.public_id = ?1 AND t.account_id = ?2`,
    )
    .get(publicId, accountId);
  if (trashed === null) throw notFound("This file or folder in the trash");
  return { trashed, row: store.nodes.get(trashed.node_id) };
}

function removeTrashRow(store: TreeStore, nodeId: number): void {
  store.sqlite.query("DELETE FROM trash WHERE node_id = ?1").run(nodeId);
}

function describe(store: TreeStore, { node_id: nodeId, folder, trashed_at: trashedAtMs }: TrashRow): TrashedNode {
  const row = store.sqlite.query<NodeRow, [number]>(`SELECT ${NODE_COLUMNS} FROM nodes n WHERE n.id = ?1`).get(nodeId);
  invariant(row !== null, "what is in the trash has its row");
  return { node: toNode(row, folder), folder, trashedAtMs };
}

/** @see TreeReader.listTrash */
export function listTrash(
  store: TreeStore,
  accountId: number,
  offset: number,
  limit: number,
): { readonly entries: readonly TrashedNode[]; readonly total: number } {
  const total = store.sqlite
    .query<{ total: number }, [number]>("SELECT count(*) AS total FROM trash WHERE account_id = ?1")
    .get(accountId);
  const page = store.sqlite
    .query<TrashRow, [number, number, number]>(
      `SELECT ${TRASH_COLUMNS} FROM (SELECT node_id FROM trash WHERE account_id = ?1
         ORDER BY trashed_at DESC, node_id DESC LIMIT ?2 OFFSET ?3) k CROSS JOIN trash t ON t.node_id = k.node_id`,
    )
    .all(accountId, limit, offset);
  return { entries: page.map((row) => describe(store, row)), total: total?.total ?? 0 };
}

/** @see TreeReader.trashedBefore */
export function trashedBefore(
  store: TreeStore,
  atMs: number,
  limit: number,
  accountId: number | null,
): readonly NodeRef[] {
  return store.sqlite
    .query<NodeRef, [number, number, number | null]>(
      `SELECT n.account_id AS accountId, n.public_id AS publicId
       FROM (SELECT node_id FROM trash INDEXED BY ${accountId === null ? "trash_age" : "trash_account"}
             WHERE trashed_at <= ?1 AND (?3 IS NULL OR account_id = ?3) ORDER BY trashed_at LIMIT ?2) t
       CROSS JOIN nodes n ON n.id = t.node_id`,
    )
    .all(atMs, limit, accountId);
}

/** Journal number at which a node went into the trash; undefined where it is not there. */
export function trashedSeqOf(store: TreeStore, { accountId, publicId }: NodeRef): number | undefined {
  return store.sqlite
    .query<{ seq: number }, [string, number]>(
      `SELECT t.seq FROM nodes n CROSS JOIN trash t ON t.node_id = n.id WHERE n.public_id = ?1 AND t.account_id = ?2`,
    )
    .get(publicId, accountId)?.seq;
}

/** Files and bytes in the trash by media type: `usage_types` counts them, too. */
export function typesInTrash(store: TreeStore, accountId: number): TypeSums {
  const sums: Record<string, [number, number]> = {};
  for (const json of sumsInTrash(store, accountId, "types")) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
    for (const [type, [files, bytes]] of Object.entries(JSON.parse(json) as TypeSums)) {
      const sum = (sums[type] ??= [0, 0]);
      sum[0] += files;
      sum[1] += bytes;
    }
  }
  return sums;
}

/** Files in the trash by key of a label: `tags` counts them, too. */
export function tagsInTrash(store: TreeStore, accountId: number): TagSums {
  const sums: Record<string, number> = {};
  for (const json of sumsInTrash(store, accountId, "tags")) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
    for (const [key, files] of Object.entries(JSON.parse(json) as TagSums)) sums[key] = (sums[key] ?? 0) + files;
  }
  return sums;
}

function sumsInTrash(store: TreeStore, accountId: number, column: "types" | "tags"): string[] {
  return store.sqlite
    .query<{ sums: string }, [number]>(
      `SELECT ${column} AS sums FROM trash INDEXED BY trash_account WHERE account_id = ?1 AND ${column} IS NOT NULL`,
    )
    .all(accountId)
    .map(({ sums }) => sums);
}

/** Whether a node lies in the trash, itself or with a folder above it. */
export function isInTrash(store: TreeStore, nodeId: number): boolean {
  const end = store.sqlite
    .query<{ parentId: number | null }, [number]>(
      `WITH RECURSIVE up(id, parent_id) AS (SELECT id, parent_id FROM nodes WHERE id = ?1
         UNION ALL SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT parent_id AS parentId FROM up WHERE parent_id < 0 LIMIT 1`,
    )
    .get(nodeId);
  return end !== null;
}
