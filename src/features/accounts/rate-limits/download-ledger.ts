/** Whether a request begins a download or continues one. */
export type DownloadStep = "counts" | "continues";

const PERIOD_MS = 3_600_000;
const ENTRIES_MAX = 50_000;

/**
 * Who has begun to download what within the hour, so that a player that asks for a film in a thousand ranges counts
 * once. In memory: after a restart, or when more downloads run than fit, a range may count once more.
 * Limits and download counts need a ledger each: a download may be counted in one before it is rejected by the other.
 */
export class DownloadLedger {
  readonly #entriesMax: number;
  /** When each was begun, in the order of beginning. */
  readonly #begun = new Map<string, number>();

  constructor(entriesMax = ENTRIES_MAX) {
    this.#entriesMax = entriesMax;
  }

  /**
   * Notes one request. A whole file counts each time. A range counts only if this caller has not begun this content
   * within the hour. Continuing does not extend the hour.
   */
  begin(callerKey: string, contentKey: string, isRange: boolean, nowMs: number): DownloadStep {
    const key = `${callerKey} ${contentKey}`;
    if (isRange && this.#isBegun(key, nowMs)) return "continues";
    // Deleted first, so that the order of the map stays that of beginning.
    this.#begun.delete(key);
    this.#forget(nowMs);
    this.#begun.set(key, nowMs);
    return "counts";
  }

  /** What {@link begin} would say, without noting it. */
  stepOf(callerKey: string, contentKey: string, isRange: boolean, nowMs: number): DownloadStep {
    return isRange && this.#isBegun(`${callerKey} ${contentKey}`, nowMs) ? "continues" : "counts";
  }

  #isBegun(key: string, nowMs: number): boolean {
    const atMs = this.#begun.get(key);
    // An instant in the future is from before the clock was set back.
    return atMs !== undefined && atMs > nowMs - PERIOD_MS && atMs <= nowMs;
  }

  #forget(nowMs: number): void {
    for (const [key, atMs] of this.#begun) {
      if (atMs > nowMs - PERIOD_MS && this.#begun.size < this.#entriesMax) return;
      this.#begun.delete(key);
    }
  }
}
