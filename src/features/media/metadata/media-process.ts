/** The process that reads contents: started at need, watched, ended when idle. What it is given may end it, and nothing else. */
import { findResidentBytes } from "../thumbnails/process-memory.ts";
import type { FromProcess, MediaInfo, ReadRequest } from "./types.ts";

/** What {@link MediaProcess} is started with. */
export interface MediaProcessOptions {
  readonly command: readonly string[];
  /** The little that a program needs of it; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** For one content, from asking to answer. */
  readonly timeoutMs: number;
  readonly memoryLimitBytes: number;
}

/** What became of one question. `isLost`: the process ended over it, or took too long or too much memory. */
export type Reading = { readonly info: MediaInfo } | { readonly reason: string; readonly isLost: boolean };

interface Child {
  readonly process: Bun.Subprocess<"ignore", "ignore", "ignore">;
  readonly ready: Promise<void>;
  isReady: boolean;
}

const IDLE_MS = 10_000;
const WATCH_MS = 100;
/** What it may take to start, on a machine that is busy. */
const START_MS = 10_000;

/** One question at a time. */
export class MediaProcess {
  readonly #options: MediaProcessOptions;
  #child: Child | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #asked: { readonly id: number; readonly settle: (reading: Reading) => void } | undefined;
  #lastId = 0;

  constructor(options: MediaProcessOptions) {
    this.#options = options;
  }

  /** Asks a content what it tells. Not before the last question was answered. Never throws. */
  async read(path: string, mediaType: string): Promise<Reading> {
    clearTimeout(this.#idle);
    const { promise, resolve } = Promise.withResolvers<Reading>();
    const id = ++this.#lastId;
    this.#asked = { id, settle: resolve };
    let watch: ReturnType<typeof setInterval> | undefined;
    try {
      const child = (this.#child ??= this.#start());
      const startMs = child.isReady ? 0 : START_MS;
      watch = this.#watch(child, performance.now() + startMs + this.#options.timeoutMs);
      await Promise.race([child.ready, promise]);
      if (child.isReady && this.#child === child) {
        child.process.send({ id, path, mediaType } satisfies ReadRequest);
      }
      return await promise;
    } catch (error) {
      this.#end("It could not be started.");
      return { reason: String(error), isLost: true };
    } finally {
      clearInterval(watch);
      this.#asked = undefined;
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
        if (message.type !== "hello" && message.id === this.#asked?.id) {
          this.#asked.settle(message.type === "read" ? { info: message.info } : { ...message, isLost: false });
        }
      },
    });
    const child: Child = { process: started, ready, isReady: false };
    // It alone must not keep the server running.
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
    this.#asked?.settle({ reason, isLost: true });
  }
}
