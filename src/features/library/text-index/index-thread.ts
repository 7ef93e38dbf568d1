/**
 * Calls the thread of the text index. It starts with the first call and ends when it is idle. One call runs at a time, and
 * searches overtake the work in the background.
 */
import { AppError } from "../../../errors.ts";
import { requireDescriptors } from "../../../lib/descriptors.ts";
import { endThread } from "../../../lib/end-thread.ts";
import type { Log } from "../../../lib/log.ts";
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
/** Calls of people who wait. */
const URGENT: ReadonlySet<keyof IndexCalls> = new Set(["find", "snippets", "restore", "complete", "status"]);

/** The text index, in a thread of its own. */
export class IndexThread {
  readonly #location: IndexLocation;
  readonly #log: Log;
  #queue: QueuedCall[] = [];
  #running: QueuedCall | undefined;
  #worker: Worker | undefined;
  #ended: Promise<void> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(location: IndexLocation, log: Log) {
    this.#location = location;
    this.#log = log;
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
    if (this.#isClosed)
      return Promise.reject(new AppError("shutting_down", "The server is stopping. Try again in a few seconds."));
    if (isUrgent && this.#queue.filter((queued) => queued.isUrgent).length >= WAITING_MAX) {
      const message = "Too many searches are in progress. Try again in a few seconds.";
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
    await this.#end(new AppError("overloaded", "The text index is being deleted. Try again in a few seconds."));
    deleteIndex(this.#location.path);
  }

  /** Ends the thread; calls in progress fail with `shutting_down`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(new AppError("shutting_down", "The server is stopping. Try again in a few seconds."));
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const given = this.#queue.filter(({ signal }) => signal?.aborted === true);
    for (const call of given) call.reject(call.signal?.reason);
    this.#queue = this.#queue.filter((call) => !given.includes(call));
    const call = this.#queue.find(({ isUrgent }) => isUrgent) ?? this.#queue[0];
    clearTimeout(this.#idle);
    if (call === undefined) {
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS);
      this.#idle.unref();
      return;
    }
    this.#queue.splice(this.#queue.indexOf(call), 1);
    try {
      this.#worker ??= this.#start();
      this.#running = call;
      const { name, parameters } = call;
      this.#worker.postMessage({ id: 0, location: this.#location, name, parameters });
    } catch (error) {
      call.reject(error);
    }
  }

  #start(): Worker {
    requireDescriptors();
    const worker = new Worker(new URL("./text-index.worker.ts", import.meta.url).href);
    const died = (why: string) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#log.error("The thread of the text index ended; the next search starts it again.", { why });
      this.#failRunning(new AppError("database_error", "The search broke off. Try again.", {}, new Error(why)));
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
      const message = "The search in texts failed. Ask your administrator to check the server log.";
      call?.reject(new AppError("database_error", message, {}, new Error(reply.error)));
      if (reply.isDamaged) {
        this.#log.warn("The text index is damaged; it is built again.", { error: reply.error });
        void this.clear();
        return;
      }
    }
    this.#next();
  }

  #failRunning(error: AppError): void {
    this.#running?.reject(error);
    this.#running = undefined;
  }

  async #end(error?: AppError): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    if (error !== undefined) {
      this.#failRunning(error);
      for (const call of this.#queue.splice(0)) call.reject(error);
    }
    if (worker !== undefined) this.#ended = endThread(worker);
    await this.#ended;
  }
}
