/**
 * Sends queued mails in the background. Transactions that queue mails wake it, and so does a timer for the next mail
 * that is due. No request waits for it. It sends a few mails at a time, but one at a time to each recipient, so that
 * their order stays. While the server accepts nothing at all, it tries rarely and one mail at a time. A mail that the
 * server can't handle delays the others by no more than its own attempt.
 */
import type { Writer } from "../../../db/transaction.ts";
import { DispatchLoop } from "../../../jobs/dispatch-loop.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { MailOutbox } from "./outbox.ts";
import type { MailOutcome, MailTransport, StoredMail } from "./types.ts";

/** Dependencies of {@link MailDispatcher}. */
export interface MailDispatcherOptions {
  readonly outbox: MailOutbox;
  readonly writer: Writer;
  /** The mail server of now; undefined if no mail is sent: mails queued earlier expire. */
  readonly transport: () => MailTransport | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Delay between attempts for one mail; default 1 minute, doubled up to an hour. */
  readonly backoff?: Backoff;
  /** Delay between attempts while the server is unavailable; default 5 seconds, doubled up to 5 minutes. */
  readonly pause?: Backoff;
}

const BACKOFF: Backoff = { firstMs: 60_000, maxMs: 60 * 60_000 };
const PAUSE: Backoff = { firstMs: 5_000, maxMs: 5 * 60_000 };
const SIDE_BY_SIDE_MAX = 3;
const ATTEMPT_MS_MAX = 120_000;
/** Mails in progress at shutdown get this time, so that they are not sent twice. */
const STOP_MS_MAX = 5_000;

export class MailDispatcher {
  readonly #options: MailDispatcherOptions;
  readonly #loop: DispatchLoop;
  /** Recipients with a mail in progress. */
  readonly #recipients = new Set<string>();
  /** Consecutive attempts that did not reach the server. */
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: MailDispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({ ...options, what: "emails", startDue: (nowMs) => this.#startDue(nowMs) });
  }

  /** Starts sending. Before that, mails are only queued. */
  start(): void {
    this.#loop.start();
  }

  /** Checks soon whether a mail is due. Cheap enough to be called often. */
  wake(): void {
    this.#loop.wake();
  }

  /** Starts no more mails. Unsent mails are sent after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    const { outbox } = this.#options;
    const transport = this.#options.transport();
    if (transport === undefined) return undefined;
    const pauseMs = this.#pausedUntilMs - nowMs;
    if (pauseMs > 0 && pauseMs <= PAUSE.maxMs) return this.#pausedUntilMs;
    // The first mail after a pause is sent alone.
    const parallelMax = this.#failures > 0 ? 1 : SIDE_BY_SIDE_MAX;
    for (const mail of outbox.due(nowMs, SIDE_BY_SIDE_MAX + this.#recipients.size)) {
      if (this.#recipients.size >= parallelMax) break;
      if (!this.#recipients.has(mail.recipientKey)) this.#begin(transport, mail);
    }
    // Each finished mail wakes the loop again.
    return this.#recipients.size > 0 ? undefined : outbox.nextDueMs();
  }

  #begin(transport: MailTransport, mail: StoredMail): void {
    this.#recipients.add(mail.recipientKey);
    void this.#loop
      .begin(mail.id, (stop) => this.#serve(transport, mail, stop))
      .finally(() => this.#recipients.delete(mail.recipientKey));
  }

  async #serve(transport: MailTransport, mail: StoredMail, stop: AbortSignal): Promise<void> {
    const { outbox, clock, log } = this.#options;
    if (mail.expiresAt <= clock.nowMs()) {
      await this.#loop.write(() => outbox.expire(clock.nowMs()));
      return log.warn("Email dropped; it could not be delivered in time.", logFields(mail));
    }
    const outcome = await withinTime(transport.deliver(mail), stop);
    if (outcome === undefined) return;
    const nowMs = clock.nowMs();
    const nextMs = this.#nextAfter(mail, outcome, nowMs);
    this.#report(mail, outcome);
    await this.#loop.write(() => outbox.recordOutcome(mail, outcome, nextMs, nowMs));
  }

  #nextAfter(mail: StoredMail, outcome: MailOutcome, nowMs: number): number {
    const { backoff = BACKOFF, pause = PAUSE } = this.#options;
    if (outcome.state !== "unreachable") {
      this.#failures = 0;
      this.#pausedUntilMs = 0;
      return nowMs + backoffMs(mail.attempts + 1, backoff);
    }
    this.#failures++;
    this.#pausedUntilMs = nowMs + backoffMs(this.#failures, pause);
    // To the end of the queue, so that another mail is next.
    return this.#pausedUntilMs;
  }

  #report(mail: StoredMail, outcome: MailOutcome): void {
    const { log } = this.#options;
    if (outcome.state === "sent") return log.debug("Email sent.", logFields(mail));
    const fields = { ...logFields(mail), why: outcome.why };
    if (outcome.state === "refused") return log.warn("The mail server rejected an email; dropped it.", fields);
    if (outcome.state === "unreachable" && this.#failures === 1) {
      return log.warn(
        "Cannot use the mail server; emails stay queued and will be retried. To check it: larder doctor",
        { why: outcome.why },
      );
    }
    if (outcome.state === "retry" && mail.attempts === 0) log.info("Email delivery failed; will retry.", fields);
  }
}

/** Never the recipient, the subject or the text: other people read logs, and they are archived. */
function logFields({ id, kind, attempts }: StoredMail) {
  return { mail: id, kind, attempts: attempts + 1 };
}

/** The result of an attempt; undefined if it did not end soon after the stop. */
async function withinTime(attempt: Promise<MailOutcome>, stop: AbortSignal): Promise<MailOutcome | undefined> {
  const late = Promise.withResolvers<MailOutcome | undefined>();
  const giveUp = () => late.resolve({ state: "unreachable", why: "no response in time" });
  let timer = setTimeout(giveUp, ATTEMPT_MS_MAX);
  const onStop = () => {
    clearTimeout(timer);
    timer = setTimeout(() => late.resolve(undefined), STOP_MS_MAX);
  };
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([attempt, late.promise]);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  }
}
