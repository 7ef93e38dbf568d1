import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Db } from "../../../src/db/open.ts";
import { isWriting, renewReads, shareReads } from "../../../src/db/shared-reads.ts";
import { Writer } from "../../../src/db/transaction.ts";
import { silentLog } from "../../../src/lib/log.ts";

let folder: string;
let db: Db;
let writer: Writer;
let other: Database;
let isOpen = false;
const count = () => db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM t").get()?.n;
const insert = (into: Database) => void into.run("INSERT INTO t VALUES (1)");
const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "larder-reads-"));
  db = openDatabase(join(folder, "larder.db"));
  isOpen = true;
  db.sqlite.run("CREATE TABLE t (v INTEGER) STRICT");
  writer = new Writer(db.sqlite, silentLog);
  other = new Database(join(folder, "larder.db"));
});
afterEach(() => {
  other.close();
  if (isOpen) db.close();
  rmSync(folder, { recursive: true });
});

test("the reads of a turn see one state, and the next turn the newest", async () => {
  shareReads(db.sqlite);
  expect(count()).toBe(0);
  insert(other);
  shareReads(db.sqlite);
  expect(count()).toBe(0);
  expect(isWriting(db.sqlite)).toBe(false);
  await nextTurn();
  expect(db.sqlite.inTransaction).toBe(false);
  expect(count()).toBe(1);
});

test("renewed reads, and the check for changes, see what is committed by now", () => {
  db.changedElsewhere();
  shareReads(db.sqlite);
  expect(count()).toBe(0);
  insert(other);
  expect(db.changedElsewhere()).toBe(true);
  shareReads(db.sqlite);
  expect(count()).toBe(1);
  insert(other);
  renewReads(db.sqlite);
  expect(count()).toBe(2);
});

test("a write ends the shared reads, and its own state is seen at once", async () => {
  shareReads(db.sqlite);
  expect(count()).toBe(0);
  insert(other);
  writer.runNow(() => {
    expect(isWriting(db.sqlite)).toBe(true);
    shareReads(db.sqlite);
    insert(db.sqlite);
  });
  expect(count()).toBe(2);
  const written = writer.run(() => insert(db.sqlite));
  shareReads(db.sqlite);
  expect(count()).toBe(2);
  await written;
  expect(count()).toBe(3);
});

test("the database closes while reads are shared", () => {
  shareReads(db.sqlite);
  expect(count()).toBe(0);
  other.close();
  isOpen = false;
  expect(db.close()).toBe(true);
});
