import type { Database } from "bun:sqlite";

/** A row of `settings`. */
interface StoredRow {
  readonly key: string;
  readonly value: string;
}

/** All stored settings. */
export function selectStored(sqlite: Database): StoredRow[] {
  return sqlite.query<StoredRow, []>("SELECT key, value FROM settings ORDER BY key").all();
}

/** The prepared statements that change settings. */
export function settingWrites(sqlite: Database) {
  return {
    put: sqlite.prepare<void, [string, string, number, string]>(
      `INSERT INTO settings (key, value, changed_at, changed_by) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
    ),
    remove: sqlite.prepare<void, [string]>("DELETE FROM settings WHERE key = ?1"),
  };
}
