import { FOLDER } from "./rows.ts";

/**
 * SQL that defines `gone(id)`: the folders of an account that cannot be reached from its root. They are cut off and
 * still being deleted row by row, or in the trash, or below such a folder. The rows in them look like those of existing
 * nodes. Takes the account's id twice.
 */
export const WITH_GONE_FOLDERS = `WITH RECURSIVE gone(id) AS (
  SELECT id FROM nodes INDEXED BY nodes_name
    WHERE parent_id IS NULL AND kind = ${FOLDER} AND name <> '/' AND account_id = ?
  UNION ALL SELECT node_id FROM trash WHERE account_id = ? AND folders > 0
  UNION ALL SELECT c.id FROM gone JOIN nodes c INDEXED BY nodes_name ON c.parent_id = gone.id AND c.kind = ${FOLDER})`;
