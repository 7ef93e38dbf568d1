import { AppError } from "../errors.ts";

/** Work of which only one runs at a time for each key, in the order in which it came. */
export class Turns {
  readonly #waitingMax: number;
  /** By key, the end of what came last and how much runs or waits. */
  readonly #ends = new Map<number, { end: Promise<unknown>; count: number }>();

  /** @param waitingMax how much may wait for one key, beside what runs */
  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /**
   * Does the work when nothing else is being done for any of the keys.
   * @throws what the work throws; AppError overloaded where too much waits already
   */
  take<T>(keys: readonly number[], work: () => Promise<T>): Promise<T> {
    // Always in the same order, so that two that need the same keys never wait for each other.
    const [first, ...others] = [...new Set(keys)].toSorted((a, b) => a - b);
    if (first === undefined) return work();
    return this.#takeOne(first, others.length === 0 ? work : () => this.take(others, work));
  }

  async #takeOne<T>(key: number, work: () => Promise<T>): Promise<T> {
    const line = this.#ends.get(key) ?? { end: Promise.resolve(), count: 0 };
    if (line.count > this.#waitingMax) {
      throw new AppError(
        "overloaded",
        "Other copy and restore operations are in progress. Try again when they are finished.",
      );
    }
    line.count++;
    this.#ends.set(key, line);
    const result = line.end.then(work);
    line.end = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      line.count--;
      if (line.count === 0) this.#ends.delete(key);
    }
  }
}
