import { expect, test } from "bun:test";
import { S3Error } from "../../../src/blobs/s3/error.ts";
import { type Outage, OutageWatch } from "../../../src/features/storage/remote-store/outage-watch.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { eventually } from "../../support/expect.ts";

function newWatch(everyMs = 60_000) {
  const state = { isAway: false, checks: 0, notified: [] as Outage[], silentMs: 100_000, canNotify: true };
  const outage = () => (state.isAway ? { problem: "It is away.", sinceMs: 1 } : undefined);
  const watch = new OutageWatch({
    async check() {
      state.checks++;
      if (state.isAway) throw new S3Error("unreachable", "It is away.");
    },
    outage,
    silentMs: () => state.silentMs,
    async notify(present) {
      if (!state.canNotify) throw new Error("the database");
      state.notified.push(present);
    },
    log: silentLog,
    everyMs,
  });
  const fail = () => watch.check().catch((error: unknown) => expect(error).toBeInstanceOf(S3Error));
  return { state, watch, fail };
}

test("administrators are notified at the second failure in a row, once for each outage", async () => {
  const { state, watch, fail } = newWatch();
  state.isAway = true;
  await fail();
  expect(state.notified).toEqual([]);
  for (let count = 0; count < 5; count++) await fail();
  expect(state.notified).toHaveLength(1);
  state.isAway = false;
  await watch.check();
  state.isAway = true;
  await fail();
  expect(state.notified).toHaveLength(1);
  await fail();
  expect(state.notified).toHaveLength(2);
});

test("a notification that could not be stored is stored at the next failure", async () => {
  const { state, fail } = newWatch();
  state.isAway = true;
  state.canNotify = false;
  await fail();
  await fail();
  state.canNotify = true;
  await fail();
  expect(state.notified).toHaveLength(1);
});

test("it checks the service at intervals, but not while others use it", async () => {
  const { state, watch } = newWatch(1);
  state.silentMs = 0;
  watch.start();
  await Bun.sleep(20);
  expect(state.checks).toBe(0);
  state.silentMs = 10;
  await eventually("it looks", () => state.checks > 1);
  state.isAway = true;
  await eventually("it notifies", () => state.notified.length === 1);
  watch.stop();
});
