import type { Database } from "bun:sqlite";

/** A recorded change. */
export interface AppliedChange {
  readonly fileId: string;
  readonly callId: string;
  /** The journal number of the file after the change. */
  readonly seq: number;
}

/** The statements of local changes. */
export type LocalChangeQueries = ReturnType<typeof localChangeQueries>;

/** Prepares the statements of local changes. Each names the index that it uses. */
export function localChangeQueries(sqlite: Database) {
  return {
    /** Primary key. */
    applied: sqlite.prepare<AppliedChange, [number, Uint8Array]>(
      `SELECT file_id AS fileId, call_id AS callId, seq FROM applied_changes WHERE device_id = ?1 AND fingerprint = ?2`,
    ),
    record: sqlite.prepare<undefined, [number, Uint8Array, string, string, number, number]>(
      `INSERT OR REPLACE INTO applied_changes (device_id, fingerprint, file_id, call_id, seq, applied_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
    ),
    /** Index applied_changes_file. */
    removeOfFile: sqlite.prepare<undefined, [number, string, string]>(
      "DELETE FROM applied_changes WHERE device_id = ?1 AND file_id = ?2 AND call_id <> ?3",
    ),
    /** Index applied_changes_age. */
    sweep: sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM applied_changes WHERE (device_id, fingerprint) IN
         (SELECT device_id, fingerprint FROM applied_changes WHERE applied_at < ?1 ORDER BY applied_at LIMIT ?2)`,
    ),
    /** Indexes tombstones_public and nodes_public: a file may be deleted, or detached with its folder. */
    wasFile: sqlite.prepare<{ found: number }, [number, string]>(
      `SELECT 1 AS found FROM tombstones WHERE public_id = ?2 AND account_id = ?1 AND kind = 1
       UNION ALL SELECT 1 FROM nodes WHERE public_id = ?2 AND account_id = ?1 AND kind = 1 LIMIT 1`,
    ),
    /** Primary key of the journal; for entries that were written during a call. */
    changedByOthers: sqlite.prepare<{ found: number }, [number, number, number, number]>(
      `SELECT 1 AS found FROM journal
       WHERE account_id = ?1 AND seq > ?2 AND node_id = ?3 AND device_id IS NOT ?4 LIMIT 1`,
    ),
    /** Primary key of the journal. */
    anyByOthers: sqlite.prepare<{ found: number }, [number, number, number, number]>(
      "SELECT 1 AS found FROM journal WHERE account_id = ?1 AND seq > ?2 AND seq <= ?3 AND device_id IS NOT ?4 LIMIT 1",
    ),
    /** Primary key. */
    lastCall: sqlite.prepare<{ fingerprint: Uint8Array; headSeq: number; outcomes: string }, [number]>(
      "SELECT fingerprint, head_seq AS headSeq, outcomes FROM last_calls WHERE device_id = ?1",
    ),
    recordCall: sqlite.prepare<undefined, [number, Uint8Array, number, string]>(
      "INSERT OR REPLACE INTO last_calls (device_id, fingerprint, head_seq, outcomes) VALUES (?1, ?2, ?3, ?4)",
    ),
    /** Primary key. */
    device: sqlite.prepare<{ id: number; publicId: string; name: string }, [number]>(
      "SELECT id, public_id AS publicId, name FROM devices WHERE id = ?1",
    ),
  };
}

/**
 * Selects the nodes that others than the device changed within a range of the journal. `?1` is the account, `?2` and
 * `?3` the range, `?4` the device, `?5` a JSON array of node ids. Reads the whole range.
 */
export const CHANGED_BY_OTHERS = `SELECT DISTINCT node_id AS nodeId FROM journal
  WHERE account_id = ?1 AND seq > ?2 AND seq <= ?3 AND device_id IS NOT ?4
    AND node_id IN (SELECT value FROM json_each(?5))`;
