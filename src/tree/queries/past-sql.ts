/** The SQL of looking back (past.ts): `?2` is the journal number of the moment; where they occur, `?3` is its time and `?4` the account. */
import type { SortField } from "../model/types.ts";

/** Made at, by number; what came with the copy of a large folder was made when that appeared. Of a table `n` of nodes. */
export const CREATED_SEQ_SQL = `CASE WHEN n.created_seq >= 0 THEN n.created_seq
  ELSE ifnull((SELECT s.created_seq FROM nodes s WHERE s.id = -n.created_seq), 0) END`;

/**
 * Whether a node (`p.node_id`) may be shown: in the tree or the trash (whose nodes have a negative number for a parent), in
 * a folder that a device deleted, or deleted by one itself. What a person deleted for good is not, also while its rows are still being taken apart.
 */
export const IS_AVAILABLE_SQL = `coalesce(
  (WITH RECURSIVE up(id, parent_id, name) AS (SELECT id, parent_id, name FROM nodes WHERE id = p.node_id
     UNION ALL SELECT a.id, a.parent_id, a.name FROM up JOIN nodes a ON a.id = up.parent_id)
   SELECT ifnull(up.parent_id < 0, 0) OR up.name = '/'
     OR EXISTS (SELECT 1 FROM undo u INDEXED BY undo_node WHERE u.node_id = up.id AND u.what = 'delete')
   FROM up WHERE parent_id IS NULL OR parent_id < 0),
  EXISTS (SELECT 1 FROM undo u INDEXED BY undo_node WHERE u.node_id = p.node_id AND u.what IN ('delete', 'reap')))`;

/** What was in some folders (`?1`, a JSON list) after a journal number (`?2`): those still there, and those that left since. */
export function childrenSql(still: string, left: string): string {
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

/** A field of a former content `c`. */
function valueOf(field: string): string {
  return `json_extract(c.value, '$.${field}')`;
}

/** The newest content, of a table `d` of one row of `undo`, that came up to `?3`; else the oldest. Bound to a field. */
function deletedContent(field: string): string {
  const contents = "json_each(d.before, '$.file.contents') c";
  return `coalesce(
    (SELECT ${valueOf(field)} FROM ${contents} WHERE ${valueOf("createdAtMs")} <= ?3 ORDER BY ${valueOf("version")} DESC LIMIT 1),
    (SELECT ${valueOf(field)} FROM ${contents} ORDER BY ${valueOf("version")} LIMIT 1))`;
}

function ofDeleted(expression: string): string {
  return `(SELECT ${expression} FROM undo d INDEXED BY undo_node
     WHERE d.node_id = h.id AND d.what IN ('delete', 'reap') ORDER BY d.seq DESC LIMIT 1)`;
}

/** Of a child `h` of the kinds of {@link childrenSql}, at the time `?3`. */
const SIZE_THEN = `CASE h.kind WHEN 0 THEN 0 ELSE coalesce(
  (SELECT n.size_bytes FROM nodes n WHERE n.id = h.id AND n.content_at <= ?3),
  (SELECT v.size_bytes FROM versions v WHERE v.node_id = h.id AND v.created_at <= ?3 AND v.replaced_at > ?3
     ORDER BY v.version DESC LIMIT 1),
  (SELECT v.size_bytes FROM versions v WHERE v.node_id = h.id AND v.created_at > ?3 ORDER BY v.version LIMIT 1),
  (SELECT n.size_bytes FROM nodes n WHERE n.id = h.id), ${ofDeleted(deletedContent("sizeBytes"))}, 0) END`;

/** When a child `h` was made. */
export const CREATED_SQL = `coalesce((SELECT n.created_at FROM nodes n WHERE n.id = h.id),
  ${ofDeleted("json_extract(d.before, '$.file.createdAtMs')")},
  (SELECT j.at FROM journal j WHERE j.account_id = ?4 AND j.seq =
     (SELECT p.born_seq FROM former_places p WHERE p.node_id = h.id LIMIT 1)), 0)`;

/** The last change that is remembered: of anything where nothing changed since, else of the content or the place. */
export const MODIFIED_THEN_SQL = `coalesce((SELECT n.modified_at FROM nodes n WHERE n.id = h.id AND n.modified_at <= ?3), max(${CREATED_SQL},
  coalesce((SELECT n.content_at FROM nodes n WHERE n.id = h.id AND n.content_at <= ?3),
    (SELECT v.created_at FROM versions v WHERE v.node_id = h.id AND v.created_at <= ?3 ORDER BY v.version DESC LIMIT 1),
    ${ofDeleted(deletedContent("createdAtMs"))}, 0),
  ifnull((SELECT max(p.at) FROM former_places p WHERE p.node_id = h.id AND p.seq <= ?2), 0)))`;

/** What a page of children `h` is sorted by. */
export const SORT_KEYS_SQL: Readonly<Record<SortField, string>> = {
  name: "h.sort_key",
  size: SIZE_THEN,
  createdAt: CREATED_SQL,
  modifiedAt: MODIFIED_THEN_SQL,
};

/** Whether a file `n` has other bytes than at `?3`. */
const IS_REWRITTEN = `n.content_at > ?3 AND n.blob_id IS NOT
  (SELECT v.blob_id FROM versions v WHERE v.node_id = n.id AND v.created_at <= ?3 AND v.replaced_at > ?3)`;

/** What was in some folders: all folders, and those files that may be other now. */
export const CHANGED_CHILDREN_SQL = `SELECT c.parent_id, c.id, c.kind, c.name,
    EXISTS (SELECT 1 FROM nodes n WHERE n.id = c.id AND n.parent_id = c.parent_id AND n.name = c.name
      AND (n.kind = 0 OR NOT (${IS_REWRITTEN}))) AS isBack,
    NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = c.id) AS isGone
  FROM (${childrenSql(`(n.kind = 0 OR n.kind = 1 AND ${IS_REWRITTEN})`, "p.kind IN (0, 1)")}) c
  ORDER BY c.kind, c.sort_key, c.name`;
