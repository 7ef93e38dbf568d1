/**
 * The queries of past.ts. In every statement `?2` is the journal number of the moment. Where they occur, `?1` is a JSON
 * list of folder ids, `?3` the time of the moment and `?4` the account.
 */
import type { Database } from "bun:sqlite";
import { naturalOrder, numbers, type Read, rows } from "../../db/reader.ts";
import { fold } from "../../lib/path.ts";
import { NODE_COLUMNS, type NodeRow } from "../model/rows.ts";
import type { SortField, SortOrder } from "../model/types.ts";

/** A moment of an account. */
export interface AccountMoment {
  readonly accountId: number;
  readonly atMs: number;
  /** The last journal number taken by then. */
  readonly seq: number;
}

/** A child of a folder at a moment. */
interface ChildRow {
  readonly parent_id: number;
  readonly id: number;
  readonly kind: number;
  readonly name: string;
}

/** A child of a folder at a moment that may differ now. */
interface ChangedRow extends ChildRow {
  /** 1: it is in its former folder; a file also has its former content. */
  readonly isBack: number;
  /** 1: its row no longer exists. */
  readonly isGone: number;
}

/** A child with its times at the moment. */
export interface ChildAt {
  readonly id: number;
  readonly kind: number;
  readonly name: string;
  readonly created: number;
  readonly modified: number;
}

/** A child on a page, with the number of all children. */
interface ListedRow extends ChildAt {
  readonly total: number;
}

/** The past records no former dates of files. */
export type PastSortField = Exclude<SortField, "fileModifiedAt">;

/** One page of a folder at a moment. */
export interface PastListQuery {
  readonly kind?: "file" | "folder" | undefined;
  readonly sort: PastSortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/**
 * The number at which a node was created. A node below a large copy has minus the id of the copy there: it was created
 * when the copy appeared. For a table `n` of nodes.
 */
const CREATED_SEQ_SQL = `CASE WHEN n.created_seq >= 0 THEN n.created_seq
  ELSE ifnull((SELECT s.created_seq FROM nodes s WHERE s.id = -n.created_seq), 0) END`;

/**
 * Whether a node (`p.node_id`) may be shown: it is in the tree or in the trash (where `parent_id` is negative), or in a
 * folder that a device deleted, or a device deleted it. A node that a person deleted permanently is not shown, even
 * while its rows still exist.
 */
const IS_AVAILABLE_SQL = `coalesce(
  (WITH RECURSIVE up(id, parent_id, name) AS (SELECT id, parent_id, name FROM nodes WHERE id = p.node_id
     UNION ALL SELECT a.id, a.parent_id, a.name FROM up JOIN nodes a ON a.id = up.parent_id)
   SELECT ifnull(up.parent_id < 0, 0) OR up.name = '/'
     OR EXISTS (SELECT 1 FROM undo u INDEXED BY undo_node WHERE u.node_id = up.id AND u.what = 'delete')
   FROM up WHERE parent_id IS NULL OR parent_id < 0),
  EXISTS (SELECT 1 FROM undo u INDEXED BY undo_node WHERE u.node_id = p.node_id AND u.what IN ('delete', 'reap')))`;

/**
 * Children of the folders `?1` at number `?2`: those still there, and those that left since.
 * @param still condition on a node `n` that is still there
 * @param left condition on a former location `p` of a node that left
 */
function childrenSql(still: string, left: string): string {
  return `SELECT n.parent_id, n.id, n.kind, n.name, n.sort_key
     FROM json_each(?1) j CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = j.value
     WHERE ${still} AND ${CREATED_SEQ_SQL} <= ?2
       AND NOT EXISTS (SELECT 1 FROM former_places p WHERE p.node_id = n.id AND p.seq > ?2)
   UNION ALL SELECT p.parent_id, p.node_id, p.kind, p.name, p.sort_key
     FROM json_each(?1) j CROSS JOIN former_places p INDEXED BY former_places_folder ON p.parent_id = j.value AND p.seq > ?2
     WHERE ${left} AND p.born_seq <= ?2
       AND NOT EXISTS (SELECT 1 FROM former_places q WHERE q.node_id = p.node_id AND q.seq > ?2 AND q.seq < p.seq)
       AND ${IS_AVAILABLE_SQL}`;
}

/** A field of a former version `c`. */
function versionField(field: string): string {
  return `json_extract(c.value, '$.${field}')`;
}

/** A field of the newest version, in a row `d` of `undo`, that was stored by `?3`; else of the oldest. */
function deletedContent(field: string): string {
  const contents = "json_each(d.before, '$.file.contents') c";
  return `coalesce(
    (SELECT ${versionField(field)} FROM ${contents} WHERE ${versionField("createdAtMs")} <= ?3 ORDER BY ${versionField("version")} DESC LIMIT 1),
    (SELECT ${versionField(field)} FROM ${contents} ORDER BY ${versionField("version")} LIMIT 1))`;
}

function fromDeleted(expression: string): string {
  return `(SELECT ${expression} FROM undo d INDEXED BY undo_node
     WHERE d.node_id = h.id AND d.what IN ('delete', 'reap') ORDER BY d.seq DESC LIMIT 1)`;
}

/** Size at the time `?3` of a child `h` from {@link childrenSql}. */
const SIZE_THEN = `CASE h.kind WHEN 0 THEN 0 ELSE coalesce(
  (SELECT n.size_bytes FROM nodes n WHERE n.id = h.id AND n.content_at <= ?3),
  (SELECT v.size_bytes FROM versions v WHERE v.node_id = h.id AND v.created_at <= ?3 AND v.replaced_at > ?3
     ORDER BY v.version DESC LIMIT 1),
  (SELECT v.size_bytes FROM versions v WHERE v.node_id = h.id AND v.created_at > ?3 ORDER BY v.version LIMIT 1),
  (SELECT n.size_bytes FROM nodes n WHERE n.id = h.id), ${fromDeleted(deletedContent("sizeBytes"))}, 0) END`;

/** When a child `h` was created. */
const CREATED_SQL = `coalesce((SELECT n.created_at FROM nodes n WHERE n.id = h.id),
  ${fromDeleted("json_extract(d.before, '$.file.createdAtMs')")},
  (SELECT j.at FROM journal j WHERE j.account_id = ?4 AND j.seq =
     (SELECT p.born_seq FROM former_places p WHERE p.node_id = h.id LIMIT 1)), 0)`;

/** The last recorded change: of anything if nothing changed since, else of content or location. */
const MODIFIED_THEN_SQL = `coalesce((SELECT n.modified_at FROM nodes n WHERE n.id = h.id AND n.modified_at <= ?3), max(${CREATED_SQL},
  coalesce((SELECT n.content_at FROM nodes n WHERE n.id = h.id AND n.content_at <= ?3),
    (SELECT v.created_at FROM versions v WHERE v.node_id = h.id AND v.created_at <= ?3 ORDER BY v.version DESC LIMIT 1),
    ${fromDeleted(deletedContent("createdAtMs"))}, 0),
  ifnull((SELECT max(p.at) FROM former_places p WHERE p.node_id = h.id AND p.seq <= ?2), 0)))`;

/** The sort keys of a page of children `h`. */
const SORT_KEYS_SQL: Readonly<Record<Exclude<PastSortField, "natural">, string>> = {
  name: "h.sort_key",
  size: SIZE_THEN,
  createdAt: CREATED_SQL,
  modifiedAt: MODIFIED_THEN_SQL,
};

/** Whether a file `n` has other content than at `?3`. */
const IS_REWRITTEN = `n.content_at > ?3 AND n.blob_id IS NOT
  (SELECT v.blob_id FROM versions v WHERE v.node_id = n.id AND v.created_at <= ?3 AND v.replaced_at > ?3)`;

/** The children of the folders `?1`: all folders, and the files that may differ now. */
const CHANGED_CHILDREN_SQL = `SELECT c.parent_id, c.id, c.kind, c.name,
    EXISTS (SELECT 1 FROM nodes n WHERE n.id = c.id AND n.parent_id = c.parent_id AND n.name = c.name
      AND (n.kind = 0 OR NOT (${IS_REWRITTEN}))) AS isBack,
    NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = c.id) AS isGone
  FROM (${childrenSql(`(n.kind = 0 OR n.kind = 1 AND ${IS_REWRITTEN})`, "p.kind IN (0, 1)")}) c
  ORDER BY c.kind, c.sort_key, c.name`;

/** The folder of this name in a folder. */
export function childFolder(folderId: number, name: string, { seq }: AccountMoment): Read<readonly ChildRow[]> {
  const sql = childrenSql("n.kind = 0 AND n.sort_key = ?3 AND n.name = ?4", "p.kind = 0 AND p.name = ?4");
  return rows(sql, [JSON.stringify([folderId]), seq, fold(name), name]);
}

/** A page of the children of a folder. Folders come first; ties by id in the direction of the sort. */
export function childrenPage(
  folderId: number,
  moment: AccountMoment,
  query: PastListQuery & { readonly sort: Exclude<PastSortField, "natural"> },
): Read<readonly ListedRow[]> {
  const { sort, order, offset, limit } = query;
  const direction = order === "desc" ? "DESC" : "ASC";
  const name = sort === "name" ? `h.name ${direction}, ` : "";
  const sql = `WITH here AS (${childrenOfKind(query)}), page AS (
      SELECT h.id, h.kind, h.name, count(*) OVER () AS total FROM here h
      ORDER BY h.kind, ${SORT_KEYS_SQL[sort]} ${direction}, ${name}h.id ${direction} LIMIT ?5 OFFSET ?6)
    SELECT h.id, h.kind, h.name, h.total, ${CREATED_SQL} AS created, ${MODIFIED_THEN_SQL} AS modified FROM page h`;
  const { seq, atMs, accountId } = moment;
  return rows(sql, [JSON.stringify([folderId]), seq, atMs, accountId, limit, offset]);
}

/** Row ids of all children of a folder, in the natural order of their names. No former keys are stored. */
export function childrenNaturally(folderId: number, { seq }: AccountMoment, query: PastListQuery): Read<Float64Array> {
  const sql = `SELECT id, kind, name FROM (${childrenOfKind(query)})`;
  return naturalOrder(sql, [JSON.stringify([folderId]), seq], query.order);
}

/** Those children of a folder that have these row ids, in no order. */
export function childrenWithIds(
  folderId: number,
  { seq, atMs, accountId }: AccountMoment,
  query: PastListQuery,
  ids: readonly number[],
): Read<readonly ChildAt[]> {
  const sql = `SELECT h.id, h.kind, h.name, ${CREATED_SQL} AS created, ${MODIFIED_THEN_SQL} AS modified
    FROM (${childrenOfKind(query)}) h WHERE h.id IN (SELECT value FROM json_each(?5))`;
  return rows(sql, [JSON.stringify([folderId]), seq, atMs, accountId, JSON.stringify(ids)]);
}

/** The number of children of a folder that a listing includes. */
export function childrenCount(folderId: number, { seq }: AccountMoment, query: PastListQuery) {
  const sql = `SELECT count(*) AS total FROM (${childrenOfKind(query)})`;
  return rows<{ total: number }>(sql, [JSON.stringify([folderId]), seq]);
}

/** The number of children of each of some folders. */
export function itemCounts(folderIds: readonly number[], { seq }: AccountMoment) {
  const sql = `SELECT parent_id AS id, count(*) AS items
    FROM (${childrenSql("n.kind IN (0, 1)", "p.kind IN (0, 1)")}) GROUP BY parent_id`;
  return rows<{ id: number; items: number }>(sql, [JSON.stringify(folderIds), seq]);
}

/** The children of some folders: all folders, and the files that may differ now. */
export function changedChildren(
  folderIds: readonly number[],
  { seq, atMs }: AccountMoment,
): Read<readonly ChangedRow[]> {
  return rows(CHANGED_CHILDREN_SQL, [JSON.stringify(folderIds), seq, atMs]);
}

/** Row ids of the present children of some folders that were created after the moment. */
export function newChildren(folderIds: readonly number[], { seq }: AccountMoment) {
  return numbers(
    `SELECT group_concat(n.id) FROM json_each(?1) j CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = j.value
     WHERE n.kind IN (0, 1) AND ${CREATED_SEQ_SQL} > ?2`,
    [JSON.stringify(folderIds), seq],
  );
}

function childrenOfKind({ kind }: PastListQuery): string {
  const kinds = kind === "file" ? "1" : kind === "folder" ? "0" : "0, 1";
  return childrenSql(`n.kind IN (${kinds})`, `p.kind IN (${kinds})`);
}

interface LocationRow {
  readonly parentId: number;
  readonly name: string;
  readonly createdSeq: number;
}

/** The statements of {@link PastReader}, prepared once. */
export function pastStatements(sqlite: Database) {
  const version = "SELECT version FROM versions WHERE node_id = ?1 AND";
  return {
    row: sqlite.prepare<NodeRow, [number]>(`SELECT ${NODE_COLUMNS} FROM nodes n WHERE n.id = ?1`),
    deleted: sqlite.prepare<{ deviceId: number; publicId: string; before: string }, [number, number]>(
      `SELECT device_id AS deviceId, public_id AS publicId, before FROM undo INDEXED BY undo_node
       WHERE node_id = ?1 AND account_id = ?2 AND what IN ('delete', 'reap') ORDER BY seq DESC LIMIT 1`,
    ),
    successor: sqlite.prepare<{ before: string }, [number, number]>(
      `SELECT before FROM undo INDEXED BY undo_node WHERE node_id = ?1 AND account_id = ?2 AND what = 'restore'
       ORDER BY seq DESC LIMIT 1`,
    ),
    formerLocation: sqlite.prepare<LocationRow, [number, number, number]>(
      `SELECT parent_id AS parentId, name, born_seq AS createdSeq FROM former_places
       WHERE node_id = ?1 AND seq > ?2 AND account_id = ?3 ORDER BY seq LIMIT 1`,
    ),
    presentLocation: sqlite.prepare<{ parentId: number | null; name: string; createdSeq: number }, [number, number]>(
      `SELECT parent_id AS parentId, name, ${CREATED_SEQ_SQL} AS createdSeq FROM nodes n WHERE id = ?1 AND account_id = ?2`,
    ),
    ofPublicId: sqlite.prepare<{ id: number }, [string, number]>(
      `SELECT id FROM nodes WHERE public_id = ?1 AND account_id = ?2
       UNION ALL SELECT node_id FROM tombstones INDEXED BY tombstones_public WHERE public_id = ?1 AND account_id = ?2 LIMIT 1`,
    ),
    availability: sqlite.prepare<{ isAvailable: number }, [number]>(
      `SELECT ${IS_AVAILABLE_SQL} AS isAvailable FROM (SELECT ?1 AS node_id) p`,
    ),
    times: sqlite.prepare<{ created: number; modified: number }, [number, number, number, number, number]>(
      `SELECT ${CREATED_SQL} AS created, ${MODIFIED_THEN_SQL} AS modified FROM (SELECT ?1 AS id, ?5 AS kind) h`,
    ),
    topInTrash: sqlite.prepare<{ id: number; publicId: string }, [number, number]>(
      `WITH RECURSIVE up(id, parent_id, public_id) AS (
         SELECT id, parent_id, public_id FROM nodes WHERE id = ?1 AND account_id = ?2
         UNION ALL SELECT n.id, n.parent_id, n.public_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT id, public_id AS publicId FROM up WHERE parent_id < 0`,
    ),
    older: sqlite.prepare<{ id: number }, [number, number]>(
      `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
         SELECT f.id FROM s CROSS JOIN nodes f INDEXED BY nodes_name ON f.parent_id = s.id AND f.kind = 0)
       SELECT n.id FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind IN (0, 1)
       WHERE ${CREATED_SEQ_SQL} <= ?2 LIMIT 1`,
    ),
    versionAt: sqlite.prepare<{ version: number }, [number, number]>(
      `${version} created_at <= ?2 AND replaced_at > ?2 ORDER BY version DESC LIMIT 1`,
    ),
    versionAfter: sqlite.prepare<{ version: number }, [number, number]>(
      `${version} created_at > ?2 ORDER BY version LIMIT 1`,
    ),
  };
}
