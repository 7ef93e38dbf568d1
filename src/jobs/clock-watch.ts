/**
 * Whether the machine's clock can be believed when something is to be deleted for its age. A dead battery, a wrong time
 * zone of the hardware clock or a bad time server puts a clock months ahead, and thirty days of trash were over at once.
 * Nothing tells a wrong clock from a server that was off for so long; so after a leap ahead what deletes by age waits
 * for a day, and a clock that is put right meanwhile has done no harm.
 */
import type { Db } from "../db/open.ts";
import type { Writer } from "../db/transaction.ts";
import { type Clock, toTimestamp } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** What {@link ClockWatch} works with. */
export interface ClockWatchOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds that only ever go on, however the clock is set; performance.now by default. */
  readonly steadyMs?: () => number;
}

/** A clock so far ahead of what is known is doubted: longer than a weekend's rest would be odd for a server. */
const LEAP_MS = 2 * 24 * 60 * 60 * 1000;
/** How long after a leap what deletes by age waits. */
const DOUBT_MS = 24 * 60 * 60 * 1000;
const LOOK_MS = 60_000;
const KEY = "clock_doubted_at";

/** See the head of this file. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #steadyMs: () => number;
  #wallMs = 0;
  #seenSteadyMs = 0;
  /** When the clock leapt, by the clock that leapt; kept in the database, so that a restart doesn't end the doubt. */
  #doubtedAtMs: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  /** Compares with the last run of any job, and from then on once a minute with the time that has passed. */
  start(): void {
    const { db, clock } = this.#options;
    const kept = db.sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(KEY);
    this.#doubtedAtMs = kept === null ? undefined : Number(kept.value);
    const last = db.sqlite.query<{ ms: number | null }, []>("SELECT max(last_finished_at) AS ms FROM jobs").get();
    const nowMs = clock.nowMs();
    this.#remember(nowMs);
    if (this.doubtedUntilMs() !== undefined) this.#warn(nowMs, this.#doubtedAtMs ?? nowMs);
    else if (last?.ms !== undefined && last.ms !== null) this.#judge(nowMs, last.ms);
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Ends the looking. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Compares the clock with the time that has passed since the last look. */
  look(): void {
    const nowMs = this.#options.clock.nowMs();
    const expectedMs = this.#wallMs + (this.#steadyMs() - this.#seenSteadyMs);
    this.#remember(nowMs);
    this.#judge(nowMs, expectedMs);
  }

  /** Until when what deletes by age waits, by the clock that is doubted; undefined where it is believed. */
  doubtedUntilMs(): number | undefined {
    if (this.#doubtedAtMs === undefined) return undefined;
    this.look();
    const nowMs = this.#options.clock.nowMs();
    const untilMs = this.#doubtedAtMs + DOUBT_MS;
    // Before the leap: it was put right, and nothing has happened.
    return nowMs >= this.#doubtedAtMs && nowMs < untilMs ? untilMs : undefined;
  }

  #warn(nowMs: number, expectedMs: number): void {
    this.#options.log.warn(
      "The clock is far ahead of the last run; age-based deletion is paused for one day. If the clock is wrong, set it.",
      { now: toTimestamp(nowMs), expected: toTimestamp(expectedMs) },
    );
  }

  #remember(nowMs: number): void {
    this.#wallMs = nowMs;
    this.#seenSteadyMs = this.#steadyMs();
  }

  #judge(nowMs: number, expectedMs: number): void {
    if (nowMs - expectedMs < LEAP_MS) return;
    const { db, writer, log } = this.#options;
    this.#doubtedAtMs = nowMs;
    this.#warn(nowMs, expectedMs);
    const upsert = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    writer
      .run(() => void db.sqlite.query(upsert).run(KEY, String(nowMs)), { isQuiet: true })
      .catch((error: unknown) => log.error("Could not save the clock-skew state.", { error }));
  }
}
