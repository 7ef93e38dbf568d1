import { expect, test } from "bun:test";
import { restMs, urgentRestMs } from "../../../../src/features/storage/snapshots/pace.ts";

const MIB = 1024 * 1024;
const TEN_MINUTES_MS = 600_000;

test("a database of 1 MB is copied within 20 seconds, one of 64 MB within a minute, any within ten minutes", () => {
  expect(restMs(0.5 * MIB, TEN_MINUTES_MS)).toBeLessThan(18_000);
  expect(restMs(MIB, TEN_MINUTES_MS)).toBeLessThan(18_000);
  for (let size = MIB; size <= 64 * MIB; size += MIB) expect(restMs(size, TEN_MINUTES_MS)).toBeLessThan(55_000);
  expect(restMs(1_000 * MIB, TEN_MINUTES_MS)).toBe(TEN_MINUTES_MS);
});

test("a larger database waits at least as long, and none waits longer than the setting", () => {
  let before = 0;
  for (let size = 1024; size < 4_000 * MIB; size *= 1.3) {
    const rest = restMs(size, TEN_MINUTES_MS);
    expect(rest).toBeGreaterThanOrEqual(before);
    expect(restMs(size, 60_000)).toBeLessThanOrEqual(60_000);
    before = rest;
  }
});

test("an urgent copy waits for seconds, and for a large database at most a minute", () => {
  expect(urgentRestMs(MIB, TEN_MINUTES_MS)).toBe(2_000);
  expect(urgentRestMs(4_000 * MIB, TEN_MINUTES_MS)).toBe(60_000);
  expect(urgentRestMs(64 * MIB, TEN_MINUTES_MS)).toBeLessThan(restMs(64 * MIB, TEN_MINUTES_MS));
});
