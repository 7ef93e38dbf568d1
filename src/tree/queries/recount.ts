/**
 * Counts everything that is stored as a counter and reports where the count differs. It repairs nothing: a difference
 * is a defect to be found. It runs in the reading thread, in one snapshot, so that nothing changes while it counts.
 */
import { type Reader, rows } from "../../db/reader.ts";
import type { Drift } from "../model/types.ts";

const IN_TREE = `WITH RECURSIVE s(id) AS (SELECT root_id FROM accounts WHERE id = ?1 UNION ALL
  SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)`;

/** Findings reported per counter; further ones would have the same cause. */
const FINDINGS_MAX = 100;

/** Cut-off nodes that are not deleted yet count only for media types, tags and references. */
const OF_ACCOUNT = [
  `${IN_TREE} SELECT 'accounts.files' AS counter, ?1 AS "of", a.files AS stored, c.counted FROM accounts a,
     (SELECT count(*) AS counted FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1) c
   WHERE a.id = ?1 AND a.files <> c.counted`,
  `${IN_TREE} SELECT 'accounts.folders' AS counter, ?1 AS "of", a.folders AS stored, c.counted FROM accounts a,
     (SELECT count(*) - 1 AS counted FROM s) c WHERE a.id = ?1 AND a.folders <> c.counted`,
  `${IN_TREE} SELECT 'accounts.file_bytes' AS counter, ?1 AS "of", a.file_bytes AS stored, c.counted FROM accounts a,
     (SELECT ifnull(sum(n.size_bytes), 0) AS counted
      FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1) c
   WHERE a.id = ?1 AND a.file_bytes <> c.counted`,
  `${IN_TREE} SELECT 'accounts.version_bytes' AS counter, ?1 AS "of", a.version_bytes AS stored, c.counted FROM accounts a,
     (SELECT ifnull(sum(v.size_bytes), 0) AS counted FROM versions v JOIN nodes n ON n.id = v.node_id
      WHERE n.parent_id IN (SELECT id FROM s)) c
   WHERE a.id = ?1 AND a.version_bytes <> c.counted`,
  `SELECT 'accounts.trash_bytes' AS counter, ?1 AS "of", a.trash_bytes AS stored, c.counted FROM accounts a,
     (SELECT ifnull(sum(file_bytes + version_bytes), 0) AS counted FROM trash WHERE account_id = ?1) c
   WHERE a.id = ?1 AND a.trash_bytes <> c.counted`,
  `SELECT 'accounts.trash_nodes' AS counter, ?1 AS "of", a.trash_nodes AS stored, c.counted FROM accounts a,
     (SELECT ifnull(sum(files + folders), 0) AS counted FROM trash WHERE account_id = ?1) c
   WHERE a.id = ?1 AND a.trash_nodes <> c.counted`,
  reachBelow("levels_below", "1"),
  reachBelow("bytes_below", "1 + octet_length(n.name)"),
  inTrash(
    "files",
    "(SELECT count(*) FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 1)",
    1,
  ),
  inTrash("folders", "(SELECT count(*) FROM s)", 0),
  inTrash(
    "file_bytes",
    `(SELECT ifnull(sum(n.size_bytes), 0) FROM s CROSS JOIN nodes n INDEXED BY nodes_size ON n.parent_id = s.id AND n.kind = 1)`,
    "(SELECT size_bytes FROM nodes WHERE id = t.node_id)",
  ),
  inTrash(
    "version_bytes",
    `(SELECT ifnull(sum(v.size_bytes), 0) FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 1
        CROSS JOIN versions v ON v.node_id = n.id)`,
    "(SELECT ifnull(sum(size_bytes), 0) FROM versions WHERE node_id = t.node_id)",
  ),
  `SELECT 'accounts.reserved_bytes' AS counter, ?1 AS "of", a.reserved_bytes AS stored, c.counted FROM accounts a,
     (SELECT ifnull(sum(reserved_bytes), 0) AS counted
      FROM uploads INDEXED BY uploads_reserved WHERE account_id = ?1 AND reserved_bytes > 0) c
   WHERE a.id = ?1 AND a.reserved_bytes <> c.counted`,
  `${IN_TREE} SELECT 'folders.child_folders' AS counter, f.node_id AS "of", f.child_folders AS stored,
     (SELECT count(*) FROM nodes INDEXED BY nodes_name WHERE parent_id = s.id AND kind = 0) AS counted
   FROM s CROSS JOIN folders f ON f.node_id = s.id WHERE stored <> counted LIMIT ${FINDINGS_MAX}`,
  `${IN_TREE} SELECT 'folders.child_files' AS counter, f.node_id AS "of", f.child_files AS stored,
     (SELECT count(*) FROM nodes INDEXED BY nodes_size WHERE parent_id = s.id AND kind = 1) AS counted
   FROM s CROSS JOIN folders f ON f.node_id = s.id WHERE stored <> counted LIMIT ${FINDINGS_MAX}`,
  `${IN_TREE} SELECT 'folders.bytes' AS counter, f.node_id AS "of", f.bytes AS stored,
     (SELECT ifnull(sum(size_bytes), 0) FROM nodes INDEXED BY nodes_size WHERE parent_id = s.id AND kind = 1) +
     (SELECT ifnull(sum(c.tree_bytes), 0) FROM nodes n INDEXED BY nodes_name CROSS JOIN folders c ON c.node_id = n.id
      WHERE n.parent_id = s.id AND n.kind = 0) AS counted
   FROM s CROSS JOIN folders f ON f.node_id = s.id WHERE stored <> counted LIMIT ${FINDINGS_MAX}`,
  // Marked folders are refreshed later.
  `${IN_TREE} SELECT 'folders.tree_bytes' AS counter, f.node_id AS "of", f.tree_bytes AS stored, f.bytes AS counted
   FROM s CROSS JOIN folders f ON f.node_id = s.id WHERE stored <> counted AND NOT EXISTS
     (SELECT 1 FROM changed_folders c WHERE c.account_id = ?1 AND c.node_id = s.id) LIMIT ${FINDINGS_MAX}`,
  countedTypes("files", "count(*)"),
  countedTypes("bytes", "sum(size_bytes)"),
  `SELECT 'tags.count' AS counter, t.id AS "of", t.count AS stored,
     (SELECT count(*) FROM node_tags WHERE tag_id = t.id) AS counted
   FROM tags t WHERE t.account_id = ?1 AND stored <> counted LIMIT ${FINDINGS_MAX}`,
  // Albums count the files that are not in the trash themselves.
  `SELECT 'albums.items' AS counter, a.id AS "of", a.items AS stored,
     (SELECT count(*) FROM album_items i CROSS JOIN nodes n ON n.id = i.node_id AND n.parent_id > 0
      WHERE i.album_id = a.id) AS counted
   FROM albums a WHERE a.account_id = ?1 AND stored <> counted LIMIT ${FINDINGS_MAX}`,
];

const OF_BLOBS = `SELECT 'blobs.refs' AS counter, b.id AS "of", b.refs AS stored,
    (SELECT count(*) FROM nodes WHERE blob_id = b.id) + (SELECT count(*) FROM versions WHERE blob_id = b.id) AS counted
  FROM blobs b WHERE stored <> counted LIMIT ${FINDINGS_MAX}`;

/** Counters of one account: its totals, children of its folders, media types, tags and albums. Empty if all are right. */
export async function recountAccount(reader: Reader, accountId: number): Promise<Drift[]> {
  const results = await reader.read(OF_ACCOUNT.map((sql) => rows<Drift>(sql, [accountId])));
  return results.flat();
}

/** Reference counts of all blobs. Empty if all are right. */
export async function recountBlobs(reader: Reader): Promise<Drift[]> {
  const [found] = await reader.read([rows<Drift>(OF_BLOBS)]);
  return [...found];
}

/** Totals in the rows of the trash: `ofFolder` counts in `s`, the folder and all below it. */
function inTrash(column: string, ofFolder: string, ofFile: string | number): string {
  return `SELECT 'trash.${column}' AS counter, t.node_id AS "of", t.${column} AS stored,
      CASE (SELECT kind FROM nodes WHERE id = t.node_id) WHEN 1 THEN ${ofFile} ELSE
        (WITH RECURSIVE s(id) AS (SELECT t.node_id UNION ALL
           SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0) SELECT ${ofFolder}) END AS counted
    FROM trash t WHERE t.account_id = ?1 AND stored <> counted LIMIT ${FINDINGS_MAX}`;
}

/** Folders whose bound is less than that of a child plus the step to it. A higher bound is correct. */
function reachBelow(column: string, step: string): string {
  return `${IN_TREE} SELECT 'folders.${column}' AS counter, f.node_id AS "of", f.${column} AS stored,
     (SELECT ifnull(max(${step} + c.${column}), 0) FROM nodes n INDEXED BY nodes_name CROSS JOIN folders c ON c.node_id = n.id
      WHERE n.parent_id = s.id AND n.kind = 0) AS counted
   FROM s CROSS JOIN folders f ON f.node_id = s.id WHERE stored < counted LIMIT ${FINDINGS_MAX}`;
}

function countedTypes(column: "files" | "bytes", counting: string): string {
  return `WITH counted AS (SELECT lower(trim(substr(media_type, 1, ifnull(nullif(instr(media_type, ';'), 0) - 1, length(media_type)))))
      AS type, ${counting} AS counted FROM nodes WHERE account_id = ?1 AND kind = 1 GROUP BY 1)
    SELECT 'usage_types.${column}' AS counter, type AS "of", sum(stored) AS stored, sum(counted) AS counted
    FROM (SELECT type, ${column} AS stored, 0 AS counted FROM usage_types WHERE account_id = ?1
          UNION ALL SELECT type, 0, counted FROM counted)
    GROUP BY type HAVING sum(stored) <> sum(counted) LIMIT ${FINDINGS_MAX}`;
}
