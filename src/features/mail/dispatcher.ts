/**
 * Sends the mails that wait. It runs on its own: woken by the deeds that put mails down and by a timer for the next that
 * falls due; no request ever waits for it. A few at once, but one at a time to each recipient, so that their order stays.
 * While the server takes nothing at all, it is asked seldom, and by one mail after the other: one that it can't stand
 * holds the others up for no longer than its own attempt.
 */
import type { Writer } from "../../db/transaction.ts";
import { type Backoff, backoffMs } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { MailOutbox } from "./outbox.ts";
import type { MailOutcome, MailTransport, StoredMail } from "./types.ts";

/** What {@link MailDispatcher} works with. */
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
/** What is under way at the stop may still end, so that it need not be sent a second time. */
const STOP_MS_MAX = 5_000;
/** The clock may be set: what is due is looked for at least so often while something waits. */
const LOOK_AGAIN_MS = 60_000;

/** See the head of this file. */
export class MailDispatcher {
  readonly #options: MailDispatcherOptions;
  readonly #inFlight = new Map<string, Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  #isStopped = false;
  #isAwake = false;
  /** Attempts in a row that found no server. */
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: MailDispatcherOptions) {
    this.#options = options;
  }

  /** Begins to send. Before it, mails only gather. */
  start(): void {
    this.#isStarted = this.#options.transport !== undefined;
    this.wake();
  }

  /** Something may be due: looks soon. Costs nothing when called often. */
  wake(): void {
    if (!this.#isStarted || this.#isAwake || this.#isStopped) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      this.#startDue();
    });
  }

  /** Begins nothing more; what was not sent by then is sent after the next start. */
  async close(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, STOP_MS_MAX);
    await Promise.race([Promise.all(this.#inFlight.values()), timeout.promise]);
    clearTimeout(timer);
    this.#isStarted = false;
  }

  #startDue(): void {
    const { outbox, clock, log, transport } = this.#options;
    if (this.#isStopped || transport === undefined) return;
    try {
      const nowMs = clock.nowMs();
      const pauseMs = this.#pausedUntilMs - nowMs;
      if (pauseMs > 0 && pauseMs <= PAUSE.maxMs) return this.#wakeIn(pauseMs);
      // The first after a pause goes alone.
      const places = (this.#failures > 0 ? 1 : SIDE_BY_SIDE_MAX) - this.#inFlight.size;
      const free = outbox.due(nowMs, SIDE_BY_SIDE_MAX + this.#inFlight.size);
      for (const mail of free
        .filter(({ recipientKey }) => !this.#inFlight.has(recipientKey))
        .slice(0, Math.max(0, places))) {
        this.#begin(transport, mail);
      }
      if (this.#inFlight.size > 0) return;
      const nextMs = outbox.nextDueMs();
      if (nextMs !== undefined) this.#wakeIn(Math.min(Math.max(nextMs - nowMs, 0), LOOK_AGAIN_MS));
    } catch (error) {
      log.error("The waiting mails could not be read; they are looked for again.", { error });
      this.#wakeIn(LOOK_AGAIN_MS);
    }
  }

  #begin(transport: MailTransport, mail: StoredMail): void {
    const attempt = this.#serve(transport, mail)
      .catch((error: unknown) => {
        this.#options.log.error("What became of a mail could not be written; it may be sent again.", { error });
        this.#pausedUntilMs = this.#options.clock.nowMs() + LOOK_AGAIN_MS;
      })
      .finally(() => {
        this.#inFlight.delete(mail.recipientKey);
        this.wake();
      });
    this.#inFlight.set(mail.recipientKey, attempt);
  }

  async #serve(transport: MailTransport, mail: StoredMail): Promise<void> {
    const { outbox, writer, clock } = this.#options;
    if (mail.expiresAt <= clock.nowMs()) {
      await writer.run(() => outbox.expire(clock.nowMs()));
      this.#options.log.warn("A mail was given up: it could not be delivered in time.", factsOf(mail));
      return;
    }
    const outcome = await withinTime(transport.deliver(mail));
    // The database is closed by then; the mail waits in it for the next start.
    if (!this.#isStarted) return;
    const nowMs = clock.nowMs();
    const nextMs = this.#nextAfter(mail, outcome, nowMs);
    this.#tell(mail, outcome);
    await writer.run(() => outbox.settle(mail, outcome, nextMs, nowMs));
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

  #tell(mail: StoredMail, outcome: MailOutcome): void {
    const { log } = this.#options;
    if (outcome.state === "sent") return log.debug("A mail was sent.", factsOf(mail));
    const facts = { ...factsOf(mail), why: outcome.why };
    if (outcome.state === "refused") return log.warn("A mail was refused by the mail server, and given up.", facts);
    if (outcome.state === "unreachable" && this.#failures === 1) {
      return log.warn("The mail server can't be used; mails wait. See: larder doctor", { why: outcome.why });
    }
    if (outcome.state === "retry" && mail.attempts === 0) log.info("A mail is tried again later.", facts);
  }

  #wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), ms);
    this.#timer.unref();
  }
}

/** Never the recipient, the subject or the words: a log is read by others, and kept. */
function factsOf({ id, kind, attempts }: StoredMail) {
  return { mail: id, kind, attempts: attempts + 1 };
}

async function withinTime(attempt: Promise<MailOutcome>): Promise<MailOutcome> {
  const late = Promise.withResolvers<MailOutcome>();
  const timer = setTimeout(() => late.resolve({ state: "unreachable", why: "no answer in time" }), ATTEMPT_MS_MAX);
  try {
    return await Promise.race([attempt, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
