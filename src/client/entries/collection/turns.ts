/** Runs a bounded number of tasks at a time; the others wait, the one that came last first: it is what the person sees. */
export class Turns {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs a task when it is its turn. @throws what the task throws; the abort reason of `signal`, also while it waits */
  async take<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await this.#wait(signal);
    else this.#running += 1;
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      // The turn passes on to the next task, or ends.
      const next = this.#waiting.pop();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      const index = this.#waiting.indexOf(resolve);
      // Its turn came at the same moment: then it passes the turn on.
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(signal.reason);
    };
    this.#waiting.push(resolve);
    signal.addEventListener("abort", leave);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}
