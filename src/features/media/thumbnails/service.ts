import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DerivedFile, DerivedStore } from "../../../blobs/derived.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { Log } from "../../../lib/log.ts";
import { LIBVIPS_VERSION, VERSION } from "../../../version.ts";
import { BUN_FORMATS, isVideoFormat, promisedFormat } from "./formats.ts";
import type { FromChild, Hello, RenderFailed, ThumbnailStatus } from "./protocol.ts";
import { Job, type JobOutcome, JobQueue } from "./queue.ts";
import { type ProcessEnd, RenderProcess } from "./render-process.ts";
import { SCHEDULED_VARIANTS, type ThumbnailVariant, VARIANTS } from "./sizes.ts";

/** Failures of blobs that no thumbnail can be made of, stored in the database. */
export interface FailureStore {
  /** The last failure of this blob; `program` is the version in which it failed. */
  find(digest: Digest): { readonly reason: string; readonly program: string } | undefined;
  /** Stores the failure, replacing an earlier one. */
  record(digest: Digest, reason: string, program: string): void;
}

/** Limits and paths. */
export interface ThumbnailConfig {
  /** How many pictures are decoded concurrently: 1 or 2. */
  readonly concurrency: number;
  /** A rendering that takes longer is ended with its process. */
  readonly timeoutMs: number;
  /** A process that holds more resident memory is ended. */
  readonly memoryLimitBytes: number;
  /**
   * Folder for the native libraries of the executable: `LARDER_NATIVE_DIR` or `<data>/native`. If absent, they are
   * loaded from memory.
   */
  readonly nativeDir?: string;
  /** `LARDER_LIBVIPS`: a libvips-cpp that replaces the embedded one. */
  readonly libvips?: string;
  /** How long a scheduled job waits while {@link ThumbnailServiceOptions.isBusy}; default 1 s. */
  readonly patienceMs?: number;
  /** How long an idle process stays; default 60 s. */
  readonly idleMs?: number;
}

/** What a {@link ThumbnailService} needs. */
export interface ThumbnailServiceOptions {
  readonly blobs: Pick<BlobStore, "pathOf" | "fetchLocal">;
  readonly derived: DerivedStore;
  readonly failures: FailureStore;
  readonly log: Log;
  readonly config: ThumbnailConfig;
  /** Executable and arguments that run `runThumbnailChild()`. */
  readonly childCommand: readonly string[];
  /** The environment of the server; the child gets only the few variables that a program needs, and no secrets. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Whether uploads are running: scheduled work then waits for a while. */
  readonly isBusy?: () => boolean;
}

/** Result of {@link ThumbnailService.get}. */
export type ThumbnailResult =
  | { readonly state: "ready"; readonly path: string; readonly sizeBytes: number }
  | { readonly state: "pending" }
  | { readonly state: "none"; readonly reason: string };

interface Running {
  readonly job: Job;
  readonly timer: Timer;
  /** The variant it is made from, if it is not made from the file itself. */
  readonly source: ThumbnailVariant | undefined;
}

interface StartFailure {
  readonly reason: string;
  readonly withoutSharp: boolean;
  readonly untilMs: number;
}

const QUEUE_LIMITS = { demanded: 512, scheduled: 4096 };
const IDLE_MS = 60_000;
const WATCH_INTERVAL_MS = 100;
/** How long a scheduled job waits for uploads to end. With endless uploads the work is late, but not starved. */
const PATIENCE_MS = 1_000;
const BUSY_POLL_MS = 100;
/** Loading the libraries takes 0.1 s, from a slow memory card some seconds. */
const START_TIMEOUT_MS = 30_000;
/** How long the child starts without sharp, or not at all, after a process crashed while loading. */
const START_RETRY_MS = 10 * 60_000;
/** An idle process larger than this is replaced: memory of WebAssembly never shrinks. */
const RECYCLE_BYTES = 256 * 1024 * 1024;
/** After this many crashes a blob counts as the cause. */
const CRASHES_MAX = 2;
/** Environment variables passed to the child. All others stay with the server. */
const PASSED_ENVIRONMENT = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"];
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Makes and finds thumbnails. All decoding happens in a child process, started on demand and ended after a minute
 * without work. A hostile file can crash only that process.
 *
 * - Each blob is rendered once at a time, even if many request it. Requested work runs before scheduled work.
 * - A crash, a timeout or too much memory ends the child. If two pictures were in it, both run again, alone: only the
 *   one that crashes again is the cause. Its failure is stored, and this version does not try it again.
 * - The queue is bounded. Scheduled work beyond the bound is dropped, because it is made on demand anyway.
 */
export class ThumbnailService {
  readonly #options: ThumbnailServiceOptions;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ffmpeg: string | undefined;
  readonly #queue = new JobQueue(QUEUE_LIMITS);
  /** Every queued or running job. */
  readonly #jobs = new Map<Digest, Job>();
  readonly #running = new Map<number, Running>();
  #nextId = 1;
  #process: RenderProcess | undefined;
  #isReady = false;
  #startTimer: Timer | undefined;
  #idleTimer: Timer | undefined;
  #watchTimer: Timer | undefined;
  #busyTimer: Timer | undefined;
  #status: ThumbnailStatus | undefined;
  #statusWaiters: ((status: ThumbnailStatus) => void)[] = [];
  /** The last crash while loading with or without sharp, and until when it counts. */
  #startFailure: StartFailure | undefined;
  #isClosed = false;

  constructor(options: ThumbnailServiceOptions) {
    this.#options = options;
    const given = options.environment ?? {};
    const passed = PASSED_ENVIRONMENT.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
    // Two arenas: otherwise the allocator keeps one for each thread that ever decoded.
    this.#environment = { PATH: DEFAULT_PATH, ...Object.fromEntries(passed), MALLOC_ARENA_MAX: "2" };
    this.#ffmpeg = Bun.which("ffmpeg", { PATH: this.#environment.PATH ?? DEFAULT_PATH }) ?? undefined;
  }

  /** Renderings that have not started. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** The version that a failure is stored for: another version tries again. */
  get program(): string {
    return `larder ${VERSION} libvips ${LIBVIPS_VERSION}`;
  }

  /** Whether thumbnails of this media type can be made here. Reads no file and starts nothing. */
  canRender(mediaType: string): boolean {
    const format = promisedFormat(mediaType);
    if (format === undefined || this.#status?.renderer === "none") return false;
    if (isVideoFormat(format)) return this.#ffmpeg !== undefined;
    return this.#status?.renderer !== "bun" || BUN_FORMATS.has(format);
  }

  /**
   * Schedules the usual variants. Returns at once; does nothing if they exist, are impossible, or the queue is full.
   * Never throws: thumbnails must not affect the response to an upload.
   */
  schedule(digest: Digest, mediaType: string): void {
    try {
      if (this.#isClosed || this.#jobs.has(digest) || this.#findObstacle(digest, mediaType) !== undefined) return;
      if (this.#missing(digest, SCHEDULED_VARIANTS).length === 0) return;
      this.#add(digest, SCHEDULED_VARIANTS, false);
      this.#pump();
    } catch (error) {
      this.#options.log.warn("Could not schedule thumbnails.", { digest, error });
    }
  }

  /**
   * The variant, made now if missing. Waits at most `waitMs`; work that takes longer is `pending` and continues.
   * @throws the system's error if the derived store cannot be read, the database's if the failures cannot be read
   */
  async get(digest: Digest, mediaType: string, variant: ThumbnailVariant, waitMs = 5000): Promise<ThumbnailResult> {
    const deadlineMs = performance.now() + waitMs;
    let renderings = 0;
    for (;;) {
      const found = this.#options.derived.find(digest, variant);
      if (found !== undefined) return ready(found);
      if (this.#isClosed) return { state: "pending" };
      const obstacle = this.#findObstacle(digest, mediaType);
      if (obstacle !== undefined) return { state: "none", reason: obstacle };
      // Rendered, and missing again: somebody is deleting thumbs/ right now. Do not retry forever.
      if (renderings > 2) return { state: "pending" };

      await this.#options.blobs.fetchLocal(digest);
      // A job added after closing would never end.
      if (this.#isClosed) return { state: "pending" };
      const job = this.#demand(digest, variant);
      if (job === undefined) return { state: "pending" };
      const outcome = await within(job.outcome, deadlineMs - performance.now());
      if (outcome === undefined || outcome.kind === "cancelled") return { state: "pending" };
      if (outcome.kind === "failed") return { state: "none", reason: outcome.reason };
      renderings += 1;
    }
  }

  /**
   * What thumbnails are made with on this machine. Queries the child, which starts for it the first time (0.1 s). Loads
   * nothing into this process.
   */
  async status(): Promise<ThumbnailStatus> {
    const known = this.#status ?? this.#unavailable();
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<ThumbnailStatus>();
    this.#statusWaiters.push(resolve);
    this.#pump();
    return promise;
  }

  /** Ends the child and all queued jobs. None of them is stored as failed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#startTimer, this.#idleTimer, this.#watchTimer, this.#busyTimer]) clearTimeout(timer);
    for (const { timer } of this.#running.values()) clearTimeout(timer);
    this.#running.clear();
    this.#finishAll({ kind: "cancelled" });
    this.#reportStatus(
      this.#status ?? { renderer: "none", reason: "the server is closing", heic: false, ffmpeg: false },
    );
    this.#process?.kill("the server is closing");
    await this.#process?.ended();
  }

  // Jobs

  /** Why no thumbnail can be made of this blob, or undefined. */
  #findObstacle(digest: Digest, mediaType: string): string | undefined {
    if (!this.canRender(mediaType)) return `no thumbnails are made of ${mediaType} here`;
    const unavailable = this.#unavailable();
    if (unavailable !== undefined) return unavailable.reason;
    const failure = this.#options.failures.find(digest);
    return failure?.program === this.program ? failure.reason : undefined;
  }

  #unavailable(): ThumbnailStatus | undefined {
    const failure = this.#currentStartFailure();
    if (failure === undefined || !failure.withoutSharp) return undefined;
    return { renderer: "none", reason: failure.reason, heic: false, ffmpeg: this.#ffmpeg !== undefined };
  }

  #missing(digest: Digest, variants: readonly ThumbnailVariant[]): ThumbnailVariant[] {
    return variants.filter((variant) => this.#options.derived.find(digest, variant) === undefined);
  }

  /** The job that makes the variant, or one that must end first; undefined if the queue is full. */
  #demand(digest: Digest, variant: ThumbnailVariant): Job | undefined {
    const existing = this.#jobs.get(digest);
    const job = existing ?? this.#add(digest, [variant], true);
    if (job !== undefined && !job.isRunning) {
      job.variants.add(variant);
      if (!job.isDemanded) this.#queue.promote(job);
    }
    this.#pump();
    return job;
  }

  #add(digest: Digest, variants: readonly ThumbnailVariant[], isDemanded: boolean): Job | undefined {
    const job = new Job(digest, isDemanded, performance.now());
    for (const variant of variants) job.variants.add(variant);
    if (!this.#queue.add(job)) return undefined;
    this.#jobs.set(digest, job);
    return job;
  }

  #finish(job: Job, outcome: JobOutcome): void {
    this.#jobs.delete(job.digest);
    job.resolve(outcome);
  }

  #finishAll(outcome: JobOutcome): void {
    while (this.#queue.take() !== undefined);
    for (const job of this.#jobs.values()) this.#finish(job, outcome);
  }

  #failPermanently(job: Job, reason: string): void {
    this.#options.log.info("Cannot create a thumbnail of this file; will not retry.", { digest: job.digest, reason });
    this.#orFail(job, () => this.#options.failures.record(job.digest, reason, this.program));
    this.#finish(job, { kind: "failed", reason });
  }

  /** Errors of disk and database end the job, not the server, which runs this from timers and messages. */
  #orFail(job: Job, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#options.log.error("Thumbnail creation failed.", { digest: job.digest, error });
      this.#finish(job, { kind: "failed", reason: error instanceof Error ? error.message : String(error) });
    }
  }

  // Scheduling

  /** Starts all jobs that may run now. Called after everything that could change which ones may. */
  #pump(): void {
    if (this.#isClosed) return;
    if (this.#queue.size > 0 || this.#statusWaiters.length > 0) this.#ensureProcess();
    while (this.#canTakeWork() && this.#mayStart(this.#queue.peek())) {
      const job = this.#queue.take();
      if (job !== undefined) this.#orFail(job, () => this.#start(job));
    }
    this.#watch();
  }

  /** A process that is ending takes no more jobs; the next one does. */
  #canTakeWork(): boolean {
    return this.#isReady && this.#process?.isTerminating === false;
  }

  #mayStart(job: Job | undefined): job is Job {
    if (job === undefined || this.#running.size >= this.#options.config.concurrency) return false;
    const isAlone = this.#running.size === 0;
    if (!isAlone && (job.isSuspect || [...this.#running.values()].some((running) => running.job.isSuspect)))
      return false;
    if (job.isSuspect || job.isDemanded || this.#options.isBusy?.() !== true) return true;
    if (performance.now() - job.queuedAtMs >= (this.#options.config.patienceMs ?? PATIENCE_MS)) return true;
    this.#busyTimer ??= setTimeout(() => {
      this.#busyTimer = undefined;
      this.#pump();
    }, BUSY_POLL_MS);
    this.#busyTimer.unref();
    return false;
  }

  #start(job: Job): void {
    const { blobs, config } = this.#options;
    const { variants, source } = this.#plan(job);
    if (variants.length === 0) {
      this.#finish(job, { kind: "rendered" });
      return;
    }
    const id = this.#nextId;
    this.#nextId += 1;
    const timer = setTimeout(() => this.#process?.kill(`took longer than ${config.timeoutMs} ms`), config.timeoutMs);
    timer.unref();
    job.isRunning = true;
    this.#running.set(id, { job, timer, source: source?.variant });
    this.#process?.request({
      type: "render",
      id,
      digest: job.digest,
      sourcePath: source?.path ?? blobs.pathOf(job.digest),
      isDerived: source !== undefined,
      variants,
    });
  }

  /**
   * What to render, and from what: the smallest existing variant that is larger than all requested ones saves decoding
   * the file. If the file must be decoded, the usual variants are made as well, at a fraction of that cost.
   */
  #plan(job: Job): { variants: ThumbnailVariant[]; source: { variant: ThumbnailVariant; path: string } | undefined } {
    const missing = this.#missing(job.digest, VARIANTS);
    const requested = missing.filter((variant) => job.variants.has(variant));
    const [largest] = requested;
    if (largest === undefined) return { variants: [], source: undefined };
    const variant = VARIANTS.slice(0, VARIANTS.indexOf(largest)).findLast((larger) => !missing.includes(larger));
    if (variant !== undefined) {
      return { variants: requested, source: { variant, path: this.#options.derived.path(job.digest, variant) } };
    }
    const usual = missing.filter((each) => requested.includes(each) || SCHEDULED_VARIANTS.includes(each));
    return { variants: usual, source: undefined };
  }

  #receive(message: Exclude<FromChild, Hello>): void {
    if (this.#isClosed) return;
    if (message.type === "ready") {
      clearTimeout(this.#startTimer);
      this.#isReady = true;
      this.#status = message.status;
      this.#reportStatus(message.status);
    } else {
      const running = this.#running.get(message.id);
      if (running === undefined) return;
      clearTimeout(running.timer);
      this.#running.delete(message.id);
      if (message.type === "rendered") this.#finish(running.job, { kind: "rendered" });
      else this.#fail(running, message);
    }
    this.#pump();
  }

  #fail({ job, source }: Running, message: RenderFailed): void {
    if (source !== undefined) {
      // The source variant was damaged or deleted, which is no fault of the file: it is rendered from the file itself.
      this.#orFail(job, () => {
        this.#options.derived.remove(job.digest, [source]);
        job.isRunning = false;
        this.#queue.putBack(job);
      });
    } else if (message.isContentFault) this.#failPermanently(job, message.reason);
    else {
      this.#options.log.warn("Thumbnail creation failed.", { digest: job.digest, reason: message.reason });
      this.#finish(job, { kind: "failed", reason: message.reason });
    }
  }

  // The child process

  #ensureProcess(): void {
    if (this.#process !== undefined) return;
    const failure = this.#currentStartFailure();
    if (failure?.withoutSharp === true) {
      this.#giveUp(failure.reason);
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
      this.#onStartFailure(error instanceof Error ? error.message : String(error), true);
    }
  }

  #onEnd(end: ProcessEnd, withoutSharp: boolean): void {
    const wasReady = this.#isReady;
    clearTimeout(this.#startTimer);
    this.#process = undefined;
    this.#isReady = false;
    if (this.#isClosed) return;
    const suspects = [...this.#running.values()];
    this.#running.clear();
    for (const { timer } of suspects) clearTimeout(timer);
    if (!wasReady) this.#onStartFailure(describeEnd(end), withoutSharp);
    else for (const { job } of suspects) this.#handleCrash(job, end, suspects.length === 1);
    this.#pump();
  }

  /** Handles a job whose process ended while it ran. */
  #handleCrash(job: Job, end: ProcessEnd, wasAlone: boolean): void {
    const reason = describeEnd(end);
    // A shutdown of the machine, or the operator, ended it: not the fault of the file. Bounded, in case this repeats.
    const isFromOutside = end.killReason === undefined && ["SIGTERM", "SIGINT", "SIGHUP"].includes(end.signal ?? "");
    if (wasAlone) job.crashes += 1;
    const isCause = wasAlone && !isFromOutside && (end.killReason !== undefined || job.crashes >= CRASHES_MAX);
    if (isCause) this.#failPermanently(job, reason);
    else if (job.crashes >= CRASHES_MAX) this.#finish(job, { kind: "cancelled" });
    else {
      this.#options.log.warn("The thumbnail process exited; retrying its jobs.", { digest: job.digest, reason });
      job.isRunning = false;
      job.isSuspect = true;
      this.#queue.putBack(job);
    }
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
    if (withoutSharp) this.#giveUp(reason);
  }

  #currentStartFailure(): StartFailure | undefined {
    if (this.#startFailure !== undefined && performance.now() > this.#startFailure.untilMs) {
      this.#startFailure = undefined;
      this.#status = undefined;
    }
    return this.#startFailure;
  }

  #giveUp(reason: string): void {
    this.#finishAll({ kind: "failed", reason });
    this.#reportStatus({ renderer: "none", reason, heic: false, ffmpeg: this.#ffmpeg !== undefined });
  }

  #reportStatus(status: ThumbnailStatus): void {
    for (const waiter of this.#statusWaiters.splice(0)) waiter(status);
  }

  /** Watches the memory while a job runs, and ends an idle process after a while. */
  #watch(): void {
    if (this.#running.size > 0) {
      clearTimeout(this.#idleTimer);
      this.#idleTimer = undefined;
      this.#watchTimer ??= setInterval(() => this.#checkMemory(), WATCH_INTERVAL_MS);
      this.#watchTimer.unref();
      return;
    }
    clearInterval(this.#watchTimer);
    this.#watchTimer = undefined;
    if (!this.#canTakeWork() || this.#queue.size > 0) return;
    if ((this.#process?.findResidentBytes() ?? 0) > RECYCLE_BYTES) this.#process?.kill("has grown and is replaced");
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = undefined;
      if (this.#running.size === 0) this.#process?.kill("had nothing to do");
    }, this.#options.config.idleMs ?? IDLE_MS);
    this.#idleTimer.unref();
  }

  #checkMemory(): void {
    const { memoryLimitBytes } = this.#options.config;
    if ((this.#process?.findResidentBytes() ?? 0) <= memoryLimitBytes) return;
    this.#process?.kill(`needed more than ${Math.round(memoryLimitBytes / 1024 / 1024)} MiB of memory`);
  }
}

function ready(file: DerivedFile): ThumbnailResult {
  return { state: "ready", path: file.path, sizeBytes: file.sizeBytes };
}

/** The value, or undefined when it takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  if (ms <= 0) return undefined;
  const { promise: expired, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}

function describeEnd(end: ProcessEnd): string {
  if (end.killReason !== undefined) return `the image process ${end.killReason}`;
  const how = end.signal === undefined ? `with code ${end.exitCode}` : `by ${end.signal}`;
  return `the image process ended ${how}${end.lastWords === "" ? "" : `: ${end.lastWords}`}`;
}
