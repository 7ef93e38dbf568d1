// Repeatable random numbers: a test with a fixed seed fails on every machine or on none.

/** A pseudorandom generator (mulberry32): the same seed gives the same numbers. */
export interface SeededRandom {
  /** From 0 up to, not including, 1. */
  readonly fraction: () => number;
  /** An integer from 0 up to, not including, `limit`. */
  readonly below: (limit: number) => number;
  /** True with this probability. */
  readonly chance: (share: number) => boolean;
  /** One of the items. @throws Error if there are none */
  readonly pick: <T>(items: readonly T[]) => T;
  /** The same items in another order. */
  readonly shuffled: <T>(items: readonly T[]) => T[];
  /** Random bytes. */
  readonly bytes: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
}

/** Creates a generator from a seed. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(fraction() * limit);
  return {
    fraction,
    below,
    chance: (share) => fraction() < share,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new Error("The list to pick from is empty.");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- within the length of the list
      return items[below(items.length)] as T;
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, key: fraction() }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item),
    bytes: (sizeBytes) => Uint8Array.from({ length: sizeBytes }, () => below(256)),
  };
}

/**
 * The seeds to run with: those of LARDER_TEST_SEED (separated by commas), the first LARDER_TEST_SEEDS ones, or the
 * defaults. The suite uses few, because people wait for it; scripts/rounds/seeds uses many.
 */
export function seedsToRun(defaults: readonly number[]): number[] {
  const chosen = (process.env["LARDER_TEST_SEED"] ?? "").split(",").filter((word) => word.trim() !== "");
  if (chosen.length > 0) return chosen.map(Number);
  const count = process.env["LARDER_TEST_SEEDS"] ?? "";
  return count === "" ? [...defaults] : Array.from({ length: Number(count) }, (_, index) => index + 1);
}
