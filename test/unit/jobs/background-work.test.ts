import { afterEach, expect, jest, test } from "bun:test";
import { BackgroundWork } from "../../../src/jobs/background-work.ts";
import { type Log, silentLog } from "../../../src/lib/log.ts";

afterEach(() => {
  jest.useRealTimers();
});

/** Work that counts its runs; each run lasts until `end` is called. */
function setUp() {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => errors.push(message) };
  const runs: PromiseWithResolvers<void>[] = [];
  const work = new BackgroundWork({
    log,
    what: "count",
    work: (stop) => {
      const run = Promise.withResolvers<void>();
      stop.addEventListener("abort", () => run.resolve());
      runs.push(run);
      return run.promise;
    },
  });
  /** Lets the program continue until it waits. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const end = async (error?: Error) => {
    if (error === undefined) runs.at(-1)?.resolve();
    else runs.at(-1)?.reject(error);
    await settle();
  };
  return { work, runs, errors, end, settle };
}

test("does nothing before the start, and existing work at the start", async () => {
  const { work, runs, end, settle } = setUp();
  work.wake();
  await settle();
  expect(runs).toHaveLength(0);
  work.start();
  await settle();
  expect(runs).toHaveLength(1);
  await end();
  expect(runs).toHaveLength(1);
});

test("a wake-up during a run causes exactly one more", async () => {
  const { work, runs, end, settle } = setUp();
  work.start();
  await settle();
  work.wake();
  work.wake();
  await settle();
  expect(runs).toHaveLength(1);
  await end();
  expect(runs).toHaveLength(2);
  await end();
  expect(runs).toHaveLength(2);
  work.wake();
  await settle();
  expect(runs).toHaveLength(3);
});

test("repeats a failed run after a pause, or at the next wake-up", async () => {
  const { work, runs, errors, end, settle } = setUp();
  jest.useFakeTimers();
  work.start();
  await settle();
  await end(new Error("disk full"));
  expect(errors).toEqual(["Could not count; will retry."]);
  jest.advanceTimersByTime(30_000);
  await settle();
  expect(runs).toHaveLength(2);
  await end(new Error("disk full"));
  work.wake();
  await settle();
  expect(runs).toHaveLength(3);
  await end();
  // The retry of the failed run is not needed any more.
  jest.advanceTimersByTime(60_000);
  await settle();
  expect(runs).toHaveLength(3);
});

test("stopping aborts the current run and waits for it", async () => {
  const { work, runs, settle } = setUp();
  work.start();
  await settle();
  work.wake();
  await work.stop();
  work.wake();
  await settle();
  expect(runs).toHaveLength(1);
});
