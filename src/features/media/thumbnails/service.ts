import type { DerivedFile } from "../../../blobs/derived.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { LIBVIPS_VERSION, VERSION } from "../../../version.ts";
import { BUN_FORMATS, isVideoFormat, promisedFormat } from "./formats.ts";
import type { ThumbnailResult, ThumbnailServiceOptions } from "./options.ts";
import type { RenderedMessage, RenderFailedMessage, ThumbnailStatus } from "./protocol.ts";
import { Job, type JobOutcome, JobQueue } from "./queue.ts";
import { describeEnd, RenderHost } from "./render-host.ts";
import type { ProcessEnd } from "./render-process.ts";
import { SCHEDULED_VARIANTS, type ThumbnailVariant, VARIANTS } from "./sizes.ts";
import { messageOf } from "../../../lib/error.ts";

interface RunningJob {
  readonly job: Job;
  readonly timer: Timer;
  /** The variant it is made from, if it is not made from the file itself. */
  readonly source: ThumbnailVariant | undefined;
}

const QUEUE_LIMITS = { demanded: 512, scheduled: 4096 };
/** How long a scheduled job waits for uploads to end. With endless uploads the work is late, but not starved. */
const PATIENCE_MS = 1_000;
const BUSY_POLL_MS = 100;
/** After this many crashes a blob counts as the cause. */
const CRASHES_MAX = 2;

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
  readonly #host: RenderHost;
  readonly #queue = new JobQueue(QUEUE_LIMITS);
  /** Every queued or running job. */
  readonly #jobs = new Map<Digest, Job>();
  readonly #running = new Map<number, RunningJob>();
  #nextId = 1;
  #busyTimer: Timer | undefined;
  #statusWaiters: ((status: ThumbnailStatus) => void)[] = [];
  #isClosed = false;

  constructor(options: ThumbnailServiceOptions) {
    this.#options = options;
    this.#host = new RenderHost({
      ...options,
      environment: options.environment ?? {},
      runningCount: () => this.#running.size,
      onReady: (status) => {
        this.#reportStatus(status);
        this.#pump();
      },
      onMessage: (message) => this.#receive(message),
      onEnd: (end, wasReady) => this.#onEnd(end, wasReady),
      onUnavailable: (status) => this.#giveUp(status),
    });
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
    if (format === undefined || this.#host.status?.renderer === "none") return false;
    if (isVideoFormat(format)) return this.#host.hasFfmpeg;
    return this.#host.status?.renderer !== "bun" || BUN_FORMATS.has(format);
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
   * Like {@link schedule}, and waits for the end of the job.
   * @returns `none` if there is nothing to make or it can't be made by this version; `failed` if a later try may succeed
   * @throws the system's error if the derived store cannot be read, the database's if the failures cannot be read
   */
  async make(digest: Digest, mediaType: string): Promise<"made" | "none" | "failed"> {
    this.schedule(digest, mediaType);
    const outcome = await this.#jobs.get(digest)?.outcome;
    if (outcome?.kind === "rendered") return "made";
    const isRecorded = this.#options.failures.find(digest)?.program === this.program;
    return isRecorded || this.#missing(digest, SCHEDULED_VARIANTS).length === 0 ? "none" : "failed";
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
    const known = this.#host.unavailable() ?? this.#host.status;
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<ThumbnailStatus>();
    this.#statusWaiters.push(resolve);
    this.#pump();
    return promise;
  }

  /** Ends the child and all queued jobs. None of them is stored as failed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#busyTimer);
    for (const { timer } of this.#running.values()) clearTimeout(timer);
    this.#running.clear();
    this.#finishAll({ kind: "cancelled" });
    this.#reportStatus(
      this.#host.status ?? { renderer: "none", reason: "the server is closing", heic: false, ffmpeg: false },
    );
    await this.#host.close("the server is closing");
  }

  // Jobs

  /** Why no thumbnail can be made of this blob, or undefined. */
  #findObstacle(digest: Digest, mediaType: string): string | undefined {
    if (!this.canRender(mediaType)) return `no thumbnails are made of ${mediaType} here`;
    const unavailable = this.#host.unavailable();
    if (unavailable !== undefined) return unavailable.reason;
    const failure = this.#options.failures.find(digest);
    return failure?.program === this.program ? failure.reason : undefined;
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
      this.#finish(job, { kind: "failed", reason: messageOf(error) });
    }
  }

  // Scheduling

  /** Starts all jobs that may run now. Called after everything that could change which ones may. */
  #pump(): void {
    if (this.#isClosed) return;
    if (this.#queue.size > 0 || this.#statusWaiters.length > 0) this.#host.ensureProcess();
    while (this.#host.canTakeWork && this.#mayStart(this.#queue.peek())) {
      const job = this.#queue.take();
      if (job !== undefined) this.#orFail(job, () => this.#start(job));
    }
    this.#host.watch(this.#queue.size > 0);
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
    const timer = setTimeout(() => this.#host.kill(`took longer than ${config.timeoutMs} ms`), config.timeoutMs);
    timer.unref();
    job.isRunning = true;
    this.#running.set(id, { job, timer, source: source?.variant });
    this.#host.request({
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

  #receive(message: RenderedMessage | RenderFailedMessage): void {
    const running = this.#running.get(message.id);
    if (running === undefined) return;
    clearTimeout(running.timer);
    this.#running.delete(message.id);
    if (message.type === "rendered") this.#finish(running.job, { kind: "rendered" });
    else this.#fail(running, message);
    this.#pump();
  }

  #fail({ job, source }: RunningJob, message: RenderFailedMessage): void {
    if (source !== undefined) {
      // The source variant was damaged or deleted, which is no fault of the file: it is rendered from the file itself.
      this.#orFail(job, () => {
        this.#options.derived.remove(job.digest, [source]);
        job.isRunning = false;
        this.#queue.requeue(job);
      });
    } else if (message.isContentFault) this.#failPermanently(job, message.reason);
    else {
      this.#options.log.warn("Thumbnail creation failed.", { digest: job.digest, reason: message.reason });
      this.#finish(job, { kind: "failed", reason: message.reason });
    }
  }

  // The child process

  #onEnd(end: ProcessEnd, wasReady: boolean): void {
    const suspects = [...this.#running.values()];
    this.#running.clear();
    for (const { timer } of suspects) clearTimeout(timer);
    if (wasReady) for (const { job } of suspects) this.#handleCrash(job, end, suspects.length === 1);
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
      this.#queue.requeue(job);
    }
  }

  #giveUp(status: ThumbnailStatus): void {
    this.#finishAll({ kind: "failed", reason: status.reason ?? "" });
    this.#reportStatus(status);
  }

  #reportStatus(status: ThumbnailStatus): void {
    for (const waiter of this.#statusWaiters.splice(0)) waiter(status);
  }
}

function ready(file: DerivedFile): ThumbnailResult {
  return { state: "ready", path: file.path, sizeBytes: file.sizeBytes };
}

/** The value of the promise, or undefined if it takes longer. */
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
