// Reproducible random numbers: every random decision of a phone, its user and its line derives from one seed.

/** A stream of random numbers from a seed (mulberry32). */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from `from` to `to`, both inclusive. */
  between(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  /** True with this probability. */
  chance(share: number): boolean {
    return this.fraction() < share;
  }

  /** An item of the list; undefined if it is empty. */
  pick<T>(list: readonly T[]): T | undefined {
    return list[this.between(0, list.length - 1)];
  }

  /** One of the arguments. */
  choose<T>(first: T, ...more: T[]): T {
    return this.pick([first, ...more]) ?? first;
  }

  /** The items in random order. */
  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, key: this.fraction() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }

  /** Random bytes. */
  bytes(sizeBytes: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(sizeBytes);
    for (let at = 0; at < sizeBytes; at += 4) {
      const word = this.between(0, 0xffffffff);
      for (let part = 0; part < 4 && at + part < sizeBytes; part++) bytes[at + part] = (word >>> (part * 8)) & 255;
    }
    return bytes;
  }

  /** An independent stream, so that the numbers of one user do not depend on how many another one takes. */
  branch(name: string): Random {
    let hash = 2_166_136_261;
    for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16_777_619);
    return new Random((this.seed ^ hash) >>> 0);
  }
}

/** The seeds of LARDER_TEST_SEED (separated by commas) if it is set, otherwise the given ones. */
export function seedsToRun(defaults: number[]): number[] {
  const requested = (process.env["LARDER_TEST_SEED"] ?? "").split(",").filter((word) => word.trim() !== "");
  return requested.length === 0 ? defaults : requested.map(Number);
}
