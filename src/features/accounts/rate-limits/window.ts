/**
 * An exact sliding window. At any instant t, at most the limit was accepted in (t - length, t]. A request leaves the
 * window exactly `length` after it was accepted. The window stores the instants of accepted requests with a count each,
 * instead of interpolating between fixed intervals.
 *
 * Memory is bounded. Up to `EXACT_MAX` instants are exact to the millisecond; later ones are rounded up to the next of
 * `MARKS` marks in a window. Rounding up never lets more than the limit through, and `resetAtMs` stays right.
 */

/** Limits up to this are exact to the millisecond. */
const EXACT_MAX = 10_000;
const MARKS = 26_000;
/** Expired instants at the front are removed in batches, so that a request costs constant time. */
const COMPACT_AT = 64;

/** The accepted requests of one subject in one category. The limit is given with each call: a plan may change. */
export class SlidingWindow {
  readonly #lengthMs: number;
  readonly #coarseMs: number;
  #times: number[] = [];
  #counts: number[] = [];
  #head = 0;
  #used = 0;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#coarseMs = Math.ceil(lengthMs / MARKS);
  }

  /**
   * Accepts as many of `requested` requests at this instant as the limit has room for.
   * @param limit null for no limit: all are accepted, but still counted
   * @returns how many were accepted
   */
  take(nowMs: number, limit: number | null, requested = 1): number {
    this.#advance(nowMs);
    const taken = limit === null ? requested : Math.min(requested, Math.max(0, limit - this.#used));
    if (taken > 0) {
      const isCoarse = this.#times.length - this.#head >= EXACT_MAX;
      this.#add(isCoarse ? Math.ceil(nowMs / this.#coarseMs) * this.#coarseMs : nowMs, taken);
    }
    return taken;
  }

  /** How many requests are in the window at this instant. */
  used(nowMs: number): number {
    this.#advance(nowMs);
    return this.#used;
  }

  /** How many more would be accepted at this instant; null if there is no limit. */
  remaining(nowMs: number, limit: number | null): number | null {
    this.#advance(nowMs);
    return limit === null ? null : Math.max(0, limit - this.#used);
  }

  /**
   * When the oldest counted request leaves the window, or now + length if none is counted. If the limit is reached, the
   * first instant at which a request is accepted again. That is later if the limit was lowered.
   */
  resetAtMs(nowMs: number, limit: number | null): number {
    this.#advance(nowMs);
    if (this.#used === 0 || (limit !== null && limit < 1)) return nowMs + this.#lengthMs;
    let mustLeave = limit === null ? 1 : Math.max(1, this.#used - limit + 1);
    let at = this.#head;
    for (;;) {
      mustLeave -= this.#counts[at] ?? mustLeave;
      if (mustLeave <= 0) return (this.#times[at] ?? nowMs) + this.#lengthMs;
      at++;
    }
  }

  /** Restores the counts from before a restart. Instants must come in ascending order, before any `take`. */
  restore(atMs: number, count: number): void {
    this.#add(atMs, count);
  }

  #add(atMs: number, count: number): void {
    const last = this.#times.length - 1;
    // Coarse and exact instants may be mixed; the later one is the stricter choice.
    if (last >= this.#head && (this.#times[last] ?? 0) >= atMs) this.#counts[last] = (this.#counts[last] ?? 0) + count;
    else {
      this.#times.push(atMs);
      this.#counts.push(count);
    }
    this.#used += count;
  }

  /** Removes expired instants. */
  #advance(nowMs: number): void {
    const times = this.#times;
    if ((times[times.length - 1] ?? 0) > nowMs + this.#coarseMs) this.#clockWentBack(nowMs);
    const expiredMs = nowMs - this.#lengthMs;
    while (this.#head < times.length && (times[this.#head] ?? 0) <= expiredMs) {
      this.#used -= this.#counts[this.#head] ?? 0;
      this.#head++;
    }
    if (this.#head === times.length) {
      if (this.#head > 0) this.#keepFrom(times.length);
    } else if (this.#head >= COMPACT_AT && this.#head * 2 > times.length) this.#keepFrom(this.#head);
  }

  #keepFrom(index: number): void {
    this.#times = this.#times.slice(index);
    this.#counts = this.#counts.slice(index);
    this.#head = 0;
  }

  /**
   * Handles a clock that was set back: later instants now count as of this moment. They leave within one window, so
   * that nobody is locked out until the clock reaches those instants again.
   */
  #clockWentBack(nowMs: number): void {
    let count = 0;
    while (this.#times.length > this.#head && (this.#times[this.#times.length - 1] ?? 0) > nowMs) {
      this.#times.pop();
      count += this.#counts.pop() ?? 0;
    }
    this.#used -= count;
    this.#add(nowMs, count);
  }
}
