/** The delays between attempts. */
export interface Backoff {
  /** Before the second attempt, in milliseconds. */
  readonly firstMs: number;
  /** Never longer than this. */
  readonly maxMs: number;
}

/**
 * The delay after the `failures`th failure in a row (from 1). It doubles each time up to the maximum. Its second half
 * is random, so that attempts that failed together are not repeated together.
 * @param random a number from 0 to below 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff, random: () => number = Math.random): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 50));
  return Math.round(fullMs / 2 + (fullMs / 2) * random());
}
