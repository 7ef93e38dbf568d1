import { migrate } from "../../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { RateLimiter } from "../../../../src/features/accounts/rate-limits/limiter.ts";
import type { Clock } from "../../../../src/lib/clock.ts";
import { silentLog } from "../../../../src/lib/log.ts";

/** 2026-01-02T03:04:05.678Z. */
export const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A clock that tests can set. */
export class TestClock implements Clock {
  constructor(public ms = START_MS) {}
  nowMs(): number {
    return this.ms;
  }
}

/** An empty database in memory, with the current schema. */
export function memoryDatabase(): { db: Db; writer: Writer } {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  return { db, writer: new Writer(db.sqlite, silentLog) };
}

/** Creates a limiter on its own database, or on the given one to simulate a restart. */
export function testLimiter(given: Partial<{ clock: TestClock; db: Db; writer: Writer; subjectsMax: number }> = {}) {
  const clock = given.clock ?? new TestClock();
  const made = given.db && given.writer ? { db: given.db, writer: given.writer } : memoryDatabase();
  const subjectsMax = given.subjectsMax ?? 100_000;
  const limiter = new RateLimiter({ ...made, clock, log: silentLog, subjectsMax });
  return { limiter, clock, ...made };
}
