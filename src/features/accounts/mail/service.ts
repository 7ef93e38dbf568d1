import type { Transaction } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import { emailKey, parseEmail } from "../users/email.ts";
import { oneLine, pageOf } from "./render-mail.ts";
import type { MailOutbox } from "./outbox.ts";
import type { OutgoingMail } from "./types.ts";

/** Dependencies of {@link MailService}. */
interface MailServiceOptions {
  readonly outbox: MailOutbox;
  readonly clock: Clock;
  readonly log: Log;
  /** The sender's domain; undefined if no mail is sent now. */
  readonly senderDomain: () => string | undefined;
  /** Called after a commit that queued a mail. */
  readonly onQueued: () => void;
}

/** How long delivery of a mail is tried. */
const USEFUL_MS_MAX = 48 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/**
 * Mails of each kind to one address within an hour. Nobody can flood a mailbox through us, and other mails can't hold
 * back a link for a new password.
 */
const PER_RECIPIENT_MAX = 20;
const WAITING_MAX = 10_000;
/** What people cause leaves this part of the queue to other mails, such as links for a new password. */
const CAUSED_WAITING_MAX = WAITING_MAX / 2;
/** Mails that one account causes within a day, such as those to all members of many groups. */
const PER_CAUSER_MAX = 500;
const DAY_MS = 24 * HOUR_MS;
/** How long results of mails are stored. */
const RETENTION_MS = 7 * 24 * HOUR_MS;

/** Queues mails in the transaction that causes them. The dispatcher sends them afterwards. */
export class MailService {
  readonly #options: MailServiceOptions;

  constructor(options: MailServiceOptions) {
    this.#options = options;
  }

  /** Whether this server sends mails at all. */
  get isConfigured(): boolean {
    return this.#options.senderDomain() !== undefined;
  }

  /**
   * Queues a mail in the caller's transaction. It is sent after the commit, at least once, after all earlier mails for
   * the same address.
   * @returns false if it will not be sent: no mail is configured, too many are queued, too many of its kind went to this
   *   address within the hour, or one account caused too many within the day
   * @throws AppError invalid_field if `to` is not an email address
   */
  send(tx: Transaction, mail: OutgoingMail): boolean {
    const { outbox, clock, log, onQueued } = this.#options;
    const senderDomain = this.#options.senderDomain();
    if (senderDomain === undefined) return false;
    const recipient = parseEmail(mail.to, "to");
    const recipientKey = emailKey(recipient);
    const { kind = "other", causedBy } = mail;
    const nowMs = clock.nowMs();
    const waitingMax = causedBy === undefined ? WAITING_MAX : CAUSED_WAITING_MAX;
    if (outbox.countTo(recipientKey, kind, nowMs - HOUR_MS) >= PER_RECIPIENT_MAX || outbox.waiting() >= waitingMax) {
      log.warn("Email not sent; too many emails to this address within one hour, or the queue is full.", { kind });
      return false;
    }
    if (causedBy !== undefined && outbox.countCausedBy(causedBy, nowMs - DAY_MS) >= PER_CAUSER_MAX) {
      log.debug("Email not sent; one account caused too many emails within one day.", { kind });
      return false;
    }
    const row = {
      accountId: mail.accountId ?? null,
      causedBy: causedBy ?? null,
      kind,
      recipient,
      recipientKey,
      messageId: `${newSecretToken(128)}@${senderDomain}`,
      subject: oneLine(mail.subject),
      text: mail.text,
      html: mail.html ?? pageOf(mail.text),
      expiresAt: nowMs + Math.min(mail.usefulMs ?? USEFUL_MS_MAX, USEFUL_MS_MAX),
    };
    outbox.add(row, nowMs);
    tx.afterCommit(onQueued);
    return true;
  }

  /** How many mails of a kind were queued for an account within so many milliseconds up to now. */
  countWithin(accountId: number, kind: NonNullable<OutgoingMail["kind"]>, durationMs: number): number {
    return this.#options.outbox.countFor(accountId, kind, this.#options.clock.nowMs() - durationMs);
  }

  /** Drops queued mails of an account, of one kind or all, in the caller's transaction. */
  drop(_tx: Transaction, accountId: number, kind?: NonNullable<OutgoingMail["kind"]>): void {
    this.#options.outbox.drop(accountId, kind);
  }

  /**
   * Drops mails that could not be sent in time, and deletes the records of mails that were finished a week ago. A
   * transaction.
   * @returns rows
   */
  sweep(_tx: Transaction, limit: number): number {
    const nowMs = this.#options.clock.nowMs();
    return this.#options.outbox.expire(nowMs) + this.#options.outbox.sweep(nowMs - RETENTION_MS, limit);
  }
}
