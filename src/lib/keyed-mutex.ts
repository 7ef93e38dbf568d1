/** Runs work on one key sequentially, and on different keys concurrently. */
export class KeyedMutex<Key> {
  readonly #last = new Map<Key, Promise<void>>();

  /** Runs `work` after all earlier work on this key has ended or failed. @throws what `work` throws */
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
