import { describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { Writer } from "../../../src/db/transaction.ts";
import { findJobResult, requestJob } from "../../../src/jobs/job-requests.ts";
import { type Job, type JobContext, Scheduler } from "../../../src/jobs/scheduler.ts";
import { silentLog } from "../../../src/lib/log.ts";

// At half past ten.
const START_MS = Date.UTC(2026, 0, 2, 10, 30);
const HOUR = 3_600_000;

function memory() {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  return { db, writer: new Writer(db.sqlite, silentLog), clock: { ms: START_MS, nowMs: () => 0 } };
}

function setUp(run: Job["run"], given = memory(), schedule = "0 3 * * *") {
  const clock = { ms: given.clock.ms, nowMs: () => clock.ms };
  const job: Job = { name: "gc", schedule, description: "Removes what nothing refers to.", run };
  const scheduler = new Scheduler({ ...given, clock, log: silentLog, jobs: [job], missedAfterMs: 0, missedApartMs: 0 });
  return { ...given, scheduler, clock };
}

/** A run that ends when the test says so. */
function controlledRun() {
  const begun: JobContext[] = [];
  const ends: ((result: string) => void)[] = [];
  const { promise: firstBegun, resolve: resolveBegun } = Promise.withResolvers<void>();
  const run = (context: JobContext) =>
    new Promise<string>((resolve) => {
      begun.push(context);
      ends.push(resolve);
      resolveBegun();
    });
  return { run, begun, ends, firstBegun };
}

/** Waits for pending work of this process, commits included. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Starts with a last run of these times and returns whether the job ran. */
async function ranAfterStart(times?: { startedAt: number; finishedAt: number | null }, schedule = "0 * * * *") {
  const { run, begun, ends } = controlledRun();
  const given = memory();
  if (times !== undefined) {
    given.db.sqlite
      .query("INSERT INTO jobs (name, last_started_at, last_finished_at) VALUES ('gc', ?, ?)")
      .run(times.startedAt, times.finishedAt);
  }
  const { scheduler } = setUp(run, given, schedule);
  scheduler.start();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await settled();
  ends[0]?.("");
  await scheduler.stop();
  return begun.length === 1;
}

describe("a job", () => {
  test("records the result and the times of its last run", async () => {
    const { scheduler, clock } = setUp(async () => {
      clock.ms += 5000;
      return "Removed 3 blobs.";
    });
    expect(scheduler.list()).toMatchObject([
      {
        name: "gc",
        schedule: "0 3 * * *",
        isRunning: false,
        lastStartedAtMs: null,
        lastFinishedAtMs: null,
        lastResult: null,
      },
    ]);
    expect(await scheduler.runNow("gc")).toEqual({ isOk: true, text: "Removed 3 blobs." });
    expect(scheduler.list()).toMatchObject([
      {
        isRunning: false,
        lastStartedAtMs: START_MS,
        lastFinishedAtMs: START_MS + 5000,
        lastResult: "Removed 3 blobs.",
        lastError: null,
      },
    ]);
  });

  test("that fails is recorded and runs again", async () => {
    let runs = 0;
    const { scheduler } = setUp(async () => {
      if (runs++ === 0) throw new Error("The store is missing.");
      return "Fine.";
    });
    expect(await scheduler.runNow("gc")).toEqual({ isOk: false, text: "The store is missing." });
    expect(scheduler.list()).toMatchObject([{ lastResult: null, lastError: "The store is missing." }]);
    await scheduler.runNow("gc");
    expect(scheduler.list()).toMatchObject([{ lastResult: "Fine.", lastError: null }]);
  });

  test("never overlaps itself", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler } = setUp(run);
    const first = scheduler.runNow("gc");
    const second = scheduler.runNow("gc", { now: true });
    const third = scheduler.runNow("gc");
    await settled();
    expect(begun).toHaveLength(1);
    expect(scheduler.list()).toMatchObject([{ isRunning: true }]);
    ends[0]?.("first");
    expect(await first).toEqual({ isOk: true, text: "first" });
    await settled();
    expect(begun).toHaveLength(2);
    expect(begun[1]?.arguments).toEqual({ now: true });
    ends[1]?.("second");
    expect(await second).toEqual({ isOk: true, text: "second" });
    await settled();
    ends[2]?.("third");
    expect(await third).toEqual({ isOk: true, text: "third" });
  });

  test("requested many times while it runs, runs once more", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler } = setUp(run);
    const calls = Array.from({ length: 50 }, () => scheduler.runNow("gc"));
    await settled();
    ends[0]?.("first");
    await settled();
    calls.push(scheduler.runNow("gc"));
    expect(begun).toHaveLength(2);
    ends[1]?.("second");
    await settled();
    expect(begun).toHaveLength(3);
    ends[2]?.("third");
    const texts = (await Promise.all(calls)).map((outcome) => outcome.text);
    expect(texts).toEqual(["first", ...Array.from({ length: 49 }, () => "second"), "third"]);
  });

  test("continues from the position of its last run, also after a restart", async () => {
    const cursors: (string | null)[] = [];
    const given = memory();
    const run: Job["run"] = async ({ cursor, setCursor }) => {
      cursors.push(cursor);
      await setCursor(cursor === "b" ? null : cursor === "a" ? "b" : "a");
      return "A piece.";
    };
    for (let i = 0; i < 4; i++) await setUp(run, given).scheduler.runNow("gc");
    expect(cursors).toEqual([null, "a", "b", null]);
  });

  test("runs even if its row can't be written", async () => {
    const { scheduler, db } = setUp(async () => "Made room.");
    db.sqlite.run("CREATE TRIGGER full BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'full'); END");
    expect(await scheduler.runNow("gc")).toEqual({ isOk: true, text: "Made room." });
  });

  test("needs a unique name and a valid schedule", async () => {
    const { db, writer, clock, scheduler } = setUp(async () => "");
    const job = { name: "a", schedule: "0 3 * * *", description: "", run: async () => "" };
    const given = { db, writer, clock, log: silentLog };
    expect(() => new Scheduler({ ...given, jobs: [job, job] })).toThrow('"a"');
    expect(() => new Scheduler({ ...given, jobs: [{ ...job, schedule: "at night" }] }).start()).toThrow();
    expect(String(await scheduler.runNow("b").catch((error: unknown) => error))).toContain('"b"');
  });
});

describe("after a start", () => {
  test("soon runs jobs that are overdue, were never run, or were interrupted", async () => {
    expect(await ranAfterStart()).toBe(true);
    expect(await ranAfterStart({ startedAt: START_MS - HOUR, finishedAt: START_MS - HOUR + 1 })).toBe(true);
    expect(await ranAfterStart({ startedAt: START_MS - 60_000, finishedAt: null })).toBe(true);
    expect(await ranAfterStart({ startedAt: START_MS - 60_000, finishedAt: START_MS - HOUR })).toBe(true);
  });

  test("logs missed runs, except at the very first start", async () => {
    const countWarnings = async (times?: { startedAt: number; finishedAt: number }) => {
      const given = memory();
      if (times !== undefined) {
        given.db.sqlite
          .query("INSERT INTO jobs (name, last_started_at, last_finished_at) VALUES ('gc', ?, ?)")
          .run(times.startedAt, times.finishedAt);
      }
      const lines: string[] = [];
      const log = { ...silentLog, info: (line: string) => void lines.push(line) };
      const clock = { nowMs: () => START_MS };
      const job: Job = { name: "gc", schedule: "0 3 * * *", description: "", run: async () => "" };
      const scheduler = new Scheduler({ ...given, clock, log, jobs: [job] });
      scheduler.start();
      await scheduler.stop();
      return lines.length;
    };
    expect(await countWarnings()).toBe(0);
    expect(await countWarnings({ startedAt: START_MS - 48 * HOUR, finishedAt: START_MS - 48 * HOUR })).toBe(1);
  });

  test("waits for the schedule if no run was missed", async () => {
    expect(await ranAfterStart({ startedAt: START_MS - HOUR / 3, finishedAt: START_MS - HOUR / 3 + 1 })).toBe(false);
  });

  test("runs by schedule until it is stopped", async () => {
    const given = memory();
    given.db.sqlite
      .query("INSERT INTO jobs (name, last_started_at, last_finished_at) VALUES ('gc', ?1, ?1)")
      .run(START_MS);
    const { run, begun, ends, firstBegun } = controlledRun();
    const { scheduler } = setUp(run, given, "* * * * * *");
    const beforeMs = Date.now();
    scheduler.start();
    expect(scheduler.list()[0]?.nextRunAtMs).toBeGreaterThan(beforeMs - 1);
    // The one real second in these tests: it tests that croner calls the job.
    const keepAlive = setTimeout(() => {}, 5000);
    await firstBegun;
    clearTimeout(keepAlive);
    ends[0]?.("");
    await scheduler.stop();
    expect(begun).toHaveLength(1);
    expect(scheduler.list()[0]?.nextRunAtMs).toBeNull();
  });
});

describe("a stop", () => {
  test("signals the running job and waits for it", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler } = setUp(run);
    const running = scheduler.runNow("gc");
    await settled();
    let isStopped = false;
    const stopping = scheduler.stop().then(() => (isStopped = true));
    expect(begun[0]?.signal.aborted).toBe(true);
    await settled();
    expect(isStopped).toBe(false);
    ends[0]?.("As far as it went.");
    await stopping;
    expect(await running).toEqual({ isOk: true, text: "As far as it went." });
    expect(await scheduler.runNow("gc")).toMatchObject({ isOk: false });
    expect(begun).toHaveLength(1);
  });

  test("leaves an interrupted run unfinished, so that it continues at the next start", async () => {
    const given = memory();
    const { scheduler } = setUp(
      ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(new Error("Stopped.")), { once: true }),
        ),
      given,
    );
    const running = scheduler.runNow("gc");
    await settled();
    await scheduler.stop();
    expect(await running).toMatchObject({ isOk: false });
    expect(scheduler.list()).toMatchObject([{ lastStartedAtMs: START_MS, lastFinishedAtMs: null, lastError: null }]);
  });
});

describe("a request from another process", () => {
  test("is handled once, with its arguments", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler, db, writer } = setUp(run);
    const requestedAt = requestJob(writer, db, "gc", { now: true }, START_MS);
    scheduler.handleRequests();
    scheduler.handleRequests();
    await settled();
    expect(begun.map((context) => context.arguments)).toEqual([{ now: true }]);
    expect(findJobResult(db, "gc", requestedAt)).toBeUndefined();
    ends[0]?.("Removed 3 blobs.");
    await settled();
    expect(findJobResult(db, "gc", requestedAt)).toEqual({ isOk: true, text: "Removed 3 blobs." });
    scheduler.handleRequests();
    await settled();
    expect(begun).toHaveLength(1);
  });

  test("waits for the current run, which does not count as handling it", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler, db, writer } = setUp(run);
    void scheduler.runNow("gc");
    await settled();
    const requestedAt = requestJob(writer, db, "gc", { now: true }, START_MS);
    scheduler.handleRequests();
    ends[0]?.("by schedule");
    await settled();
    expect(begun).toHaveLength(2);
    expect(findJobResult(db, "gc", requestedAt)).toBeUndefined();
    ends[1]?.("by request");
    await settled();
    expect(findJobResult(db, "gc", requestedAt)).toEqual({ isOk: true, text: "by request" });
  });

  test("gets its result although the database rejects the first attempts to save it", async () => {
    const given = memory();
    let rejections = 0;
    const failing = Object.assign(Object.create(given.writer), {
      run: (...parameters: Parameters<Writer["run"]>) =>
        rejections++ < 3 ? Promise.reject(new Error("malformed")) : given.writer.run(...parameters),
    });
    const { scheduler, db } = setUp(() => Promise.resolve("Removed 3 blobs."), { ...given, writer: failing });
    const requestedAt = requestJob(given.writer, db, "gc", null, START_MS);
    scheduler.handleRequests();
    await scheduler.runNow("gc");
    expect(findJobResult(db, "gc", requestedAt)).toEqual({ isOk: true, text: "Removed 3 blobs." });
  });

  test("that comes while another is handled is handled too", async () => {
    const { run, begun, ends } = controlledRun();
    const { scheduler, db, writer } = setUp(run);
    requestJob(writer, db, "gc", 1, START_MS);
    scheduler.handleRequests();
    await settled();
    requestJob(writer, db, "gc", 2, START_MS);
    ends[0]?.("one");
    await settled();
    expect(begun.map((context) => context.arguments)).toEqual([1, 2]);
    ends[1]?.("two");
    await settled();
    expect(begun).toHaveLength(2);
  });

  test("reports a failure", async () => {
    const { scheduler, db, writer } = setUp(async () => {
      throw new Error("The store is missing.");
    });
    const requestedAt = requestJob(writer, db, "gc", undefined, START_MS);
    scheduler.handleRequests();
    await settled();
    expect(findJobResult(db, "gc", requestedAt)).toEqual({ isOk: false, text: "The store is missing." });
  });

  test("is not repeated forever if its result can't be written", async () => {
    let runs = 0;
    const { scheduler, db, writer } = setUp(async () => `${++runs}`);
    requestJob(writer, db, "gc", null, START_MS);
    db.sqlite.run("CREATE TRIGGER full BEFORE UPDATE ON jobs BEGIN SELECT RAISE(ABORT, 'full'); END");
    scheduler.handleRequests();
    await settled();
    expect(runs).toBe(1);
  });

  test("for a job unknown to this version is dropped", async () => {
    const { scheduler, db, writer } = setUp(async () => "");
    requestJob(writer, db, "defragment", null, START_MS);
    scheduler.handleRequests();
    await settled();
    expect(db.sqlite.query("SELECT requested_at FROM jobs WHERE name = 'defragment'").get()).toEqual({
      requested_at: null,
    });
  });
});
