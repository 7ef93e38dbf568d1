import { describe, expect, test } from "bun:test";
import { migrate } from "../../../../src/db/migrate.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { AccessCounters } from "../../../../src/features/accounts/plans/access-counters.ts";
import { periodOf, TransferCounters } from "../../../../src/features/accounts/plans/transfers.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const START_MS = Date.UTC(2026, 0, 31, 23, 59, 59);

/** A database with the accounts and files 1 to 9. */
function setUp(pendingMax = 50_000) {
  const db = openDatabase(":memory:");
  migrate(db.sqlite, silentLog);
  db.sqlite.run("PRAGMA foreign_keys=OFF");
  for (let id = 1; id < 10; id++) {
    db.sqlite.run("INSERT INTO accounts (id, root_id) VALUES (?, 0)", [id]);
    db.sqlite.run(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq, size_bytes)
       VALUES (?1, ?2, 1, 0, 1, ?2, ?2, 0, 0, 1, 1, 0)`,
      [id, `file_${id}`],
    );
  }
  const writer = new Writer(db.sqlite, silentLog);
  const clock = { ms: START_MS, nowMs: () => clock.ms };
  const given = { db, writer, clock, log: silentLog };
  const count = (table: string) =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;
  return {
    access: new AccessCounters({ ...given, pendingMax }),
    transfers: new TransferCounters(given),
    clock,
    db,
    writer,
    count,
  };
}

describe("download counts of files", () => {
  test("are exact immediately, before and after they are written", async () => {
    const { access, count } = setUp();
    expect(access.read(1, "file_1")).toEqual({ downloads: 0, lastAccessedAtMs: null });
    access.note(1, 1000);
    access.note(1, 2000, 0);
    expect(access.read(1, "file_1")).toEqual({ downloads: 1, lastAccessedAtMs: 2000 });
    expect(count("node_access")).toBe(0);
    await access.flush();
    expect(count("node_access")).toBe(1);
    access.note(1, 1500);
    expect(access.read(1, "file_1")).toEqual({ downloads: 2, lastAccessedAtMs: 2000 });
    await access.flush();
    expect(access.read(1, "file_1")).toEqual({ downloads: 2, lastAccessedAtMs: 2000 });
  });

  test("are exact while they are written with other transactions", async () => {
    const { access, writer } = setUp();
    access.note(1, 1000);
    const seen = [
      writer.run(() => access.read(1, "file_1").downloads),
      access.flush(),
      writer.run(() => access.read(1, "file_1").downloads),
    ];
    access.note(1, 1001);
    expect(await Promise.all(seen)).toEqual([2, undefined, 2]);
    expect(access.read(1, "file_1").downloads).toBe(2);
  });

  test("are added to the counts that a listing has read", () => {
    const { access } = setUp();
    expect(access.overlay(1, undefined)).toEqual({ downloads: 0, lastAccessedAtMs: null });
    access.note(1, 1000);
    expect(access.overlay(1, undefined)).toEqual({ downloads: 1, lastAccessedAtMs: 1000 });
    expect(access.overlay(1, { downloads: 5, lastAccessedAtMs: 500 })).toEqual({
      downloads: 6,
      lastAccessedAtMs: 1000,
    });
  });

  test("of deleted files are removed", async () => {
    const { access, db, count } = setUp();
    access.note(1, 1000);
    access.note(2, 1000);
    access.note(3, 1000);
    access.forget(2);
    db.sqlite.run("DELETE FROM nodes WHERE id = 1");
    await access.flush();
    expect(count("node_access")).toBe(1);
    expect(access.read(2, "file_2").downloads).toBe(0);
  });

  test("that can't be written are retried, up to a limit", async () => {
    const { access, db } = setUp(2);
    db.sqlite.run("ALTER TABLE node_access RENAME TO elsewhere");
    access.note(1, 1000);
    await access.flush();
    access.note(1, 2000);
    access.note(2, 2000);
    access.note(3, 2000);
    db.sqlite.run("ALTER TABLE elsewhere RENAME TO node_access");
    await access.flush();
    expect([1, 2, 3].map((id) => access.read(id, `file_${id}`).downloads)).toEqual([2, 1, 0]);
  });
});

describe("transfers of accounts", () => {
  test("are summed by month, exact immediately", async () => {
    const { transfers, clock } = setUp();
    transfers.noteUpload(1, 100);
    transfers.noteDownload(1, 10);
    transfers.noteDownload(1, 5, 0);
    const january = { period: "2026-01", uploads: 1, uploadedBytes: 100, downloads: 1, downloadedBytes: 15 };
    expect(transfers.read(1)).toEqual(january);
    await transfers.flush();
    expect(transfers.read(1)).toEqual(january);
    transfers.noteUpload(1, 1);
    expect(transfers.read(1)).toEqual({ ...january, uploads: 2, uploadedBytes: 101 });
    clock.ms += 1000;
    expect(transfers.read(1)).toEqual({
      period: "2026-02",
      uploads: 0,
      uploadedBytes: 0,
      downloads: 0,
      downloadedBytes: 0,
    });
    expect(transfers.read(2).uploads).toBe(0);
  });

  test("of erased accounts are removed", async () => {
    const { transfers, db, count } = setUp();
    transfers.noteUpload(1, 100);
    transfers.noteUpload(2, 100);
    transfers.forget(1);
    db.sqlite.run("DELETE FROM accounts WHERE id = 2");
    await transfers.flush();
    expect(count("transfers")).toBe(0);
  });

  test("that can't be written are retried", async () => {
    const { transfers, db } = setUp();
    db.sqlite.run("ALTER TABLE transfers RENAME TO elsewhere");
    transfers.noteUpload(1, 100);
    await transfers.flush();
    transfers.noteUpload(1, 1);
    db.sqlite.run("ALTER TABLE elsewhere RENAME TO transfers");
    expect(transfers.read(1).uploadedBytes).toBe(101);
    await transfers.flush();
    expect(transfers.read(1).uploadedBytes).toBe(101);
  });

  test("use months in UTC", () => {
    expect(periodOf(START_MS)).toBe("2026-01");
    expect(periodOf(START_MS + 1000)).toBe("2026-02");
  });
});
