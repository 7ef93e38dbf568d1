/** Counts of observations by size, cheap enough for every request: a few comparisons and no allocation. */
export class Histogram {
  /** Upper bounds, inclusive, ascending. */
  readonly bounds: readonly number[];
  /** One count for each bound, and one for larger values; not cumulative. */
  readonly counts: Float64Array;
  /** The sum of all observed values. */
  sum = 0;

  /** @param bounds ascending; in the unit of the observed values */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** The number of observed values. */
  get count(): number {
    return this.counts.reduce((sum, one) => sum + one, 0);
  }

  /** Counts a value. */
  observe(value: number): void {
    const { bounds } = this;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? Number.POSITIVE_INFINITY)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
  }
}
