/** Things that are passed on once and soon: kept in memory, bounded, oldest out first. */
import type { Clock } from "./clock.ts";

/** See the head of this file. Keys are secrets, or digests of them. */
export class ExpiringMap<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #countMax: number;
  readonly #things = new Map<string, { readonly thing: T; readonly expiresAtMs: number }>();

  constructor(options: { clock: Clock; lifetimeMs: number; countMax: number }) {
    this.#clock = options.clock;
    this.#lifetimeMs = options.lifetimeMs;
    this.#countMax = options.countMax;
  }

  put(key: string, thing: T): void {
    if (this.#things.size >= this.#countMax) {
      const oldest = this.#things.keys().next();
      if (!oldest.done) this.#things.delete(oldest.value);
    }
    this.#things.set(key, { thing, expiresAtMs: this.#clock.nowMs() + this.#lifetimeMs });
  }

  has(key: string): boolean {
    const found = this.#things.get(key);
    return found !== undefined && found.expiresAtMs > this.#clock.nowMs();
  }

  /** Gives a thing away: it is not there any more. */
  take(key: string): T | undefined {
    const found = this.#things.get(key);
    this.#things.delete(key);
    return found !== undefined && found.expiresAtMs > this.#clock.nowMs() ? found.thing : undefined;
  }
}
