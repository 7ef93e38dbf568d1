/**
 * Audit entries that are written within a second, without making a request wait.
 * Rejections, and actions open to anybody, share a row if they repeat within a minute. The first is written at once;
 * the rest become one row with their number at the end of the minute. So a flood of wrong passwords writes a bounded
 * number of rows, and its beginning is visible. Downloads are grouped too, because of their ranges. Every other action
 * has its own row.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { AuditEntry } from "./types.ts";

/** Groups within a minute. Further entries share one row, from any client. */
const GROUPS_MAX = 1_000;
/** Entries that wait for the disk; more only while it fails. */
const WAITING_MAX = 10_000;
const ROWS_PER_TRANSACTION = 500;

const DOWNLOAD = "file.download";

/** How long repetitions are gathered. */
export const GATHER_MS = 60_000;

/** An entry and when it was. */
export interface WaitingEntry {
  readonly entry: AuditEntry;
  readonly atMs: number;
}

interface Group {
  readonly entry: AuditEntry;
  readonly sinceMs: number;
  atMs: number;
  /** Not written yet, beside the first. */
  times: number;
}

/** Knows no database: who writes takes what is ready. */
export class DeferredEntries {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  #ready: WaitingEntry[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something is to be written as soon as may be. */
  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Something is being gathered. */
  get isGathering(): boolean {
    return this.#groups.size > 0;
  }

  /** Adds an entry. @returns whether something became ready by it */
  add(entry: AuditEntry): boolean {
    const atMs = this.#clock.nowMs();
    const isCrowded = this.#groups.size >= GROUPS_MAX;
    const isOwn = entry.outcome === "done" && entry.user?.id !== undefined;
    if (isOwn && (isCrowded || entry.action !== DOWNLOAD)) {
      this.#push({ entry, atMs });
      return true;
    }
    const own = keyOf(entry);
    const key = this.#groups.has(own) || !isCrowded ? own : keyOf(anybody(entry));
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.times++;
      group.atMs = atMs;
      return false;
    }
    const grouped = key === own ? entry : anybody(entry);
    this.#groups.set(key, { entry: grouped, sinceMs: atMs, atMs, times: 0 });
    this.#push({ entry: grouped, atMs });
    return true;
  }

  /** Makes ready what was gathered for a minute. @param all also what was not, for the end of the program */
  close(all = false): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, { entry, sinceMs, atMs, times }] of this.#groups) {
      const isOver = nowMs - sinceMs >= GATHER_MS || nowMs < sinceMs;
      if (!isOver && !all) continue;
      this.#groups.delete(key);
      if (times > 0) this.#push({ entry: { ...entry, times }, atMs });
    }
  }

  /** Takes so much of what is ready as one transaction should write. */
  take(): WaitingEntry[] {
    return this.#ready.splice(0, ROWS_PER_TRANSACTION);
  }

  /** Puts back what could not be written. */
  giveBack(entries: readonly WaitingEntry[]): void {
    this.#ready = [...entries, ...this.#ready].slice(0, WAITING_MAX);
  }

  #push(waiting: WaitingEntry): void {
    if (this.#ready.length < WAITING_MAX) this.#ready.push(waiting);
  }
}

/** The entry without its person: it stands for many, who can't all be listed. */
function anybody({ action, outcome, reason }: AuditEntry): AuditEntry {
  return { action, outcome, reason, via: "none", details: { crowded: true } };
}

function keyOf({ action, outcome, reason, user, subject, target, clientAddress }: AuditEntry): string {
  const of = [action, outcome, reason, user?.id, user?.email, subject?.id, target?.type, target?.id, clientAddress];
  return JSON.stringify(of.map((part) => part ?? null));
}
