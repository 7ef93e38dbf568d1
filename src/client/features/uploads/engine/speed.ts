// How fast bytes go, over the last seconds: an average over all the time would tell of a network that is long gone.

/** Over how long the speed is taken, in milliseconds. */
const WINDOW_MS = 8000;

/** At least this long, before a speed is told at all, in milliseconds. */
const SHORTEST_MS = 1000;

/** Counts bytes as they go and tells their speed over the last eight seconds. Times are milliseconds of one clock. */
export class Speedometer {
  private samples: { atMs: number; bytes: number }[] = [];
  private total = 0;

  /** Notes that `bytes` more went at `atMs`. */
  add(bytes: number, atMs: number): void {
    if (bytes <= 0) return;
    if (this.samples.length === 0) this.samples.push({ atMs, bytes: 0 });
    this.total += bytes;
    const last = this.samples.at(-1);
    // Ten samples a second are enough.
    if (last !== undefined && this.samples.length > 1 && atMs - last.atMs < 100) last.bytes = this.total;
    else this.samples.push({ atMs, bytes: this.total });
    this.forget(atMs);
  }

  /** Bytes a second, or undefined where too little is known. Sinks while nothing goes. */
  speed(nowMs: number): number | undefined {
    this.forget(nowMs);
    const first = this.samples[0];
    if (first === undefined) return undefined;
    const spanMs = nowMs - first.atMs;
    return spanMs < SHORTEST_MS ? undefined : ((this.total - first.bytes) * 1000) / spanMs;
  }

  /** Begins anew: after a pause the silence is no slowness. */
  reset(): void {
    this.samples = [];
    this.total = 0;
  }

  private forget(nowMs: number): void {
    while (this.samples.length > 1) {
      const [first, second] = this.samples;
      if (first === undefined || second === undefined || nowMs - second.atMs < WINDOW_MS) return;
      this.samples.shift();
    }
  }
}

/** Seconds until `bytesLeft` have gone at this speed; undefined where that can't be said. */
export function secondsLeft(bytesLeft: number, bytesPerSecond: number | undefined): number | undefined {
  if (bytesPerSecond === undefined || bytesPerSecond < 1) return undefined;
  return Math.ceil(bytesLeft / bytesPerSecond);
}
