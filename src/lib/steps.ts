/** Cuts long work on the event loop into steps, with a turn for all others after each. */
export class Steps {
  readonly #ms: number;
  #endMs: number;

  /** @param ms how long the event loop waits for one step */
  constructor(ms: number) {
    this.#ms = ms;
    this.#endMs = performance.now() + ms;
  }

  /** Between two pieces of the work: waits where the step is over. */
  async next(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await new Promise(setImmediate);
    this.#endMs = performance.now() + this.#ms;
  }
}
