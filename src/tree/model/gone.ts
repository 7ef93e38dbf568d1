import { FOLDER } from "./rows.ts";

/**
 * SQL that names, as `gone(id)`, the folders of an account out of which no way leads to its root: cut off and still being
 * taken apart, or in the trash; and all below them. What lies in them has rows that look as if it were there. Takes the
 * account's id twice.
 */
export const WITH_GONE_FOLDERS = `WITH RECURSIVE gone(id) AS (
  SELECT id FROM nodes INDEXED BY nodes_name
    WHERE parent_id IS NULL AND kind = ${FOLDER} AND name <> '/' AND account_id = ?
  UNION ALL SELECT node_id FROM trash WHERE account_id = ? AND folders > 0
  UNION ALL SELECT c.id FROM gone JOIN nodes c INDEXED BY nodes_name ON c.parent_id = gone.id AND c.kind = ${FOLDER})`;
