/** Results that are remembered. */
const RESULTS_MAX = 10_000;

/**
 * Which texts contain which phrases. A search is repeated when some texts have been read again, and those of the others
 * may not be in memory any more.
 */
export class KnownPhrases {
  readonly #known = new Map<string, boolean>();
  #removals = 0;

  /** @param removals the number of removed texts: after another removal, an id may belong to another text */
  get(blobId: number, phrase: string, removals: number): boolean | undefined {
    if (removals !== this.#removals) this.#known.clear();
    this.#removals = removals;
    return this.#known.get(`${blobId} ${phrase}`);
  }

  set(blobId: number, phrase: string, isFound: boolean): void {
    this.#known.set(`${blobId} ${phrase}`, isFound);
    const [oldest] = this.#known.keys();
    if (this.#known.size > RESULTS_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}
