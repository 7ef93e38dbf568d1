import { expect, test } from "bun:test";
import { Events } from "../../../../src/events/events.ts";
import { StorageMarks } from "../../../../src/features/accounts/plans/storage-marks.ts";

const tx = { afterCommit: () => {} };

/** Simulates the growth of an account, and collects the emitted marks. */
function bench(quotaBytes: number | null) {
  const events = new Events();
  const emitted: number[] = [];
  events.on("storage.warning", (_tx, { percentage }) => void emitted.push(percentage));
  const marks = new StorageMarks({ events, quotaOf: () => quotaBytes });
  return {
    emitted,
    grow: (usedBeforeBytes: number, usedAfterBytes: number) =>
      marks.storageGrown(tx, { accountId: 1, usedBeforeBytes, usedAfterBytes }),
  };
}

test("each crossing emits one event, for the highest mark only", () => {
  const { emitted, grow } = bench(500);
  grow(0, 390);
  expect(emitted).toEqual([]);
  grow(390, 400);
  grow(400, 410);
  expect(emitted).toEqual([80]);
  grow(410, 500);
  grow(390, 480);
  expect(emitted).toEqual([80, 100, 95]);
});

test("without a quota no event is emitted", () => {
  const { emitted, grow } = bench(null);
  grow(0, 1e12);
  expect(emitted).toEqual([]);
});

test("a transaction reads the quota of an account once, and the next one reads it again", () => {
  const events = new Events();
  const emitted: [number, number][] = [];
  events.on("storage.warning", (_tx, { accountId, percentage }) => void emitted.push([accountId, percentage]));
  const queried: number[] = [];
  let quotaBytes = 1000;
  const quotaOf = (accountId: number) => {
    queried.push(accountId);
    return quotaBytes;
  };
  const marks = new StorageMarks({ events, quotaOf });
  const tx = { afterCommit: () => {} };
  for (const usedBeforeBytes of [0, 1, 2]) {
    marks.storageGrown(tx, { accountId: 1, usedBeforeBytes, usedAfterBytes: usedBeforeBytes + 1 });
  }
  marks.storageGrown(tx, { accountId: 2, usedBeforeBytes: 0, usedAfterBytes: 800 });
  quotaBytes = 10;
  marks.storageGrown({ afterCommit: () => {} }, { accountId: 2, usedBeforeBytes: 0, usedAfterBytes: 10 });
  expect(queried).toEqual([1, 2, 2]);
  expect(emitted).toEqual([
    [2, 80],
    [2, 100],
  ]);
});
