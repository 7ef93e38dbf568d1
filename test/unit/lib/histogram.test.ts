import { expect, test } from "bun:test";
import { Histogram } from "../../../src/lib/histogram.ts";

test("a value counts in the first bucket whose upper bound it does not exceed", () => {
  const histogram = new Histogram([1, 5, 10]);
  for (const value of [0, 1, 1.5, 5, 10, 10.1, 1e9]) histogram.observe(value);
  expect([...histogram.counts]).toEqual([2, 2, 1, 2]);
  expect(histogram.count).toBe(7);
  expect(histogram.sum).toBeCloseTo(1e9 + 27.6, 3);
});
