import type { Log } from "../lib/log.ts";

/** Dependencies of {@link BackgroundWork}. */
export interface BackgroundWorkOptions {
  readonly log: Log;
  /** What is done, for the log: "read metadata". */
  readonly what: string;
  /** Does all work that it finds, until the signal aborts. Called again after a failure, so it must be repeatable. */
  readonly work: (stop: AbortSignal) => Promise<void>;
}

/** Pause after a failure, such as a full disk. */
const FAILURE_REST_MS = 30_000;

/**
 * Work of the server that no request waits for. There is one run at a time. A wake-up during a run causes another run,
 * because the current one may have looked for work before. A failed run is logged and repeated.
 */
export class BackgroundWork {
  readonly #options: BackgroundWorkOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  #isWoken = false;

  constructor(options: BackgroundWorkOptions) {
    this.#options = options;
  }

  /** Does the work that exists already; returns at once. Until then, wake-ups are ignored. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  /** Does new work; returns at once. */
  wake(): void {
    if (!this.#isStarted || this.#stop.signal.aborted) return;
    this.#isWoken = true;
    this.#running ??= this.#run();
  }

  /** Aborts the current run and waits for its end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, what, work } = this.#options;
    clearTimeout(this.#retry);
    // The caller stores the promise of this run before the run can end.
    await Promise.resolve();
    try {
      while (this.#isWoken && !this.#stop.signal.aborted) {
        this.#isWoken = false;
        await work(this.#stop.signal);
      }
    } catch (error) {
      log.error(`Could not ${what}; will retry.`, { error });
      if (!this.#stop.signal.aborted) this.#retry = setTimeout(() => this.wake(), FAILURE_REST_MS).unref();
    } finally {
      // In the same turn as the last look at `#isWoken`, so that no wake-up is lost in between.
      this.#running = undefined;
    }
  }
}
