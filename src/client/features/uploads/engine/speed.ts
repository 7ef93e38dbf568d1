// The current upload speed. An average over the whole upload would describe past network conditions.

/** The period over which the speed is measured, in milliseconds. */
const WINDOW_MS = 8000;

/** The shortest period for which a speed is reported, in milliseconds. */
const SHORTEST_MS = 1000;

/** Measures the speed over the last eight seconds. All times are milliseconds of one clock. */
export class Speedometer {
  private samples: { atMs: number; bytes: number }[] = [];
  private total = 0;

  /** Records that `bytes` more were sent at `atMs`. */
  add(bytes: number, atMs: number): void {
    if (bytes <= 0) return;
    if (this.samples.length === 0) this.samples.push({ atMs, bytes: 0 });
    this.total += bytes;
    const last = this.samples.at(-1);
    // Ten samples per second are enough.
    if (last !== undefined && this.samples.length > 1 && atMs - last.atMs < 100) last.bytes = this.total;
    else this.samples.push({ atMs, bytes: this.total });
    this.forget(atMs);
  }

  /** Bytes per second; undefined if there is too little data. Falls while nothing is sent. */
  speed(nowMs: number): number | undefined {
    this.forget(nowMs);
    const first = this.samples[0];
    if (first === undefined) return undefined;
    const spanMs = nowMs - first.atMs;
    return spanMs < SHORTEST_MS ? undefined : ((this.total - first.bytes) * 1000) / spanMs;
  }

  /** Starts over: a pause is not a slow connection. */
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

/** Seconds until `bytesLeft` are sent at this speed; undefined if unknown. */
export function secondsLeft(bytesLeft: number, bytesPerSecond: number | undefined): number | undefined {
  if (bytesPerSecond === undefined || bytesPerSecond < 1) return undefined;
  return Math.ceil(bytesLeft / bytesPerSecond);
}
