/** The segments of a searchable text: from `first` on, without gaps. */
export interface SegmentRange {
  readonly blobId: number;
  readonly first: number;
  readonly count: number;
  /** Of the whole text. */
  readonly bytes: number;
}

/** Which segments belong to which searchable text. */
export class SegmentRanges {
  readonly #byBlob = new Map<number, SegmentRange>();
  /** By `first`. */
  readonly #sorted: SegmentRange[] = [];
  #segments = 0;
  #bytes = 0;
  #removals = 0;

  /** The number of texts. */
  get texts(): number {
    return this.#sorted.length;
  }

  /** The number of segments of all texts. */
  get segments(): number {
    return this.#segments;
  }

  /** The size of all texts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Changes whenever a text is removed: its ids may be used again. */
  get removals(): number {
    return this.#removals;
  }

  find(blobId: number): SegmentRange | undefined {
    return this.#byBlob.get(blobId);
  }

  /** Adds a text, in place of an earlier range of it. */
  add(range: SegmentRange): void {
    this.remove(range.blobId);
    this.#byBlob.set(range.blobId, range);
    this.#sorted.splice(this.#indexAfter(range.first), 0, range);
    this.#segments += range.count;
    this.#bytes += range.bytes;
  }

  remove(blobId: number): void {
    const range = this.#byBlob.get(blobId);
    if (range === undefined) return;
    this.#byBlob.delete(blobId);
    this.#segments -= range.count;
    this.#bytes -= range.bytes;
    this.#removals++;
    for (let at = this.#indexAfter(range.first) - 1; at >= 0; at--) {
      if (this.#sorted[at]?.blobId !== blobId) continue;
      this.#sorted.splice(at, 1);
      return;
    }
  }

  /** The text that a segment belongs to; 0 if none. */
  blobOf(segmentId: number): number {
    const range = this.#sorted[this.#indexAfter(segmentId) - 1];
    return range !== undefined && segmentId < range.first + range.count ? range.blobId : 0;
  }

  /** The index after all ranges that begin with or before a segment. */
  #indexAfter(segmentId: number): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#sorted[middle]?.first ?? 0) <= segmentId) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
