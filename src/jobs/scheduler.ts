/**
 * Scheduled jobs, with croner: when each is due, that it never overlaps itself, and its last result. A job does a
 * bounded amount of work and may be killed at any point; the next run continues at the stored cursor.
 *
 * A server at home may be off at night. So a job that was due while it was off, or that was interrupted, runs soon
 * after the start; such jobs start one after the other, not all in the same second.
 */
import { Cron } from "croner";
import type { Db } from "../db/open.ts";
import type { Writer } from "../db/transaction.ts";
import { type Clock, toTimestamp } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ClockWatch } from "./clock-watch.ts";
import { JOB_ROW, type JobOutcome, type JobRow } from "./job-requests.ts";
import { messageOf } from "../lib/error.ts";

/** What the scheduler passes to a run. */
export interface JobContext {
  /** Aborted when the server stops: finish the current step and return. */
  readonly signal: AbortSignal;
  /** The cursor that the last run stored; null to start from the beginning. */
  readonly cursor: string | null;
  /** Stores the cursor for the next run, durably on return; null for the beginning. */
  readonly setCursor: (cursor: string | null) => Promise<void>;
  /** Arguments of a command ({@link requestJob}); undefined in a scheduled run. */
  readonly arguments: unknown;
  /** True if this run was requested, not scheduled. */
  readonly isRequested?: boolean;
}

/** A housekeeping job. */
export interface Job {
  /** Stable: the key of its row in the database. */
  readonly name: string;
  /** Cron pattern, in the machine's time zone; five or six parts (with seconds). */
  readonly schedule: string;
  /** Its purpose, in one sentence. */
  readonly description: string;
  /** True if it deletes by age: it is not scheduled while the clock is doubtful. */
  readonly deletesByAge?: boolean;
  /** Does a bounded amount of work. @returns a sentence on what was done */
  run(context: JobContext): Promise<string>;
}

/** A job and its state, as /api/admin/stats returns it. */
export interface JobState {
  readonly name: string;
  readonly schedule: string;
  readonly description: string;
  readonly isRunning: boolean;
  readonly nextRunAtMs: number | null;
  readonly lastStartedAtMs: number | null;
  /** Of the last run that ended, successfully or not. */
  readonly lastFinishedAtMs: number | null;
  readonly lastResult: string | null;
  /** Of the last run that ended; null if it succeeded. */
  readonly lastError: string | null;
}

/** Dependencies of {@link Scheduler}. */
interface SchedulerOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: readonly Job[];
  /** Says whether the clock can be trusted; without it, it always is. */
  readonly clockWatch?: Pick<ClockWatch, "doubtedUntilMs" | "check">;
  /** The delay of the first missed job after the start, and between the others; 30 s and 15 s by default. */
  readonly missedAfterMs?: number;
  readonly missedApartMs?: number;
}

/** How a run was started. */
type RunOptions = Required<Pick<JobContext, "arguments" | "isRequested">>;

interface RunRequest {
  readonly requestedAt: number;
  readonly arguments: unknown;
}

class ScheduledJob {
  readonly job: Job;
  running: Promise<JobOutcome> | undefined;
  /** A run without arguments that waits for the current one to end; further requests share it. */
  queued: Promise<JobOutcome> | undefined;
  /** The last request that was handled, in case the database could not record that. */
  handledAt: number | undefined;
  #cron: Cron | undefined;

  constructor(job: Job) {
    this.job = job;
  }

  /** Made at the first use, so that the start does not wait for it. Until start(), it only computes times. */
  get cron(): Cron {
    return (this.#cron ??= new Cron(this.job.schedule, { paused: true, unref: true }));
  }

  stop(): void {
    this.#cron?.stop();
  }
}

const MISSED_AFTER_MS = 30_000;
const MISSED_APART_MS = 15_000;
const RECORD_RETRIES = 10;
const RECORD_RETRY_MS = 200;
const STOPPED: JobOutcome = { isOk: false, text: "The server is stopping." };

/** The registry of jobs and their clockwork. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #entries = new Map<string, ScheduledJob>();
  readonly #abort = new AbortController();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #statements;

  /** @throws Error for a duplicate name */
  constructor(options: SchedulerOptions) {
    this.#options = options;
    for (const job of options.jobs) {
      if (this.#entries.has(job.name)) throw new Error(`Two jobs are named "${job.name}".`);
      this.#entries.set(job.name, new ScheduledJob(job));
    }
    const { sqlite } = options.db;
    this.#statements = {
      row: sqlite.prepare<JobRow, [string]>(`${JOB_ROW} WHERE name = ?1`),
      requested: sqlite.prepare<JobRow, []>(`${JOB_ROW} WHERE requested_at IS NOT NULL ORDER BY requested_at`),
      started: sqlite.prepare(
        `INSERT INTO jobs (name, last_started_at) VALUES (?1, ?2)
         ON CONFLICT DO UPDATE SET last_started_at = excluded.last_started_at`,
      ),
      cursor: sqlite.prepare(
        "INSERT INTO jobs (name, cursor) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
      ),
      finished: sqlite.prepare(
        `INSERT INTO jobs (name, last_started_at, last_finished_at, last_result, last_error) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET last_started_at = excluded.last_started_at,
           last_finished_at = excluded.last_finished_at, last_result = excluded.last_result,
           last_error = excluded.last_error`,
      ),
      // Only the handled request: another one may have come since.
      handled: sqlite.prepare(
        "UPDATE jobs SET requested_at = NULL, request_arguments = NULL WHERE name = ?1 AND requested_at = ?2",
      ),
    };
  }

  /** Starts the schedule, runs missed jobs soon, and handles earlier requests. @throws TypeError for an invalid pattern */
  start(): void {
    const { log, missedAfterMs = MISSED_AFTER_MS, missedApartMs = MISSED_APART_MS } = this.#options;
    const nowMs = this.#options.clock.nowMs();
    let missed = 0;
    const isFirstStart = this.list().every(({ lastStartedAtMs }) => lastStartedAtMs === null);
    for (const entry of this.#entries.values()) {
      entry.cron.schedule(() => this.#runScheduled(entry));
      entry.cron.resume();
      if (this.#isMissed(entry, nowMs)) this.#runLater(entry, missedAfterMs + missed++ * missedApartMs);
    }
    if (missed > 0 && !isFirstStart)
      log.info("Jobs were due while the server was off; running them soon.", { jobs: missed });
    this.handleRequests();
  }

  /** Every job with its state, in the given order. */
  list(): JobState[] {
    return [...this.#entries.values()].map(({ job, cron, running }) => {
      const row = this.#statements.row.get(job.name);
      return {
        name: job.name,
        schedule: job.schedule,
        description: job.description,
        isRunning: running !== undefined,
        nextRunAtMs: cron.nextRun()?.getTime() ?? null,
        lastStartedAtMs: row?.startedAt ?? null,
        lastFinishedAtMs: row?.finishedAt ?? null,
        lastResult: row?.result ?? null,
        lastError: row?.error ?? null,
      };
    });
  }

  /**
   * Runs a job now, or after its current run. Never rejects because of the job.
   * Calls without arguments that wait for the same run to end share the next run.
   * @throws Error if no job has this name
   */
  async runNow(name: string, givenArguments?: unknown): Promise<JobOutcome> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new Error(`There is no job "${name}".`);
    if (entry.running === undefined) return this.#run(entry, givenArguments, undefined, true);
    if (givenArguments !== undefined) return this.#runAfter(entry, givenArguments);
    entry.queued ??= this.#runAfter(entry, undefined);
    return entry.queued;
  }

  /**
   * Runs the jobs that other processes have requested. Call it when another process has written to the database. A
   * request for a running job is handled after that run.
   */
  handleRequests(): void {
    for (const row of this.#statements.requested.all()) {
      const entry = this.#entries.get(row.name);
      if (row.requestedAt === null) continue;
      const { requestedAt } = row;
      if (entry === undefined) {
        this.#options.log.warn("A requested job does not exist in this version; ignored it.", { job: row.name });
        void this.#record(() => this.#statements.handled.run(row.name, requestedAt));
      } else if (entry.running === undefined && entry.handledAt !== requestedAt && !this.#abort.signal.aborted) {
        void this.#run(entry, undefined, { requestedAt, arguments: parseArguments(row.requestArguments) }, true);
      }
    }
  }

  /** Starts no more jobs, signals running ones to stop, and waits for them. */
  async stop(): Promise<void> {
    this.#abort.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const entry of this.#entries.values()) entry.stop();
    await Promise.all([...this.#entries.values()].flatMap(({ running }) => running ?? []));
  }

  /** Whether a run is missing: the job never ran, was interrupted, or was due since its last start. */
  #isMissed({ job, cron }: ScheduledJob, nowMs: number): boolean {
    const row = this.#statements.row.get(job.name);
    const startedAt = row?.startedAt ?? null;
    if (startedAt === null || (row?.finishedAt ?? 0) < startedAt) return true;
    const due = cron.previousRuns(1, new Date(nowMs))[0];
    return due !== undefined && due.getTime() > startedAt;
  }

  #runLater(entry: ScheduledJob, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#runScheduled(entry);
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  /** A scheduled run; skipped if the job is still running. */
  #runScheduled(entry: ScheduledJob): void {
    if (entry.running !== undefined) return;
    const doubtedUntilMs = entry.job.deletesByAge === true ? this.#options.clockWatch?.doubtedUntilMs() : undefined;
    if (doubtedUntilMs === undefined) void this.#run(entry, undefined, undefined, false);
    else void this.#recordWaiting(entry.job, doubtedUntilMs);
  }

  /**
   * Records that a job that deletes by age waits, because the clock may be wrong. Administrators see it in the
   * overview.
   */
  #recordWaiting(job: Job, untilMs: number): Promise<boolean> {
    const nowMs = this.#options.clock.nowMs();
    const text = `Waits until ${toTimestamp(untilMs)}: the clock leapt ahead and may be wrong.`;
    return this.#record(() => this.#statements.finished.run(job.name, nowMs, nowMs, text, null));
  }

  async #runAfter(entry: ScheduledJob, givenArguments: unknown): Promise<JobOutcome> {
    while (entry.running !== undefined) await entry.running;
    // From here on this is the current run: a later call needs another one.
    if (givenArguments === undefined) entry.queued = undefined;
    return this.#run(entry, givenArguments, undefined, true);
  }

  #run(
    entry: ScheduledJob,
    givenArguments: unknown,
    request: RunRequest | undefined,
    isRequested: boolean,
  ): Promise<JobOutcome> {
    if (this.#abort.signal.aborted) return Promise.resolve(STOPPED);
    const all = request === undefined ? givenArguments : request.arguments;
    const running = this.#runRecorded(entry.job, { arguments: all, isRequested }, request);
    entry.running = running.then((outcome) => {
      entry.running = undefined;
      if (request !== undefined) entry.handledAt = request.requestedAt;
      this.#handleNext();
      return outcome;
    });
    return entry.running;
  }

  /** Handles requests that came while a job ran. */
  #handleNext(): void {
    try {
      if (!this.#abort.signal.aborted) this.handleRequests();
    } catch (error) {
      this.#options.log.error("Could not read job requests; will retry.", { error });
    }
  }

  /** Runs a job and records its start and result; never rejects. */
  async #runRecorded(job: Job, given: RunOptions, request: RunRequest | undefined): Promise<JobOutcome> {
    const { clock, log } = this.#options;
    const startedAt = clock.nowMs();
    await this.#record(() => this.#statements.started.run(job.name, startedAt));
    const outcome = await this.#attempt(job, given);
    if (!outcome.isOk && this.#abort.signal.aborted) {
      // Recorded neither as finished nor, if requested, as handled: the next start repeats the run.
      log.info("A job was interrupted by the shutdown.", { job: job.name });
      return outcome;
    }
    // The next start compares the clock with this time, so a jump must be detected before it becomes the time of a run.
    this.#options.clockWatch?.check();
    const finishedAt = Math.max(clock.nowMs(), startedAt, request?.requestedAt ?? 0);
    const record = () =>
      this.#record(() => {
        const { isOk, text } = outcome;
        this.#statements.finished.run(job.name, startedAt, finishedAt, isOk ? text : null, isOk ? null : text);
        if (request !== undefined) this.#statements.handled.run(job.name, request.requestedAt);
      });
    // Another process waits for the result of a request.
    for (let left = request === undefined ? 0 : RECORD_RETRIES; !(await record()) && left > 0; left--)
      await Bun.sleep(RECORD_RETRY_MS);
    if (outcome.isOk) log.debug("Job finished.", { job: job.name, result: outcome.text, ms: finishedAt - startedAt });
    return outcome;
  }

  async #attempt(job: Job, given: RunOptions): Promise<JobOutcome> {
    const { writer, log } = this.#options;
    const { row, cursor: writeCursor } = this.#statements;
    try {
      const text = await job.run({
        signal: this.#abort.signal,
        cursor: row.get(job.name)?.cursor ?? null,
        setCursor: async (cursor) =>
          void (await writer.run(() => writeCursor.run(job.name, cursor), { isQuiet: true })),
        ...given,
      });
      return { isOk: true, text };
    } catch (error) {
      if (!this.#abort.signal.aborted) log.error("Job failed.", { job: job.name, error });
      return { isOk: false, text: messageOf(error) };
    }
  }

  /**
   * Writes to the table of jobs. A failure does not stop the job: cleaning up may be what frees disk space.
   * @returns whether it succeeded
   */
  async #record(body: () => void): Promise<boolean> {
    try {
      await this.#options.writer.run(body, { isQuiet: true });
      return true;
    } catch (error) {
      this.#options.log.error("Could not save the state of a job.", { error });
      return false;
    }
  }
}

function parseArguments(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    // Not written by us: ignore it.
    return undefined;
  }
}
