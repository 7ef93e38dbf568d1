import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Db, openDatabase, openReadOnly } from "../../../src/db/open.ts";
import { isWhole, listSnapshots, removeSnapshot, sweepPartials, takeSnapshot } from "../../../src/db/snapshot.ts";
import { takeSnapshotAside } from "../../../src/db/snapshot-thread.ts";
import { mountingFails, mountTmpfs } from "../../support/mounts.ts";

const startMs = Date.UTC(2026, 5, 1);
const dayMs = 86_400_000;
let root: string;
let folder: string;
let db: Db;
let sqlite: Database;

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-snapshot-"));
  folder = join(root, "snapshots");
  db = openDatabase(join(root, "larder.db"));
  ({ sqlite } = db);
  sqlite.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)");
  sqlite.run("CREATE TABLE sums (total INTEGER)");
  sqlite.run("INSERT INTO sums VALUES (0)");
});

afterEach(() => {
  db.close();
  fs.rmSync(root, { recursive: true });
});

/** A row, and in the same transaction the sum of all. */
function add(value: number, bytes = 10): void {
  sqlite.transaction(() => {
    sqlite.run("INSERT INTO t VALUES (?, randomblob(?))", [value, bytes]);
    sqlite.run("UPDATE sums SET total = total + ?", [value]);
  })();
}

const names = () => fs.readdirSync(folder).sort();

test("a snapshot is complete, private, and has a digest that sha256sum can check", () => {
  add(1);
  const taken = takeSnapshot(sqlite, folder, "scheduled", startMs);
  expect(taken).toMatchObject({ name: "larder-2026-06-01T00-00-00-000Z-scheduled.db", label: "scheduled" });
  expect(isWhole(taken.path)).toBe(true);
  expect(listSnapshots(folder)).toEqual([taken]);
  expect([folder, taken.path, `${taken.path}.sha256`].map((path) => fs.statSync(path).mode & 0o777)).toEqual([
    0o700, 0o600, 0o600,
  ]);
  expect(Bun.spawnSync(["sha256sum", "-c", `${taken.name}.sha256`], { cwd: folder }).exitCode).toBe(0);
  removeSnapshot(taken);
  expect(names()).toEqual([]);
});

test("incomplete snapshots are recognized", () => {
  add(1, 20_000);
  const { path } = takeSnapshot(sqlite, folder, "scheduled", startMs);
  const [bytes, digest] = [fs.readFileSync(path), fs.readFileSync(`${path}.sha256`)];
  const half = (spoil: () => void) => {
    spoil();
    const is = isWhole(path);
    fs.writeFileSync(path, bytes);
    fs.writeFileSync(`${path}.sha256`, digest);
    return is;
  };
  expect(half(() => fs.truncateSync(path, bytes.length - 1))).toBe(false);
  expect(half(() => fs.appendFileSync(path, "x"))).toBe(false);
  expect(half(() => fs.writeFileSync(path, bytes.toReversed()))).toBe(false);
  expect(half(() => fs.rmSync(path))).toBe(false);
  expect(half(() => fs.rmSync(`${path}.sha256`))).toBe(false);
  expect(half(() => fs.truncateSync(`${path}.sha256`, 30))).toBe(false);
  expect(half(() => {})).toBe(true);
});

test("other files are ignored, and snapshots are ordered by name", () => {
  const [a, b] = [startMs, startMs + 1].map((ms) => takeSnapshot(sqlite, folder, "scheduled", ms));
  for (const name of ["notes.txt", "larder-2026.db", "larder-2026-99-01T00-00-00-000Z-x.db"])
    fs.writeFileSync(join(folder, name), "");
  expect(listSnapshots(folder).map(({ name }) => name)).toEqual([b?.name ?? "", a?.name ?? ""]);
  expect(listSnapshots(join(root, "nothing"))).toEqual([]);
});

test("leftovers of a crash are deleted once no process can still be writing them", () => {
  const recent = takeSnapshot(sqlite, folder, "scheduled", startMs);
  const left = ["larder-2026-06-02T00-00-00-000Z-x.db.partial", "larder-2026-06-02T00-00-00-000Z-x.db.sha256"];
  const [partial = "", alone = ""] = left.map((name) => join(folder, name));
  fs.writeFileSync(partial, "half");
  fs.writeFileSync(alone, "its digest");
  sweepPartials(folder);
  expect(names()).toHaveLength(4);
  for (const path of [partial, alone]) fs.utimesSync(path, new Date(startMs), new Date(startMs));
  sweepPartials(folder, startMs + dayMs);
  expect(names()).toEqual([recent.name, `${recent.name}.sha256`]);
  sweepPartials(join(root, "nothing"));
});

test("a snapshot taken during writes is consistent and has all earlier commits", async () => {
  for (let value = 1; value <= 200; value++) add(value, 2_000);
  let last = 200;
  const request = { database: join(root, "larder.db"), folder, label: "scheduled", nowMs: startMs };
  const done = new AbortController();
  const taking = takeSnapshotAside(request).finally(() => done.abort());
  while (!done.signal.aborted) {
    add(++last, 2_000);
    await Bun.sleep(0);
  }
  const { path } = await taking;
  const copy = openReadOnly(path);
  const found = copy.sqlite
    .query<{ count: number; sum: number; total: number; check: string }, []>(
      'SELECT count(*) AS count, sum(a) AS sum, (SELECT total FROM sums) AS total, (SELECT integrity_check FROM pragma_integrity_check) AS "check" FROM t',
    )
    .get();
  copy.close();
  expect(found?.count).toBeGreaterThanOrEqual(200);
  expect(found?.sum).toBe(((found?.count ?? 0) * ((found?.count ?? 0) + 1)) / 2);
  expect(found).toMatchObject({ total: found?.sum, check: "ok" });
});

test("a failed snapshot reports the error and leaves no files", async () => {
  const request = { database: join(root, "none.db"), folder, label: "scheduled", nowMs: startMs };
  await expect(takeSnapshotAside(request)).rejects.toThrow("unable to open");
});

test.skipIf(mountingFails !== undefined)(
  "a full disk aborts the snapshot, and its partial files are deleted at once",
  async () => {
    const small = await mountTmpfs(1);
    try {
      add(1, 3_000_000);
      expect(() => takeSnapshot(sqlite, small.path, "scheduled", startMs)).toThrow("full");
      expect(fs.readdirSync(small.path)).toEqual([]);
      add(2);
      expect(sqlite.query("SELECT total FROM sums").get()).toEqual({ total: 3 });
    } finally {
      await small.unmount();
    }
  },
);
