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

/** What is left after one snapshot every ten minutes for so many days. */
function live(days: number, given = keeping, sizeBytes = 1_000): { retained: Snapshot[]; nowMs: number } {
  let retained: Snapshot[] = [];
  let nowMs = 0;
  for (; nowMs < days * DAY_MS; nowMs += 10 * MINUTE_MS) {
    retained.unshift(snapshot(nowMs, sizeBytes));
    const gone = new Set(chooseSuperfluous(retained, nowMs, given));
    retained = retained.filter((one) => !gone.has(one));
  }
  return { retained, nowMs };
}

test("keeps few of long ago and many of late, within its bounds", () => {
  const { retained, nowMs } = live(20);
  expect(retained).toHaveLength(keeping.maxCount);
  const agesMs = retained.map(({ takenAtMs }) => nowMs - takenAtMs);
  expect(agesMs.slice(0, 3)).toEqual([10 * MINUTE_MS, 20 * MINUTE_MS, 30 * MINUTE_MS]);
  expect(Math.max(...agesMs)).toBeGreaterThan(6 * DAY_MS);
  expect(Math.max(...agesMs)).toBeLessThanOrEqual(7 * DAY_MS + 10 * MINUTE_MS);
  // For every error there is a snapshot from not much before it was noticed.
  for (const [index, ageMs] of agesMs.entries()) {
    const nextMs = agesMs[index + 1];
    if (nextMs !== undefined && ageMs > 60 * MINUTE_MS) expect(nextMs / ageMs).toBeLessThan(2.5);
  }
});

test("with a snapshot each 15 seconds, in hours with changes and nights without, every age has one near it", () => {
  let retained: Snapshot[] = [];
  let largest = 0;
  let nowMs = 0;
  for (; nowMs < 9 * DAY_MS; nowMs += 15_000) {
    // Some hours of changes a day.
    if (nowMs % DAY_MS > 3 * 60 * MINUTE_MS) continue;
    retained.unshift(snapshot(nowMs));
    const maxCount = retained.length > 60 ? 40 : 60;
    const gone = new Set(chooseSuperfluous(retained, nowMs, { ...keeping, maxCount }));
    retained = retained.filter((one) => !gone.has(one));
    largest = Math.max(largest, retained.length);
  }
  expect(largest).toBeLessThanOrEqual(60);
  const agesMs = retained.map(({ takenAtMs }) => nowMs - takenAtMs);
  expect(Math.max(...agesMs)).toBeGreaterThan(6 * DAY_MS);
  // Within the last hours of changes, and from day to day.
  for (const [index, ageMs] of agesMs.entries()) {
    const nextMs = agesMs[index + 1] ?? 7 * DAY_MS;
    expect(nextMs - ageMs).toBeLessThan(Math.max(2 * DAY_MS, ageMs));
  }
});

test("keeps the newest three, however large and however old they are", () => {
  expect(live(2, keeping, 1e9).retained).toHaveLength(3);
  const old = [3, 2, 1].map((at) => snapshot(at));
  expect(chooseSuperfluous(old, 100 * DAY_MS, keeping)).toEqual([]);
});

test("a clock that was set back removes nothing by age", () => {
  const ahead = Array.from({ length: 10 }, (_, index) => snapshot(100 * DAY_MS - index));
  expect(chooseSuperfluous(ahead, 0, keeping)).toEqual([]);
});

test("in any case the newest three stay, the bounds hold, and the oldest that may stay does", () => {
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
    const gone = chooseSuperfluous(all, nowMs, given);
    const retained = all.filter((one) => !gone.includes(one));
    expect(new Set(gone).size).toBe(gone.length);
    expect(retained.slice(0, 3)).toEqual(all.slice(0, 3));
    if (retained.length > 3) {
      expect(retained.length).toBeLessThanOrEqual(given.maxCount);
      expect(retained.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(given.maxBytes);
      const young = all.filter(({ takenAtMs }) => takenAtMs >= nowMs - given.maxAgeMs);
      expect(retained.at(-1)).toBe(young[Math.max(young.length - 1, 2)] ?? all[2]);
    }
    // What is left is left: thinning again removes nothing.
    expect(chooseSuperfluous(retained, nowMs, given)).toEqual([]);
  }
});
