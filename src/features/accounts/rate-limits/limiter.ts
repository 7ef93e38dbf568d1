/**
 * Counts requests in exact sliding windows in memory, and saves them in `rate_hits` within a second. docs/limits.md
 * ("How requests are counted") describes restarts, crashes and the bound on memory.
 *
 * A row sums up one second of one subject and category, and holds its last instant. So after a restart a request may
 * leave its window up to a second late, never early. If memory is full, the subject that was quiet longest is
 * evicted once its counts are saved. They are loaded again if it returns within the hour.
 */
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { Limit } from "../plans/plans.ts";
import {
  addToMinute,
  type Counter,
  type CountKind,
  counterOf,
  findCounter,
  findKind,
  isOver,
  limitResultOf,
  MINUTE_MS,
  newSubject,
  newWindow,
  type RateLimitResult,
  RETENTION_MS,
  type Subject,
} from "./counters.ts";

/** Dependencies of {@link RateLimiter}. */
interface RateLimiterOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Most subjects in memory; default 20,000, of about a kilobyte each. */
  readonly subjectsMax?: number;
}

/** Accepted and rejected requests of the last hour, to the minute. */
interface RequestTotals {
  readonly accepted: number;
  readonly rejected: number;
}

/** A counter with counts that are not in the database yet. */
interface DirtyCounter {
  readonly subject: Subject;
  readonly counter: Counter;
}

interface HitRow {
  readonly subject: string;
  readonly category: string;
  readonly at: number;
  readonly hits: number;
  readonly rejected: number;
}

interface TakenRow extends DirtyCounter {
  readonly atMs: number;
  readonly hits: number;
  readonly rejected: number;
}

const SUBJECTS_MAX = 20_000;
/** About two milliseconds of writing. */
const ROWS_PER_TRANSACTION = 1_000;
/** Rows removed in one transaction, in about five milliseconds: they are all over the table. */
const PRUNED_PER_TRANSACTION = 500;
/** Number of subjects of which the quietest is evicted. Comparing all would delay the new one too long. */
const EVICTION_CANDIDATES = 32;

/** Counts requests by subject and category, and decides which are within their limit. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #subjectsMax: number;
  readonly #subjects = new Map<string, Subject>();
  readonly #writeBehind: WriteBehind<TakenRow[]>;
  readonly #statements;
  readonly #dirty: DirtyCounter[] = [];
  /** Until then, rows of evicted subjects may still matter, so a new subject is looked up in the database. */
  #lookUpUntilMs = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#subjectsMax = options.subjectsMax ?? SUBJECTS_MAX;
    const { sqlite } = options.db;
    this.#statements = {
      // Two flushes may come in the same millisecond if the clock was set back.
      insert: sqlite.prepare(
        `INSERT INTO rate_hits (subject, category, at, hits, rejected) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET hits = hits + excluded.hits, rejected = rejected + excluded.rejected`,
      ),
      // By index rate_hits_at.
      recent: sqlite.prepare<HitRow, [number]>("SELECT * FROM rate_hits WHERE at > ?1 ORDER BY at"),
      // By primary key.
      ofSubject: sqlite.prepare<HitRow, [string, number]>(
        "SELECT * FROM rate_hits WHERE subject = ?1 AND at > ?2 ORDER BY at",
      ),
      // Both by index rate_hits_at, which one condition with OR does not use to find rows.
      pruneOld: sqlite.prepare(
        `DELETE FROM rate_hits WHERE (subject, category, at) IN
           (SELECT subject, category, at FROM rate_hits WHERE at <= ?1 ORDER BY at LIMIT ?2)`,
      ),
      // Rows far in the future are from before the clock was set back; in memory they count as of that moment.
      pruneFuture: sqlite.prepare(
        `DELETE FROM rate_hits WHERE (subject, category, at) IN
           (SELECT subject, category, at FROM rate_hits WHERE at > ?1 ORDER BY at LIMIT ?2)`,
      ),
    };
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "rate-limit counts",
      take: () => this.#take(),
      isWaiting: () => this.#dirty.length > 0,
      write: (rows) => {
        for (const row of rows) {
          this.#statements.insert.run(row.subject.key, row.counter.kind, row.atMs, row.hits, row.rejected);
        }
      },
      giveBack: (rows) => this.#giveBack(rows),
    });
  }

  /** Reads the counts of the last hour. Call it once, before the first request. */
  load(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const row of this.#statements.recent.iterate(nowMs - RETENTION_MS)) {
      this.#restore(this.#subjects.get(row.subject) ?? this.#add(row.subject, nowMs), row, nowMs);
    }
  }

  /** Counts one request if the limit allows it. A rejected one is counted only in the statistics. */
  check(subjectKey: string, kind: CountKind, limit: Limit): RateLimitResult {
    return this.takeUpTo(subjectKey, kind, limit, 1).limitResult;
  }

  /**
   * Counts as many of `requested` requests as the limit has room for, such as the files of an upload session. The rest
   * is counted as rejected.
   * @returns how many were counted
   */
  takeUpTo(
    subjectKey: string,
    kind: CountKind,
    limit: Limit,
    requested: number,
  ): { taken: number; limitResult: RateLimitResult } {
    const nowMs = this.#options.clock.nowMs();
    const subject = this.#subject(subjectKey, nowMs);
    const counter = counterOf(subject, kind);
    const taken = counter.window.take(nowMs, limit, requested);
    if (requested > 0) this.#note({ subject, counter }, nowMs, taken, requested - taken);
    return { taken, limitResult: limitResultOf(counter, limit, nowMs, taken > 0) };
  }

  /** The result of {@link check} now, without counting; `remaining` is before this request. */
  peek(subjectKey: string, kind: CountKind, limit: Limit): RateLimitResult {
    const nowMs = this.#options.clock.nowMs();
    const counter = findCounter(this.#find(subjectKey, nowMs), kind) ?? { kind, window: newWindow(kind) };
    const remaining = counter.window.remaining(nowMs, limit);
    return limitResultOf(counter, limit, nowMs, remaining === null || remaining > 0);
  }

  /** Counts one rejected request in the statistics: something else than this subject's window rejected it. */
  countRejected(subjectKey: string, kind: CountKind): void {
    const nowMs = this.#options.clock.nowMs();
    const subject = this.#subject(subjectKey, nowMs);
    this.#note({ subject, counter: counterOf(subject, kind) }, nowMs, 0, 1);
  }

  /** How many requests of this category are in the subject's window now. */
  used(subjectKey: string, kind: CountKind): number {
    const nowMs = this.#options.clock.nowMs();
    return findCounter(this.#find(subjectKey, nowMs), kind)?.window.used(nowMs) ?? 0;
  }

  /** All requests of a user in the last hour, or sign-ins, in all categories. Nothing is stored for addresses. */
  totals(subjectKey: string): RequestTotals {
    const nowMs = this.#options.clock.nowMs();
    const total = { accepted: 0, rejected: 0 };
    for (const minute of this.#find(subjectKey, nowMs)?.minutes ?? []) {
      if ((minute.minute + 1) * MINUTE_MS <= nowMs - RETENTION_MS) continue;
      total.accepted += minute.accepted;
      total.rejected += minute.rejected;
    }
    return total;
  }

  /** Subjects in memory. */
  get subjects(): number {
    return this.#subjects.size;
  }

  /** Writes the counts that are not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  /** Removes subjects without requests in the last hour, here and in the database. @returns how many rows */
  async prune(): Promise<number> {
    const nowMs = this.#options.clock.nowMs();
    for (const subject of this.#subjects.values()) {
      if (isOver(subject, nowMs)) this.#subjects.delete(subject.key);
    }
    const { pruneOld, pruneFuture } = this.#statements;
    for (let removed = 0; ; ) {
      const some = await this.#options.writer.run(
        () =>
          pruneOld.run(nowMs - RETENTION_MS, PRUNED_PER_TRANSACTION).changes +
          pruneFuture.run(nowMs + RETENTION_MS, PRUNED_PER_TRANSACTION).changes,
      );
      removed += some;
      if (some < PRUNED_PER_TRANSACTION) return removed;
    }
  }

  #note(dirty: DirtyCounter, nowMs: number, hits: number, rejected: number): void {
    const { subject, counter } = dirty;
    addToMinute(subject, nowMs, hits, rejected);
    subject.lastAtMs = nowMs;
    counter.hits += hits;
    counter.rejected += rejected;
    counter.atMs = nowMs;
    if (counter.isDirty) return;
    counter.isDirty = true;
    this.#dirty.push(dirty);
    this.#writeBehind.note();
  }

  #take(): TakenRow[] {
    return this.#dirty.splice(0, ROWS_PER_TRANSACTION).map(({ subject, counter }) => {
      const row = { subject, counter, atMs: counter.atMs, hits: counter.hits, rejected: counter.rejected };
      counter.hits = 0;
      counter.rejected = 0;
      counter.isDirty = false;
      return row;
    });
  }

  #giveBack(rows: readonly TakenRow[]): void {
    for (const { subject, counter, atMs, hits, rejected } of rows) {
      counter.hits += hits;
      counter.rejected += rejected;
      counter.atMs = Math.max(counter.atMs, atMs);
      if (counter.isDirty) continue;
      counter.isDirty = true;
      this.#dirty.push({ subject, counter });
    }
  }

  #subject(key: string, nowMs: number): Subject {
    return this.#find(key, nowMs) ?? this.#add(key, nowMs);
  }

  #find(key: string, nowMs: number): Subject | undefined {
    const found = this.#subjects.get(key);
    if (found !== undefined || nowMs > this.#lookUpUntilMs) return found;
    const rows = this.#statements.ofSubject.all(key, nowMs - RETENTION_MS);
    if (rows.length === 0) return undefined;
    const subject = this.#add(key, nowMs);
    for (const row of rows) this.#restore(subject, row, nowMs);
    return subject;
  }

  #add(key: string, nowMs: number): Subject {
    if (this.#subjects.size >= this.#subjectsMax) this.#evict(nowMs);
    const subject = newSubject(key, nowMs);
    this.#subjects.set(key, subject);
    return subject;
  }

  #restore(subject: Subject, row: HitRow, nowMs: number): void {
    const kind = findKind(row.category);
    if (kind === undefined) return;
    // A row in the future was written before the clock was set back.
    const atMs = Math.min(row.at, nowMs);
    if (row.hits > 0) counterOf(subject, kind).window.restore(atMs, row.hits);
    addToMinute(subject, atMs, row.hits, row.rejected);
    subject.lastAtMs = atMs;
  }

  /**
   * Makes room for one subject. Subjects with unwritten counts stay: while the database can't be written, there may be
   * more subjects than the bound. Above twice the bound they are evicted too, and their counts are lost.
   */
  #evict(nowMs: number): void {
    const mayLoseCounts = this.#subjects.size >= 2 * this.#subjectsMax;
    let quietest: Subject | undefined;
    let checked = 0;
    for (const subject of this.#subjects.values()) {
      if (checked++ === EVICTION_CANDIDATES) break;
      // A subject that was checked moves to the end, so that the next check finds others.
      this.#subjects.delete(subject.key);
      this.#subjects.set(subject.key, subject);
      if (!mayLoseCounts && subject.counters.some((counter) => counter?.isDirty)) continue;
      if (quietest === undefined || subject.lastAtMs < quietest.lastAtMs) quietest = subject;
    }
    if (quietest === undefined) return;
    this.#subjects.delete(quietest.key);
    if (!isOver(quietest, nowMs)) this.#lookUpUntilMs = nowMs + RETENTION_MS;
  }
}
