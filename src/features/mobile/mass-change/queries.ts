import type { Database } from "bun:sqlite";
import type { Hold } from "./types.ts";

const HOLD = `SELECT h.id, h.public_id AS publicId, h.account_id AS accountId, h.device_id AS deviceId,
  d.public_id AS devicePublicId, h.changes, h.created_at AS createdAtMs, h.expires_at AS expiresAtMs, h.decision
  FROM holds h JOIN devices d ON d.id = h.device_id`;

/** The statements of the mass-change guard. Each names the index that it uses. */
export function guardQueries(sqlite: Database) {
  return {
    /** Primary key of change_counts: at most one row a second. */
    countsSince: sqlite.prepare<{ deletions: number; replacements: number }, [number, number]>(
      `SELECT ifnull(sum(deletions), 0) AS deletions, ifnull(sum(replacements), 0) AS replacements
       FROM change_counts WHERE device_id = ?1 AND at > ?2`,
    ),
    count: sqlite.prepare<undefined, [number, number, number, number]>(
      `INSERT INTO change_counts (device_id, at, deletions, replacements) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET deletions = deletions + excluded.deletions,
         replacements = replacements + excluded.replacements`,
    ),
    /** Index held_changes_change. */
    holdOfChange: sqlite.prepare<Hold, [number, Uint8Array]>(
      `${HOLD} JOIN held_changes c ON c.hold_id = h.id WHERE c.device_id = ?1 AND c.fingerprint = ?2`,
    ),
    /** Index holds_device. */
    openHold: sqlite.prepare<Hold, [number, number]>(
      `${HOLD} WHERE h.device_id = ?1 AND h.decided_at IS NULL AND h.expires_at > ?2 ORDER BY h.id LIMIT 1`,
    ),
    /** Index holds_device. */
    acceptedSince: sqlite.prepare<{ id: number }, [number, number]>(
      "SELECT id FROM holds WHERE device_id = ?1 AND decided_at > ?2 AND decision = 'accepted' LIMIT 1",
    ),
    insertHold: sqlite.prepare<{ id: number }, [string, number, number, number, number]>(
      `INSERT INTO holds (public_id, account_id, device_id, changes, created_at, expires_at)
       VALUES (?1, ?2, ?3, 0, ?4, ?5) RETURNING id`,
    ),
    insertChange: sqlite.prepare<undefined, [number, number, Uint8Array, string]>(
      "INSERT OR REPLACE INTO held_changes (hold_id, device_id, fingerprint, change) VALUES (?1, ?2, ?3, ?4)",
    ),
    countChange: sqlite.prepare<undefined, [number]>("UPDATE holds SET changes = changes + 1 WHERE id = ?1"),
    /** Primary key. */
    holdById: sqlite.prepare<Hold, [number]>(`${HOLD} WHERE h.id = ?1`),
    holdByPublicId: holdByPublicId(sqlite),
  };
}

/** The statements of the service of holds. Each names the index that it uses. */
export function holdQueries(sqlite: Database) {
  return {
    /** Index holds_account. */
    openHolds: sqlite.prepare<Hold, [number, number, number]>(
      `${HOLD} WHERE h.account_id = ?1 AND h.decided_at IS NULL AND h.expires_at > ?2 ORDER BY h.id LIMIT ?3`,
    ),
    holdByPublicId: holdByPublicId(sqlite),
    decide: sqlite.prepare<undefined, [number, string, number]>(
      "UPDATE holds SET decision = ?2, decided_at = ?3 WHERE id = ?1",
    ),
    /** Index holds_device. */
    expireOpen: sqlite.prepare<undefined, [number, number]>(
      "UPDATE holds SET expires_at = ?2 WHERE device_id = ?1 AND decided_at IS NULL",
    ),
    /** Index held_changes_hold. */
    changesOfHold: sqlite.prepare<{ id: number; change: string }, [number, number]>(
      "SELECT id, change FROM held_changes WHERE hold_id = ?1 ORDER BY id LIMIT ?2",
    ),
    removeChange: sqlite.prepare<undefined, [number]>("DELETE FROM held_changes WHERE id = ?1"),
    /** Accepted holds that a shutdown interrupted. There are few holds, so none of the indexes is needed. */
    unfinished: sqlite.prepare<Hold, []>(
      `${HOLD} WHERE h.decision = 'accepted' AND EXISTS (SELECT 1 FROM held_changes c WHERE c.hold_id = h.id) LIMIT 10`,
    ),
    /** Index change_counts_age. */
    sweepCounts: sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM change_counts WHERE (device_id, at) IN
         (SELECT device_id, at FROM change_counts WHERE at < ?1 ORDER BY at LIMIT ?2)`,
    ),
    /** Index holds_expiry. */
    outdated: sqlite.prepare<{ id: number }, [number, number]>(
      `SELECT id FROM holds WHERE expires_at < ?2 OR (expires_at <= ?1 AND decided_at IS NULL) LIMIT 10`,
    ),
    /** Index held_changes_hold. */
    removeChanges: sqlite.prepare<undefined, [number, number]>(
      "DELETE FROM held_changes WHERE id IN (SELECT id FROM held_changes WHERE hold_id = ?1 ORDER BY id LIMIT ?2)",
    ),
    removeHold: sqlite.prepare<undefined, [number]>("DELETE FROM holds WHERE id = ?1"),
    /** Index devices_public. */
    device: sqlite.prepare<{ id: number }, [number, string]>(
      "SELECT id FROM devices WHERE user_id = ?1 AND public_id = ?2",
    ),
  };
}

/** Index holds_public. */
function holdByPublicId(sqlite: Database) {
  return sqlite.prepare<Hold, [number, string]>(`${HOLD} WHERE h.account_id = ?1 AND h.public_id = ?2`);
}
