/**
 * Scheduled work, on croner: when it is due, that it never overlaps itself, what became of it. A job does a bounded
 * piece and may be killed at any point; the next run goes on where its cursor says.
 *
 * A server at home sleeps at night. So what fell due while it was off, or was interrupted, runs soon after the start,
 * one job after the other rather than all in the same second.
 */
import { Cron } from "croner";
import type { Db } from "../db/open.ts";
import type { Writer } from "../db/transaction.ts";
import { type Clock, toTimestamp } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { ClockWatch } from "./clock-watch.ts";

/** What a run works with besides what its job closed over. */
export interface JobContext {
  /** Aborted when the server stops: finish the present piece and return. */
  readonly signal: AbortSignal;
  /** Where the last run said to go on; null at the beginning. */
  readonly cursor: string | null;
  /** Remembers where to go on, durably on return; null for the beginning. */
  readonly setCursor: (cursor: string | null) => Promise<void>;
  /** What a command gave along ({@link requestJob}); undefined in a run by schedule. */
  readonly arguments: unknown;
  /** True where somebody asked for this run; it isn't by schedule. */
  readonly isAsked?: boolean;
}

/** A piece of housekeeping. */
export interface Job {
  /** Stable: its row in the database. */
  readonly name: string;
  /** Cron pattern, in the machine's time zone; five or six parts (with seconds). */
  readonly schedule: string;
  /** What it is for, in one sentence. */
  readonly description: string;
  /** True where it deletes what has become old: by itself it doesn't run while the clock is doubted. */
  readonly deletesByAge?: boolean;
  /** Does a bounded piece of the work, and says in words what was done. */
  run(context: JobContext): Promise<string>;
}

/** What became of a run. */
export interface JobOutcome {
  readonly isOk: boolean;
  /** The job's own words, or the message of the error. */
  readonly text: string;
}

/** A job and how it stands, as /api/admin/stats shows it. */
export interface JobState {
  readonly name: string;
  readonly schedule: string;
  readonly description: string;
  readonly isRunning: boolean;
  readonly nextRunAtMs: number | null;
  readonly lastStartedAtMs: number | null;
  /** Of the last run that came to its end, well or not. */
  readonly lastFinishedAtMs: number | null;
  readonly lastResult: string | null;
  /** Of the last run that came to its end; null if it went well. */
  readonly lastError: string | null;
}

/** What {@link Scheduler} works with. */
export interface SchedulerOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobs: readonly Job[];
  /** Tells whether the clock can be believed; without it, it always is. */
  readonly clockWatch?: Pick<ClockWatch, "doubtedUntilMs" | "look">;
  /** How long after the start the first missed job runs, and how far the others lie apart; default 30 s and 15 s. */
  readonly missedAfterMs?: number;
  readonly missedApartMs?: number;
}

interface JobRow {
  readonly name: string;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly cursor: string | null;
  readonly requestedAt: number | null;
  readonly requestArguments: string | null;
}

/** What a run is told of who wants it. */
type Given = Required<Pick<JobContext, "arguments" | "isAsked">>;

interface Request {
  readonly requestedAt: number;
  readonly arguments: unknown;
}

interface Entry {
  readonly job: Job;
  readonly cron: Cron;
  running: Promise<JobOutcome> | undefined;
  /** A run without arguments that waits for the present one to end: whoever wants another gets this. */
  queued: Promise<JobOutcome> | undefined;
  /** The last request that was carried out, should the database not have taken that down. */
  answeredAt: number | undefined;
}

const MISSED_AFTER_MS = 30_000;
const MISSED_APART_MS = 15_000;
const ROW = `SELECT name, last_started_at AS startedAt, last_finished_at AS finishedAt, last_result AS result,
  last_error AS error, cursor, requested_at AS requestedAt, request_arguments AS requestArguments FROM jobs`;
const STOPPED: JobOutcome = { isOk: false, text: "The server is stopping." };

/**
 * Asks the running server for a run of a job, from another process: it begins within a second
 * ({@link Scheduler.handleRequests}), or at the server's next start. A request that waits already is replaced.
 * Its end is told by {@link findJobResult} with the returned instant.
 */
export function requestJob(writer: Writer, db: Db, name: string, givenArguments: unknown, nowMs: number): number {
  return writer.runNow(() => {
    const last = db.sqlite.query<JobRow, [string]>(`${ROW} WHERE name = ?1`).get(name);
    // Two requests never share an instant: it is what tells them apart.
    const requestedAt = Math.max(nowMs, (last?.requestedAt ?? 0) + 1);
    db.sqlite
      .query(
        `INSERT INTO jobs (name, requested_at, request_arguments) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET requested_at = excluded.requested_at, request_arguments = excluded.request_arguments`,
      )
      .run(name, requestedAt, JSON.stringify(givenArguments ?? null));
    return requestedAt;
  });
}

/** What became of a request made by {@link requestJob}; undefined while it waits or runs, or was replaced by another. */
export function findJobResult(db: Db, name: string, requestedAt: number): JobOutcome | undefined {
  const row = db.sqlite.query<JobRow, [string]>(`${ROW} WHERE name = ?1`).get(name);
  if (row === null || row.requestedAt !== null || (row.finishedAt ?? 0) < requestedAt) return undefined;
  return row.error === null ? { isOk: true, text: row.result ?? "" } : { isOk: false, text: row.error };
}

/** The registry of jobs and their clockwork. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #abort = new AbortController();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #statements;

  /** @throws Error for a pattern that is none, or a name given twice */
  constructor(options: SchedulerOptions) {
    this.#options = options;
    for (const job of options.jobs) {
      if (this.#entries.has(job.name)) throw new Error(`Two jobs are named "${job.name}".`);
      // Without a function: croner only tells the times until start().
      this.#entries.set(job.name, {
        job,
        cron: new Cron(job.schedule, { paused: true, unref: true }),
        running: undefined,
        queued: undefined,
        answeredAt: undefined,
      });
    }
    const { sqlite } = options.db;
    this.#statements = {
      row: sqlite.prepare<JobRow, [string]>(`${ROW} WHERE name = ?1`),
      requested: sqlite.prepare<JobRow, []>(`${ROW} WHERE requested_at IS NOT NULL ORDER BY requested_at`),
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
      // Only the request that was answered: another may have come meanwhile.
      answered: sqlite.prepare(
        "UPDATE jobs SET requested_at = NULL, request_arguments = NULL WHERE name = ?1 AND requested_at = ?2",
      ),
    };
  }

  /** Begins: by schedule, soon what was missed, at once what a command asked for while no server ran. */
  start(): void {
    const { log, missedAfterMs = MISSED_AFTER_MS, missedApartMs = MISSED_APART_MS } = this.#options;
    const nowMs = this.#options.clock.nowMs();
    let missed = 0;
    const isFirstStart = this.list().every(({ lastStartedAtMs }) => lastStartedAtMs === null);
    for (const entry of this.#entries.values()) {
      entry.cron.schedule(() => this.#runByItself(entry));
      entry.cron.resume();
      if (this.#isMissed(entry, nowMs)) this.#runLater(entry, missedAfterMs + missed++ * missedApartMs);
    }
    if (missed > 0 && !isFirstStart)
      log.info("Jobs were due while the server was off; running them soon.", { jobs: missed });
    this.handleRequests();
  }

  /** Every job, in the order given, and how it stands. */
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
   * Runs a job now, or after its present run, and tells what became of it. Never rejects for what the job does.
   * Calls without arguments that wait for the same run to end share the next one: what they found to do, it does.
   * @throws Error for a name that no job has
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
   * Runs what commands beside this server have asked for. To be called when another process has written to the
   * database; a request for a job that is running is answered after that run.
   */
  handleRequests(): void {
    for (const row of this.#statements.requested.all()) {
      const entry = this.#entries.get(row.name);
      if (row.requestedAt === null) continue;
      const { requestedAt } = row;
      if (entry === undefined) {
        this.#options.log.warn("A requested job does not exist in this version; ignored it.", { job: row.name });
        void this.#record(() => this.#statements.answered.run(row.name, requestedAt));
      } else if (entry.running === undefined && entry.answeredAt !== requestedAt && !this.#abort.signal.aborted) {
        void this.#run(entry, undefined, { requestedAt, arguments: parseArguments(row.requestArguments) }, true);
      }
    }
  }

  /** Begins nothing more, tells running jobs to stop, and waits for them. */
  async stop(): Promise<void> {
    this.#abort.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const { cron } of this.#entries.values()) cron.stop();
    await Promise.all([...this.#entries.values()].flatMap(({ running }) => running ?? []));
  }

  /** Whether a run fell due and was not finished: never run, interrupted, or a due time since its last start. */
  #isMissed({ job, cron }: Entry, nowMs: number): boolean {
    const row = this.#statements.row.get(job.name);
    const startedAt = row?.startedAt ?? null;
    if (startedAt === null || (row?.finishedAt ?? 0) < startedAt) return true;
    const due = cron.previousRuns(1, new Date(nowMs))[0];
    return due !== undefined && due.getTime() > startedAt;
  }

  #runLater(entry: Entry, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#runByItself(entry);
    }, delayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  /** By schedule: where the job still runs, this time is left out. */
  #runByItself(entry: Entry): void {
    if (entry.running !== undefined) return;
    const doubtedUntilMs = entry.job.deletesByAge === true ? this.#options.clockWatch?.doubtedUntilMs() : undefined;
    if (doubtedUntilMs === undefined) void this.#run(entry, undefined, undefined, false);
    else void this.#recordWaiting(entry.job, doubtedUntilMs);
  }

  /** What deletes by age didn't run: the clock may be wrong. Seen in the administrators' overview. */
  #recordWaiting(job: Job, untilMs: number): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    const text = `Waits until ${toTimestamp(untilMs)}: the clock leapt ahead and may be wrong.`;
    return this.#record(() => this.#statements.finished.run(job.name, nowMs, nowMs, text, null));
  }

  async #runAfter(entry: Entry, givenArguments: unknown): Promise<JobOutcome> {
    while (entry.running !== undefined) await entry.running;
    // From here on it is the present run, and may have passed what is found to do now.
    if (givenArguments === undefined) entry.queued = undefined;
    return this.#run(entry, givenArguments, undefined, true);
  }

  #run(entry: Entry, givenArguments: unknown, request: Request | undefined, isAsked: boolean): Promise<JobOutcome> {
    if (this.#abort.signal.aborted) return Promise.resolve(STOPPED);
    const all = request === undefined ? givenArguments : request.arguments;
    const running = this.#carryOut(entry.job, { arguments: all, isAsked }, request);
    entry.running = running.then((outcome) => {
      entry.running = undefined;
      if (request !== undefined) entry.answeredAt = request.requestedAt;
      this.#answerNext();
      return outcome;
    });
    return entry.running;
  }

  /** What was asked for while a job ran. */
  #answerNext(): void {
    try {
      if (!this.#abort.signal.aborted) this.handleRequests();
    } catch (error) {
      this.#options.log.error("Could not read job requests; will retry.", { error });
    }
  }

  /** One run from its first row to its last; never rejects. */
  async #carryOut(job: Job, given: Given, request: Request | undefined): Promise<JobOutcome> {
    const { clock, log } = this.#options;
    const startedAt = clock.nowMs();
    await this.#record(() => this.#statements.started.run(job.name, startedAt));
    const outcome = await this.#attempt(job, given);
    if (!outcome.isOk && this.#abort.signal.aborted) {
      // Not recorded as finished, nor the request as answered: both go on at the next start.
      log.info("A job was interrupted by the shutdown.", { job: job.name });
      return outcome;
    }
    // The next start compares the clock with this time: a leap is noted before it would be the time of a run.
    this.#options.clockWatch?.look();
    const finishedAt = Math.max(clock.nowMs(), startedAt, request?.requestedAt ?? 0);
    await this.#record(() => {
      const { isOk, text } = outcome;
      this.#statements.finished.run(job.name, startedAt, finishedAt, isOk ? text : null, isOk ? null : text);
      if (request !== undefined) this.#statements.answered.run(job.name, request.requestedAt);
    });
    if (outcome.isOk) log.debug("Job finished.", { job: job.name, result: outcome.text, ms: finishedAt - startedAt });
    return outcome;
  }

  async #attempt(job: Job, given: Given): Promise<JobOutcome> {
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
      return { isOk: false, text: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Writes to the jobs' table. A job runs also when its row can't be written: cleaning up may be what makes room again. */
  async #record(deed: () => void): Promise<void> {
    try {
      await this.#options.writer.run(deed, { isQuiet: true });
    } catch (error) {
      this.#options.log.error("Could not save the state of a job.", { error });
    }
  }
}

function parseArguments(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    // Written by hand: as good as none.
    return undefined;
  }
}
