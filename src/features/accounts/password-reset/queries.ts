/** SQL of the links for new passwords, and of the requests for them. */
import type { Database } from "bun:sqlite";

/** The prepared statements. */
export function resetQueries(sqlite: Database) {
  return {
    /** One row per address, for any number of requests. */
    note: sqlite.prepare<void, [string, number, number]>(
      `INSERT OR IGNORE INTO reset_requests (email_key, asked_at)
       SELECT ?1, ?2 WHERE (SELECT count(*) FROM reset_requests) < ?3`,
    ),
    /** Index reset_requests_age. */
    take: sqlite.prepare<{ emailKey: string }, []>(
      `DELETE FROM reset_requests WHERE email_key = (SELECT email_key FROM reset_requests ORDER BY asked_at LIMIT 1)
       RETURNING email_key AS emailKey`,
    ),
    put: sqlite.prepare<void, [number, Uint8Array, Uint8Array, number, number]>(
      `INSERT OR REPLACE INTO password_resets (user_id, token_hash, basis, created_at, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5)`,
    ),
    /** Index password_resets_token. */
    byToken: sqlite.prepare<{ userId: number; basis: Uint8Array; expiresAt: number }, [Uint8Array]>(
      "SELECT user_id AS userId, basis, expires_at AS expiresAt FROM password_resets WHERE token_hash = ?1",
    ),
    remove: sqlite.prepare<void, [number]>("DELETE FROM password_resets WHERE user_id = ?1"),
    credentials: sqlite.prepare<{ emailKey: string; passwordHash: string }, [number]>(
      "SELECT email_key AS emailKey, password_hash AS passwordHash FROM users WHERE id = ?1",
    ),
    /** A scan: there is at most one row for each account. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM password_resets WHERE user_id IN (SELECT user_id FROM password_resets WHERE expires_at <= ?1 LIMIT ?2)`,
    ),
  };
}
