/**
 * A process that reads files for the server: started on demand, monitored, ended when idle. A hostile file can crash only
 * this process.
 */
import type { ReplyMessage, RequestMessage } from "./messages.ts";
import { findProcessorMs, findResidentBytes } from "./process-usage.ts";

/** Dependencies of {@link RequestProcess}. */
export interface RequestProcessOptions {
  readonly command: readonly string[];
  /** Only the variables that a program needs; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** The working directory; by default that of the server. */
  readonly directory?: string;
  /**
   * Limit of processor time per request. A busy machine gives the process, which has the lowest priority, little of it:
   * by the clock, a request may take {@link WAITING_FACTOR} times as long.
   */
  readonly timeoutMs: number;
  readonly memoryLimitBytes: number;
  /** Called at the start of a process that could not be denied the network, with the reason. */
  readonly onUnconfined?: (reason: string) => void;
  /** A process that is larger than this after a request is replaced: memory of WebAssembly never shrinks. */
  readonly recycleBytes?: number;
}

/** Why a process ended during a request: it crashed, exceeded its time or memory, or was no longer wanted. */
export type Loss = "crash" | "limit" | "closed";

/** The result of a request. Without `loss`, the process reported the reason itself, and still runs. */
export type RequestResult<Reply> =
  | { readonly reply: Reply; readonly parts: readonly string[] }
  | { readonly reason: string; readonly loss?: Loss };

interface Child {
  readonly process: Bun.Subprocess<"ignore", "ignore", "ignore">;
  readonly ready: Promise<void>;
  isReady: boolean;
}

interface Pending<Reply> {
  readonly id: number;
  readonly parts: string[];
  readonly resolve: (result: RequestResult<Reply>) => void;
}

const IDLE_MS = 10_000;
const WATCH_MS = 100;
/** Time limit for starting, on a busy machine. */
const START_MS = 10_000;
const WAITING_FACTOR = 5;

/** Sends one request at a time to a process that runs `serveRequests()`. */
export class RequestProcess<Request, Reply> {
  readonly #options: RequestProcessOptions;
  #child: Child | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #pending: Pending<Reply> | undefined;
  #lastId = 0;

  constructor(options: RequestProcessOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Call it only after the previous call has resolved. Never throws.
   * @param signal ends the request, and the process with it
   */
  async request(request: Request, signal?: AbortSignal): Promise<RequestResult<Reply>> {
    clearTimeout(this.#idle);
    const { promise, resolve } = Promise.withResolvers<RequestResult<Reply>>();
    const id = ++this.#lastId;
    this.#pending = { id, parts: [], resolve };
    let watch: ReturnType<typeof setInterval> | undefined;
    const abort = () => this.#end("It is no longer needed.", "closed");
    signal?.addEventListener("abort", abort);
    try {
      const child = (this.#child ??= this.#start());
      watch = this.#watch(child);
      await Promise.race([child.ready, promise]);
      if (child.isReady && this.#child === child) {
        child.process.send({ id, request } satisfies RequestMessage<Request>);
      }
      return await promise;
    } catch (error) {
      this.#end("It could not be started.", "crash");
      return { reason: String(error), loss: "crash" };
    } finally {
      clearInterval(watch);
      signal?.removeEventListener("abort", abort);
      this.#pending = undefined;
      this.#recycle();
      this.#idle = setTimeout(() => this.close(), IDLE_MS);
      this.#idle.unref();
    }
  }

  /** Ends the process, if there is one. */
  close(): void {
    clearTimeout(this.#idle);
    this.#end("The server is stopping.", "closed");
  }

  #start(): Child {
    const { command, environment, directory } = this.#options;
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const started = Bun.spawn([...command], {
      env: environment,
      ...(directory !== undefined && { cwd: directory }),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      serialization: "json",
      ipc: (message: ReplyMessage<Reply>) => {
        if (message.type === "hello") {
          child.isReady = true;
          if (message.unconfined !== undefined) this.#options.onUnconfined?.(message.unconfined);
          resolve();
        } else if (this.#child === child) this.#receive(message);
      },
    });
    const child: Child = { process: started, ready, isReady: false };
    // This process alone must not keep the server running.
    started.unref();
    void started.exited.then(() => {
      if (this.#child === child) this.#end("The process that read it broke off.", "crash");
    });
    return child;
  }

  #receive(message: Exclude<ReplyMessage<Reply>, { type: "hello" }>): void {
    const pending = this.#pending;
    if (pending === undefined || pending.id !== message.id) return;
    if (message.type === "part") pending.parts.push(message.part);
    else if (message.type === "done") pending.resolve({ reply: message.reply, parts: pending.parts });
    else pending.resolve({ reason: message.reason });
  }

  #watch(child: Child): ReturnType<typeof setInterval> {
    const { timeoutMs, memoryLimitBytes } = this.#options;
    const { pid } = child.process;
    const startMs = child.isReady ? 0 : START_MS;
    const begunMs = performance.now();
    const usedMs = findProcessorMs(pid) ?? 0;
    return setInterval(() => {
      const passedMs = performance.now() - begunMs - startMs;
      // Where processor time is unknown, the clock counts.
      const neededMs = (findProcessorMs(pid) ?? usedMs + passedMs + startMs) - usedMs - startMs;
      if (neededMs > timeoutMs || passedMs > timeoutMs * WAITING_FACTOR) this.#end("It took too long.", "limit");
      const bytes = findResidentBytes(pid);
      if (bytes !== undefined && bytes > memoryLimitBytes) this.#end("It took too much memory.", "limit");
    }, WATCH_MS);
  }

  #recycle(): void {
    const { recycleBytes } = this.#options;
    if (recycleBytes === undefined || this.#child === undefined) return;
    if ((findResidentBytes(this.#child.process.pid) ?? 0) > recycleBytes) this.#end("It has grown.", "closed");
  }

  #end(reason: string, loss: Loss): void {
    const child = this.#child;
    this.#child = undefined;
    child?.process.kill("SIGKILL");
    this.#pending?.resolve({ reason, loss });
  }
}
