import { AppError } from "../errors.ts";
import { type Message, say } from "../translations/say.ts";

const COPIES_IN_PROGRESS = say`Other copy and restore operations are in progress. Try again when they are finished.`;

/** Runs work one at a time for each key, in the order of the calls. */
export class Turns {
  readonly #waitingMax: number;
  readonly #busy: Message;
  /** By key: the end of the last work, and how much runs or waits. */
  readonly #ends = new Map<number, { end: Promise<unknown>; count: number }>();

  /**
   * @param waitingMax how much may wait for one key, in addition to the running work
   * @param busy the message of the error if more would wait
   */
  constructor(waitingMax: number, busy = COPIES_IN_PROGRESS) {
    this.#waitingMax = waitingMax;
    this.#busy = busy;
  }

  /**
   * Runs `work` when no other work runs for any of the keys.
   * @throws what `work` throws; AppError overloaded if too much is waiting
   */
  take<T>(keys: readonly number[], work: () => Promise<T>): Promise<T> {
    // Always in the same order, so that two calls with the same keys never deadlock.
    const [first, ...others] = [...new Set(keys)].toSorted((a, b) => a - b);
    if (first === undefined) return work();
    return this.#takeOne(first, others.length === 0 ? work : () => this.take(others, work));
  }

  async #takeOne<T>(key: number, work: () => Promise<T>): Promise<T> {
    const line = this.#ends.get(key) ?? { end: Promise.resolve(), count: 0 };
    if (line.count > this.#waitingMax) {
      throw new AppError("overloaded", this.#busy);
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
