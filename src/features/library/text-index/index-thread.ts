/**
 * Calls the thread of the text index. It starts with the first call and ends when it is idle. One call runs at a time.
 * Searches overtake the work in the background, but don't stop it.
 */
import { AppError } from "../../../errors.ts";
import { requireDescriptors } from "../../../lib/descriptors.ts";
import { endThread } from "../../../lib/end-thread.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import { deleteIndex } from "./index-file.ts";
import type { IndexCalls, IndexLocation, IndexReply } from "./types.ts";

interface QueuedCall {
  readonly name: keyof IndexCalls;
  readonly parameters: readonly unknown[];
  readonly isUrgent: boolean;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Searches that may wait; further ones are rejected at once, so that clients try again later. */
const WAITING_MAX = 64;
const IDLE_MS = 60_000;
/** If the index is damaged again this soon, building it again does not help: the fault is in the database or the disk. */
const DAMAGE_APART_MS = 10 * 60_000;
/** Calls of people in a row; then one of the background, which takes some milliseconds. Else removed texts might stay. */
const URGENT_IN_ROW_MAX = 8;
/** Calls of people who wait. */
const URGENT: ReadonlySet<keyof IndexCalls> = new Set(["find", "snippets", "restore", "complete", "status"]);

/** A thread, as far as {@link IndexThread} uses it. */
type ThreadWorker = Pick<Worker, "addEventListener" | "onerror" | "onmessage" | "postMessage" | "terminate" | "unref">;

/** Dependencies of {@link IndexThread}. */
export interface IndexThreadOptions {
  readonly location: IndexLocation;
  readonly log: Log;
  /** Whether there may be an index: an administrator can switch it off. */
  readonly isEnabled: () => boolean;
  /** The index was damaged and is deleted: it has to be built again. */
  readonly onDamaged: () => void;
  /** Starts the thread. */
  readonly startWorker?: () => ThreadWorker;
}

/** The text index, in a thread of its own. */
export class IndexThread {
  readonly #options: IndexThreadOptions;
  #queue: QueuedCall[] = [];
  #running: QueuedCall | undefined;
  #urgentInRow = 0;
  #worker: ThreadWorker | undefined;
  /** Set until an ending thread has closed its files. Only then may another one open them, or the index be deleted. */
  #ending: Promise<void> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #damagedMs = Number.NEGATIVE_INFINITY;

  constructor(options: IndexThreadOptions) {
    this.#options = options;
  }

  /**
   * @param signal a call that has not begun when it aborts is never made
   * @throws AppError overloaded, shutting_down, database_error, or the reason of the signal
   */
  call<Name extends keyof IndexCalls>(
    name: Name,
    parameters: Parameters<IndexCalls[Name]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<IndexCalls[Name]>> {
    const isUrgent = URGENT.has(name);
    // Work that began before would create the index again.
    if (!this.#options.isEnabled())
      return Promise.reject(new AppError("overloaded", say`The search in contents is switched off.`));
    if (this.#isClosed)
      return Promise.reject(new AppError("shutting_down", say`The server is stopping. Try again in a few seconds.`));
    // Without a text that was read again, the searches that wait for it would only search again.
    const isLimited = isUrgent && name !== "restore";
    if (isLimited && this.#queue.filter((queued) => queued.isUrgent).length >= WAITING_MAX) {
      const message = say`Too many searches are in progress. Try again in a few seconds.`;
      return Promise.reject(new AppError("overloaded", message));
    }
    return new Promise((resolve, reject) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the thread returns what the call declares
      const settle = resolve as (result: unknown) => void;
      this.#queue.push({ name, parameters, isUrgent, signal, resolve: settle, reject });
      this.#next();
    });
  }

  /** Deletes the index. The next call creates it again. */
  async clear(): Promise<void> {
    const error = new AppError("overloaded", say`The text index is being deleted. Try again in a few seconds.`);
    await this.#end(error, () => deleteIndex(this.#options.location.path));
  }

  /** Ends the thread; calls in progress fail with `shutting_down`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(new AppError("shutting_down", say`The server is stopping. Try again in a few seconds.`));
  }

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    const aborted = this.#queue.filter(({ signal }) => signal?.aborted === true);
    for (const call of aborted) call.reject(call.signal?.reason);
    this.#queue = this.#queue.filter((call) => !aborted.includes(call));
    const takesUrgent = this.#urgentInRow < URGENT_IN_ROW_MAX;
    const call = this.#queue.find(({ isUrgent }) => isUrgent === takesUrgent) ?? this.#queue[0];
    clearTimeout(this.#idle);
    if (call === undefined) {
      if (this.#worker === undefined) return;
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS);
      this.#idle.unref();
      return;
    }
    this.#queue.splice(this.#queue.indexOf(call), 1);
    this.#urgentInRow = call.isUrgent ? this.#urgentInRow + 1 : 0;
    try {
      this.#worker ??= this.#start();
      this.#running = call;
      const { name, parameters } = call;
      this.#worker.postMessage({ id: 0, location: this.#options.location, name, parameters });
    } catch (error) {
      this.#running = undefined;
      call.reject(error);
      this.#next();
    }
  }

  #start(): ThreadWorker {
    requireDescriptors();
    const { startWorker = startIndexWorker, log } = this.#options;
    const worker = startWorker();
    const died = (why: string) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      log.error("The thread of the text index ended; the next search starts it again.", { why });
      this.#failRunning(new AppError("database_error", say`The search broke off. Try again.`, {}, new Error(why)));
      this.#next();
    };
    worker.onmessage = (event: MessageEvent<IndexReply>) => this.#settle(event.data);
    worker.onerror = (event) => died(event.message);
    worker.addEventListener("close", () => died("closed"));
    worker.unref();
    return worker;
  }

  #settle(reply: IndexReply): void {
    const call = this.#running;
    this.#running = undefined;
    if ("result" in reply) call?.resolve(reply.result);
    else {
      const message = say`The search in texts failed. Ask your administrator to check the server log.`;
      call?.reject(new AppError("database_error", message, {}, new Error(reply.error)));
      if (reply.isDamaged && performance.now() - this.#damagedMs > DAMAGE_APART_MS) {
        this.#damagedMs = performance.now();
        this.#options.log.warn("The text index is damaged; it is built again.", { error: reply.error });
        void this.#clearDamaged();
        return;
      }
    }
    this.#next();
  }

  #failRunning(error: AppError): void {
    this.#running?.reject(error);
    this.#running = undefined;
  }

  async #clearDamaged(): Promise<void> {
    const { log, onDamaged } = this.#options;
    try {
      await this.clear();
      onDamaged();
    } catch (error) {
      log.error("Could not delete the damaged text index.", { error });
    }
  }

  /** @param rejection of the calls that are not finished @param whenEnded what may only be done without a thread */
  async #end(rejection?: AppError, whenEnded?: () => void): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    if (rejection !== undefined) {
      this.#failRunning(rejection);
      for (const call of this.#queue.splice(0)) call.reject(rejection);
    }
    const earlier = this.#ending;
    const { promise: ending, resolve } = Promise.withResolvers<void>();
    this.#ending = ending;
    try {
      await earlier;
      if (worker !== undefined) await endThread(worker);
      whenEnded?.();
    } finally {
      resolve();
      if (this.#ending === ending) {
        this.#ending = undefined;
        this.#next();
      }
    }
  }
}

function startIndexWorker(): ThreadWorker {
  return new Worker(new URL("./text-index.worker.ts", import.meta.url).href);
}
