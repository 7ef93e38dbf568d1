import { expect, test } from "bun:test";
import type { Snapshot } from "../../../../src/db/snapshot.ts";
import { chooseSuperfluous } from "../../../../src/features/storage/snapshots/thinning.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const keeping = { maxAgeMs: 7 * DAY_MS, maxBytes: 1e9, maxCount: 40 };

function snapshot(takenAtMs: number, sizeBytes = 1_000): Snapshot {
  const name = `larder-${takenAtMs}.db`;
  return { path: `/${name}`, name, takenAtMs, label: "scheduled", sizeBytes };
}

/** The snapshots that remain after one every ten minutes for `days` days. */
function simulate(days: number, given = keeping, sizeBytes = 1_000): { retained: Snapshot[]; nowMs: number } {
  let retained: Snapshot[] = [];
  let nowMs = 0;
  for (; nowMs < days * DAY_MS; nowMs += 10 * MINUTE_MS) {
    retained.unshift(snapshot(nowMs, sizeBytes));
    const superfluous = new Set(chooseSuperfluous(retained, nowMs, given));
    retained = retained.filter((one) => !superfluous.has(one));
  }
  return { retained, nowMs };
}

test("retains few old and many recent snapshots, within the limits", () => {
  const { retained, nowMs } = simulate(20);
  expect(retained).toHaveLength(keeping.maxCount);
  const agesMs = retained.map(({ takenAtMs }) => nowMs - takenAtMs);
  expect(agesMs.slice(0, 3)).toEqual([10 * MINUTE_MS, 20 * MINUTE_MS, 30 * MINUTE_MS]);
  expect(Math.max(...agesMs)).toBeGreaterThan(6 * DAY_MS);
  expect(Math.max(...agesMs)).toBeLessThanOrEqual(7 * DAY_MS + 10 * MINUTE_MS);
  // Neighboring snapshots differ in age by less than a factor of 2.5, so that one is close to any error.
  for (const [index, ageMs] of agesMs.entries()) {
    const nextMs = agesMs[index + 1];
    if (nextMs !== undefined && ageMs > 60 * MINUTE_MS) expect(nextMs / ageMs).toBeLessThan(2.5);
  }
});

test("with a snapshot every 15 seconds for some hours a day, there is one near every age", () => {
  let retained: Snapshot[] = [];
  let largest = 0;
  let nowMs = 0;
  for (; nowMs < 9 * DAY_MS; nowMs += 15_000) {
    // There are changes for three hours a day.
    if (nowMs % DAY_MS > 3 * 60 * MINUTE_MS) continue;
    retained.unshift(snapshot(nowMs));
    const maxCount = retained.length > 60 ? 40 : 60;
    const superfluous = new Set(chooseSuperfluous(retained, nowMs, { ...keeping, maxCount }));
    retained = retained.filter((one) => !superfluous.has(one));
    largest = Math.max(largest, retained.length);
  }
  expect(largest).toBeLessThanOrEqual(60);
  const agesMs = retained.map(({ takenAtMs }) => nowMs - takenAtMs);
  expect(Math.max(...agesMs)).toBeGreaterThan(6 * DAY_MS);
  // This includes the last hours of changes, and the days before.
  for (const [index, ageMs] of agesMs.entries()) {
    const nextMs = agesMs[index + 1] ?? 7 * DAY_MS;
    expect(nextMs - ageMs).toBeLessThan(Math.max(2 * DAY_MS, ageMs));
  }
});

test("retains the newest three, regardless of their size and age", () => {
  expect(simulate(2, keeping, 1e9).retained).toHaveLength(3);
  const old = [3, 2, 1].map((at) => snapshot(at));
  expect(chooseSuperfluous(old, 100 * DAY_MS, keeping)).toEqual([]);
});

test("removes nothing by age after the clock was set back", () => {
  const ahead = Array.from({ length: 10 }, (_, index) => snapshot(100 * DAY_MS - index));
  expect(chooseSuperfluous(ahead, 0, keeping)).toEqual([]);
});

test("always retains the newest three and the oldest that the limits allow", () => {
  const [seed = 1] = seedsToRun([1]);
  const random = seededRandom(seed);
  for (let round = 0; round < 500; round++) {
    const nowMs = 100 * DAY_MS;
    const spreadMs = random.pick([10 * MINUTE_MS, DAY_MS, 30 * DAY_MS]);
    const times = new Set(Array.from({ length: random.below(90) }, () => nowMs - random.below(spreadMs)));
    const all = [...times].sort((a, b) => b - a).map((ms) => snapshot(ms, 1 + random.below(1_000)));
    const given = {
      maxAgeMs: 1 + random.below(20 * DAY_MS),
      maxBytes: random.below(30_000),
      maxCount: random.below(50),
    };
    const superfluous = chooseSuperfluous(all, nowMs, given);
    const retained = all.filter((one) => !superfluous.includes(one));
    expect(new Set(superfluous).size).toBe(superfluous.length);
    expect(retained.slice(0, 3)).toEqual(all.slice(0, 3));
    if (retained.length > 3) {
      expect(retained.length).toBeLessThanOrEqual(given.maxCount);
      expect(retained.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(given.maxBytes);
      const young = all.filter(({ takenAtMs }) => takenAtMs >= nowMs - given.maxAgeMs);
      expect(retained.at(-1)).toBe(young[Math.max(young.length - 1, 2)] ?? all[2]);
    }
    // Thinning again removes nothing.
    expect(chooseSuperfluous(retained, nowMs, given)).toEqual([]);
  }
});
