import type { DerivedStore } from "../../../blobs/derived.ts";
import type { Log } from "../../../lib/log.ts";
import type { ThumbnailConfig } from "./options.ts";
import type { FromChild, HelloMessage, ReadyMessage, RenderRequest, ThumbnailStatus } from "./protocol.ts";
import { type ProcessEnd, RenderProcess } from "./render-process.ts";
import { messageOf } from "../../../lib/error.ts";

const IDLE_MS = 60_000;
const WATCH_INTERVAL_MS = 100;
/** Loading the libraries takes 0.1 s, from a slow memory card some seconds. */
const START_TIMEOUT_MS = 30_000;
/** How long the child starts without sharp, or not at all, after a process crashed while loading. */
const START_RETRY_MS = 10 * 60_000;
/** An idle process larger than this is replaced: memory of WebAssembly never shrinks. */
const RECYCLE_BYTES = 256 * 1024 * 1024;
/** Environment variables passed to the child. All others stay with the server. */
const PASSED_ENVIRONMENT = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"];
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Dependencies of {@link RenderHost}. */
export interface RenderHostOptions {
  readonly derived: Pick<DerivedStore, "directory">;
  readonly log: Log;
  readonly config: ThumbnailConfig;
  readonly childCommand: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Renderings that run in the process now. */
  readonly runningCount: () => number;
  readonly onReady: (status: ThumbnailStatus) => void;
  readonly onMessage: (message: Exclude<FromChild, HelloMessage | ReadyMessage>) => void;
  /** Called when the process has ended; `wasReady` false if it ended while loading. Not after {@link RenderHost.close}. */
  readonly onEnd: (end: ProcessEnd, wasReady: boolean) => void;
  /** Called when no process can be started, until a later try. */
  readonly onUnavailable: (status: ThumbnailStatus) => void;
}

interface StartFailure {
  readonly reason: string;
  readonly withoutSharp: boolean;
  readonly untilMs: number;
}

/** Starts the thumbnail process on demand, watches its memory, and ends it when it is idle. */
export class RenderHost {
  readonly #options: RenderHostOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ffmpeg: string | undefined;
  #process: RenderProcess | undefined;
  #isReady = false;
  #isClosed = false;
  #startTimer: Timer | undefined;
  #idleTimer: Timer | undefined;
  #watchTimer: Timer | undefined;
  #status: ThumbnailStatus | undefined;
  /** The last crash while loading with or without sharp, and until when it counts. */
  #startFailure: StartFailure | undefined;

  constructor(options: RenderHostOptions) {
    this.#options = options;
    const given = options.environment;
    const passed = PASSED_ENVIRONMENT.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
    // Two arenas: otherwise the allocator keeps one for each thread that ever decoded.
    this.#environment = { PATH: DEFAULT_PATH, ...Object.fromEntries(passed), MALLOC_ARENA_MAX: "2" };
    this.#ffmpeg = Bun.which("ffmpeg", { PATH: this.#environment.PATH ?? DEFAULT_PATH }) ?? undefined;
  }

  get hasFfmpeg(): boolean {
    return this.#ffmpeg !== undefined;
  }

  /** What the last process reported; undefined before the first one is ready. */
  get status(): ThumbnailStatus | undefined {
    return this.#status;
  }

  /** The status if no process can be started now, else undefined. */
  unavailable(): ThumbnailStatus | undefined {
    const failure = this.#currentStartFailure();
    return failure?.withoutSharp === true ? this.#unavailableStatus(failure.reason) : undefined;
  }

  /** Whether the process takes jobs. One that is ending takes no more; the next one does. */
  get canTakeWork(): boolean {
    return this.#isReady && this.#process?.isTerminating === false;
  }

  /** Sends a rendering to the process. */
  request(message: RenderRequest): void {
    this.#process?.request(message);
  }

  /** Ends the process; the next one starts on demand. */
  kill(reason: string): void {
    this.#process?.kill(reason);
  }

  /** Ends the process for good. */
  async close(reason: string): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#startTimer, this.#idleTimer, this.#watchTimer]) clearTimeout(timer);
    this.#process?.kill(reason);
    await this.#process?.ended();
  }

  /** Starts the process unless it runs. */
  ensureProcess(): void {
    if (this.#process !== undefined) return;
    const failure = this.#currentStartFailure();
    if (failure?.withoutSharp === true) {
      this.#options.onUnavailable(this.#unavailableStatus(failure.reason));
      return;
    }
    const { config, derived, childCommand, log } = this.#options;
    const sharpRejection = failure?.reason;
    try {
      const started = new RenderProcess({
        command: childCommand,
        log,
        environment: this.#environment,
        configure: {
          type: "configure",
          thumbsDir: derived.directory,
          nativeDir: config.nativeDir,
          libvips: config.libvips,
          sharpRejection,
          ffmpeg: this.#ffmpeg,
          memoryLimitBytes: config.memoryLimitBytes,
          timeoutMs: config.timeoutMs,
        },
        onMessage: (message) => this.#receive(message),
        onEnd: (end) => this.#onEnd(end, sharpRejection !== undefined),
      });
      this.#process = started;
      this.#startTimer = setTimeout(
        () => started.kill(`was not ready within ${START_TIMEOUT_MS} ms`),
        START_TIMEOUT_MS,
      );
      this.#startTimer.unref();
    } catch (error) {
      this.#onStartFailure(messageOf(error), true);
    }
  }

  #receive(message: Exclude<FromChild, HelloMessage>): void {
    if (this.#isClosed) return;
    if (message.type !== "ready") {
      this.#options.onMessage(message);
      return;
    }
    clearTimeout(this.#startTimer);
    this.#isReady = true;
    const { unconfined } = message.status;
    if (unconfined !== undefined && this.#status === undefined) {
      this.#options.log.warn("Processes that read files are not denied the network.", { reason: unconfined });
    }
    this.#status = message.status;
    this.#options.onReady(message.status);
  }

  #onEnd(end: ProcessEnd, withoutSharp: boolean): void {
    const wasReady = this.#isReady;
    clearTimeout(this.#startTimer);
    this.#process = undefined;
    this.#isReady = false;
    if (this.#isClosed) return;
    if (!wasReady) this.#onStartFailure(describeEnd(end), withoutSharp);
    this.#options.onEnd(end, wasReady);
  }

  /** A process crashed before it was ready: the next one starts without sharp; after another crash none starts. */
  #onStartFailure(reason: string, withoutSharp: boolean): void {
    this.#options.log.warn(
      withoutSharp
        ? "Cannot start the thumbnail process; no thumbnails are created."
        : "Cannot load the image library; using the built-in decoder of Bun.",
      { reason },
    );
    this.#startFailure = { reason, withoutSharp, untilMs: performance.now() + START_RETRY_MS };
    if (withoutSharp) this.#options.onUnavailable(this.#unavailableStatus(reason));
  }

  #currentStartFailure(): StartFailure | undefined {
    if (this.#startFailure !== undefined && performance.now() > this.#startFailure.untilMs) {
      this.#startFailure = undefined;
      this.#status = undefined;
    }
    return this.#startFailure;
  }

  #unavailableStatus(reason: string): ThumbnailStatus {
    return { renderer: "none", reason, heic: false, ffmpeg: this.hasFfmpeg };
  }

  /** Watches the memory while a job runs, and ends an idle process after a while. */
  watch(hasQueued: boolean): void {
    if (this.#options.runningCount() > 0) {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
      this.#watchTimer ??= setInterval(() => this.#checkMemory(), WATCH_INTERVAL_MS);
      this.#watchTimer.unref();
      return;
    }
    clearInterval(this.#watchTimer);
    this.#watchTimer = undefined;
    if (!this.canTakeWork || hasQueued) return;
    if ((this.#process?.findResidentBytes() ?? 0) > RECYCLE_BYTES) this.#process?.kill("has grown and is replaced");
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = undefined;
      if (this.#options.runningCount() === 0) this.#process?.kill("had nothing to do");
    }, this.#options.config.idleMs ?? IDLE_MS);
    this.#idleTimer.unref();
  }

  #checkMemory(): void {
    const { memoryLimitBytes } = this.#options.config;
    if ((this.#process?.findResidentBytes() ?? 0) <= memoryLimitBytes) return;
    this.#process?.kill(`needed more than ${Math.round(memoryLimitBytes / 1024 / 1024)} MiB of memory`);
  }
}

/** Why a process ended, in words. */
export function describeEnd(end: ProcessEnd): string {
  if (end.killReason !== undefined) return `the image process ${end.killReason}`;
  const how = end.signal === undefined ? `with code ${end.exitCode}` : `by ${end.signal}`;
  return `the image process ended ${how}${end.lastError === "" ? "" : `: ${end.lastError}`}`;
}
