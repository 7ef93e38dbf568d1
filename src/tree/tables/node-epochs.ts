/**
 * Which row ids of nodes may stand for two nodes. After a restore from a snapshot, the ids that were given since the snapshot
 * are given again, to other files and folders. Sync clients recognize a renamed folder by its id, and would take such a
 * folder for one that is on the computer.
 */
import type { Database } from "bun:sqlite";

/** The nodes with a larger id than `afterId`, up to the next epoch, were created in this epoch of the database. */
export interface NodeEpoch {
  readonly afterId: number;
  readonly epoch: string;
}

const KEY = "node_epochs";

/** The epochs of the nodes in a database, oldest first. Nodes before the first were created before any restore. */
export function readNodeEpochs(sqlite: Database): NodeEpoch[] {
  const sql = `SELECT e.value ->> '$.afterId' AS afterId, e.value ->> '$.epoch' AS epoch
    FROM meta CROSS JOIN json_each(meta.value) e WHERE meta.key = ?1 ORDER BY e.key`;
  return sqlite.query<NodeEpoch, [string]>(sql).all(KEY);
}

/** Begins an epoch inside the caller's transaction. @param afterId by default the last id that a node has */
export function beginNodeEpoch(sqlite: Database, epoch: string, afterId = lastNodeId(sqlite)): void {
  // An epoch in which no node was created has no ids to distinguish.
  const earlier = readNodeEpochs(sqlite).filter((known) => known.afterId !== afterId);
  const epochs = [...earlier, { afterId, epoch }];
  sqlite
    .query<void, [string, string]>(
      "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
    )
    .run(KEY, JSON.stringify(epochs));
}

function lastNodeId(sqlite: Database): number {
  return sqlite.query<{ id: number }, []>("SELECT ifnull(max(id), 0) AS id FROM nodes").get()?.id ?? 0;
}
