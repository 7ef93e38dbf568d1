import { expect, test } from "bun:test";
import { backoffMs } from "../../../src/lib/backoff.ts";

const backoff = { firstMs: 1_000, maxMs: 60_000 };

test("each delay is twice the last, up to the maximum", () => {
  const waits = [1, 2, 3, 4, 7, 8, 1_000].map((failures) => backoffMs(failures, backoff, () => 1));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 60_000, 60_000, 60_000]);
});

test("jitter reduces the delay by up to half", () => {
  expect(backoffMs(3, backoff, () => 0)).toBe(2_000);
  expect(backoffMs(3, backoff, () => 0.5)).toBe(3_000);
});
