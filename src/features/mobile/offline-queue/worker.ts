/**
 * Executes queued operations in small batches, one device after another, with a rest in between for other requests. Its
 * only state is in the rows: after a restart it resumes with them.
 */
import type { Log } from "../../../lib/log.ts";
import type { QueueService } from "./service.ts";

/** Operations that share one commit; it takes about three milliseconds. */
const BATCH = 32;
const REST_MS = 4;
/** The pause after a temporary error of the server, such as a full disk. It doubles with each further error. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;
/** How often the worker checks open holds for a decision. */
const HOLDS_POLL_MS = 2_000;

/** Executes queued operations in the background. */
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

  /** Executes operations until {@link stop}. */
  start(): void {
    this.#queue.onExecutable(() => this.#wake());
    this.#running = this.#work();
  }

  /** Stops after the current batch. */
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
          await this.#sleep((await this.#queue.checkHolds()) ? HOLDS_POLL_MS : undefined);
          continue;
        }
        deviceId = next;
        await this.#executeBatch(deviceId);
        pauseMs = PAUSE_MS;
        await Bun.sleep(REST_MS);
      } catch (error) {
        this.#log.error("Cannot process the offline queue; will retry.", { error, pauseMs });
        await this.#sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      }
    }
  }

  async #executeBatch(deviceId: number): Promise<void> {
    // Each transaction picks the operation that is first when it runs.
    const count = this.#queue.countExecutable(deviceId);
    const ends = await Promise.allSettled(
      Array.from({ length: BATCH }, (_, index) => this.#queue.executeNext(deviceId, Math.max(0, count - index - 1))),
    );
    const failed = ends.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  #wake(): void {
    this.#isAwake = true;
    this.#awaken();
  }

  /** Sleeps until the next wake-up, or for this time. Returns at once if it was woken since the last check. */
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
