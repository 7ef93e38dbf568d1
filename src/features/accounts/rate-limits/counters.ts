/** What the rate limiter counts in memory: subjects, and a counter for each category of a subject. */
import { RATE_CATEGORIES } from "../../../config/settings/plans.ts";
import { type Category, type Limit, WINDOW_SECONDS } from "../plans/plans.ts";
import { SlidingWindow } from "./window.ts";

/** Wrong passwords in an hour: a kind of count next to the categories, shown as `signin`. */
export const WRONG_BY_HOUR = "wrong_by_hour";

/** Each kind of count has its own counter in a subject. */
export type CountKind = Category | typeof WRONG_BY_HOUR;

/** The result for a request; the content of the `X-RateLimit-*` headers. */
export interface RateLimitResult {
  readonly allowed: boolean;
  readonly category: Category;
  /** Null for no limit. */
  readonly limit: Limit;
  /** Requests left in the window; null if there is no limit. */
  readonly remaining: number | null;
  /** When the oldest counted request leaves the window; for a rejection, when a request is accepted again. */
  readonly resetAtMs: number;
  readonly windowSeconds: number;
}

/** The counts of one kind for one subject. */
export interface Counter {
  readonly kind: CountKind;
  readonly window: SlidingWindow;
  /** Accepted requests that are not in the database yet. */
  hits: number;
  /** Rejected requests that are not in the database yet. */
  rejected: number;
  /** Time of the latest of these requests. */
  atMs: number;
  isDirty: boolean;
}

/** A caller whose requests are counted. */
export interface Subject {
  readonly key: string;
  /** By the index of the kind in {@link KINDS}; created when first used. */
  readonly counters: (Counter | undefined)[];
  /** The last hour minute by minute, oldest first; undefined for subjects without statistics. */
  readonly minutes: MinuteTotals[] | undefined;
  lastAtMs: number;
}

interface MinuteTotals {
  readonly minute: number;
  accepted: number;
  rejected: number;
}

/** Nothing is stored longer than the longest window, which is also the period of the statistics. */
export const RETENTION_MS = 3_600_000;
export const MINUTE_MS = 60_000;

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

/** The subject of wrong passwords for a link, from all addresses. @param shareId its public id */
export function linkSubject(shareId: string): string {
  return `l:${shareId}`;
}

/** A subject without counts. Only users and their sign-ins have statistics, because these take memory. */
export function newSubject(key: string, nowMs: number): Subject {
  const hasTotals = key.startsWith("u:") || key.startsWith("s:");
  return { key, counters: [], minutes: hasTotals ? [] : undefined, lastAtMs: nowMs };
}

/** The kind with this name; undefined for a name of another version of the program. */
export function findKind(name: string): CountKind | undefined {
  const index = INDEX_OF.get(name);
  return index === undefined ? undefined : KINDS[index];
}

/** The counter of a subject, if there is one. */
export function findCounter(subject: Subject | undefined, kind: CountKind): Counter | undefined {
  return subject?.counters[INDEX_OF.get(kind) ?? 0];
}

/** The counter of a subject; a new one if there is none. */
export function counterOf(subject: Subject, kind: CountKind): Counter {
  const found = findCounter(subject, kind);
  if (found !== undefined) return found;
  const counter = { kind, window: newWindow(kind), hits: 0, rejected: 0, atMs: 0, isDirty: false };
  subject.counters[INDEX_OF.get(kind) ?? 0] = counter;
  return counter;
}

/** The window of a kind before its first request. */
export function newWindow(kind: CountKind): SlidingWindow {
  return new SlidingWindow(windowSecondsOf(kind) * 1000);
}

/** The state of a window after a request, or before one. */
export function limitResultOf(
  { kind, window }: Pick<Counter, "kind" | "window">,
  limit: Limit,
  nowMs: number,
  allowed: boolean,
): RateLimitResult {
  return {
    allowed,
    category: kind === WRONG_BY_HOUR ? "signin" : kind,
    limit,
    remaining: window.remaining(nowMs, limit),
    resetAtMs: window.resetAtMs(nowMs, limit),
    windowSeconds: windowSecondsOf(kind),
  };
}

/** Adds to the statistics of a subject. */
export function addToMinute({ minutes }: Subject, atMs: number, accepted: number, rejected: number): void {
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

/** Whether a subject has no counts that matter any longer. */
export function isOver(subject: Subject, nowMs: number): boolean {
  return nowMs - subject.lastAtMs > RETENTION_MS + MINUTE_MS && !subject.counters.some((counter) => counter?.isDirty);
}

function windowSecondsOf(kind: CountKind): number {
  return kind === WRONG_BY_HOUR ? 3600 : WINDOW_SECONDS[kind];
}
