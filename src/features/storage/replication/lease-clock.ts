import type { Moment } from "./lease-rules.ts";

/** The time of the lease. Tests set it. */
export interface LeaseClock {
  now(): Moment;
  /** Ends early when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clocks of the machine. */
export const machineClock: LeaseClock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  sleep(ms, signal) {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted === true) return Promise.resolve();
    const onAbort = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise;
  },
};
