/** Whether a request begins a download or continues one. */
type DownloadStep = "counts" | "continues";

const PERIOD_MS = 3_600_000;
const ENTRIES_MAX = 50_000;
/** The share of the entries that is removed at once when there are too many. */
const EVICTED_SHARE = 0.01;

/**
 * Remembers for an hour which caller began which download, so that a player that requests a video in a thousand ranges
 * counts once. In memory: after a restart, or if more downloads run than fit, a range may count once more. Rate limits
 * and download counts need separate ledgers: a download may be counted in one before it is rejected by the other.
 */
export class DownloadLedger {
  readonly #entriesMax: number;
  /** When each download began, in that order. */
  readonly #begun = new Map<string, number>();
  /** Nothing expires before this instant. */
  #nextExpiryMs = 0;

  constructor(entriesMax = ENTRIES_MAX) {
    this.#entriesMax = entriesMax;
  }

  /**
   * Records a request. A whole file counts each time. A range counts only if this caller has not begun this content
   * within the hour. Continuing does not extend the hour.
   */
  begin(callerKey: string, contentKey: string, isRange: boolean, nowMs: number): DownloadStep {
    const key = `${callerKey} ${contentKey}`;
    if (isRange && this.#isBegun(key, nowMs)) return "continues";
    // Deleted first, so that the order of the map remains the order of the beginnings.
    this.#begun.delete(key);
    this.#forget(nowMs);
    this.#begun.set(key, nowMs);
    return "counts";
  }

  /** The result of {@link begin}, without recording the request. */
  peek(callerKey: string, contentKey: string, isRange: boolean, nowMs: number): DownloadStep {
    return isRange && this.#isBegun(`${callerKey} ${contentKey}`, nowMs) ? "continues" : "counts";
  }

  #isBegun(key: string, nowMs: number): boolean {
    const atMs = this.#begun.get(key);
    // An instant in the future is from before the clock was set back.
    return atMs !== undefined && atMs > nowMs - PERIOD_MS && atMs <= nowMs;
  }

  /**
   * Removes expired entries, and the oldest ones if there are too many. Going through a map passes the gaps of its
   * deleted entries, so this happens rarely, and removes several at once.
   */
  #forget(nowMs: number): void {
    const isFull = this.#begun.size >= this.#entriesMax;
    if (!isFull && nowMs < this.#nextExpiryMs) return;
    const sizeMax = isFull ? this.#entriesMax - Math.ceil(this.#entriesMax * EVICTED_SHARE) : this.#entriesMax;
    this.#nextExpiryMs = nowMs + PERIOD_MS;
    for (const [key, atMs] of this.#begun) {
      if (atMs > nowMs - PERIOD_MS && this.#begun.size <= sizeMax) {
        this.#nextExpiryMs = Math.min(this.#nextExpiryMs, atMs + PERIOD_MS);
        return;
      }
      this.#begun.delete(key);
    }
  }
}
