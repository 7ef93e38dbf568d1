/** How the waiting time between attempts grows. */
export interface Backoff {
  /** Before the second attempt, in milliseconds. */
  readonly firstMs: number;
  /** Never longer than this. */
  readonly maxMs: number;
}

/**
 * How long to wait after the `failures`th failure in a row (from 1): twice as long each time up to the maximum, of
 * which the second half is left to chance, so that what failed together does not come back together.
 * @param random a number from 0 to below 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: () => number = Math.random): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 50));
  return Math.round(fullMs / 2 + (fullMs / 2) * random());
}
