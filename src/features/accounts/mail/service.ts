import type { Transaction } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newSecretToken } from "../../../lib/id.ts";
import type { Log } from "../../../lib/log.ts";
import { emailKey, parseEmail } from "../users/email.ts";
import { oneLine, pageOf } from "./render-mail.ts";
import type { MailOutbox } from "./outbox.ts";
import type { OutgoingMail } from "./types.ts";

/** Dependencies of {@link MailService}. */
export interface MailServiceOptions {
  readonly outbox: MailOutbox;
  readonly clock: Clock;
  readonly log: Log;
  /** The sender's domain; undefined if no mail is sent. */
  readonly senderDomain: string | undefined;
  /** Called after a commit that put a mail down. */
  readonly onQueued: () => void;
}

/** For so long a mail is tried. */
const USEFUL_MS_MAX = 48 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;
/**
 * To one address within an hour, of each kind: nobody's mailbox is filled through us, and nobody keeps another one's
 * link for a new password away by causing other mails.
 */
const PER_RECIPIENT_MAX = 20;
const WAITING_MAX = 10_000;
/** How long results of mails are stored. */
const RETENTION_MS = 7 * 24 * HOUR_MS;

/** Mails: put down within the transaction that causes them, sent afterwards by the dispatcher. */
export class MailService {
  readonly #options: MailServiceOptions;

  constructor(options: MailServiceOptions) {
    this.#options = options;
  }

  /** Whether this server sends mails at all. */
  get isConfigured(): boolean {
    return this.#options.senderDomain !== undefined;
  }

  /**
   * Puts a mail down, within the caller's transaction: it leaves after the commit, at least once, after all that was
   * put down earlier for the same address.
   * @returns false where it will not be sent: no mail is configured, too many wait, or too many of its kind went to
   *   this address within the hour
   * @throws AppError invalid_field where `to` is no email address
   */
  send(tx: Transaction, mail: OutgoingMail): boolean {
    const { outbox, clock, log, senderDomain, onQueued } = this.#options;
    if (senderDomain === undefined) return false;
    const recipient = parseEmail(mail.to, "to");
    const recipientKey = emailKey(recipient);
    const { kind = "other" } = mail;
    const nowMs = clock.nowMs();
    if (outbox.countTo(recipientKey, kind, nowMs - HOUR_MS) >= PER_RECIPIENT_MAX || outbox.waiting() >= WAITING_MAX) {
      log.warn("Email not sent; too many emails to this address within one hour, or the queue is full.", { kind });
      return false;
    }
    const row = {
      accountId: mail.accountId ?? null,
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

  /** How many mails of a kind an account was sent within so many milliseconds up to now. */
  countWithin(accountId: number, kind: NonNullable<OutgoingMail["kind"]>, durationMs: number): number {
    return this.#options.outbox.countFor(accountId, kind, this.#options.clock.nowMs() - durationMs);
  }

  /** Drops queued mails of an account, of one kind or all, in the caller's transaction. */
  drop(_tx: Transaction, accountId: number, kind?: NonNullable<OutgoingMail["kind"]>): void {
    this.#options.outbox.drop(accountId, kind);
  }

  /**
   * Gives up what could not be sent in time, and forgets what became of the mails of a week ago. A transaction.
   * @returns rows
   */
  sweep(_tx: Transaction, limit: number): number {
    const nowMs = this.#options.clock.nowMs();
    return this.#options.outbox.expire(nowMs) + this.#options.outbox.sweep(nowMs - RETENTION_MS, limit);
  }
}
