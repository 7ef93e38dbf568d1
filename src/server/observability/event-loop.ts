import { monitorEventLoopDelay } from "node:perf_hooks";

/** How late what is due is done, because something else is being done, in seconds. */
export interface EventLoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Some looks a second are enough, and a server that does nothing should sleep. */
const LOOK_MS = 100;
const NANOSECONDS = 1e9;
/** What is told is of so long at least: two who ask must not take each other's figures away. */
const PERIOD_MS = 10_000;

/** Measures the event loop from the first question on: most servers are never asked. */
export class EventLoopWatch {
  #histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #sinceMs = 0;

  /** Of the time since the question before, ten seconds at least; zeros at the first. */
  read(): EventLoopDelay {
    const nowMs = performance.now();
    if (this.#histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: LOOK_MS });
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

  /** Measures no more. */
  close(): void {
    this.#histogram?.disable();
    this.#histogram = undefined;
  }
}
