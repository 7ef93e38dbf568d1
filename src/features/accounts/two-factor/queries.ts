import type { Database } from "bun:sqlite";

/** A row of `two_factors`. */
export interface TwoFactorRow {
  readonly sealedSecret: Uint8Array;
  readonly createdAtMs: number;
  readonly enabledAtMs: number | null;
  readonly lastStep: number;
}

/** The prepared statements about second factors. Each uses the primary key. */
export function twoFactorQueries(sqlite: Database) {
  return {
    find: sqlite.prepare<TwoFactorRow, [number]>(
      `SELECT sealed_secret AS sealedSecret, created_at AS createdAtMs, enabled_at AS enabledAtMs, last_step AS lastStep
       FROM two_factors WHERE user_id = ?1`,
    ),
    begin: sqlite.prepare<void, [number, Uint8Array, number]>(
      "INSERT OR REPLACE INTO two_factors (user_id, sealed_secret, created_at) VALUES (?1, ?2, ?3)",
    ),
    enable: sqlite.prepare<void, [number, number, number]>(
      "UPDATE two_factors SET enabled_at = ?2, last_step = ?3 WHERE user_id = ?1",
    ),
    useStep: sqlite.prepare<void, [number, number]>("UPDATE two_factors SET last_step = ?2 WHERE user_id = ?1"),
    remove: sqlite.prepare<void, [number]>("DELETE FROM two_factors WHERE user_id = ?1"),
    codes: sqlite.prepare<{ codeHash: Uint8Array }, [number]>(
      "SELECT code_hash AS codeHash FROM recovery_codes WHERE user_id = ?1",
    ),
    addCode: sqlite.prepare<void, [number, Uint8Array]>(
      "INSERT INTO recovery_codes (user_id, code_hash) VALUES (?1, ?2)",
    ),
    removeCode: sqlite.prepare<void, [number, Uint8Array]>(
      "DELETE FROM recovery_codes WHERE user_id = ?1 AND code_hash = ?2",
    ),
    removeCodes: sqlite.prepare<void, [number]>("DELETE FROM recovery_codes WHERE user_id = ?1"),
  };
}
