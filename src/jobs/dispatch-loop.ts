/**
 * The frame of whatever sends rows of an outbox: woken by the deeds that write rows, by a timer for what falls due next,
 * and by the end of each attempt. It begins nothing after the stop and waits for what is under way; what an attempt found
 * out is written until it is written. No request ever waits for it.
 */
import type { Writer } from "../db/transaction.ts";
import { type Backoff, backoffMs } from "../lib/backoff.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** What {@link DispatchLoop} works with. */
export interface DispatchLoopOptions {
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** What is sent, for the log: "webhook deliveries". */
  readonly what: string;
  /**
   * Begins what is due, by {@link DispatchLoop.begin}. Synchronous, some milliseconds at most.
   * @returns when something falls due next; undefined where nothing waits
   */
  readonly startDue: (nowMs: number) => number | undefined;
}

/** The clock may be set: what is due is looked for at least so often while something waits. */
const POLL_MS = 60_000;
/** While the database can't be written. */
const WRITE_BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/** See the head of the file. */
export class DispatchLoop {
  readonly #options: DispatchLoopOptions;
  readonly #underWay = new Map<number, Promise<void>>();
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  #isAwake = false;

  constructor(options: DispatchLoopOptions) {
    this.#options = options;
  }

  /** Whether this one is being attempted. */
  isUnderWay(key: number): boolean {
    return this.#underWay.has(key);
  }

  /** Begins to send. Before it, rows only gather. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Something may be due: looks soon. Costs nothing when called often. */
  wake(): void {
    if (!this.#isStarted || this.#isAwake || this.#stop.signal.aborted) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      this.#look();
    });
  }

  /**
   * Makes one attempt, unless it is under way already.
   * @param key the row
   * @param attempt is given the signal of the stop; what it throws is logged, and tried again after a while
   */
  begin(key: number, attempt: (stop: AbortSignal) => Promise<void>): Promise<void> {
    const running = this.#underWay.get(key);
    if (running !== undefined) return running;
    const ended = attempt(this.#stop.signal)
      .catch((error: unknown) => {
        this.#options.log.error(`One of the ${this.#options.what} failed; will retry.`, { error });
        // Not at once, or it would fail in circles.
        return this.#rest(POLL_MS);
      })
      .finally(() => {
        this.#underWay.delete(key);
        this.wake();
      });
    this.#underWay.set(key, ended);
    return ended;
  }

  /** Carries out a deed until it is written, or the stop comes: what was sent must not be sent again for a full disk. */
  async write(deed: () => void): Promise<void> {
    const { writer, log, what } = this.#options;
    for (let failures = 1; ; failures++) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next attempt waits for this one
        await writer.run(deed);
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (failures === 1) log.error(`Could not record the result of ${what}.`, { error });
        // oxlint-disable-next-line no-await-in-loop
        await this.#rest(backoffMs(failures, WRITE_BACKOFF));
      }
    }
  }

  /** Begins nothing more, gives up what is under way (it is sent again after the next start), and waits for its end. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await Promise.all(this.#underWay.values());
  }

  #look(): void {
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

  /** Waits, or until the stop. */
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
