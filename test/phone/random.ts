// Chance that can be had again: everything a phone, its user and its line do by chance is drawn from one seed.

/** A stream of numbers that its seed decides (mulberry32). */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  /** True in this share of all cases. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  /** One of the list; undefined where it is empty. */
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.between(0, list.length - 1)];
  }

  /** One of a list that has at least one. */
  choose<T>(first: T, ...more: T[]): T {
    return this.pick([first, ...more]) ?? first;
  }

  /** The same items in another order. */
  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, key: this.fraction() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  /** Bytes that this seed alone makes. */
  bytes(sizeBytes: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(sizeBytes);
    for (let at = 0; at < sizeBytes; at += 4) {
      const word = this.between(0, 0xffffffff);
      for (let part = 0; part < 4 && at + part < sizeBytes; part++) bytes[at + part] = (word >>> (part * 8)) & 255;
    }
    return bytes;
  }

  /** A stream of its own, so that what one does by chance does not depend on how often another asks. */
  branch(name: string): Random {
    let hash = 2_166_136_261;
    for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16_777_619);
    return new Random((this.seed ^ hash) >>> 0);
  }
}

/** The seeds to run with: LARDER_TEST_SEED (separated by commas) where it is set, else the given ones. */
export function seedsToRun(usual: number[]): number[] {
  const wanted = (process.env["LARDER_TEST_SEED"] ?? "").split(",").filter((word) => word.trim() !== "");
  return wanted.length === 0 ? usual : wanted.map(Number);
}
