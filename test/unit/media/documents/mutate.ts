import { seededRandom } from "../../../support/random.ts";

const NUMBERS = ["-1", "0", "99999999999", "2147483647", "1 0 R"];

/** Damages a file: bytes and numbers are changed, and parts cut out, doubled or cut off. The same for the same seed. */
export function mutate(bytes: Uint8Array, seed: number): Buffer {
  const random = seededRandom(seed);
  let damaged = Buffer.from(bytes);
  for (let count = 1 + random.below(6); count > 0 && damaged.length > 8; count--) {
    const at = random.below(damaged.length);
    const end = at + 1 + random.below(40);
    const [before, part, after] = [damaged.subarray(0, at), damaged.subarray(at, end), damaged.subarray(end)];
    const changes = [
      () => Buffer.concat([before, random.bytes(1), damaged.subarray(at + 1)]),
      () => Buffer.concat([before, Buffer.alloc(4, random.pick([0, 0xff, 0x7f])), damaged.subarray(at + 4)]),
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, part, part, after]),
      () => {
        const text = damaged.toString("latin1");
        const numbers = [...text.matchAll(/\d+/g)];
        if (numbers.length === 0) return before;
        const { index, 0: digits } = random.pick(numbers);
        const number = random.pick(NUMBERS);
        return Buffer.from(text.slice(0, index) + number + text.slice(index + digits.length), "latin1");
      },
      () => damaged.subarray(0, damaged.length - random.below(damaged.length / 2)),
    ];
    damaged = random.pick(changes)();
  }
  return damaged;
}
