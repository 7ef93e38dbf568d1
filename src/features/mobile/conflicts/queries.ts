import type { Database } from "bun:sqlite";
import type { LocalChange } from "../mass-change/types.ts";
import type { Conflict } from "./types.ts";

/** A row of {@link conflictQueries}. */
export type ConflictRow = Omit<Conflict, "change" | "awaitsContent"> & {
  readonly change: string;
  readonly awaitsContent: number;
};

const CONFLICT = `SELECT c.id, c.public_id AS publicId, c.account_id AS accountId, c.device_id AS deviceId,
  d.public_id AS devicePublicId, c.type, c.file_id AS fileId, c.remote_file_id AS remoteFileId, c.change,
  c.detected_at AS detectedAtMs, c.awaits_content AS awaitsContent, c.resolution, c.resolved_at AS resolvedAtMs,
  c.outcome_file_id AS outcomeFileId
  FROM conflicts c JOIN devices d ON d.id = c.device_id`;

/** The statements about conflicts. Each names the index that it uses. */
export function conflictQueries(sqlite: Database) {
  return {
    /** Index conflicts_public. */
    byPublicId: sqlite.prepare<ConflictRow, [number, string]>(
      `${CONFLICT} WHERE c.device_id = ?1 AND c.public_id = ?2`,
    ),
    /** Index conflicts_change. */
    byChange: sqlite.prepare<ConflictRow, [number, Uint8Array]>(
      `${CONFLICT} WHERE c.device_id = ?1 AND c.fingerprint = ?2`,
    ),
    /** Index conflicts_open. */
    open: sqlite.prepare<ConflictRow, [number, number]>(
      `${CONFLICT} WHERE c.device_id = ?1 AND c.resolved_at IS NULL ORDER BY c.id LIMIT ?2`,
    ),
    /** Index conflicts_awaiting. */
    awaiting: sqlite.prepare<ConflictRow, [number]>(`${CONFLICT} WHERE c.device_id = ?1 AND c.awaits_content = 1`),
    /** Index conflicts_open. */
    openOfFile: sqlite.prepare<ConflictRow, [number, string]>(
      `${CONFLICT} WHERE c.device_id = ?1 AND c.file_id = ?2 AND c.resolved_at IS NULL`,
    ),
    insert: sqlite.prepare<undefined, [string, number, number, Uint8Array, string, string, string, string, number]>(
      `INSERT INTO conflicts (public_id, account_id, device_id, fingerprint, type, file_id, remote_file_id, change,
         detected_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    ),
    supersede: sqlite.prepare<undefined, [number, Uint8Array, string, string, string, string]>(
      `UPDATE conflicts SET fingerprint = ?2, type = ?3, file_id = ?4, remote_file_id = ?5, change = ?6,
         awaits_content = 0 WHERE id = ?1`,
    ),
    await: sqlite.prepare<undefined, [number, string]>(
      "UPDATE conflicts SET awaits_content = 1, change = ?2 WHERE id = ?1",
    ),
    resolve: sqlite.prepare<undefined, [number, string, number, string | null]>(
      `UPDATE conflicts SET resolution = ?2, resolved_at = ?3, outcome_file_id = ?4, awaits_content = 0
       WHERE id = ?1 AND resolved_at IS NULL`,
    ),
    /**
     * Detaches the conflict from its change: if the change is sent again, it is decided as if there were no conflict.
     */
    detach: sqlite.prepare<undefined, [number]>("UPDATE conflicts SET fingerprint = randomblob(32) WHERE id = ?1"),
    setDetectedAt: sqlite.prepare<undefined, [number, number]>("UPDATE conflicts SET detected_at = ?2 WHERE id = ?1"),
    remove: sqlite.prepare<undefined, [number]>("DELETE FROM conflicts WHERE id = ?1"),
    /** Index conflicts_open. */
    dropOpen: sqlite.prepare<undefined, [number]>("DELETE FROM conflicts WHERE device_id = ?1 AND resolved_at IS NULL"),
    /** Index conflicts_open: whether a device has more of them than this. */
    hasMoreOpen: sqlite.prepare<{ found: number }, [number, number]>(
      "SELECT 1 AS found FROM conflicts WHERE device_id = ?1 AND resolved_at IS NULL LIMIT 1 OFFSET ?2",
    ),
    /** Index conflicts_resolved. */
    sweep: sqlite.prepare<undefined, [number, number]>(
      `DELETE FROM conflicts WHERE id IN
         (SELECT id FROM conflicts WHERE resolved_at < ?1 ORDER BY resolved_at LIMIT ?2)`,
    ),
    /** Primary key. */
    device: sqlite.prepare<{ publicId: string }, [number]>("SELECT public_id AS publicId FROM devices WHERE id = ?1"),
  };
}

/** Converts a row. */
export function toConflict(row: ConflictRow): Conflict {
  return {
    ...row,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `insert` or `supersede`
    change: JSON.parse(row.change) as LocalChange,
    awaitsContent: row.awaitsContent === 1,
  };
}
