import type { Digest } from "../../../blobs/digest.ts";
import type { ThumbnailVariant } from "./sizes.ts";

/** How a job ended. `cancelled`: nobody's fault, it may be asked for again. */
export type JobOutcome =
  | { readonly kind: "rendered" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "cancelled" };

/** One content's rendering, for everybody who waits for it. */
export class Job {
  readonly digest: Digest;
  /** What was asked for; grows until the job runs. */
  readonly variants = new Set<ThumbnailVariant>();
  readonly queuedAtMs: number;
  readonly outcome: Promise<JobOutcome>;
  /** Somebody waits for it. */
  isDemanded: boolean;
  isRunning = false;
  /** It was there when the process died, and runs by itself now, so that it is known whose fault it was. */
  isSuspect = false;
  /** How many processes ended under it without a verdict of ours. */
  crashes = 0;
  readonly #settle: (outcome: JobOutcome) => void;

  constructor(digest: Digest, isDemanded: boolean, queuedAtMs: number) {
    this.digest = digest;
    this.isDemanded = isDemanded;
    this.queuedAtMs = queuedAtMs;
    const { promise, resolve } = Promise.withResolvers<JobOutcome>();
    this.outcome = promise;
    this.#settle = resolve;
  }

  /** Tells everybody who waits. Only the first call counts. */
  settle(outcome: JobOutcome): void {
    this.#settle(outcome);
  }
}

/** Jobs that wait, in the order in which they are to run: what died with others first, then what somebody waits for. */
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

  /** Adds a job at the end of its line, or refuses it because the line is full. */
  add(job: Job): boolean {
    const line = job.isDemanded ? this.#demanded : this.#scheduled;
    if (line.length >= (job.isDemanded ? this.#limits.demanded : this.#limits.scheduled)) return false;
    line.push(job);
    return true;
  }

  /** Puts a job that ran back before all others. Always accepted: it was counted before. */
  putBack(job: Job): void {
    this.#suspects.push(job);
  }

  /** Somebody waits for a scheduled job now. Where that line is full it stays where it is. */
  promote(job: Job): void {
    const index = this.#scheduled.indexOf(job);
    if (index < 0 || this.#demanded.length >= this.#limits.demanded) return;
    this.#scheduled.splice(index, 1);
    job.isDemanded = true;
    this.#demanded.push(job);
  }

  /** The next job and whether it is merely scheduled; stays in its line until {@link take}. */
  peek(): Job | undefined {
    return this.#suspects[0] ?? this.#demanded[0] ?? this.#scheduled[0];
  }

  /** Removes the job that {@link peek} gave. */
  take(): Job | undefined {
    return this.#suspects.shift() ?? this.#demanded.shift() ?? this.#scheduled.shift();
  }
}
