import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../../src/db/migrations.ts";
import { type Db, openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { PhotoBackfill } from "../../../../src/features/library/photos/backfill.ts";
import { LivePairs } from "../../../../src/features/library/photos/live-pairs.ts";
import { PhotoRows } from "../../../../src/features/library/photos/queries.ts";
import { silentLog } from "../../../../src/lib/log.ts";

let folder: string;
let db: Db;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "larder-photos-"));
  db = openDatabase(join(folder, "larder.db"));
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** Adds files as an earlier version stored them. */
function addFiles(count: number, fromId: number): void {
  const node = db.sqlite.prepare(
    `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
       created_seq, size_bytes, media_type, version, content_at, captured_at)
     VALUES (?1, 'file_' || ?1, 1, 1, 1, ?1, ?1, 0, 0, 1, 1, 5, ?2, 1, 0, ?3)`,
  );
  for (let id = fromId; id < fromId + count; id++) {
    node.run(id, id % 2 === 0 ? "image/jpeg" : "text/plain", id % 4 === 0 ? "2020-02-03T23:00:00-05:00" : null);
  }
}

const inList = () => db.sqlite.query("SELECT node_id AS id FROM photos ORDER BY node_id").all() as { id: number }[];

/** Adds the account that owns them. */
function addAccount(): void {
  db.sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'usr_1', 'a@example.org', 'a@example.org', 'A', 'user', 'free', '', 0)`,
  );
  db.sqlite.run("INSERT INTO accounts (id, root_id) VALUES (1, 1)");
}

test("files of an earlier version are indexed in steps, and a restart continues", async () => {
  const at = MIGRATIONS.findIndex(({ id }) => id === "0019_photos");
  migrate(db.sqlite, silentLog, MIGRATIONS.slice(0, at));
  addAccount();
  addFiles(1_200, 2);
  migrate(db.sqlite, silentLog);
  const rows = new PhotoRows(db.sqlite);
  expect(rows.isBackfilled()).toBe(false);
  // Files added during the backfill are listed immediately, and changed ones are not indexed twice.
  addFiles(2, 2_000);
  db.sqlite.run("UPDATE nodes SET captured_at = '2021-01-01T00:00:00Z' WHERE id = 4");
  const writer = new Writer(db.sqlite, silentLog);
  await writer.run(() => rows.backfillSome(500));
  expect(rows.isBackfilled()).toBe(false);
  await new PhotoBackfill({
    rows,
    livePairs: new LivePairs(db.sqlite),
    writer,
    log: silentLog,
    onMoved: () => {},
  }).drain();
  expect(rows.isBackfilled()).toBe(true);
  const even = Array.from({ length: 600 }, (_, index) => 2 + 2 * index);
  expect(inList().map(({ id }) => id)).toEqual([...even, 2_000]);
  const one = (id: number) =>
    db.sqlite.query("SELECT day, taken_at, offset_minutes FROM photos WHERE node_id = ?1").get(id);
  expect(one(4)).toMatchObject({ taken_at: Date.UTC(2021, 0, 1), offset_minutes: null });
  expect(one(8)).toEqual({
    day: Date.UTC(2020, 1, 3) / 86_400_000,
    taken_at: Date.UTC(2020, 1, 3, 23),
    offset_minutes: -300,
  });
  expect(one(6)).toEqual({ day: 0, taken_at: 0, offset_minutes: null });
});

test("a new database has nothing to index", () => {
  migrate(db.sqlite, silentLog);
  expect(new PhotoRows(db.sqlite).isBackfilled()).toBe(true);
});

test("metadata of a blob moves all files that have it, in steps", async () => {
  migrate(db.sqlite, silentLog);
  addAccount();
  db.sqlite.run(
    "INSERT INTO blobs (id, digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (1, x'aa', 5, 0, 1, 0, 0)",
  );
  addFiles(2_400, 2);
  db.sqlite.run("UPDATE nodes SET blob_id = 1, captured_at = NULL");
  const rows = new PhotoRows(db.sqlite);
  const writer = new Writer(db.sqlite, silentLog);
  const moved = () =>
    db.sqlite
      .query<{ count: number }, [number]>("SELECT count(*) AS count FROM photos WHERE taken_at = ?1")
      .get(Date.UTC(2017, 6, 1, 23, 30))?.count;
  const setTakenAt = () =>
    writer.run(() => {
      db.sqlite.run(
        `INSERT OR REPLACE INTO media_info (digest, taken_at, program, read_at)
         VALUES (x'aa', '2017-07-01T23:30:00+02:00', 'x', 0)`,
      );
    });
  await setTakenAt();
  // The transaction itself moves a few.
  expect(moved()).toBe(50);
  let movedNames = 0;
  const photoBackfill = new PhotoBackfill({
    rows,
    livePairs: new LivePairs(db.sqlite),
    writer,
    log: silentLog,
    onMoved: () => movedNames++,
  });
  await writer.run(() => rows.moveSome(500));
  expect(moved()).toBe(300);
  await photoBackfill.drain();
  expect(moved()).toBe(1_200);
  expect(rows.hasFilesToMove()).toBe(false);
  expect(movedNames).toBeGreaterThan(1);

  // Metadata is read again before the start, and by a running server.
  db.sqlite.run("UPDATE photos SET taken_at = 0");
  await setTakenAt();
  expect(moved()).toBe(50);
  photoBackfill.start();
  await setTakenAt();
  photoBackfill.wake();
  while (rows.hasFilesToMove()) await Bun.sleep(5);
  await photoBackfill.stop();
  expect(moved()).toBe(1_200);
});
