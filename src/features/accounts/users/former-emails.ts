/**
 * The earlier email addresses of accounts. Programs that were set up with one keep working with their app password. An
 * earlier address finds no account: it only confirms one that is already known.
 */
import type { Database } from "bun:sqlite";

/** The last ones of an account are stored. */
const STORED_MAX = 10;

/** Reads and writes them; by primary key. */
export class FormerEmails {
  readonly #statements;

  constructor(sqlite: Database) {
    this.#statements = {
      find: sqlite.prepare<{ found: 1 }, [number, string]>(
        "SELECT 1 AS found FROM former_emails WHERE user_id = ?1 AND email_key = ?2",
      ),
      add: sqlite.prepare<void, [number, string, number]>(
        "INSERT OR REPLACE INTO former_emails (user_id, email_key, changed_at) VALUES (?1, ?2, ?3)",
      ),
      deleteOldest: sqlite.prepare<void, [number, number]>(
        `DELETE FROM former_emails WHERE user_id = ?1 AND email_key IN (SELECT email_key FROM former_emails
           WHERE user_id = ?1 ORDER BY changed_at DESC, email_key LIMIT -1 OFFSET ?2)`,
      ),
    };
  }

  /** Whether the account had this address. @param emailKey in its compared form */
  has(userId: number, emailKey: string): boolean {
    return this.#statements.find.get(userId, emailKey) !== null;
  }

  /** Records the address that an account had until now, in the caller's transaction. */
  add(userId: number, emailKey: string, nowMs: number): void {
    this.#statements.add.run(userId, emailKey, nowMs);
    this.#statements.deleteOldest.run(userId, STORED_MAX);
  }
}
