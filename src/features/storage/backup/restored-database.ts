/** Changes a restored database before a server uses it. */
import type { Database } from "bun:sqlite";

/** Messages in an older snapshot were probably sent since, or are outdated. */
const STALE_MS = 60 * 60 * 1000;

/** The number of dropped messages by kind. */
export interface DroppedMessages {
  readonly mails: number;
  readonly pushes: number;
  readonly webhooks: number;
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
  const reason = "Dropped: the server was restored from a snapshot.";
  const run = (sql: string, ...values: (string | number)[]) => sqlite.query(sql).run(...values).changes;
  return sqlite
    .transaction(() => {
      const given = {
        mails: run(
          `UPDATE mails SET state = 'expired', finished_at = ?1, last_error = ?2, text = '', html = ''
           WHERE finished_at IS NULL`,
          nowMs,
          reason,
        ),
        pushes: run(
          "UPDATE push_deliveries SET state = 'dropped', finished_at = ?1, last_error = ?2 WHERE finished_at IS NULL",
          nowMs,
          reason,
        ),
        webhooks: run(
          `UPDATE webhook_deliveries SET state = 'failed', finished_at = ?1, last_error = ?2, is_head = 0
           WHERE finished_at IS NULL`,
          nowMs,
          reason,
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

/**
 * Ends all sessions, refresh tokens and app passwords, because the snapshot contains some that were ended since.
 * @returns their number
 */
export function signOutAll(sqlite: Database, nowMs: number): number {
  return sqlite
    .transaction(() => {
      const tokens = sqlite.query("DELETE FROM refresh_tokens").run().changes;
      const passwords = sqlite
        .query("UPDATE app_passwords SET revoked_at = ?1 WHERE revoked_at IS NULL")
        .run(nowMs).changes;
      // A program that waits for its app password would get it afterwards.
      sqlite.query("DELETE FROM login_flows").run();
      sqlite.query("UPDATE devices SET removed_at = ?1 WHERE is_app = 1 AND removed_at IS NULL").run(nowMs);
      return tokens + passwords + sqlite.query("DELETE FROM sessions").run().changes;
    })
    .immediate();
}

/**
 * Deletes the rows of blobs in the bucket, for a restored server that has all blobs on its disk. The bucket belongs to
 * the original, and two servers that delete objects in one bucket would destroy each other's blobs.
 */
export function forgetBucket(sqlite: Database): void {
  sqlite.run("DELETE FROM remote_blobs");
}
