/** Lets pieces of work on one key run one after the other, and those on different keys side by side. */
export class KeyedMutex<Key> {
  readonly #last = new Map<Key, Promise<void>>();

  /** Runs `work` when all earlier work on this key has ended, well or not. @throws what `work` throws */
  async run<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(key, promise);
    try {
      await before;
      return await work();
    } finally {
      if (this.#last.get(key) === promise) this.#last.delete(key);
      resolve();
    }
  }
}
