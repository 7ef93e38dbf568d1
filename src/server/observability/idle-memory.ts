/**
 * Gives memory back to the system while the server is idle. Otherwise, compiled code, cached database pages and empty heap
 * pages from the start or from a busy hour stay in memory until the next one.
 */

/** Dependencies of {@link IdleMemory}. */
interface IdleMemoryOptions {
  /** The number of requests since the start. */
  readonly requestCount: () => number;
  /** The number of requests in progress. */
  readonly pendingRequests: () => number;
  readonly residentBytes: () => number;
  /** Releases what can be made again. It blocks for tens of milliseconds, and the next requests compile code again. */
  readonly release: () => void;
}

/** How often the server checks whether it is idle. */
const CHECK_MS = 5_000;
/** The checks in a row that must find the server idle. */
const IDLE_CHECKS = 2;
/** A server with at most this many requests between two checks is idle: monitors and sync clients ask in regular intervals. */
const IDLE_REQUESTS_MAX = 5;
/** Less than this is not worth a release. */
const GROWTH_BYTES = 8 * 2 ** 20;

/** Releases memory when a server becomes idle, if it has grown since the last time. */
export class IdleMemory {
  readonly #options: IdleMemoryOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #requestCount = 0;
  #idleChecks = 0;
  /** The memory after the last release; undefined until the check that follows it. */
  #releasedBytes: number | undefined = 0;

  constructor(options: IdleMemoryOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), CHECK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Releases memory if the server is idle and has grown. */
  check(): void {
    const { requestCount, pendingRequests, residentBytes, release } = this.#options;
    const count = requestCount();
    const isIdle = count - this.#requestCount <= IDLE_REQUESTS_MAX && pendingRequests() === 0;
    this.#requestCount = count;
    this.#idleChecks = isIdle ? this.#idleChecks + 1 : 0;
    // The system gets the pages back some seconds after a release.
    this.#releasedBytes ??= isIdle ? residentBytes() : 0;
    if (this.#idleChecks < IDLE_CHECKS || residentBytes() - this.#releasedBytes < GROWTH_BYTES) return;
    this.#releasedBytes = undefined;
    this.#idleChecks = 0;
    release();
  }
}
