import { monitorEventLoopDelay } from "node:perf_hooks";

/** How late the event loop runs due work, in seconds. */
export interface EventLoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** A few measurements a second are enough: an idle server should sleep. */
const RESOLUTION_MS = 100;
const NANOSECONDS = 1e9;
/** The minimum period of a measurement, so that two monitors do not reset each other's values. */
const PERIOD_MS = 10_000;

/** Measures the event loop after the first call of `read`: most servers have no monitor. */
export class EventLoopWatch {
  #histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #sinceMs = 0;

  /** The delays since the previous call, over at least ten seconds; zeros at the first call. */
  read(): EventLoopDelay {
    const nowMs = performance.now();
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#histogram.enable();
      this.#sinceMs = nowMs;
      return { p50: 0, p99: 0, max: 0 };
    }
    const histogram = this.#histogram;
    const seconds = (nanoseconds: number) => (histogram.count === 0 ? 0 : nanoseconds / NANOSECONDS);
    const delay = {
      p50: seconds(histogram.percentile(50)),
      p99: seconds(histogram.percentile(99)),
      max: seconds(histogram.max),
    };
    if (nowMs - this.#sinceMs >= PERIOD_MS) {
      histogram.reset();
      this.#sinceMs = nowMs;
    }
    return delay;
  }

  /** Stops measuring. */
  close(): void {
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}
