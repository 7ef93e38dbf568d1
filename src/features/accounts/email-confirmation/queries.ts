/** SQL of the links that confirm email addresses. */
import type { Database } from "bun:sqlite";

/** A link as stored. */
export interface LinkRow {
  readonly userId: number;
  /** The address that it was sent to, folded. */
  readonly emailKey: string;
  readonly expiresAt: number;
}

/** The prepared statements. */
export function confirmationQueries(sqlite: Database) {
  return {
    add: sqlite.prepare<void, [Uint8Array, number, string, number, number]>(
      `INSERT INTO email_confirmations (token_hash, user_id, email_key, created_at, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5)`,
    ),
    byToken: sqlite.prepare<LinkRow, [Uint8Array]>(
      `SELECT user_id AS userId, email_key AS emailKey, expires_at AS expiresAt FROM email_confirmations
       WHERE token_hash = ?1`,
    ),
    /** The links of an account, and those to an address, newest first. Indexes email_confirmations_user, …_email. */
    sentFor: sqlite.prepare<{ createdAt: number }, [number, number]>(
      `SELECT created_at AS createdAt FROM email_confirmations WHERE user_id = ?1 AND created_at > ?2
       ORDER BY created_at DESC`,
    ),
    sentTo: sqlite.prepare<{ createdAt: number }, [string, number]>(
      `SELECT created_at AS createdAt FROM email_confirmations WHERE email_key = ?1 AND created_at > ?2
       ORDER BY created_at DESC`,
    ),
    /** Invalidates links. The rows stay, because the limit of mails per hour counts them. */
    end: sqlite.prepare<void, [number, number]>(
      "UPDATE email_confirmations SET expires_at = min(expires_at, ?2) WHERE user_id = ?1",
    ),
    /** Index email_confirmations_age. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM email_confirmations WHERE token_hash IN (SELECT token_hash FROM email_confirmations
         WHERE created_at <= ?1 LIMIT ?2)`,
    ),
  };
}
