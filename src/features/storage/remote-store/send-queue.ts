/**
 * Sends new blobs to the bucket about a second after their commit, several at a time. The queue is in memory: blobs
 * that a crash loses, and those that do not fit, are found by the job that runs every minute.
 */
import type { Digest } from "../../../blobs/digest.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Log } from "../../../lib/log.ts";

/** Dependencies of {@link SendQueue}. */
export interface SendQueueOptions {
  /** Size of a blob; undefined if it was deleted. */
  readonly sizeOf: (digest: Digest) => number | undefined;
  /**
   * Sends one blob.
   * @param isForced sends it even if the bucket should have it
   * @throws if it could not be sent and must be retried
   */
  readonly send: (digest: Digest, isForced: boolean, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** How long blobs wait for others that are sent with them; default 200 ms. */
  readonly gatherMs?: number;
  readonly backoff?: Backoff;
}

type SizeClass = "small" | "large";

const GATHER_MS = 200;
const BACKOFF: Backoff = { firstMs: 2_000, maxMs: 60_000 };
/**
 * Concurrent transfers. The round trips of small blobs take longer than their bytes; each large one has two parts in
 * memory.
 */
const TRANSFERS_MAX: Readonly<Record<SizeClass, number>> = { small: 4, large: 1 };
const SMALL_BYTES_MAX = 1024 * 1024;
const WAITING_MAX = 20_000;
/** How long `close` waits for transfers. */
const CLOSE_MS = 2_000;

/** The queue of blobs that are still to be sent. */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #stop = new AbortController();
  /** By digest, whether the transfer is forced. */
  readonly #waiting: Readonly<Record<SizeClass, Map<Digest, boolean>>> = { small: new Map(), large: new Map() };
  readonly #active: Record<SizeClass, number> = { small: 0, large: 0 };
  readonly #running = new Set<Promise<void>>();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** Timer after a failure; until it ends nothing is sent. */
  #resting: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isStarted = false;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** Starts sending. Blobs that were added before are ignored. */
  start(): void {
    this.#isStarted = true;
  }

  /** Queues a blob after its commit. Cheap; never throws. @param isForced see {@link SendQueueOptions} */
  add(digest: Digest, isForced = false): void {
    if (!this.#isStarted || this.#stop.signal.aborted) return;
    const sizeBytes = this.#options.sizeOf(digest);
    if (sizeBytes === undefined) return;
    this.#put(sizeBytes > SMALL_BYTES_MAX ? "large" : "small", digest, isForced);
    if (this.#gathering !== undefined || this.#resting !== undefined) return;
    this.#gathering = setTimeout(() => this.#wake(), this.#options.gatherMs ?? GATHER_MS);
    this.#gathering.unref();
  }

  /** Retries now, because the service works again. */
  retryNow(): void {
    if (this.#resting !== undefined && !this.#stop.signal.aborted) this.#wake();
  }

  /** Stops sending and waits for transfers in progress, for some seconds at most. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#gathering);
    clearTimeout(this.#resting);
    await Promise.race([Promise.all(this.#running), Bun.sleep(CLOSE_MS)]);
  }

  #put(size: SizeClass, digest: Digest, isForced: boolean): void {
    const waiting = this.#waiting[size];
    if (waiting.size < WAITING_MAX) waiting.set(digest, isForced || waiting.get(digest) === true);
  }

  #wake(): void {
    clearTimeout(this.#gathering);
    clearTimeout(this.#resting);
    this.#gathering = undefined;
    this.#resting = undefined;
    for (const size of ["small", "large"] as const) this.#begin(size);
  }

  /** Starts as many workers as there are blobs; after a failure a single one, which tries the service. */
  #begin(size: SizeClass): void {
    const workers = this.#failures > 0 ? 1 : TRANSFERS_MAX[size];
    const more = Math.min(workers - this.#active[size], this.#waiting[size].size);
    for (let count = 0; count < more; count++) {
      const running = this.#work(size).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #work(size: SizeClass): Promise<void> {
    const { signal } = this.#stop;
    const waiting = this.#waiting[size];
    this.#active[size]++;
    // Blobs that are added during the loop come to the end of the map and are sent as well.
    for (const [digest, isForced] of waiting) {
      if (signal.aborted || this.#resting !== undefined) break;
      waiting.delete(digest);
      try {
        await this.#options.send(digest, isForced, signal);
        if (this.#failures > 0) this.#recover();
      } catch (error) {
        if (signal.aborted) break;
        this.#put(size, digest, isForced);
        this.#rest(error);
      }
    }
    this.#active[size]--;
  }

  #recover(): void {
    this.#failures = 0;
    for (const size of ["small", "large"] as const) this.#begin(size);
  }

  #rest(error: unknown): void {
    if (this.#resting !== undefined) return;
    // An outage is logged once, when it starts. This line is for other failures.
    if (this.#failures === 0) this.#options.log.debug("Could not send blobs to the bucket; will retry.", { error });
    this.#failures++;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#resting = setTimeout(() => this.#wake(), backoffMs(this.#failures, this.#options.backoff ?? BACKOFF));
    this.#resting.unref();
  }
}
