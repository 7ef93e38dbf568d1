/**
 * Sends new contents to the bucket about a second after their commit, several at a time. Only digests are in memory here:
 * what a crash forgets, and what finds no room in the queue, is found by the minute's job, which goes through the rows.
 */
import type { Digest } from "../../../blobs/digest.ts";
import { type Backoff, backoffMs } from "../../../lib/backoff.ts";
import type { Log } from "../../../lib/log.ts";

/** What {@link SendQueue} works with. */
export interface SendQueueOptions {
  /** Size of a content of the store; undefined where it is none any more. */
  readonly sizeOf: (digest: Digest) => number | undefined;
  /**
   * Sends one content.
   * @param isForced also where the bucket is believed to have it
   * @throws where it could not be sent and is to be tried again
   */
  readonly send: (digest: Digest, isForced: boolean, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** How long contents wait for others that are sent with them; default 200 ms. */
  readonly gatherMs?: number;
  readonly backoff?: Backoff;
}

type Lane = "small" | "large";

const GATHER_MS = 200;
const BACKOFF: Backoff = { firstMs: 2_000, maxMs: 60_000 };
/** Small contents cost the round trip more than their bytes; of large ones two parts are in memory. */
const LANES: Readonly<Record<Lane, number>> = { small: 4, large: 1 };
const SMALL_BYTES_MAX = 1024 * 1024;
const WAITING_MAX = 20_000;
/** How long the close waits for what is being sent. */
const CLOSE_MS = 2_000;

/** The contents that are still to be sent. */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #stop = new AbortController();
  /** By digest, whether it is sent in any case. */
  readonly #waiting: Readonly<Record<Lane, Map<Digest, boolean>>> = { small: new Map(), large: new Map() };
  readonly #active: Record<Lane, number> = { small: 0, large: 0 };
  readonly #running = new Set<Promise<void>>();
  #gathering: ReturnType<typeof setTimeout> | undefined;
  /** Runs after a failure. Until its end nothing is sent: nobody runs against a service that is away. */
  #resting: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isStarted = false;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** From now on contents are sent. Before that, none is remembered. */
  start(): void {
    this.#isStarted = true;
  }

  /** A content was committed. Cheap; never throws. @param isForced see {@link SendQueueOptions} */
  add(digest: Digest, isForced = false): void {
    if (!this.#isStarted || this.#stop.signal.aborted) return;
    const sizeBytes = this.#options.sizeOf(digest);
    if (sizeBytes === undefined) return;
    this.#put(sizeBytes > SMALL_BYTES_MAX ? "large" : "small", digest, isForced);
    if (this.#gathering !== undefined || this.#resting !== undefined) return;
    this.#gathering = setTimeout(() => this.#wake(), this.#options.gatherMs ?? GATHER_MS);
    this.#gathering.unref();
  }

  /** The service works again: what waits for another try is sent now. */
  retryNow(): void {
    if (this.#resting !== undefined && !this.#stop.signal.aborted) this.#wake();
  }

  /** Begins nothing more, and ends what is under way; at most some seconds. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#gathering);
    clearTimeout(this.#resting);
    await Promise.race([Promise.all(this.#running), Bun.sleep(CLOSE_MS)]);
  }

  #put(lane: Lane, digest: Digest, isForced: boolean): void {
    const waiting = this.#waiting[lane];
    if (waiting.size < WAITING_MAX) waiting.set(digest, isForced || waiting.get(digest) === true);
  }

  #wake(): void {
    clearTimeout(this.#gathering);
    clearTimeout(this.#resting);
    this.#gathering = undefined;
    this.#resting = undefined;
    for (const lane of ["small", "large"] as const) this.#begin(lane);
  }

  /** Begins as many workers as there is something to do for; after a failure one, which finds out how the service is. */
  #begin(lane: Lane): void {
    const lanes = this.#failures > 0 ? 1 : LANES[lane];
    const more = Math.min(lanes - this.#active[lane], this.#waiting[lane].size);
    for (let count = 0; count < more; count++) {
      const running = this.#work(lane).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #work(lane: Lane): Promise<void> {
    const { signal } = this.#stop;
    const waiting = this.#waiting[lane];
    this.#active[lane]++;
    // What is added while it works comes to the end of the map, and is taken, too.
    for (const [digest, isForced] of waiting) {
      if (signal.aborted || this.#resting !== undefined) break;
      waiting.delete(digest);
      try {
        await this.#options.send(digest, isForced, signal);
        if (this.#failures > 0) this.#recover();
      } catch (error) {
        if (signal.aborted) break;
        this.#put(lane, digest, isForced);
        this.#rest(error);
      }
    }
    this.#active[lane]--;
  }

  #recover(): void {
    this.#failures = 0;
    for (const lane of ["small", "large"] as const) this.#begin(lane);
  }

  #rest(error: unknown): void {
    if (this.#resting !== undefined) return;
    // The log has one line of an outage, where it begins. This one is of what else keeps contents here.
    if (this.#failures === 0) this.#options.log.debug("Could not send blobs to the bucket; will retry.", { error });
    this.#failures++;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#resting = setTimeout(() => this.#wake(), backoffMs(this.#failures, this.#options.backoff ?? BACKOFF));
    this.#resting.unref();
  }
}
