import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Writer } from "../../../src/db/transaction.ts";
import { WriteBehind } from "../../../src/jobs/write-behind.ts";
import { type Log, silentLog } from "../../../src/lib/log.ts";

/** A queue of numbers that writes two in each transaction. */
function setUp(onWrite: (taken: number[]) => void = () => {}) {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => errors.push(message) };
  const waiting: number[] = [];
  const written: number[][] = [];
  const writeBehind = new WriteBehind<number[]>({
    writer: new Writer(new Database(":memory:"), silentLog),
    log,
    what: "numbers",
    take: () => waiting.splice(0, 2),
    isWaiting: () => waiting.length > 0,
    write: (taken) => {
      onWrite(taken);
      written.push(taken);
    },
    giveBack: (taken) => waiting.unshift(...taken),
  });
  const add = (...numbers: number[]) => {
    waiting.push(...numbers);
    writeBehind.note();
  };
  return { writeBehind, add, waiting, written, errors };
}

test("a flush writes all waiting rows, in transactions of limited size", async () => {
  const { writeBehind, add, written } = setUp();
  add(1, 2, 3, 4, 5);
  await writeBehind.flush();
  expect(written).toEqual([[1, 2], [3, 4], [5]]);
  await writeBehind.flush();
  expect(written).toHaveLength(3);
});

test("rows added during a write wait another second", async () => {
  const arising: (() => void)[] = [];
  const { writeBehind, add, waiting, written } = setUp(() => queueMicrotask(() => arising.pop()?.()));
  arising.push(() => add(9));
  add(1);
  await writeBehind.flush();
  expect(written).toEqual([[1]]);
  expect(waiting).toEqual([9]);
});

test("rows that could not be written wait for the next try, which is logged once", async () => {
  let isFull = true;
  const { writeBehind, add, waiting, written, errors } = setUp(() => {
    if (isFull) throw new Error("full");
  });
  add(1);
  await writeBehind.flush();
  await writeBehind.flush();
  expect(waiting).toEqual([1]);
  expect(errors).toEqual(["Could not write the numbers; will retry."]);
  isFull = false;
  await writeBehind.flush();
  expect(written).toEqual([[1]]);
});

test("it writes automatically within about a second", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { add, written } = setUp(() => resolve());
  // The one real second of these tests; it keeps the process alive, which the counts alone don't.
  const keepAlive = setTimeout(() => {}, 5000);
  add(1);
  await promise;
  clearTimeout(keepAlive);
  expect(written).toEqual([[1]]);
});
