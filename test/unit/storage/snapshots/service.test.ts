import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { type Db, openDatabase, openReadOnly } from "../../../../src/db/open.ts";
import { isWhole } from "../../../../src/db/snapshot.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { examineSnapshots } from "../../../../src/features/storage/snapshots/examine.ts";
import { Snapshots } from "../../../../src/features/storage/snapshots/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const minuteMs = 60_000;
const everyMs = 10 * minuteMs;
let root: string;
let db: Db;
let writer: Writer;
let nowMs: number;
let roomBytes: number;
let passwords: string;
let errors: string[];
let snapshots: Snapshots;

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-snapshots-"));
  db = openDatabase(join(root, "larder.db"));
  db.sqlite.run("CREATE TABLE blobs (digest BLOB UNIQUE, refs INTEGER)");
  db.sqlite.run("CREATE TABLE t (a)");
  writer = new Writer(db.sqlite, silentLog);
  nowMs = Date.UTC(2026, 5, 1);
  roomBytes = 1e12;
  passwords = "first";
  errors = [];
  snapshots = open();
});

afterEach(() => {
  db.close();
  fs.rmSync(root, { recursive: true });
});

/** Opens the service like a starting server. */
function open(): Snapshots {
  return new Snapshots({
    sqlite: db.sqlite,
    databasePath: join(root, "larder.db"),
    folder: join(root, "snapshots"),
    writer,
    clock: { nowMs: () => nowMs },
    log: { ...silentLog, error: (message) => errors.push(message) },
    everyMs,
    keepMs: 7 * 24 * 60 * minuteMs,
    availableBytes: () => roomBytes,
    urgentMark: () => passwords,
  });
}

const change = async (isQuiet = false) => writer.run(() => void db.sqlite.run("INSERT INTO t VALUES (1)"), { isQuiet });

describe("a snapshot is due", () => {
  test("if there is none, and then 15 seconds after the last one, if something has changed", async () => {
    expect(await snapshots.takeWhenDue()).toBeDefined();
    nowMs += 24 * 60 * minuteMs;
    expect(await snapshots.takeWhenDue()).toBeUndefined();
    await change(true);
    expect(snapshots.isDue()).toBe(false);
    await change();
    expect(await snapshots.takeWhenDue()).toBeDefined();
    await change();
    nowMs += 15_000 - 1;
    expect(snapshots.isDue()).toBe(false);
    nowMs += 1;
    expect(await snapshots.takeWhenDue()).toBeDefined();
  });

  test("at once after a changed password, but at least two seconds after the last one", async () => {
    await snapshots.take("scheduled");
    nowMs += 2_000;
    await change();
    expect(snapshots.isDue()).toBe(false);
    passwords = "second";
    expect(await snapshots.takeWhenDue()).toBeDefined();
    await change();
    passwords = "third";
    nowMs += 1_999;
    expect(snapshots.isDue()).toBe(false);
    nowMs += 1;
    expect(await snapshots.takeWhenDue()).toBeDefined();
  });

  test("at a stop if something has changed, even shortly after the last one", async () => {
    await snapshots.take("scheduled");
    await snapshots.takeAtStop();
    expect(snapshots.list().map(({ label }) => label)).toEqual(["scheduled"]);
    await change();
    await snapshots.takeAtStop();
    expect(snapshots.list().map(({ label }) => label)).toEqual(["stop", "scheduled"]);
    roomBytes = 0;
    await change();
    await snapshots.takeAtStop();
    expect(snapshots.list()).toHaveLength(2);
  });

  test("after a change by another process, and once after a start", async () => {
    await snapshots.take("scheduled");
    nowMs += everyMs;
    expect(snapshots.isDue()).toBe(false);
    const command = openDatabase(join(root, "larder.db"));
    command.sqlite.run("INSERT INTO t VALUES (2)");
    command.close();
    expect(await snapshots.takeWhenDue()).toBeDefined();
    snapshots = open();
    nowMs += everyMs;
    expect(await snapshots.takeWhenDue()).toBeDefined();
    nowMs += everyMs;
    expect(snapshots.isDue()).toBe(false);
  });

  test("only 15 seconds after a failure, except for a scheduled run", async () => {
    roomBytes = 0;
    await expect(snapshots.takeWhenDue()).rejects.toThrow("Not enough disk space");
    expect(snapshots.isDue()).toBe(false);
    nowMs += 15_000 - 1;
    expect(snapshots.isDue()).toBe(false);
    await expect(snapshots.takeWhenDue()).rejects.toThrow("Not enough disk space");
    nowMs += 15_000;
    expect(snapshots.isDue()).toBe(true);
    roomBytes = 1e12;
    expect(await snapshots.takeWhenDue()).toBeDefined();
    await change();
    passwords = "second";
    nowMs += 2_000;
    expect(snapshots.isDue()).toBe(true);
  });

  test("not while one is being taken, only after it", async () => {
    const taking = snapshots.take("scheduled");
    await change();
    nowMs += everyMs;
    expect(snapshots.isDue()).toBe(false);
    await taking;
    expect(snapshots.isDue()).toBe(true);
  });

  test("after the clock was set back, and is still the newest one by its name", async () => {
    const before = await snapshots.take("scheduled");
    await change();
    nowMs -= 365 * 24 * 60 * minuteMs;
    const after = await snapshots.takeWhenDue();
    expect(after?.takenAtMs).toBe(before.takenAtMs + 1);
    await change();
    expect(snapshots.isDue()).toBe(false);
    nowMs += minuteMs;
    const third = await snapshots.takeWhenDue();
    expect(snapshots.list().map(({ name }) => name)).toEqual(
      [third, after, before].map((snapshot) => snapshot?.name ?? "none"),
    );
  });

  test("as rarely as usual for a large database after the clock was set back", async () => {
    db.sqlite.run("INSERT INTO t VALUES (zeroblob(40000000))");
    await snapshots.take("scheduled");
    nowMs -= 365 * 24 * 60 * minuteMs;
    let count = 0;
    for (let check = 0; check < 30; check++) {
      await change();
      if ((await snapshots.takeWhenDue()) !== undefined) count++;
      nowMs += 10_000;
    }
    // Snapshots are 33 seconds apart.
    expect(count).toBeLessThanOrEqual(8);
  });
});

test("without disk space none is taken, earlier ones stay, and the error has the reason", async () => {
  const before = await snapshots.take("scheduled");
  roomBytes = 1_000;
  await expect(snapshots.take("requested")).rejects.toThrow("Not enough disk space");
  expect(snapshots.list()).toEqual([before]);
  roomBytes = 1e12;
  expect(await snapshots.take("requested")).toBeDefined();
});

test("concurrent requests get one snapshot each, one after the other", async () => {
  const taken = await Promise.all([1, 2, 3].map(async () => snapshots.take("requested")));
  expect(new Set(taken.map(({ name }) => name)).size).toBe(3);
  expect(taken.every(({ path }) => isWhole(path))).toBe(true);
  const removed = await snapshots.whileStill(async () => snapshots.removeOlder());
  expect(removed).toBe(2);
  expect(snapshots.list().map(({ name }) => name)).toEqual([taken[2]?.name ?? ""]);
});

describe("garbage collection retains", () => {
  /** Waits until the snapshot has started to read, which is when its file exists. */
  const waitForStart = async (taking: Promise<unknown>) => {
    const folder = join(root, "snapshots");
    const done = new AbortController();
    const end = () => done.abort();
    void taking.then(end, end);
    while (!done.signal.aborted && (!fs.existsSync(folder) || fs.readdirSync(folder).length === 0)) await Bun.sleep(1);
  };
  const digest = (digit: string): Digest => toDigest(digit.repeat(64));
  const name = (digit: string, refs: number) =>
    void db.sqlite.run("INSERT OR REPLACE INTO blobs VALUES (?, ?)", [Buffer.from(digest(digit), "hex"), refs]);
  const fill = (count: number) =>
    void db.sqlite.run(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO blobs SELECT randomblob(32), 1 FROM n`,
    );
  const named = async (...digits: string[]) => {
    const references = await snapshots.openSnapshotReferencesSoon();
    try {
      return digits.filter((digit) => references.has(digest(digit)));
    } finally {
      references.close();
    }
  };

  test("exactly the blobs that a stored snapshot names", async () => {
    name("a", 1);
    name("b", 0);
    await snapshots.take("scheduled");
    name("a", 0);
    name("c", 2);
    await snapshots.take("scheduled");
    expect(await named("a", "b", "c", "d")).toEqual(["a", "c"]);
    await snapshots.whileStill(async () => snapshots.removeOlder());
    expect(await named("a", "b", "c", "d")).toEqual(["c"]);
    expect(errors).toEqual([]);
  });

  test("blobs that a snapshot in progress names, even if their last reference was deleted since", async () => {
    fill(20_000);
    name("a", 1);
    const taking = snapshots.take("scheduled");
    await waitForStart(taking);
    name("a", 0);
    const isNamed = (await named("a")).length > 0;
    const { path } = await taking;
    const copy = openReadOnly(path);
    const row = copy.sqlite.query<{ refs: number }, [Uint8Array]>("SELECT refs FROM blobs WHERE digest = ?");
    const isInCopy = row.get(Buffer.from(digest("a"), "hex"))?.refs === 1;
    copy.close();
    expect(isNamed).toBe(isInCopy);
  });

  test("all blobs while a snapshot can't be read, from its start or in the middle", async () => {
    fill(500);
    const { path } = await snapshots.take("scheduled");
    const whole = fs.readFileSync(path);
    expect(await named("a")).toEqual([]);
    const middle = Buffer.from(whole);
    middle.fill(0xff, 4096);
    for (const bytes of [Buffer.from("no database"), middle]) {
      errors = [];
      fs.writeFileSync(path, bytes);
      expect(await named("a", "b")).toEqual(["a", "b"]);
      expect(errors).toHaveLength(1);
    }
    expect(examineSnapshots(join(root, "snapshots")).state).toBe("wrong");
    fs.writeFileSync(path, whole);
    expect(examineSnapshots(join(root, "snapshots"))).toMatchObject({ state: "ok" });
  });
});

test("the check reports that there is no snapshot yet", () => {
  expect(examineSnapshots(join(root, "snapshots")).state).toBe("note");
});

test("a snapshot that fails because of damage reports it; after that, none is taken or thinned out", async () => {
  await change();
  const last = await snapshots.take("scheduled");
  for (let row = 0; row < 2_000; row++) db.sqlite.run("INSERT INTO t VALUES (?)", ["x".repeat(200)]);
  db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const path = join(root, "larder.db");
  const file = fs.openSync(path, "r+");
  fs.writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, fs.fstatSync(file).size - 4096 * 10);
  fs.closeSync(file);
  await expect(snapshots.take("scheduled")).rejects.toThrow();
  expect(writer.isDamaged).toBe(true);
  nowMs += 365 * 24 * 60 * minuteMs;
  await expect(snapshots.take("scheduled")).rejects.toThrow("is damaged");
  expect(snapshots.list().map(({ name }) => name)).toEqual([last.name]);
});
