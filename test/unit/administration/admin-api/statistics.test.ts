import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../../src/db/open.ts";
import { Reader } from "../../../../src/db/reader.ts";
import { Statistics } from "../../../../src/features/administration/admin-api/statistics.ts";
import { silentLog } from "../../../../src/lib/log.ts";

const NOW_MS = Date.UTC(2026, 5, 15);
const DAY_MS = 86_400_000;

let folder: string;
let db: Db;
let reader: Reader;
let statistics: Statistics;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "larder-statistics-"));
  const path = join(folder, "larder.db");
  db = openDatabase(path);
  migrate(db.sqlite, silentLog);
  reader = new Reader(path, silentLog);
  const queues = { mail: "SELECT count(*) AS waiting FROM mails WHERE finished_at IS NULL" };
  statistics = new Statistics({ reader, clock: { nowMs: () => NOW_MS }, queues });
});

afterEach(() => {
  reader.close();
  db.close();
  rmSync(folder, { recursive: true });
});

function addUser(id: number, columns: { email?: string; lastActiveAt?: number; disabledAt?: number } = {}): void {
  const { email = `user${id}@example.org`, lastActiveAt = null, disabledAt = null } = columns;
  db.sqlite
    .query(
      `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at, last_active_at,
         disabled_at) VALUES (?1, 'usr_' || ?1, ?2, ?1, 'x', 'user', 'free', '', 0, ?3, ?4)`,
    )
    .run(id, email, lastActiveAt, disabledAt);
  db.sqlite.query("INSERT INTO accounts (id, root_id, files, file_bytes) VALUES (?1, 0, 2, 10)").run(id);
}

test("an empty server counts nothing", async () => {
  const { users, storage, transfers, queues, requests } = await statistics.count();
  expect(users).toMatchObject({ total: 0, active: 0, disabled: 0 });
  expect(storage).toMatchObject({ usedBytes: 0, files: 0, blobs: 0, blobBytes: 0 });
  expect(transfers).toMatchObject({ period: "2026-06", uploads: 0 });
  expect({ queues, requests }).toEqual({ queues: { mail: 0 }, requests: { accepted: 0, refused: 0 } });
});

test("active users were seen within thirty days and can sign in; erased users don't count", async () => {
  addUser(1, { lastActiveAt: NOW_MS - 29 * DAY_MS });
  addUser(2, { lastActiveAt: NOW_MS - 31 * DAY_MS });
  addUser(3, { lastActiveAt: NOW_MS, disabledAt: NOW_MS });
  addUser(4, { email: "", lastActiveAt: NOW_MS, disabledAt: NOW_MS });
  const { users, storage } = await statistics.count();
  expect(users).toMatchObject({ total: 3, active: 1, disabled: 1, byRole: { user: 3 } });
  expect(storage).toMatchObject({ usedBytes: 30, files: 6 });
});

test("requests count the last hour, transfers the month", async () => {
  addUser(1);
  const hit = db.sqlite.query(
    "INSERT INTO rate_hits (subject, category, at, hits, rejected) VALUES ('u:1', 'general', ?1, 3, 1)",
  );
  hit.run(NOW_MS - 3_600_001);
  hit.run(NOW_MS - 1_000);
  for (const period of ["2026-05", "2026-06"])
    db.sqlite.query("INSERT INTO transfers (account_id, period, uploads) VALUES (1, ?1, 7)").run(period);
  const { requests, transfers } = await statistics.count();
  expect(requests).toEqual({ accepted: 3, refused: 1 });
  expect(transfers.uploads).toBe(7);
});
