/**
 * Carries queued operations out: a few at a time, device after device, with a rest in between, so that other requests
 * are answered meanwhile. It keeps nothing in memory: after a restart it goes on with what the rows say.
 */
import type { Log } from "../../../lib/log.ts";
import type { QueueService } from "./service.ts";

/** Operations that share one commit: about three milliseconds. */
const SLICE = 32;
const REST_MS = 4;
/**
 * Where the server can do nothing at present (a full disk), it is tried again after this, and each time twice as late.
 */
const PAUSE_MS = 1_000;
/** How often it is looked whether somebody decided on what is held. */
const HELD_MS = 2_000;
const PAUSE_MS_MAX = 60_000;

/** See the head of this file. */
export class QueueWorker {
  readonly #queue: QueueService;
  readonly #log: Log;
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #isAwake = true;
  #awaken = () => {};

  constructor(options: { queue: QueueService; log: Log }) {
    this.#queue = options.queue;
    this.#log = options.log;
  }

  /** Begins, and goes on until {@link stop}. */
  start(): void {
    this.#queue.onRunnable(() => this.#wake());
    this.#running = this.#work();
  }

  /** Ends with the slice that is under way. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#running;
  }

  async #work(): Promise<void> {
    let deviceId = 0;
    let pauseMs = PAUSE_MS;
    while (!this.#stopped.signal.aborted) {
      this.#isAwake = false;
      try {
        const next = this.#queue.findNextDevice(deviceId);
        if (next === undefined) {
          await this.#sleep((await this.#queue.settleHeld()) ? HELD_MS : undefined);
          continue;
        }
        deviceId = next;
        await this.#serveSome(deviceId);
        pauseMs = PAUSE_MS;
        await Bun.sleep(REST_MS);
      } catch (error) {
        this.#log.error("Cannot process the offline queue; will retry.", { error, pauseMs });
        await this.#sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      }
    }
  }

  async #serveSome(deviceId: number): Promise<void> {
    // Each picks the first in order when its turn comes, in a savepoint of its own.
    const waiting = this.#queue.countRunnable(deviceId);
    const served = await Promise.allSettled(
      Array.from({ length: SLICE }, (_, index) => this.#queue.serveNext(deviceId, Math.max(0, waiting - index - 1))),
    );
    const refused = served.find((one) => one.status === "rejected");
    if (refused !== undefined) throw refused.reason;
  }

  #wake(): void {
    this.#isAwake = true;
    this.#awaken();
  }

  /** Until there may be something to do, or the time is over; not at all where there was a call meanwhile. */
  async #sleep(forMs?: number): Promise<void> {
    if (this.#isAwake) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = forMs === undefined ? undefined : setTimeout(resolve, forMs);
    this.#awaken = resolve;
    await promise;
    this.#awaken = () => {};
    clearTimeout(timer);
  }
}
