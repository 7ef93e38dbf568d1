import { describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { Writer } from "../../../src/db/transaction.ts";
import { ClockWatch } from "../../../src/jobs/clock-watch.ts";
import { type Job, Scheduler } from "../../../src/jobs/scheduler.ts";
import { silentLog } from "../../../src/lib/log.ts";

const START_MS = Date.UTC(2026, 0, 2, 10, 30);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The database, the clock and the monotonic time of a server. */
function machine() {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  const writer = new Writer(db.sqlite, silentLog);
  const time = { wallMs: START_MS, steadyMs: 0 };
  const clock = { nowMs: () => time.wallMs };
  const pass = (ms: number) => {
    time.wallMs += ms;
    time.steadyMs += ms;
  };
  const lastRan = (ms: number) =>
    db.sqlite.query("INSERT OR REPLACE INTO jobs (name, last_finished_at) VALUES ('any', ?)").run(ms);
  const watch = () => {
    const watching = new ClockWatch({ db, writer, clock, log: silentLog, steadyMs: () => time.steadyMs });
    watching.start();
    watching.stop();
    return watching;
  };
  return { db, writer, time, clock, pass, lastRan, watch };
}

describe("a clock", () => {
  test("is trusted on the first start, after a night and after a weekend", () => {
    const { lastRan, watch } = machine();
    expect(watch().doubtedUntilMs()).toBeUndefined();
    lastRan(START_MS - 47 * HOUR);
    expect(watch().doubtedUntilMs()).toBeUndefined();
  });

  test("is distrusted for a day, also after a restart, if it is months ahead of the last run", async () => {
    const { writer, pass, lastRan, watch } = machine();
    lastRan(START_MS - 90 * DAY);
    expect(watch().doubtedUntilMs()).toBe(START_MS + DAY);
    await writer.run(() => undefined);
    pass(HOUR);
    // Jobs have run since, so the gap is gone.
    lastRan(START_MS + HOUR);
    const again = watch();
    expect(again.doubtedUntilMs()).toBe(START_MS + DAY);
    pass(DAY);
    expect(again.doubtedUntilMs()).toBeUndefined();
  });

  test("is distrusted after a jump while the server runs, and trusted once it is corrected", () => {
    const { time, pass, watch } = machine();
    const watching = watch();
    pass(400 * DAY);
    watching.check();
    expect(watching.doubtedUntilMs()).toBeUndefined();
    time.wallMs += 365 * DAY;
    watching.check();
    expect(watching.doubtedUntilMs()).toBe(time.wallMs + DAY);
    time.wallMs -= 365 * DAY;
    watching.check();
    expect(watching.doubtedUntilMs()).toBeUndefined();
  });

  test("is distrusted again if a job ran while it was further ahead", async () => {
    const { writer, time, pass, lastRan, watch } = machine();
    const watching = watch();
    time.wallMs += 3 * 365 * DAY;
    watching.check();
    lastRan(time.wallMs);
    time.wallMs = START_MS;
    watching.check();
    expect(watching.doubtedUntilMs()).toBeUndefined();
    await writer.run(() => undefined);
    pass(HOUR);
    time.wallMs += 365 * DAY;
    expect(watch().doubtedUntilMs()).toBe(time.wallMs + DAY);
  });

  test("is distrusted after a restart if it jumped right before", async () => {
    const { writer, time, watch } = machine();
    const watching = watch();
    time.wallMs += 365 * DAY;
    watching.stop();
    await writer.run(() => undefined);
    expect(watch().doubtedUntilMs()).toBe(time.wallMs + DAY);
  });

  test("that jumps backwards does not stop deletions", () => {
    const { time, watch } = machine();
    const watching = watch();
    time.wallMs -= 3 * 365 * DAY;
    watching.check();
    expect(watching.doubtedUntilMs()).toBeUndefined();
  });
});

test("while the clock is distrusted, only jobs that delete by age are skipped, unless requested", async () => {
  const { db, writer, clock } = machine();
  const ran: string[] = [];
  const job = (name: string, deletesByAge: boolean): Job => ({
    name,
    schedule: "0 3 * * *",
    description: "A job.",
    deletesByAge,
    run: async () => {
      ran.push(name);
      return "done";
    },
  });
  const jobs = [job("trash", true), job("search", false)];
  const clockWatch = { doubtedUntilMs: () => START_MS + DAY, check: () => undefined };
  const options = { db, writer, clock, log: silentLog, jobs, clockWatch, missedAfterMs: 0, missedApartMs: 0 };
  const scheduler = new Scheduler(options);
  scheduler.start();
  await new Promise((resolve) => setTimeout(resolve, 5));
  while (scheduler.list().some(({ lastResult }) => lastResult === null)) await writer.run(() => undefined);
  expect(ran).toEqual(["search"]);
  expect(scheduler.list().map(({ lastResult }) => lastResult)).toEqual([
    "Waits until 2026-01-03T10:30:00.000Z: the clock leapt ahead and may be wrong.",
    "done",
  ]);
  expect(await scheduler.runNow("trash")).toEqual({ isOk: true, text: "done" });
  await scheduler.stop();
});

test("a job that ends right after a clock jump does not hide the jump from the next start", async () => {
  const { db, writer, clock, time, watch } = machine();
  const clockWatch = watch();
  const snapshot: Job = { name: "snapshot", schedule: "0 3 * * *", description: "A job.", run: async () => "done" };
  const scheduler = new Scheduler({ db, writer, clock, log: silentLog, jobs: [snapshot], clockWatch });
  // Within the minute between two checks of the clock.
  time.wallMs += 400 * DAY;
  expect(await scheduler.runNow("snapshot")).toEqual({ isOk: true, text: "done" });
  await scheduler.stop();
  expect(watch().doubtedUntilMs()).toBe(time.wallMs + DAY);
});
