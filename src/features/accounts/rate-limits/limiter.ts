/**
 * Counts requests in exact sliding windows in memory, and saves them in `rate_hits` within a second. docs/limits.md
 * ("How requests are counted") describes restarts, crashes and the bound on memory.
 *
 * A row sums up one second of one subject and category, and holds its last instant. So after a restart a request may
 * leave its window up to a second late, never early. Where memory is full, the subject that was quiet longest is
 * evicted once its counts are saved. They are loaded again if it returns within the hour.
 */
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { WriteBehind } from "../../../jobs/write-behind.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { RATE_CATEGORIES } from "../../../config/settings.ts";
import { type Category, type Limit, WINDOW_SECONDS } from "../plans/plans.ts";
import { SlidingWindow } from "./window.ts";

/** Wrong passwords by the hour: a kind of count beside the categories, shown as `signin`. */
export const WRONG_BY_HOUR = "wrong_by_hour";

/** What a subject's counts are kept apart by. */
export type CountKind = Category | typeof WRONG_BY_HOUR;

/** What became of a request, or would; the content of the `X-RateLimit-*` headers. */
export interface RateLimitResult {
  readonly allowed: boolean;
  readonly category: Category;
  /** Null: none. */
  readonly limit: Limit;
  /** Requests left in the window; null where there is no limit. */
  readonly remaining: number | null;
  /** When the oldest counted request leaves the window; of a rejection: when a request is accepted again. */
  readonly resetAtMs: number;
  readonly windowSeconds: number;
}

/** Dependencies of {@link RateLimiter}. */
export interface RateLimiterOptions {
  readonly db: Db;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Subjects kept in memory; default 20,000, of about a kilobyte each. */
  readonly subjectsMax?: number;
}

/** Accepted and rejected requests of the last hour, to the minute. */
export interface RequestTotals {
  readonly accepted: number;
  readonly rejected: number;
}

/** One category of one subject, and what of it is not in the database yet. */
interface Counter {
  readonly window: SlidingWindow;
  hits: number;
  rejected: number;
  /** Of the latest of these. */
  atMs: number;
  isDirty: boolean;
}

/** Who is counted. */
interface Subject {
  readonly key: string;
  /** By place of the kind in {@link KINDS}; made when first used. */
  readonly counters: (Counter | undefined)[];
  /** The last hour minute by minute, oldest first; undefined for whom nobody asks about. */
  readonly minutes: MinuteTotals[] | undefined;
  lastAtMs: number;
}

interface MinuteTotals {
  readonly minute: number;
  accepted: number;
  rejected: number;
}

interface Dirty {
  readonly subject: Subject;
  readonly counter: Counter;
  readonly category: CountKind;
}

interface HitRow {
  readonly subject: string;
  readonly category: string;
  readonly at: number;
  readonly hits: number;
  readonly rejected: number;
}

interface TakenRow extends Dirty {
  readonly atMs: number;
  readonly hits: number;
  readonly rejected: number;
}

const SUBJECTS_MAX = 20_000;
/** About two milliseconds of writing. */
const ROWS_PER_TRANSACTION = 1_000;
/** Nothing is kept longer than the longest window, which is also the period of the statistics. */
const RETENTION_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Of so many subjects the quietest goes; looking at all of them would cost the one who comes too much. */
const EVICTION_LOOKS = 32;

const KINDS: readonly CountKind[] = [...RATE_CATEGORIES, WRONG_BY_HOUR];
const INDEX_OF = new Map<string, number>(KINDS.map((kind, index) => [kind, index]));

/** The subject of a signed-in user, for any of their tokens and keys. */
export function userSubject(userId: number): string {
  return `u:${userId}`;
}

/** The subject of a caller without a user. @param addressKey the address, or its /64 */
export function addressSubject(addressKey: string): string {
  return `a:${addressKey}`;
}

/** The subject of wrong passwords for a link, from everywhere. @param shareId its public id */
export function linkSubject(shareId: string): string {
  return `l:${shareId}`;
}

/** Counts requests by subject and category, and says which are within their limit. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #subjectsMax: number;
  readonly #subjects = new Map<string, Subject>();
  readonly #writeBehind: WriteBehind<TakenRow[]>;
  readonly #statements;
  readonly #dirty: Dirty[] = [];
  /** Until then rows of subjects that had to go may still matter, and a new subject is looked up. */
  #lookUpUntilMs = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#subjectsMax = options.subjectsMax ?? SUBJECTS_MAX;
    const { sqlite } = options.db;
    this.#statements = {
      // Two flushes may meet in one millisecond after the clock was set back.
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
      // Rows far ahead are from before the clock was set back; in memory they count as of then.
      prune: sqlite.prepare("DELETE FROM rate_hits WHERE at <= ?1 OR at > ?2"),
    };
    this.#writeBehind = new WriteBehind({
      writer: options.writer,
      log: options.log,
      what: "rate-limit counts",
      take: () => this.#take(),
      isWaiting: () => this.#dirty.length > 0,
      write: (rows) => {
        for (const row of rows) {
          this.#statements.insert.run(row.subject.key, row.category, row.atMs, row.hits, row.rejected);
        }
      },
      giveBack: (rows) => this.#giveBack(rows),
    });
  }

  /** Reads the windows of the last hour. Once, before the first request. */
  load(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const row of this.#statements.recent.iterate(nowMs - RETENTION_MS)) {
      this.#restore(this.#subjects.get(row.subject) ?? this.#add(row.subject, nowMs), row, nowMs);
    }
  }

  /** Counts one request if the limit allows it. A rejected one is counted in statistics alone. */
  check(subjectKey: string, category: CountKind, limit: Limit): RateLimitResult {
    const nowMs = this.#options.clock.nowMs();
    const subject = this.#subject(subjectKey, nowMs);
    const counter = counterOf(subject, category);
    const isAllowed = counter.window.take(nowMs, limit) === 1;
    this.#note(subject, counter, category, nowMs, isAllowed ? 1 : 0, isAllowed ? 0 : 1);
    return limitResultOf(counter.window, category, limit, nowMs, isAllowed);
  }

  /**
   * Counts as many of `wanted` requests as the limit leaves room for, and says how many (an upload session of several
   * files). The rest is counted as rejected.
   */
  takeUpTo(
    subjectKey: string,
    category: CountKind,
    limit: Limit,
    requested: number,
  ): { taken: number; limitResult: RateLimitResult } {
    const nowMs = this.#options.clock.nowMs();
    const subject = this.#subject(subjectKey, nowMs);
    const counter = counterOf(subject, category);
    const taken = counter.window.take(nowMs, limit, requested);
    if (requested > 0) this.#note(subject, counter, category, nowMs, taken, requested - taken);
    return { taken, limitResult: limitResultOf(counter.window, category, limit, nowMs, taken > 0) };
  }

  /** What {@link check} would say now, without counting; `remaining` is before this request. */
  peek(subjectKey: string, category: CountKind, limit: Limit): RateLimitResult {
    const nowMs = this.#options.clock.nowMs();
    const window = this.#find(subjectKey, nowMs)?.counters[indexOf(category)]?.window;
    if (window !== undefined) {
      const remaining = window.remaining(nowMs, limit);
      return limitResultOf(window, category, limit, nowMs, remaining === null || remaining > 0);
    }
    const windowSeconds = windowSecondsOf(category);
    const isAllowed = limit === null || limit > 0;
    return {
      allowed: isAllowed,
      category: shownCategory(category),
      limit,
      remaining: limit,
      resetAtMs: nowMs + windowSeconds * 1000,
      windowSeconds,
    };
  }

  /** Counts one rejected request in the statistics: something else than this subject's window rejected it. */
  countRejected(subjectKey: string, category: CountKind): void {
    const nowMs = this.#options.clock.nowMs();
    const subject = this.#subject(subjectKey, nowMs);
    this.#note(subject, counterOf(subject, category), category, nowMs, 0, 1);
  }

  /** How many requests of this category are in the subject's window now. */
  used(subjectKey: string, category: CountKind): number {
    const nowMs = this.#options.clock.nowMs();
    return this.#find(subjectKey, nowMs)?.counters[indexOf(category)]?.window.used(nowMs) ?? 0;
  }

  /** All requests of a user in the last hour, or sign-ins, in all categories. Nothing is stored for addresses. */
  totals(subjectKey: string): RequestTotals {
    const nowMs = this.#options.clock.nowMs();
    const sum = { accepted: 0, rejected: 0 };
    for (const minute of this.#find(subjectKey, nowMs)?.minutes ?? []) {
      if ((minute.minute + 1) * MINUTE_MS <= nowMs - RETENTION_MS) continue;
      sum.accepted += minute.accepted;
      sum.rejected += minute.rejected;
    }
    return sum;
  }

  /** Subjects in memory. */
  get subjects(): number {
    return this.#subjects.size;
  }

  /** Writes what is not in the database yet; at shutdown. */
  flush(): Promise<void> {
    return this.#writeBehind.flush();
  }

  /** Forgets who has been quiet for an hour, here and in the database; gives the number of rows. For the hourly job. */
  async prune(): Promise<number> {
    const nowMs = this.#options.clock.nowMs();
    for (const subject of this.#subjects.values()) {
      if (isOver(subject, nowMs)) this.#subjects.delete(subject.key);
    }
    return this.#options.writer.run(
      () => this.#statements.prune.run(nowMs - RETENTION_MS, nowMs + RETENTION_MS).changes,
    );
  }

  #note(subject: Subject, counter: Counter, category: CountKind, nowMs: number, hits: number, rejected: number): void {
    addToMinute(subject, nowMs, hits, rejected);
    subject.lastAtMs = nowMs;
    counter.hits += hits;
    counter.rejected += rejected;
    counter.atMs = nowMs;
    if (counter.isDirty) return;
    counter.isDirty = true;
    this.#dirty.push({ subject, counter, category });
    this.#writeBehind.note();
  }

  #take(): TakenRow[] {
    return this.#dirty.splice(0, ROWS_PER_TRANSACTION).map(({ subject, counter, category }) => {
      const row = { subject, counter, category, atMs: counter.atMs, hits: counter.hits, rejected: counter.rejected };
      counter.hits = 0;
      counter.rejected = 0;
      counter.isDirty = false;
      return row;
    });
  }

  #giveBack(rows: readonly TakenRow[]): void {
    for (const { subject, counter, category, atMs, hits, rejected } of rows) {
      counter.hits += hits;
      counter.rejected += rejected;
      counter.atMs = Math.max(counter.atMs, atMs);
      if (counter.isDirty) continue;
      counter.isDirty = true;
      this.#dirty.push({ subject, counter, category });
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
    const subject: Subject = { key, counters: [], minutes: hasTotals(key) ? [] : undefined, lastAtMs: nowMs };
    this.#subjects.set(key, subject);
    return subject;
  }

  #restore(subject: Subject, row: HitRow, nowMs: number): void {
    const index = INDEX_OF.get(row.category);
    const category = index === undefined ? undefined : KINDS[index];
    // A category of another version of the program.
    if (category === undefined) return;
    // Written before the clock was set back: it has happened by now.
    const atMs = Math.min(row.at, nowMs);
    if (row.hits > 0) counterOf(subject, category).window.restore(atMs, row.hits);
    addToMinute(subject, atMs, row.hits, row.rejected);
    subject.lastAtMs = atMs;
  }

  /**
   * Makes room for one. A subject whose counts are not written yet stays, so there may be more subjects than the
   * bound for as long as the database can't be written, but for twice as many: then memory goes before exactness.
   */
  #evict(nowMs: number): void {
    const mayLoseCounts = this.#subjects.size >= 2 * this.#subjectsMax;
    let quietest: Subject | undefined;
    let looks = 0;
    for (const subject of this.#subjects.values()) {
      if (looks++ === EVICTION_LOOKS) break;
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

function windowSecondsOf(kind: CountKind): number {
  return kind === WRONG_BY_HOUR ? 3600 : WINDOW_SECONDS[kind];
}

function shownCategory(kind: CountKind): Category {
  return kind === WRONG_BY_HOUR ? "signin" : kind;
}

function indexOf(category: CountKind): number {
  return INDEX_OF.get(category) ?? 0;
}

function counterOf(subject: Subject, category: CountKind): Counter {
  const index = indexOf(category);
  const found = subject.counters[index];
  if (found !== undefined) return found;
  const window = new SlidingWindow(windowSecondsOf(category) * 1000);
  const counter: Counter = { window, hits: 0, rejected: 0, atMs: 0, isDirty: false };
  subject.counters[index] = counter;
  return counter;
}

function limitResultOf(
  window: SlidingWindow,
  category: CountKind,
  limit: Limit,
  nowMs: number,
  allowed: boolean,
): RateLimitResult {
  return {
    allowed,
    category: shownCategory(category),
    limit,
    remaining: window.remaining(nowMs, limit),
    resetAtMs: window.resetAtMs(nowMs, limit),
    windowSeconds: windowSecondsOf(category),
  };
}

function addToMinute({ minutes }: Subject, atMs: number, accepted: number, rejected: number): void {
  if (minutes === undefined) return;
  const minute = Math.floor(atMs / MINUTE_MS);
  const last = minutes[minutes.length - 1];
  // After the clock was set back, the last minute continues until the clock reaches it again.
  if (last !== undefined && last.minute >= minute && last.minute - minute < 60) {
    last.accepted += accepted;
    last.rejected += rejected;
    return;
  }
  if (last !== undefined && last.minute > minute) minutes.length = 0;
  minutes.push({ minute, accepted, rejected });
  while ((minutes[0]?.minute ?? minute) < minute - 60) minutes.shift();
}

/** Statistics are read of users and their sign-ins, and cost memory. */
function hasTotals(key: string): boolean {
  return key.startsWith("u:") || key.startsWith("s:");
}

/** Whether nothing of this subject matters any longer. */
function isOver(subject: Subject, nowMs: number): boolean {
  return nowMs - subject.lastAtMs > RETENTION_MS + MINUTE_MS && !subject.counters.some((counter) => counter?.isDirty);
}
