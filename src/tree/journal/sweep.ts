import type { Database } from "bun:sqlite";

/** Journal rows that one step reads. */
const ROWS_PER_STEP = 1_000;

/**
 * Deletes journal rows that no reader may ask for any more: tombstones older than the time, and rows superseded by later
 * changes. One bounded step of an account, inside a transaction.
 * @returns where to continue, 0 at the end
 */
export function sweepJournal(sqlite: Database, accountId: number, olderThanMs: number, afterSeq: number): number {
  const until = sqlite
    .query<{ seq: number | null }, [number, number, number, number]>(
      `SELECT max(seq) AS seq FROM (SELECT seq, at FROM journal WHERE account_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?4)
       WHERE at < ?3`,
    )
    .get(accountId, afterSeq, olderThanMs, ROWS_PER_STEP)?.seq;
  if (until === null || until === undefined) return 0;
  const removed = sqlite
    .query<{ seq: number }, [number, number, number]>(
      "DELETE FROM tombstones WHERE account_id = ?1 AND seq > ?2 AND seq <= ?3 RETURNING seq",
    )
    .all(accountId, afterSeq, until);
  const floor = removed.reduce((highest, { seq }) => Math.max(highest, seq), 0);
  if (floor > 0) sqlite.run("UPDATE accounts SET floor_seq = max(floor_seq, ?2) WHERE id = ?1", [accountId, floor]);
  sqlite.run(
    `DELETE FROM journal WHERE account_id = ?1 AND seq IN (
       SELECT j.seq FROM journal j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN folders f ON f.node_id = j.node_id
       WHERE j.account_id = ?1 AND j.seq > ?2 AND j.seq <= ?3 AND (n.id IS NULL OR n.seq <> j.seq)
         AND (f.node_id IS NULL OR f.path_seq <> j.seq))`,
    [accountId, afterSeq, until],
  );
  return until;
}
