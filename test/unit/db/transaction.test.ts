import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writer } from "../../../src/db/transaction.ts";
import { AppError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { say } from "../../../src/translations/say.ts";

describe("Writer", () => {
  let sqlite: Database;
  let writer: Writer;
  const values = () =>
    sqlite
      .query<{ v: number }, []>("SELECT v FROM t ORDER BY v")
      .all()
      .map((row) => row.v);
  const insert = (v: number) => () => void sqlite.query("INSERT INTO t (v) VALUES (?)").run(v);

  beforeEach(() => {
    sqlite = new Database(":memory:");
    sqlite.run("CREATE TABLE t (v INTEGER NOT NULL) STRICT");
    writer = new Writer(sqlite, silentLog);
  });

  test("queued transactions share one commit", async () => {
    let commits = 0;
    const counting = new Database(":memory:");
    counting.run("CREATE TABLE t (v INTEGER NOT NULL) STRICT");
    const prepare = counting.prepare.bind(counting);
    counting.prepare = ((sql: string) => {
      const statement = prepare(sql);
      if (sql !== "COMMIT") return statement;
      const run = statement.run.bind(statement);
      statement.run = ((...args: []) => {
        commits++;
        return run(...args);
      }) as typeof statement.run;
      return statement;
    }) as typeof counting.prepare;
    const grouped = new Writer(counting, silentLog);
    await Promise.all(
      Array.from({ length: 50 }, (_, v) => grouped.run(() => void counting.run(`INSERT INTO t VALUES (${v})`))),
    );
    expect(counting.query("SELECT count(*) AS n FROM t").get()).toEqual({ n: 50 });
    expect(commits).toBeLessThan(10);
  });

  test("transactions queued when the writer closes are rejected, and none is left waiting", async () => {
    const waiting = [writer.run(insert(1)), writer.run(insert(2))];
    sqlite.close();
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
  });

  describe("deferred work", () => {
    const rows: number[] = [];
    const deferring = (v: number, then?: () => void) => () => {
      rows.push(v);
      then?.();
    };
    beforeEach(() => {
      rows.length = 0;
      writer.defer(sqlite, {
        get length() {
          return rows.length;
        },
        undoTo: (length) => void (rows.length = length),
        write: () => {
          for (const v of rows.splice(0)) {
            insert(v)();
            if (v < 0) throw new Error("made to fail");
          }
        },
      });
    });

    test("is written with the commit, without that of a failed transaction", async () => {
      const fail = () => {
        throw new Error("made to fail");
      };
      const outcomes = await Promise.allSettled([
        writer.run(deferring(1)),
        writer.run(deferring(2, fail)),
        writer.run(deferring(3)),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      writer.runNow(deferring(4));
      expect(values()).toEqual([1, 3, 4]);
    });

    test("that fails rejects only its own transaction", async () => {
      const outcomes = await Promise.allSettled([1, -2, 3].map((v) => writer.run(deferring(v))));
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(() => writer.runNow(deferring(-4))).toThrow("made to fail");
      await writer.run(deferring(5));
      expect(values()).toEqual([1, 3, 5]);
    });

    test("of another connection is ignored", async () => {
      const other = new Database(":memory:");
      writer.defer(other, { length: 0, undoTo: () => {}, write: () => expect.unreachable() });
      await writer.run(insert(1));
      expect(values()).toEqual([1]);
    });
  });

  test("a failing transaction rolls back only itself", async () => {
    const outcomes = await Promise.allSettled([
      writer.run(insert(1)),
      writer.run(() => {
        insert(2)();
        throw new AppError("name_taken", say`no`);
      }),
      writer.run(insert(3)),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(values()).toEqual([1, 3]);
  });

  test("effects run after the commit and before the promise resolves, never after a rollback", async () => {
    const seen: string[] = [];
    const good = writer.run((tx) => {
      tx.afterCommit(() => seen.push(`effect ${sqlite.inTransaction}`));
    });
    const bad = writer.run((tx) => {
      tx.afterCommit(() => seen.push("never"));
      throw new Error("no");
    });
    await good.then(() => seen.push("resolved"));
    await expect(bad).rejects.toThrow("no");
    expect(seen).toEqual(["effect false", "resolved"]);
  });

  test("a database locked by another process is waited for without blocking", async () => {
    const folder = mkdtempSync(join(tmpdir(), "larder-writer-"));
    try {
      const path = join(folder, "a.db");
      const own = new Database(path);
      own.run("PRAGMA journal_mode=WAL");
      own.run("PRAGMA busy_timeout=1");
      own.run("CREATE TABLE t (v INTEGER NOT NULL) STRICT");
      const other = new Database(path);
      other.run("BEGIN IMMEDIATE");
      const waiting = new Writer(own, silentLog).run(() => void own.run("INSERT INTO t VALUES (1)"));
      let turns = 0;
      // Released only after other events ran: if the wait blocked them, it would never end.
      const turning = setInterval(() => {
        if (++turns === 20) other.run("COMMIT");
      }, 1);
      await waiting;
      clearInterval(turning);
      expect(turns).toBeGreaterThanOrEqual(20);
      expect(own.query("SELECT v FROM t").all()).toEqual([{ v: 1 }]);
      own.close();
      other.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a commit that hit a full disk is retried after space was freed", async () => {
    let made = 0;
    sqlite.run("PRAGMA max_page_count=3");
    const writer = new Writer(sqlite, silentLog, () => {
      made++;
      sqlite.run("PRAGMA max_page_count=1000");
      return made === 1;
    });
    await writer.run(() => {
      for (let v = 0; v < 5000; v++) insert(v)();
    });
    expect(made).toBe(1);
    expect(values()).toHaveLength(5000);
  });

  test("a full disk rejects all queued transactions and leaves the committed data intact", async () => {
    await writer.run(insert(1));
    sqlite.run("PRAGMA max_page_count=3");
    const outcome = writer.run(() => {
      for (let v = 0; v < 5000; v++) insert(v)();
    });
    expect(await outcome.catch((error: unknown) => (error as AppError).reason)).toBe("disk_full");
    expect(values()).toEqual([1]);
  });
});
