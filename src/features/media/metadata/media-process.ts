/**
 * The process that reads metadata: started on demand, monitored, ended when idle. A hostile file can crash only this
 * process.
 */
import { findResidentBytes } from "../thumbnails/process-memory.ts";
import type { FromProcess, MediaReading, ReadRequest, Source } from "./types.ts";

/** Dependencies of {@link MediaProcess}. */
export interface MediaProcessOptions {
  readonly command: readonly string[];
  /** Only the variables that a program needs; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit per file. */
  readonly timeoutMs: number;
  readonly memoryLimitBytes: number;
}

/** The result for a file. `isLost`: the process crashed, or exceeded its time or memory. */
export type ReadResult = { readonly reading: MediaReading } | { readonly reason: string; readonly isLost: boolean };

interface Child {
  readonly process: Bun.Subprocess<"ignore", "ignore", "ignore">;
  readonly ready: Promise<void>;
  isReady: boolean;
}

const IDLE_MS = 10_000;
const WATCH_MS = 100;
/** Time limit for starting, on a busy machine. */
const START_MS = 10_000;

/** Reads one file at a time. */
export class MediaProcess {
  readonly #options: MediaProcessOptions;
  #child: Child | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #pending: { readonly id: number; readonly resolve: (reading: ReadResult) => void } | undefined;
  #lastId = 0;

  constructor(options: MediaProcessOptions) {
    this.#options = options;
  }

  /** Reads a file. Call it only after the previous call has resolved. Never throws. */
  async read(source: Source): Promise<ReadResult> {
    clearTimeout(this.#idle);
    const { promise, resolve } = Promise.withResolvers<ReadResult>();
    const id = ++this.#lastId;
    this.#pending = { id, resolve };
    let watch: ReturnType<typeof setInterval> | undefined;
    try {
      const child = (this.#child ??= this.#start());
      const startMs = child.isReady ? 0 : START_MS;
      watch = this.#watch(child, performance.now() + startMs + this.#options.timeoutMs);
      await Promise.race([child.ready, promise]);
      if (child.isReady && this.#child === child) {
        child.process.send({ ...source, id } satisfies ReadRequest);
      }
      return await promise;
    } catch (error) {
      this.#end("It could not be started.");
      return { reason: String(error), isLost: true };
    } finally {
      clearInterval(watch);
      this.#pending = undefined;
      this.#idle = setTimeout(() => this.close(), IDLE_MS);
      this.#idle.unref();
    }
  }

  /** Ends the process, if there is one. */
  close(): void {
    clearTimeout(this.#idle);
    this.#end("The server is stopping.");
  }

  #start(): Child {
    const { command, environment } = this.#options;
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const started = Bun.spawn([...command], {
      env: environment,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      serialization: "json",
      ipc: (message: FromProcess) => {
        if (message.type === "hello") {
          child.isReady = true;
          resolve();
        }
        if (message.type !== "hello" && message.id === this.#pending?.id) {
          this.#pending.resolve(message.type === "read" ? { reading: message.reading } : { ...message, isLost: false });
        }
      },
    });
    const child: Child = { process: started, ready, isReady: false };
    // This process alone must not keep the server running.
    started.unref();
    void started.exited.then(() => {
      if (this.#child === child) this.#end("The process that read it broke off.");
    });
    return child;
  }

  #watch(child: Child, untilMs: number): ReturnType<typeof setInterval> {
    return setInterval(() => {
      if (performance.now() > untilMs) this.#end("It took too long.");
      const bytes = findResidentBytes(child.process.pid);
      if (bytes !== undefined && bytes > this.#options.memoryLimitBytes) this.#end("It took too much memory.");
    }, WATCH_MS);
  }

  #end(reason: string): void {
    const child = this.#child;
    this.#child = undefined;
    child?.process.kill("SIGKILL");
    this.#pending?.resolve({ reason, isLost: true });
  }
}
