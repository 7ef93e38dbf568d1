/**
 * Sends the mails that wait. It runs on its own: woken by the transactions that put mails down and by a timer for the
 * next that falls due; no request ever waits for it. A few at once, but one at a time to each recipient, so that their
 * order stays. While the server takes nothing at all, it is asked seldom, and by one mail after the other: one that it
 * can't stand holds the others up for no longer than its own attempt.
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
  /** Undefined where no mail is sent: what was put down earlier runs out. */
  readonly transport: MailTransport | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Between attempts for one mail; default 1 minute, doubled up to an hour. */
  readonly backoff?: Backoff;
  /** Between attempts while the server is away; default 5 seconds, doubled up to 5 minutes. */
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
  /** To whom a mail is in progress. */
  readonly #recipients = new Set<string>();
  /** Attempts in a row that found no server. */
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: MailDispatcherOptions) {
    this.#options = options;
    this.#loop = new DispatchLoop({ ...options, what: "emails", startDue: (nowMs) => this.#startDue(nowMs) });
  }

  /** Begins to send. Before it, mails only gather. */
  start(): void {
    if (this.#options.transport !== undefined) this.#loop.start();
  }

  /** Something may be due: looks soon. Costs nothing when called often. */
  wake(): void {
    this.#loop.wake();
  }

  /** Begins nothing more; what was not sent by then is sent after the next start. */
  close(): Promise<void> {
    return this.#loop.close();
  }

  #startDue(nowMs: number): number | undefined {
    const { outbox, transport } = this.#options;
    if (transport === undefined) return undefined;
    const pauseMs = this.#pausedUntilMs - nowMs;
    if (pauseMs > 0 && pauseMs <= PAUSE.maxMs) return this.#pausedUntilMs;
    // The first after a pause goes alone.
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
      return log.warn("Email dropped; it could not be delivered in time.", factsOf(mail));
    }
    const outcome = await withinTime(transport.deliver(mail), stop);
    if (outcome === undefined) return;
    const nowMs = clock.nowMs();
    const nextMs = this.#nextAfter(mail, outcome, nowMs);
    this.#report(mail, outcome);
    await this.#loop.write(() => outbox.settle(mail, outcome, nextMs, nowMs));
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
    // Behind all others: next time it is another one's turn.
    return this.#pausedUntilMs;
  }

  #report(mail: StoredMail, outcome: MailOutcome): void {
    const { log } = this.#options;
    if (outcome.state === "sent") return log.debug("Email sent.", factsOf(mail));
    const facts = { ...factsOf(mail), why: outcome.why };
    if (outcome.state === "refused") return log.warn("The mail server rejected an email; dropped it.", facts);
    if (outcome.state === "unreachable" && this.#failures === 1) {
      return log.warn(
        "Cannot use the mail server; emails stay queued and will be retried. To check it: larder doctor",
        { why: outcome.why },
      );
    }
    if (outcome.state === "retry" && mail.attempts === 0) log.info("Email delivery failed; will retry.", facts);
  }
}

/** Never the recipient, the subject or the words: a log is read by others, and kept. */
function factsOf({ id, kind, attempts }: StoredMail) {
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
