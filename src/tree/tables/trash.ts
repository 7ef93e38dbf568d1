import { notFound } from "../../errors.ts";
import { invariant } from "../../lib/invariant.ts";
import { say } from "../../translations/say.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../model/rows.ts";
import type { NodeRef, NodeTotals, TagTotals, TrashedNode, TreeNode, TypeTotals } from "../model/types.ts";
import type { StoredNode } from "./node-rows.ts";
import type { TreeStore } from "./store.ts";

/** A row of `trash`. */
export interface TrashRow {
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

/** The columns of a {@link TrashRow}, for a table `t` of the trash. */
export const TRASH_COLUMNS = `t.node_id, t.account_id, t.trashed_at, t.seq, t.parent_id, t.folder, t.files, t.folders, t.file_bytes,
  t.version_bytes`;

/** Writes the row of a node that moves to the trash. */
export function insertTrashRow(
  store: TreeStore,
  node: TreeNode,
  { parentId, seq, nowMs, totals }: { parentId: number; seq: number; nowMs: number; totals: NodeTotals },
): void {
  const { files, folders, fileBytes, versionBytes, types, tags } = totals;
  store.sqlite
    .query<undefined, (number | string | null)[]>(
      `INSERT INTO trash (node_id, account_id, trashed_at, seq, parent_id, folder, files, folders, file_bytes, version_bytes,
         types, tags) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
    )
    .run(
      node.id,
      node.accountId,
      nowMs,
      seq,
      parentId,
      node.folder,
      files,
      folders,
      fileBytes,
      versionBytes,
      toJson(types),
      toJson(tags),
    );
}

function toJson(totals: object): string | null {
  return Object.keys(totals).length === 0 ? null : JSON.stringify(totals);
}

/** The trash row and the node row of a node in the trash. @throws AppError not_found */
export function getTrashed(store: TreeStore, { accountId, publicId }: NodeRef): { trashed: TrashRow; row: StoredNode } {
  const trashed = store.sqlite
    .query<TrashRow, [string, number]>(
      `SELECT ${TRASH_COLUMNS} FROM nodes n CROSS JOIN trash t ON t.node_id = n.id
       WHERE n.public_id = ?1 AND t.account_id = ?2`,
    )
    .get(publicId, accountId);
  if (trashed === null) throw notFound(say`This file or folder in the trash was not found.`);
  return { trashed, row: store.nodes.get(trashed.node_id) };
}

/** Deletes the trash row of a node. */
export function removeTrashRow(store: TreeStore, nodeId: number): void {
  store.sqlite.query("DELETE FROM trash WHERE node_id = ?1").run(nodeId);
}

/** A row of the trash with its node. */
export function toTrashedNode(
  store: TreeStore,
  { node_id: nodeId, folder, trashed_at: trashedAtMs }: TrashRow,
): TrashedNode {
  const row = store.sqlite.query<NodeRow, [number]>(`SELECT ${NODE_COLUMNS} FROM nodes n WHERE n.id = ?1`).get(nodeId);
  invariant(row !== null, "a node in the trash has a row");
  return { node: toNode(row, folder), folder, trashedAtMs };
}

/** @see TreeReader.trashedBefore */
export function trashedBefore(
  store: TreeStore,
  atMs: number,
  limit: number,
  accountId: number | null,
): readonly NodeRef[] {
  // Not one condition for both: an index by account would be read from end to end.
  const entries =
    accountId === null
      ? "trash INDEXED BY trash_age WHERE ?3 IS NULL"
      : "trash INDEXED BY trash_account WHERE account_id = ?3";
  return store.sqlite
    .query<NodeRef, [number, number, number | null]>(
      `SELECT n.account_id AS accountId, n.public_id AS publicId
       FROM (SELECT node_id FROM ${entries} AND trashed_at <= ?1 ORDER BY trashed_at LIMIT ?2) t
       CROSS JOIN nodes n ON n.id = t.node_id`,
    )
    .all(atMs, limit, accountId);
}

/** Journal number at which a node was trashed; undefined if it is not in the trash itself. */
export function trashedSeqOf(store: TreeStore, { accountId, publicId }: NodeRef): number | undefined {
  return store.sqlite
    .query<{ seq: number }, [string, number]>(
      `SELECT t.seq FROM nodes n CROSS JOIN trash t ON t.node_id = n.id WHERE n.public_id = ?1 AND t.account_id = ?2`,
    )
    .get(publicId, accountId)?.seq;
}

/** Files and bytes in the trash by media type: `usage_types` includes them. */
export function typesInTrash(store: TreeStore, accountId: number): TypeTotals {
  const totals: Record<string, [number, number]> = {};
  for (const json of totalsInTrash(store, accountId, "types")) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
    for (const [type, [files, bytes]] of Object.entries(JSON.parse(json) as TypeTotals)) {
      const total = (totals[type] ??= [0, 0]);
      total[0] += files;
      total[1] += bytes;
    }
  }
  return totals;
}

/** Files in the trash by folded tag: `tags` includes them. */
export function tagsInTrash(store: TreeStore, accountId: number): TagTotals {
  const totals: Record<string, number> = {};
  for (const json of totalsInTrash(store, accountId, "tags")) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file alone
    for (const [key, files] of Object.entries(JSON.parse(json) as TagTotals)) totals[key] = (totals[key] ?? 0) + files;
  }
  return totals;
}

function totalsInTrash(store: TreeStore, accountId: number, column: "types" | "tags"): string[] {
  return store.sqlite
    .query<{ totals: string }, [number]>(
      `SELECT ${column} AS totals FROM trash INDEXED BY trash_account WHERE account_id = ?1 AND ${column} IS NOT NULL`,
    )
    .all(accountId)
    .map(({ totals }) => totals);
}

/** Whether a node or a folder above it is in the trash. */
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
