/** SQL of the links between accounts and the provider's subjects. */
import type { Database } from "bun:sqlite";

/** The prepared statements. */
export function identityQueries(sqlite: Database) {
  return {
    find: sqlite.prepare<{ userId: number }, [string, string]>(
      "SELECT user_id AS userId FROM oidc_identities WHERE issuer = ?1 AND subject = ?2",
    ),
    /** Index oidc_identities_user. */
    ofUser: sqlite.prepare<{ issuer: string; createdAt: number }, [number]>(
      "SELECT issuer, created_at AS createdAt FROM oidc_identities WHERE user_id = ?1 ORDER BY created_at",
    ),
    add: sqlite.prepare<void, [string, string, number, number]>(
      "INSERT OR IGNORE INTO oidc_identities (issuer, subject, user_id, created_at) VALUES (?1, ?2, ?3, ?4)",
    ),
    /** Index oidc_identities_user. */
    removeOfUser: sqlite.prepare<void, [number]>("DELETE FROM oidc_identities WHERE user_id = ?1"),
  };
}
