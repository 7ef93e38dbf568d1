/**
 * Detects jumps of the machine's clock, so that a wrong clock deletes nothing. A dead battery, a wrong time zone of the
 * hardware clock or a bad time server can set a clock months ahead, and thirty days of trash would expire at once. A
 * wrong clock looks the same as a server that was off for a long time. So after a jump ahead, jobs that delete by age
 * wait a day, in which the clock can be corrected.
 */
import type { Db } from "../db/open.ts";
import type { Writer } from "../db/transaction.ts";
import { type Clock, toTimestamp } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";

/** Dependencies of {@link ClockWatch} works with. */
interface ClockWatchOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** A monotonic clock in milliseconds; performance.now by default. */
  readonly steadyMs?: () => number;
}

/** A larger jump makes the clock doubtful. A server is rarely off for longer than a weekend. */
const LEAP_MS = 2 * 24 * 60 * 60 * 1000;
/** How long jobs that delete by age wait after a jump. */
const DOUBT_MS = 24 * 60 * 60 * 1000;
const CHECK_MS = 60_000;
const KEY = "clock_doubted_at";

/** Watches the clock of one server. */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #steadyMs: () => number;
  #wallMs = 0;
  #seenSteadyMs = 0;
  /** When the clock jumped, by that clock; stored in the database, so that a restart does not end the doubt. */
  #doubtedAtMs: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  /** Compares the clock with the last run of any job, then once a minute with the time that has passed. */
  start(): void {
    const { db, clock } = this.#options;
    const stored = db.sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(KEY);
    this.#doubtedAtMs = stored === null ? undefined : Number(stored.value);
    const last = db.sqlite.query<{ ms: number | null }, []>("SELECT max(last_finished_at) AS ms FROM jobs").get();
    const nowMs = clock.nowMs();
    this.#remember(nowMs);
    if (this.doubtedUntilMs() !== undefined) this.#warn(nowMs, this.#doubtedAtMs ?? nowMs);
    else if (last?.ms !== undefined && last.ms !== null) this.#judge(nowMs, last.ms);
    this.#timer = setInterval(() => this.check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Stops watching, after a last check: the next start may not notice a jump that happens now. */
  stop(): void {
    clearInterval(this.#timer);
    this.check();
  }

  /** Compares the clock with the time that has passed since the last check. */
  check(): void {
    const nowMs = this.#options.clock.nowMs();
    const expectedMs = this.#wallMs + (this.#steadyMs() - this.#seenSteadyMs);
    this.#remember(nowMs);
    this.#judge(nowMs, expectedMs);
  }

  /** Until when jobs that delete by age wait, by the doubtful clock; undefined if the clock is trusted. */
  doubtedUntilMs(): number | undefined {
    if (this.#doubtedAtMs === undefined) return undefined;
    this.check();
    const nowMs = this.#options.clock.nowMs();
    const untilMs = this.#doubtedAtMs + DOUBT_MS;
    // The clock is before the jump again: it was corrected in time.
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
    if (expectedMs - nowMs >= LEAP_MS) {
      // Runs in the future would hide the next jump ahead.
      this.#save(
        `UPDATE jobs SET last_started_at = min(last_started_at, ?1), last_finished_at = ?1 WHERE last_finished_at > ?1`,
        [nowMs],
      );
    }
    if (nowMs - expectedMs < LEAP_MS) return;
    this.#doubtedAtMs = nowMs;
    this.#warn(nowMs, expectedMs);
    this.#save("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value", [
      KEY,
      String(nowMs),
    ]);
  }

  #save(statement: string, values: (string | number)[]): void {
    const { db, writer, log } = this.#options;
    writer
      .run(() => void db.sqlite.run(statement, values), { isQuiet: true })
      .catch((error: unknown) => log.error("Could not save the clock-skew state.", { error }));
  }
}
