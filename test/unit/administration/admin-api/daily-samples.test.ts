import { beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { migrate } from "../../../../src/db/migrate.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { DailySamples } from "../../../../src/features/administration/admin-api/daily-samples.ts";
import type { ServerCounts } from "../../../../src/features/administration/admin-api/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const HOUR_MS = 3_600_000;

let sqlite: Database;
let writer: Writer;
let nowMs: number;
let uploads: number;

beforeEach(() => {
  sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite, silentLog);
  writer = new Writer(sqlite, silentLog);
  nowMs = Date.UTC(2026, 0, 30, 12);
  uploads = 10;
});

function sampleCounts(): ServerCounts {
  return {
    users: {
      total: 2,
      active: 1,
      disabled: 0,
      byPlan: { free: 2, pro: 0, enterprise: 0 },
      byRole: { admin: 0, user: 2, viewer: 0 },
    },
    storage: { usedBytes: 5, files: 3, folders: 1, versionsBytes: 0, trashBytes: 0, blobs: 3, blobBytes: 4 },
    transfers: { period: "2026-01", uploads, uploadedBytes: uploads * 2, downloads: 0, downloadedBytes: 0 },
    uploadsUnderWay: 0,
    queues: {},
    requests: { accepted: 0, refused: 0 },
  };
}

function open(): DailySamples {
  return new DailySamples({
    sqlite,
    clock: { nowMs: () => nowMs },
    statistics: { count: async () => sampleCounts() },
    disk: { freeBytes: () => 7, totalBytes: () => 9 },
    writer,
  });
}

test("a day has its last sample, and the transfers since the day before", async () => {
  const samples = open();
  await samples.take();
  nowMs += HOUR_MS;
  uploads = 12;
  await samples.take();
  nowMs += 24 * HOUR_MS;
  uploads = 20;
  await samples.take();
  const days = await samples.history(2);
  expect(days.map(({ transfers }) => transfers.uploads)).toEqual([null, 8]);
  expect(days.map(({ uploads: sum }) => sum)).toEqual([12, 20]);
  expect(days[1]).toMatchObject({ users: 2, activeUsers: 1, storedBytes: 4, diskFreeBytes: 7, diskTotalBytes: 9 });
});

test("a new month counts from zero, and the day after a gap has no transfers", async () => {
  const samples = open();
  nowMs = Date.UTC(2026, 0, 31, 12);
  await samples.take();
  nowMs = Date.UTC(2026, 1, 1, 12);
  uploads = 3;
  await samples.take();
  nowMs = Date.UTC(2026, 1, 4, 12);
  uploads = 9;
  const days = await samples.history(30);
  expect(days.map(({ transfers }) => transfers.uploads)).toEqual([null, 3, null]);
  expect((await samples.history(1)).map(({ uploads: sum }) => sum)).toEqual([9]);
});

test("a sample alone causes no database snapshot", async () => {
  const before = writer.changes;
  await open().take();
  expect(writer.changes).toBe(before);
});

test("on the first day of a server, its transfers are all of that day", async () => {
  // A new server showed no transfers until its second day.
  sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'usr_1', 'a@example.org', 'a@example.org', 'A', 'user', 'free', '', ${nowMs})`,
  );
  const samples = open();
  expect((await samples.history(30)).map(({ transfers }) => transfers.uploadedBytes)).toEqual([20]);
});
