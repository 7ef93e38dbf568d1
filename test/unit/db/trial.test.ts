import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { Writer } from "../../../src/db/transaction.ts";
import { Trials } from "../../../src/db/trial.ts";
import { AppError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { say } from "../../../src/translations/say.ts";

let directory: string;
let path: string;
let db: Db;
let writer: Writer;
let trials: Trials;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "larder-trial-"));
  path = join(directory, "t.db");
  db = openDatabase(path);
  db.sqlite.run("CREATE TABLE t (v INTEGER NOT NULL) STRICT");
  writer = new Writer(db.sqlite, silentLog);
  trials = new Trials(path, writer);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

const valuesOf = ({ sqlite }: Pick<Db, "sqlite">) =>
  sqlite
    .query<{ v: number }, []>("SELECT v FROM t ORDER BY v")
    .all()
    .map(({ v }) => v);
const insert = (v: number) => () => void db.sqlite.run("INSERT INTO t (v) VALUES (?)", [v]);
const turn = () => new Promise(setImmediate);

test("during a trial others can read, their writes wait, and nothing of the trial remains", async () => {
  const order: string[] = [];
  await writer.run(insert(1));
  const before = writer.run(insert(2)).then(() => order.push("before"));
  const trial = trials.run(async ({ sqlite, tx }) => {
    tx.afterCommit(() => order.push("never"));
    order.push("begun");
    sqlite.run("INSERT INTO t (v) VALUES (100)");
    const after = writer.run(insert(3)).then(() => order.push("after"));
    for (let turns = 0; turns < 10; turns++) {
      await turn();
      expect(valuesOf(db)).toEqual([1, 2]);
      expect(valuesOf({ sqlite })).toEqual([1, 2, 100]);
    }
    order.push("ended");
    return { after };
  });
  const { after } = await trial;
  await Promise.all([before, after]);
  expect(order).toEqual(["before", "begun", "ended", "after"]);
  expect(valuesOf(db)).toEqual([1, 2, 3]);
});

test("trials run one at a time, after all transactions queued before them", async () => {
  const order: string[] = [];
  const trial = (name: string) =>
    trials.run(async ({ sqlite }) => {
      sqlite.run("INSERT INTO t (v) VALUES (100)");
      order.push(`${name} begins with ${valuesOf(db).join()}`);
      await turn();
      order.push(`${name} ends`);
    });
  await Promise.all([trial("one"), trial("two"), writer.run(insert(1)), trial("three")]);
  // Whether the first ones see the row depends on the speed of the machine: a slow commit is divided.
  expect(order.map((words) => words.replace(/ with.*/, ""))).toEqual([
    "one begins",
    "one ends",
    "two begins",
    "two ends",
    "three begins",
    "three ends",
  ]);
  expect(order).toContain("three begins with 1");
});

test("a failing trial leaves no changes, and writing continues", async () => {
  const refused = new AppError("name_taken", say`no`);
  const failed = trials.run(async ({ sqlite }) => {
    sqlite.prepare("INSERT INTO t (v) VALUES (100)").run();
    await turn();
    throw refused;
  });
  await expect(failed).rejects.toBe(refused);
  await expect(trials.run(async ({ sqlite }) => sqlite.run("INSERT INTO none VALUES (1)"))).rejects.toMatchObject({
    reason: "database_error",
  });
  await writer.run(insert(1));
  expect(valuesOf(db)).toEqual([1]);
});

test("a trial waits for another process that writes", async () => {
  const other = openDatabase(path);
  other.sqlite.run("BEGIN IMMEDIATE");
  other.sqlite.run("INSERT INTO t (v) VALUES (7)");
  const beside = new Trials(path, { pauseDuring: (body) => body() });
  const seen = beside.run(async (trial) => valuesOf(trial));
  await turn();
  other.sqlite.run("COMMIT");
  other.sqlite.close();
  expect(await seen).toEqual([7]);
});

test("the connection of a trial is closed with it, so that the server's own is the last one", async () => {
  await trials.run(async ({ sqlite }) => sqlite.prepare("SELECT v FROM t").all());
  expect(db.close()).toBe(true);
  db = openDatabase(path);
});
