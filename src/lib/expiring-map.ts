import type { Clock } from "./clock.ts";

/** A bounded map in memory whose entries expire and can be taken once; a full map drops its oldest entry. */
export class ExpiringMap<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #countMax: number;
  readonly #entries = new Map<string, { readonly value: T; readonly expiresAtMs: number }>();

  constructor(options: { clock: Clock; lifetimeMs: number; countMax: number }) {
    this.#clock = options.clock;
    this.#lifetimeMs = options.lifetimeMs;
    this.#countMax = options.countMax;
  }

  put(key: string, value: T): void {
    if (this.#entries.size >= this.#countMax) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, { value, expiresAtMs: this.#clock.nowMs() + this.#lifetimeMs });
  }

  has(key: string): boolean {
    const found = this.#entries.get(key);
    return found !== undefined && found.expiresAtMs > this.#clock.nowMs();
  }

  /** Removes and returns a value; undefined if there is none or it has expired. */
  take(key: string): T | undefined {
    const found = this.#entries.get(key);
    this.#entries.delete(key);
    return found !== undefined && found.expiresAtMs > this.#clock.nowMs() ? found.value : undefined;
  }
}
