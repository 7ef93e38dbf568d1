/**
 * Audit entries that are written within a second, without delaying a request. Rejections and public actions share a row
 * if they repeat within a minute. The first is written immediately; the rest become one row with their number at the
 * end of the minute. So many wrong passwords in a row write a limited number of rows, and the first is visible
 * immediately. Downloads are grouped too, because of their ranges. Every other action has its own row.
 */
import type { Clock } from "../../../lib/clock.ts";
import type { AuditEntry } from "./types.ts";

/** Most groups within a minute. Further entries share one row, from any client. */
const GROUPS_MAX = 1_000;
/** Most queued entries; more than a few only while the disk fails. */
const WAITING_MAX = 10_000;
const ROWS_PER_TRANSACTION = 500;

const DOWNLOAD = "file.download";

/** How long repetitions are grouped. */
export const GATHER_MS = 60_000;

/** An entry and its time. */
export interface WaitingEntry {
  readonly entry: AuditEntry;
  readonly atMs: number;
}

interface Group {
  readonly entry: AuditEntry;
  readonly sinceMs: number;
  atMs: number;
  /** Repetitions that are not written yet, without the first. */
  times: number;
}

/** Does not use the database; the caller takes and writes the entries. */
export class DeferredEntries {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  #ready: WaitingEntry[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether an entry is ready to be written. */
  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Whether repetitions are being grouped. */
  get isGathering(): boolean {
    return this.#groups.size > 0;
  }

  /** Adds an entry. @returns whether an entry became ready */
  add(entry: AuditEntry): boolean {
    const atMs = this.#clock.nowMs();
    const isCrowded = this.#groups.size >= GROUPS_MAX;
    const isOwn = entry.outcome === "done" && entry.user?.id !== undefined;
    if (isOwn && (isCrowded || entry.action !== DOWNLOAD)) {
      this.#push({ entry, atMs });
      return true;
    }
    const own = keyOf(entry);
    const key = this.#groups.has(own) || !isCrowded ? own : keyOf(withoutPerson(entry));
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.times++;
      group.atMs = atMs;
      return false;
    }
    const grouped = key === own ? entry : withoutPerson(entry);
    this.#groups.set(key, { entry: grouped, sinceMs: atMs, atMs, times: 0 });
    this.#push({ entry: grouped, atMs });
    return true;
  }

  /** Makes groups ready whose minute has ended. @param all also the others, at shutdown */
  close(all = false): void {
    const nowMs = this.#clock.nowMs();
    for (const [key, { entry, sinceMs, atMs, times }] of this.#groups) {
      const isOver = nowMs - sinceMs >= GATHER_MS || nowMs < sinceMs;
      if (!isOver && !all) continue;
      this.#groups.delete(key);
      if (times > 0) this.#push({ entry: { ...entry, times }, atMs });
    }
  }

  /** Takes as many ready entries as one transaction should write. */
  take(): WaitingEntry[] {
    return this.#ready.splice(0, ROWS_PER_TRANSACTION);
  }

  /** Returns entries that could not be written. */
  giveBack(entries: readonly WaitingEntry[]): void {
    this.#ready = [...entries, ...this.#ready].slice(0, WAITING_MAX);
  }

  #push(waiting: WaitingEntry): void {
    if (this.#ready.length < WAITING_MAX) this.#ready.push(waiting);
  }
}

/** The entry without its person: it stands for many, who can't all be listed. */
function withoutPerson({ action, outcome, reason }: AuditEntry): AuditEntry {
  return { action, outcome, reason, via: "none", details: { crowded: true } };
}

function keyOf({ action, outcome, reason, user, subject, target, clientAddress }: AuditEntry): string {
  const of = [action, outcome, reason, user?.id, user?.email, subject?.id, target?.type, target?.id, clientAddress];
  return JSON.stringify(of.map((part) => part ?? null));
}
