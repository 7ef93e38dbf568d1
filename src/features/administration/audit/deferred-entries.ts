/**
 * Entries that nobody waits for: they are written within a second. Refusals, and what anybody may ask for, share a row
 * where they repeat within a minute: the first is written at once, the rest as one row with their number when the
 * minute is over. So a flood of wrong passwords writes a bounded number of rows, and is still seen when it begins.
 * Downloads are gathered alike, because of their ranges. Whatever else somebody has done has a row of its own.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { AuditEntry } from "./types.ts";

/** Entries that are told apart within a minute; what comes on top shares one row, whoever it is. */
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

/** The entry without what tells whom it was: one of many, of whom nobody could keep a list. */
function anybody({ action, outcome, reason }: AuditEntry): AuditEntry {
  return { action, outcome, reason, via: "none", details: { crowded: true } };
}

function keyOf({ action, outcome, reason, user, subject, target, clientAddress }: AuditEntry): string {
  const of = [action, outcome, reason, user?.id, user?.email, subject?.id, target?.type, target?.id, clientAddress];
  return JSON.stringify(of.map((part) => part ?? null));
}
