// Chance that can be had again: a test that draws from a fixed seed fails for everybody or for nobody.

/** Numbers that look random and are the same again for the same seed (mulberry32). */
export interface SeededRandom {
  /** From 0 up to, not including, 1. */
  readonly fraction: () => number;
  /** A whole number from 0 up to, not including, `limit`. */
  readonly below: (limit: number) => number;
  /** True in this share of all cases. */
  readonly chance: (share: number) => boolean;
  /** One of them. @throws Error where there is none */
  readonly pick: <T>(items: readonly T[]) => T;
  /** The same items in another order. */
  readonly shuffled: <T>(items: readonly T[]) => T[];
  /** So many bytes. */
  readonly bytes: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
}

/** The stream of numbers that a seed decides. */
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
      if (items.length === 0) throw new Error("There is nothing to pick from.");
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
 * The seeds to run with: those of LARDER_TEST_SEED (separated by commas), as many as LARDER_TEST_SEEDS says, or the usual ones.
 * The suite is waited for and takes few; scripts/rounds/seeds takes many.
 */
export function seedsToRun(usual: readonly number[]): number[] {
  const wanted = (process.env["LARDER_TEST_SEED"] ?? "").split(",").filter((word) => word.trim() !== "");
  if (wanted.length > 0) return wanted.map(Number);
  const count = process.env["LARDER_TEST_SEEDS"] ?? "";
  return count === "" ? [...usual] : Array.from({ length: Number(count) }, (_, index) => index + 1);
}
