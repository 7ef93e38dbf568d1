/** Splits long work on the event loop into steps, and lets other work run after each. */
export class Steps {
  readonly #ms: number;
  #endMs: number;

  /** @param ms how long one step may block the event loop */
  constructor(ms: number) {
    this.#ms = ms;
    this.#endMs = performance.now() + ms;
  }

  /** Call this between two parts of the work: yields to the event loop if the step has used up its time. */
  async next(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await new Promise(setImmediate);
    this.#endMs = performance.now() + this.#ms;
  }
}
