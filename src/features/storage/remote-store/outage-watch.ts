import { S3Error } from "../../../blobs/s3/error.ts";
import type { Log } from "../../../lib/log.ts";

/** Why the bucket can't be used, and since when. */
export interface Outage {
  readonly problem: string;
  readonly sinceMs: number;
}

/** Dependencies of {@link OutageWatch}. */
interface OutageWatchOptions {
  /** Sends a request to the service. @throws S3Error if it can't be used */
  readonly check: () => Promise<unknown>;
  /** The result of the last request. */
  readonly outage: () => Outage | undefined;
  /** Milliseconds since the last successful request. */
  readonly silentMs: () => number;
  /** Notifies administrators. Durable on return. */
  readonly notify: (outage: Outage) => Promise<void>;
  readonly log: Log;
  /** Interval of the checks; default 30 s. With the timeout of 20 s, an outage is detected within a minute. */
  readonly everyMs?: number;
  /** How often an outage is checked for its end, if uploads wait for it; default: like `everyMs`. */
  readonly recoveryMs?: number | undefined;
}

const EVERY_MS = 30_000;
/** A single failure is not reported. */
const FAILURES_MIN = 2;

/** Checks regularly whether the bucket can be used, and notifies administrators once of each outage. */
export class OutageWatch {
  readonly #options: OutageWatchOptions;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #isChecking = false;
  #failures = 0;
  #isNotified = false;

  constructor(options: OutageWatchOptions) {
    this.#options = options;
  }

  /** Starts the checks. */
  start(): void {
    const { outage, check, recoveryMs } = this.#options;
    this.#repeat(this.#everyMs, () => this.#checkIfSilent());
    // These checks don't count as failures, of which administrators are notified.
    if (recoveryMs !== undefined) this.#repeat(recoveryMs, async () => void (outage() && (await check())));
  }

  /** Stops the checks. */
  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /**
   * Checks the service now. Administrators are notified if it fails for the second time in a row.
   * @throws S3Error
   */
  async check(): Promise<void> {
    try {
      await this.#options.check();
      this.#failures = 0;
      this.#isNotified = false;
    } catch (error) {
      this.#failures++;
      await this.#notify();
      throw error;
    }
  }

  get #everyMs(): number {
    return this.#options.everyMs ?? EVERY_MS;
  }

  /** Runs a check regularly. One check runs at a time. */
  #repeat(everyMs: number, check: () => Promise<void>): void {
    const timer = setInterval(() => {
      if (!this.#isChecking) void this.#checkOnce(check);
    }, everyMs);
    timer.unref();
    this.#timers.push(timer);
  }

  async #checkOnce(check: () => Promise<void>): Promise<void> {
    this.#isChecking = true;
    try {
      await check();
    } catch (error) {
      // The message of the service is part of the outage, which health and the metrics show.
      if (!(error instanceof S3Error)) this.#options.log.warn("Could not check the bucket.", { error });
    } finally {
      this.#isChecking = false;
    }
  }

  async #checkIfSilent(): Promise<void> {
    const { outage, silentMs } = this.#options;
    // The last request, moments ago, succeeded.
    if (outage() !== undefined || silentMs() >= this.#everyMs) await this.check();
  }

  async #notify(): Promise<void> {
    const { outage, notify, log } = this.#options;
    const present = outage();
    if (present === undefined || this.#isNotified || this.#failures < FAILURES_MIN) return;
    this.#isNotified = true;
    try {
      await notify(present);
    } catch (error) {
      this.#isNotified = false;
      log.warn("Administrators could not be notified of the outage; will retry at the next check.", { error });
    }
  }
}
