/** Counts of observations by size, cheap enough for every request: a few comparisons and no allocation. */
export class Histogram {
  /** Upper bounds, inclusive, ascending. */
  readonly bounds: readonly number[];
  /** One for each bound, and one for what is above them all; not cumulative. */
  readonly counts: Float64Array;
  /** Of all that was observed. */
  sum = 0;

  /** @param bounds ascending; in the unit of what is observed */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** How often something was observed. */
  get count(): number {
    return this.counts.reduce((sum, one) => sum + one, 0);
  }

  /** Counts a value. */
  observe(value: number): void {
    const { bounds } = this;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] ?? Number.POSITIVE_INFINITY)) place++;
    this.counts[place] = (this.counts[place] ?? 0) + 1;
    this.sum += value;
  }
}
