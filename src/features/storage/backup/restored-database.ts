/** Changes a restored database before a server uses it. */
import type { Database } from "bun:sqlite";
import type { MailKind } from "../../accounts/mail/types.ts";

/** Messages in an older snapshot were probably sent since, or are outdated. */
const STALE_MS = 60 * 60 * 1000;
const DROP_REASON = "Dropped: the server was restored from a snapshot.";

/** The number of dropped messages by kind. */
export interface DroppedMessages {
  readonly mails: number;
  readonly pushes: number;
  readonly webhooks: number;
}

/** What {@link signOutAll} ended. */
export interface EndedAccess {
  /** Sessions, refresh tokens, API keys and app passwords. */
  readonly logins: number;
  /** Links that work once. */
  readonly links: number;
}

/** Whether a snapshot is too old for its queued messages to be sent. */
export function isStale(takenAtMs: number, nowMs: number): boolean {
  return nowMs - takenAtMs > STALE_MS;
}

/**
 * Drops queued messages, because the original server may have sent them after the snapshot. Must run after the
 * migrations.
 */
export function dropQueuedMessages(sqlite: Database, nowMs: number): DroppedMessages {
  const run = (sql: string, ...values: (string | number)[]) => sqlite.query(sql).run(...values).changes;
  return sqlite
    .transaction(() => {
      const given = {
        mails: dropMails(sqlite, nowMs),
        pushes: run(
          "UPDATE push_deliveries SET state = 'dropped', finished_at = ?1, last_error = ?2 WHERE finished_at IS NULL",
          nowMs,
          DROP_REASON,
        ),
        webhooks: run(
          `UPDATE webhook_deliveries SET state = 'failed', finished_at = ?1, last_error = ?2, is_head = 0
           WHERE finished_at IS NULL`,
          nowMs,
          DROP_REASON,
        ),
      };
      run("UPDATE push_targets SET next_at = NULL WHERE next_at IS NOT NULL");
      run("UPDATE webhooks SET waiting = 0 WHERE waiting > 0");
      // Jobs would make messages of these.
      for (const queue of ["group_notices", "reset_requests"]) run(`DELETE FROM ${queue}`);
      return given;
    })
    .immediate();
}

/** @param kinds only these kinds; undefined for all @returns how many */
function dropMails(sqlite: Database, nowMs: number, kinds?: readonly MailKind[]): number {
  return sqlite
    .query(
      `UPDATE mails SET state = 'expired', finished_at = ?1, last_error = ?2, text = '', html = ''
       WHERE finished_at IS NULL AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)))`,
    )
    .run(nowMs, DROP_REASON, kinds === undefined ? null : JSON.stringify(kinds)).changes;
}

/**
 * Ends everything with which somebody can sign in or act without a password: the snapshot contains some that ended
 * since. Passwords, second factors and passkeys of accounts stay, and so do links to files.
 */
export function signOutAll(sqlite: Database, nowMs: number): EndedAccess {
  return sqlite.transaction(() => ({ logins: endLogins(sqlite, nowMs), links: endLinks(sqlite, nowMs) })).immediate();
}

/** @returns the number of ended sessions, refresh tokens, API keys and app passwords */
function endLogins(sqlite: Database, nowMs: number): number {
  let ended = sqlite.query("DELETE FROM refresh_tokens").run().changes;
  for (const table of ["api_keys", "app_passwords"])
    ended += sqlite.query(`UPDATE ${table} SET revoked_at = ?1 WHERE revoked_at IS NULL`).run(nowMs).changes;
  // A program that waits for its app password would get it afterwards.
  sqlite.run("DELETE FROM login_flows");
  sqlite.query("UPDATE devices SET removed_at = ?1 WHERE is_app = 1 AND removed_at IS NULL").run(nowMs);
  // A trigger deletes the push subscriptions of browsers with their sessions.
  return ended + sqlite.query("DELETE FROM sessions").run().changes;
}

/**
 * Ends links that work once: for a first or a new password, to confirm an address, invitations, and the setup link.
 * Rows that lists and limits need stay.
 * @returns how many
 */
function endLinks(sqlite: Database, nowMs: number): number {
  const end = (table: string, where = "") =>
    sqlite.query(`UPDATE ${table} SET expires_at = ?1 WHERE expires_at > ?1${where}`).run(nowMs).changes;
  const ended =
    end("welcomes") + end("password_resets") + end("email_confirmations") + end("invites", " AND used_at IS NULL");
  // Emails with such links are not sent, and no new links are made for requests before the snapshot.
  dropMails(sqlite, nowMs, ["invite", "password-reset", "email-confirmation"]);
  sqlite.run("DELETE FROM reset_requests");
  return ended;
}

/**
 * Deletes the rows of blobs in the bucket, for a restored server that has all blobs on its disk. The bucket belongs to
 * the original, and two servers that delete objects in one bucket would destroy each other's blobs.
 */
export function forgetBucket(sqlite: Database): void {
  sqlite.run("DELETE FROM remote_blobs");
}
