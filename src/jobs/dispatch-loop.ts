/**
 * The loop that sends the rows of an outbox. Transactions that write rows wake it, and so do a timer for the next due
 * row and the end of each attempt. After `close` it starts no attempt and waits for those in progress. The result of an
 * attempt is written with retries until the write succeeds. No request ever waits for this loop. With a replica, nothing is
 * sent about a change that could still be lost.
 */
import type { Writer } from "../db/transaction.ts";
import { type Backoff, backoffMs } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** Dependencies of {@link DispatchLoop}. */
interface DispatchLoopOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** What is sent, for the log: "webhook deliveries". */
  readonly what: string;
  /**
   * Starts all due attempts with {@link DispatchLoop.begin}. Synchronous, a few milliseconds at most.
   * @returns when the next row is due; undefined if none waits
   */
  readonly startDue: (nowMs: number) => number | undefined;
}

/** Due rows are searched for at least this often while some wait, because the clock may be changed. */
const POLL_MS = 60_000;
/** How long rows wait after the replica could not confirm them. */
const UNCONFIRMED_MS = 5_000;
/** The delays between write attempts while the database can't be written. */
const WRITE_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/** The loop of one outbox. */
export class DispatchLoop {
  readonly #options: DispatchLoopOptions;
  readonly #inProgress = new Map<number, Promise<void>>();
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  #isAwake = false;

  constructor(options: DispatchLoopOptions) {
    this.#options = options;
  }

  /** Whether an attempt for this row is in progress. */
  isInProgress(key: number): boolean {
    return this.#inProgress.has(key);
  }

  /** Starts sending. Until then, rows only accumulate. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Starts due attempts soon. Cheap to call often. */
  wake(): void {
    if (!this.#isStarted || this.#isAwake || this.#stop.signal.aborted) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      this.#startDueAttempts();
    });
  }

  /**
   * Starts one attempt, unless one for this row is in progress.
   * @param key the row
   * @param attempt gets the stop signal; if it throws, the error is logged and the attempt repeated after a minute
   */
  begin(key: number, attempt: (stop: AbortSignal) => Promise<void>): Promise<void> {
    const running = this.#inProgress.get(key);
    if (running !== undefined) return running;
    const ended = this.#afterConfirmation(attempt)
      .catch((error: unknown) => {
        this.#options.log.error(`One of the ${this.#options.what} failed; will retry.`, { error });
        // Not immediately, or it would fail in a busy loop.
        return this.#rest(POLL_MS);
      })
      .finally(() => {
        this.#inProgress.delete(key);
        this.wake();
      });
    this.#inProgress.set(key, ended);
    return ended;
  }

  /** Runs a transaction until it succeeds, or the loop closes: a full disk must not make us send a message twice. */
  async write(body: () => void): Promise<void> {
    const { writer, log, what } = this.#options;
    for (let failures = 1; ; failures++) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next attempt waits for this one
        await writer.run(body);
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (failures === 1) log.error(`Could not record the result of ${what}.`, { error });
        // oxlint-disable-next-line no-await-in-loop
        await this.#rest(backoffMs(failures, WRITE_BACKOFF));
      }
    }
  }

  /**
   * Starts no more attempts, aborts those in progress (they are repeated after the next start), and waits for their
   * end.
   */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await Promise.all(this.#inProgress.values());
  }

  /** Runs an attempt once its row is confirmed. If that fails, the row is read again some seconds later. */
  async #afterConfirmation(attempt: (stop: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await this.#options.writer.confirm?.();
    } catch {
      await this.#rest(UNCONFIRMED_MS);
      return;
    }
    await attempt(this.#stop.signal);
  }

  #startDueAttempts(): void {
    if (this.#stop.signal.aborted) return;
    const { clock, log, what, startDue } = this.#options;
    clearTimeout(this.#timer);
    try {
      const nowMs = clock.nowMs();
      const nextMs = startDue(nowMs);
      if (nextMs !== undefined) this.#wakeIn(Math.min(Math.max(0, nextMs - nowMs), POLL_MS));
    } catch (error) {
      log.error(`Could not read the queued ${what}; will retry.`, { error });
      this.#wakeIn(POLL_MS);
    }
  }

  /** Waits `ms`, or until the loop closes. */
  async #rest(ms: number): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const done = Promise.withResolvers<void>();
    const onStop = () => done.resolve();
    const timer = setTimeout(onStop, ms);
    timer.unref();
    signal.addEventListener("abort", onStop, { once: true });
    await done.promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", onStop);
  }

  #wakeIn(ms: number): void {
    this.#timer = setTimeout(() => this.wake(), ms);
    this.#timer.unref();
  }
}
