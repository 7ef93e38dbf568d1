/** Changes to a restored database before a server uses it. */
import type { Database } from "bun:sqlite";

/** Queued messages in an older snapshot were sent since, or are of no use any more. */
const STALE_MS = 60 * 60 * 1000;

/** Numbers of dropped messages. */
export interface GivenUp {
  readonly mails: number;
  readonly pushes: number;
  readonly webhooks: number;
}

/** Whether the queued messages of a snapshot must not be sent any more. */
export function isStale(takenAtMs: number, nowMs: number): boolean {
  return nowMs - takenAtMs > STALE_MS;
}

/**
 * Drops queued messages: a server that continues from a snapshot would send messages again that were sent since. Call after
 * the migrations.
 */
export function giveUpOutboxes(sqlite: Database, nowMs: number): GivenUp {
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
      return given;
    })
    .immediate();
}

/** Ends all sessions and refresh tokens: what was signed out since the snapshot comes back with it otherwise. @returns how many */
export function signOutAll(sqlite: Database): number {
  return sqlite
    .transaction(() => {
      const { changes } = sqlite.query("DELETE FROM refresh_tokens").run();
      return changes + sqlite.query("DELETE FROM sessions").run().changes;
    })
    .immediate();
}

/**
 * Forgets that contents lie in a bucket, for a restored server that has them all on its disk: the bucket is that of the
 * original, and two that collect in one would take contents away from each other.
 */
export function forgetBucket(sqlite: Database): void {
  sqlite.run("DELETE FROM remote_blobs");
}
