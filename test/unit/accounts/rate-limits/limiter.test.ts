import { describe, expect, spyOn, test } from "bun:test";
import { addressSubject, userSubject } from "../../../../src/features/accounts/rate-limits/counters.ts";
import { memoryDatabase, START_MS, TestClock, testLimiter } from "./support.ts";

const ADA = userSubject(1);
const BOB = userSubject(2);
const HOUR = 3_600_000;

function rows(db: ReturnType<typeof memoryDatabase>["db"]) {
  return db.sqlite
    .query<{ subject: string; category: string; at: number; hits: number; rejected: number }, []>(
      "SELECT * FROM rate_hits ORDER BY at, subject, category",
    )
    .all();
}

describe("the rate limiter", () => {
  test("counts each subject and category separately", () => {
    const { limiter } = testLimiter();
    for (let i = 0; i < 3; i++) expect(limiter.check(ADA, "listing", 3).allowed).toBe(true);
    expect(limiter.check(ADA, "listing", 3).allowed).toBe(false);
    expect(limiter.check(ADA, "uploads", 3).allowed).toBe(true);
    expect(limiter.check(BOB, "listing", 3).allowed).toBe(true);
  });

  test("returns what the headers need", () => {
    const { limiter, clock } = testLimiter();
    clock.ms += 10;
    const first = {
      allowed: true,
      category: "signup",
      limit: 3,
      remaining: 2,
      resetAtMs: START_MS + 10 + HOUR,
    } as const;
    expect(limiter.check(ADA, "signup", 3)).toEqual({ ...first, windowSeconds: 3600 });
    clock.ms += 100;
    expect(limiter.check(ADA, "signup", 3)).toEqual({ ...first, remaining: 1, windowSeconds: 3600 });
    expect(limiter.check(ADA, "downloads", null)).toMatchObject({ allowed: true, limit: null, remaining: null });
  });

  test("peek changes nothing", () => {
    const { limiter } = testLimiter();
    expect(limiter.peek(ADA, "general", 2)).toMatchObject({ allowed: true, remaining: 2, resetAtMs: START_MS + HOUR });
    limiter.check(ADA, "general", 2);
    for (let i = 0; i < 5; i++) expect(limiter.peek(ADA, "general", 2)).toMatchObject({ allowed: true, remaining: 1 });
    expect(limiter.peek(BOB, "general", 0).allowed).toBe(false);
    expect(limiter.subjects).toBe(1);
  });

  test("accepts as many of several files as allowed", () => {
    const { limiter } = testLimiter();
    expect(limiter.takeUpTo(ADA, "uploads", 10, 8)).toMatchObject({ taken: 8, limitResult: { remaining: 2 } });
    expect(limiter.takeUpTo(ADA, "uploads", 10, 8)).toMatchObject({
      taken: 2,
      limitResult: { allowed: true, remaining: 0 },
    });
    expect(limiter.takeUpTo(ADA, "uploads", 10, 8)).toMatchObject({ taken: 0, limitResult: { allowed: false } });
    expect(limiter.totals(ADA)).toEqual({ accepted: 10, rejected: 14 });
  });

  test("totals the last hour, with rejections separate", () => {
    const { limiter, clock } = testLimiter();
    for (let i = 0; i < 4; i++) limiter.check(ADA, "signup", 3);
    clock.ms += HOUR / 2;
    limiter.check(ADA, "listing", 100);
    expect(limiter.totals(ADA)).toEqual({ accepted: 4, rejected: 1 });
    clock.ms += HOUR / 2 + 60_000;
    expect(limiter.totals(ADA)).toEqual({ accepted: 1, rejected: 0 });
    clock.ms += HOUR;
    expect(limiter.totals(ADA)).toEqual({ accepted: 0, rejected: 0 });
    expect(limiter.totals(BOB)).toEqual({ accepted: 0, rejected: 0 });
  });
});

describe("rate limits on disk", () => {
  test("are one row for each subject and category with its latest time, and nothing while idle", async () => {
    const { limiter, clock, db } = testLimiter();
    for (let i = 0; i < 4; i++) {
      limiter.check(ADA, "signup", 3);
      clock.ms += 100;
    }
    limiter.check(BOB, "listing", 3);
    await limiter.flush();
    expect(rows(db)).toEqual([
      { subject: ADA, category: "signup", at: START_MS + 300, hits: 3, rejected: 1 },
      { subject: BOB, category: "listing", at: START_MS + 400, hits: 1, rejected: 0 },
    ]);
    const written = db.sqlite.query("SELECT total_changes() AS n").get();
    await limiter.flush();
    expect(db.sqlite.query("SELECT total_changes() AS n").get()).toEqual(written);
  });

  test("are written in several transactions if there are many", async () => {
    const { limiter, db } = testLimiter();
    for (let i = 0; i < 2500; i++) limiter.check(addressSubject(`host ${i}`), "general", 1000);
    await limiter.flush();
    expect(rows(db)).toHaveLength(2500);
  });

  test("survive a restart, and never allow more", async () => {
    const before = testLimiter();
    for (let i = 0; i < 3; i++) {
      before.limiter.check(ADA, "signup", 3);
      before.clock.ms += 100;
    }
    before.limiter.check(ADA, "signup", 3);
    await before.limiter.flush();
    const { limiter, clock } = testLimiter(before);
    limiter.load();
    expect(limiter.check(ADA, "signup", 3)).toMatchObject({ allowed: false, resetAtMs: START_MS + 300 + HOUR });
    expect(limiter.totals(ADA)).toEqual({ accepted: 3, rejected: 2 });
    clock.ms = START_MS + 300 + HOUR;
    expect(limiter.check(ADA, "signup", 3).allowed).toBe(true);
  });

  test("written before the clock was set back apply for at most one window", async () => {
    const before = testLimiter({ clock: new TestClock(START_MS + 365 * 24 * HOUR) });
    for (let i = 0; i < 3; i++) before.limiter.check(ADA, "signup", 3);
    await before.limiter.flush();
    const { limiter, clock } = testLimiter({ db: before.db, writer: before.writer });
    limiter.load();
    expect(limiter.check(ADA, "signup", 3).allowed).toBe(false);
    clock.ms += HOUR;
    expect(limiter.check(ADA, "signup", 3).allowed).toBe(true);
    await limiter.flush();
    await limiter.prune();
    expect(rows(before.db).filter((row) => row.at > clock.ms)).toEqual([]);
  });

  test("that can't be written are retried", async () => {
    const { limiter, db } = testLimiter();
    limiter.check(ADA, "signup", 3);
    db.sqlite.run("ALTER TABLE rate_hits RENAME TO elsewhere");
    await limiter.flush();
    limiter.check(ADA, "signup", 3);
    db.sqlite.run("ALTER TABLE elsewhere RENAME TO rate_hits");
    await limiter.flush();
    expect(rows(db)).toMatchObject([{ subject: ADA, hits: 2 }]);
  });

  test("are deleted after an hour, with their subjects", async () => {
    const { limiter, clock, db } = testLimiter();
    limiter.check(ADA, "signup", 3);
    await limiter.flush();
    clock.ms += HOUR / 2;
    limiter.check(BOB, "signup", 3);
    await limiter.flush();
    clock.ms += HOUR / 2 + 120_000;
    expect(await limiter.prune()).toBe(1);
    expect(rows(db)).toMatchObject([{ subject: BOB }]);
    expect(limiter.subjects).toBe(1);
  });

  test("are deleted in short transactions, however many there are", async () => {
    const { limiter, clock, db, writer } = testLimiter();
    const add = db.sqlite.query<undefined, [number, number]>(
      "INSERT INTO rate_hits (subject, category, at, hits, rejected) VALUES ('user:1', 'listing', ?1 + ?2, 1, 0)",
    );
    for (const atMs of [clock.ms - 3 * HOUR, clock.ms, clock.ms + 3 * HOUR])
      for (let i = 0; i < 1_500; i++) add.run(atMs, i);
    const run = spyOn(writer, "run");
    expect(await limiter.prune()).toBe(3_000);
    expect(run.mock.calls.length).toBeGreaterThan(1);
    expect(rows(db)).toHaveLength(1_500);
    expect(rows(db)[0]?.at).toBe(clock.ms);
  });

  test("are not reset if other subjects push a subject out of memory", async () => {
    const { limiter, clock } = testLimiter({ subjectsMax: 50 });
    for (let i = 0; i < 3; i++) limiter.check(ADA, "signup", 3);
    await limiter.flush();
    for (let round = 0; round < 10; round++) {
      for (let i = 0; i < 30; i++) limiter.check(addressSubject(`10.0.${round}.${i}`), "general", 1000);
      clock.ms += 1000;
      await limiter.flush();
    }
    expect(limiter.subjects).toBeLessThanOrEqual(80);
    expect(limiter.check(ADA, "signup", 3)).toMatchObject({ allowed: false, resetAtMs: START_MS + HOUR });
  });

  test("stay limited in memory if the database can't be written", () => {
    const { limiter, db } = testLimiter({ subjectsMax: 50 });
    db.sqlite.run("CREATE TRIGGER full BEFORE INSERT ON rate_hits BEGIN SELECT RAISE(ABORT, 'full'); END");
    for (let i = 0; i < 1000; i++) limiter.check(addressSubject(`10.0.0.${i}`), "general", 1000);
    expect(limiter.subjects).toBeLessThanOrEqual(100);
  });
});
