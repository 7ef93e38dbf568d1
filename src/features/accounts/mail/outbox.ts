/** SQL of the queued mails. */
import type { Database } from "bun:sqlite";
import type { MailOutcome, StoredMail } from "./types.ts";

/** A mail to be queued. */
interface MailRow {
  readonly accountId: number | null;
  readonly causedBy: number | null;
  readonly kind: string;
  readonly recipient: string;
  readonly recipientKey: string;
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly expiresAt: number;
}

/** Longest wait for a next attempt. A mail with a longer wait was queued while the clock was ahead. */
const WAIT_MS_MAX = 2 * 60 * 60_000;

const COLUMNS = `id, kind, recipient, recipient_key AS recipientKey, message_id AS messageId, subject, text, html, attempts,
  created_at AS createdAt, expires_at AS expiresAt`;

/** The table `mails`. Call everything that writes inside a transaction. */
export class MailOutbox {
  readonly #queries: ReturnType<typeof queries>;

  constructor(sqlite: Database) {
    this.#queries = queries(sqlite);
  }

  /** Queues a mail, after those for the same recipient. */
  add(row: MailRow, nowMs: number): void {
    this.#queries.insert.run(
      row.accountId,
      row.kind,
      row.recipient,
      row.recipientKey,
      row.messageId,
      row.subject,
      row.text,
      row.html,
      nowMs,
      row.expiresAt,
      row.causedBy,
    );
  }

  /** How many mails are queued. */
  waiting(): number {
    return this.#queries.waiting.get()?.count ?? 0;
  }

  /** How many mails of a kind were queued for a recipient since then. */
  countTo(recipientKey: string, kind: string, sinceMs: number): number {
    return this.#queries.countTo.get(recipientKey, kind, sinceMs)?.count ?? 0;
  }

  /** How many mails of a kind were queued for an account since then. */
  countFor(accountId: number, kind: string, sinceMs: number): number {
    return this.#queries.countFor.get(accountId, kind, sinceMs)?.count ?? 0;
  }

  /** How many mails an account has caused since then. */
  countCausedBy(causedBy: number, sinceMs: number): number {
    return this.#queries.countCausedBy.get(causedBy, sinceMs)?.count ?? 0;
  }

  /** The first due mail of each recipient, longest due first. */
  due(nowMs: number, limit: number): StoredMail[] {
    return this.#queries.due.all(nowMs, nowMs + WAIT_MS_MAX, limit);
  }

  /** When the next mail is due; undefined if none is queued. */
  nextDueMs(): number | undefined {
    return this.#queries.nextDue.get()?.dueAt ?? undefined;
  }

  /** Records the outcome of an attempt. The text of a finished mail is deleted. */
  recordOutcome(mail: StoredMail, outcome: MailOutcome, nextMs: number, nowMs: number): void {
    if (outcome.state === "sent") this.#queries.finish.run(mail.id, "sent", nowMs, null);
    else if (outcome.state === "refused") this.#queries.finish.run(mail.id, "refused", nowMs, outcome.why);
    else {
      this.#queries.noteAttempt.run(mail.id, outcome.why);
      // All later mails for the same recipient wait with it.
      this.#queries.putOff.run(mail.recipientKey, nextMs);
    }
  }

  /** Drops expired mails. @returns how many */
  expire(nowMs: number): number {
    return this.#queries.expire.run(nowMs).changes;
  }

  /** Drops the queued mails of an account, of one kind or all, so that none of them is sent. */
  drop(accountId: number, kind?: string): void {
    this.#queries.drop.run(accountId, kind ?? null);
  }

  /** Deletes at most `limit` records of mails that were finished before then. @returns how many */
  sweep(olderThanMs: number, limit: number): number {
    return this.#queries.sweep.run(olderThanMs, limit).changes;
  }
}

function queries(sqlite: Database) {
  return {
    insert: sqlite.prepare<
      void,
      [number | null, string, string, string, string, string, string, string, number, number, number | null]
    >(
      `INSERT INTO mails (account_id, kind, recipient, recipient_key, message_id, subject, text, html, state, created_at,
         due_at, expires_at, caused_by)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'waiting', ?9,
         max(?9, coalesce((SELECT max(due_at) FROM mails WHERE recipient_key = ?4 AND finished_at IS NULL), 0)), ?10, ?11)`,
    ),
    /** Index mails_due; bounded by the number that may wait. */
    waiting: sqlite.prepare<{ count: number }, []>("SELECT count(*) AS count FROM mails WHERE finished_at IS NULL"),
    /** Index mails_recipient. */
    countTo: sqlite.prepare<{ count: number }, [string, string, number]>(
      "SELECT count(*) AS count FROM mails WHERE recipient_key = ?1 AND kind = ?2 AND created_at > ?3",
    ),
    /** Index mails_account. */
    countFor: sqlite.prepare<{ count: number }, [number, string, number]>(
      "SELECT count(*) AS count FROM mails WHERE account_id = ?1 AND kind = ?2 AND created_at > ?3",
    ),
    /** Index mails_causer. */
    countCausedBy: sqlite.prepare<{ count: number }, [number, number]>(
      "SELECT count(*) AS count FROM mails WHERE caused_by = ?1 AND created_at > ?2",
    ),
    /** Indexes mails_due, mails_waiting. */
    due: sqlite.prepare<StoredMail, [number, number, number]>(
      `SELECT ${COLUMNS} FROM mails m WHERE finished_at IS NULL AND (due_at <= ?1 OR due_at > ?2)
         AND NOT EXISTS (SELECT 1 FROM mails e
           WHERE e.recipient_key = m.recipient_key AND e.finished_at IS NULL AND e.id < m.id)
       ORDER BY due_at, id LIMIT ?3`,
    ),
    nextDue: sqlite.prepare<{ dueAt: number | null }, []>(
      "SELECT min(due_at) AS dueAt FROM mails WHERE finished_at IS NULL",
    ),
    finish: sqlite.prepare<void, [number, string, number, string | null]>(
      `UPDATE mails SET state = ?2, finished_at = ?3, last_error = ?4, attempts = attempts + 1, text = '', html = ''
       WHERE id = ?1 AND finished_at IS NULL`,
    ),
    noteAttempt: sqlite.prepare<void, [number, string]>(
      "UPDATE mails SET attempts = attempts + 1, last_error = ?2 WHERE id = ?1 AND finished_at IS NULL",
    ),
    putOff: sqlite.prepare<void, [string, number]>(
      "UPDATE mails SET due_at = ?2 WHERE recipient_key = ?1 AND finished_at IS NULL",
    ),
    /** Index mails_expiry. */
    expire: sqlite.prepare<void, [number]>(
      `UPDATE mails SET state = 'expired', finished_at = ?1, text = '', html = ''
       WHERE finished_at IS NULL AND expires_at <= ?1`,
    ),
    /** Index mails_account. */
    drop: sqlite.prepare<void, [number, string | null]>(
      `DELETE FROM mails WHERE account_id = ?1 AND finished_at IS NULL AND (?2 IS NULL OR kind = ?2)`,
    ),
    /** Index mails_done. */
    sweep: sqlite.prepare<void, [number, number]>(
      `DELETE FROM mails WHERE id IN (SELECT id FROM mails WHERE finished_at IS NOT NULL AND finished_at < ?1 LIMIT ?2)`,
    ),
  };
}
