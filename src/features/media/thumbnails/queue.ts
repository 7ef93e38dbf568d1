import type { Digest } from "../../../blobs/digest.ts";
import type { ThumbnailVariant } from "./sizes.ts";

/** How a job ended. `cancelled`: the file is not the cause, and the job may be requested again. */
export type JobOutcome =
  | { readonly kind: "rendered" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cancelled" };

/** The rendering of one blob, for everybody who waits for it. */
export class Job {
  readonly digest: Digest;
  /** The requested variants; more may be added until the job runs. */
  readonly variants = new Set<ThumbnailVariant>();
  readonly queuedAtMs: number;
  readonly outcome: Promise<JobOutcome>;
  /** A request waits for it. */
  isDemanded: boolean;
  isRunning = false;
  /** It was running when the process crashed, and now runs alone, to find out whether it is the cause. */
  isSuspect = false;
  /** How many processes crashed while it ran, not counting those that we ended. */
  crashes = 0;
  readonly #resolve: (outcome: JobOutcome) => void;

  constructor(digest: Digest, isDemanded: boolean, queuedAtMs: number) {
    this.digest = digest;
    this.isDemanded = isDemanded;
    this.queuedAtMs = queuedAtMs;
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    this.outcome = promise;
    this.#resolve = resolve;
  }

  /** Reports the outcome to all who wait. Only the first call counts. */
  resolve(outcome: JobOutcome): void {
    this.#resolve(outcome);
  }
}

/** Queued jobs in order: those suspected of a crash first, then those that requests wait for, then scheduled ones. */
export class JobQueue {
  readonly #suspects: Job[] = [];
  readonly #demanded: Job[] = [];
  readonly #scheduled: Job[] = [];
  readonly #limits: { readonly demanded: number; readonly scheduled: number };

  constructor(limits: { readonly demanded: number; readonly scheduled: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#suspects.length + this.#demanded.length + this.#scheduled.length;
  }

  /** Adds a job to the end of its queue. @returns false if that queue is full */
  add(job: Job): boolean {
    const line = job.isDemanded ? this.#demanded : this.#scheduled;
    if (line.length >= (job.isDemanded ? this.#limits.demanded : this.#limits.scheduled)) return false;
    line.push(job);
    return true;
  }

  /** Returns a job that ran to the front. Always accepted, because it was counted before. */
  requeue(job: Job): void {
    this.#suspects.push(job);
  }

  /** Moves a scheduled job to the demanded ones, as a request waits for it now. If those are full it stays. */
  promote(job: Job): void {
    const index = this.#scheduled.indexOf(job);
    if (index < 0 || this.#demanded.length >= this.#limits.demanded) return;
    this.#scheduled.splice(index, 1);
    job.isDemanded = true;
    this.#demanded.push(job);
  }

  /** The next job; it stays in its queue until {@link take}. */
  peek(): Job | undefined {
    return this.#suspects[0] ?? this.#demanded[0] ?? this.#scheduled[0];
  }

  /** Removes the job returned by {@link peek}. */
  take(): Job | undefined {
    return this.#suspects.shift() ?? this.#demanded.shift() ?? this.#scheduled.shift();
  }
}
