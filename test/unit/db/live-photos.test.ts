// The steps to Live Photos, places and pairs in two folders, with the rows of an earlier version.
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { toDigest } from "../../../src/blobs/digest.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { LivePairs } from "../../../src/features/library/photos/live-pairs.ts";
import { MediaRows } from "../../../src/features/media/metadata/queries.ts";
import { NO_MEDIA_INFO } from "../../../src/features/media/metadata/types.ts";
import { silentLog } from "../../../src/lib/log.ts";

const LISBON = { id: 2_267_057, name: "Lisbon", region: null, country: "PT", latitude: 38.72, longitude: -9.13 };

/** The database of an earlier version with an account, and a photo and its video in these folders. */
function openOld(until: string, folders: readonly [number, number]): Database {
  const sqlite = new Database(":memory:", { strict: true });
  const before = MIGRATIONS.findIndex(({ id }) => id === until);
  migrate(sqlite, silentLog, MIGRATIONS.slice(0, before));
  sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'usr_1', 'a@example.org', 'a@example.org', 'A', 'user', 'free', '', 0)`,
  );
  sqlite.run("INSERT INTO accounts (id, root_id) VALUES (1, 1)");
  for (const [id, name, type] of [
    [2, "a.jpg", "image/jpeg"],
    [3, "a.mov", "video/quicktime"],
  ] as const) {
    sqlite.run(
      "INSERT INTO blobs (id, digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?1, ?2, 5, 0, 1, 0, 0)",
      [id, new Uint8Array([id])],
    );
    sqlite.run(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
         created_seq, size_bytes, media_type, version, content_at, blob_id)
       VALUES (?1, 'file_' || ?1, 1, ?4, 1, ?2, ?2, 0, 0, 1, 1, 5, ?3, 1, 0, ?1)`,
      [id, name, type, folders[id - 2] ?? 1],
    );
    sqlite.run("INSERT INTO media_info (digest, duration_ms, program, read_at) VALUES (?1, 2000, 'old', 0)", [
      new Uint8Array([id]),
    ]);
  }
  return sqlite;
}

test("stored photos are read again in steps, and then have their places and pairs", () => {
  const sqlite = openOld("0042_live_photos", [1, 1]);
  migrate(sqlite, silentLog);
  const rows = new MediaRows(sqlite);
  const pairs = new LivePairs(sqlite);
  const photos = () => sqlite.query("SELECT node_id AS id, place_id AS place FROM photos ORDER BY node_id").all();
  expect(photos()).toEqual([
    { id: 2, place: null },
    { id: 3, place: null },
  ]);
  expect(pairs.hasQueued()).toBe(false);
  expect([rows.enqueueOutdated(1), rows.next(5).length]).toEqual([true, 1]);
  rows.enqueueOutdated(5);
  expect(rows.next(5)).toHaveLength(2);
  for (const { digest } of rows.next(5)) {
    const info = { ...NO_MEDIA_INFO, durationMs: 2000, takenAt: "2024-05-06T07:08:09Z" };
    rows.put(digest, { info, contentId: null, motion: null, place: LISBON }, null, "new", 0);
    rows.dequeue(digest);
  }
  expect(rows.enqueueOutdated(5)).toBe(false);
  expect(rows.findPlace(new Uint8Array([2]))).toEqual(LISBON);
  pairs.pairSome(10);
  expect(pairs.hasQueued()).toBe(false);
  expect(photos()).toEqual([{ id: 2, place: LISBON.id }]);
  expect(pairs.findVideo({ id: 2, digest: toDigest("02".padEnd(64, "0")) })).toEqual({ fileId: "file_3" });
  // The photo is deleted: its video is an item again.
  sqlite.run("DELETE FROM nodes WHERE id = 2");
  expect(photos()).toEqual([{ id: 3, place: LISBON.id }]);
  sqlite.close();
});

test("the video of a stored pair is shown again if the folder of its photo is in the trash", () => {
  const sqlite = openOld("0045_hidden_pairs", [4, 1]);
  for (const [id, parentId, name] of [
    [1, null, "/"],
    [4, -4, "deleted"],
  ] as const) {
    sqlite.run(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
         created_seq, size_bytes)
       VALUES (?1, 'fold_' || ?1, 1, ?2, 0, ?3, ?3, 0, 0, 1, 1, 0)`,
      [id, parentId, name],
    );
  }
  sqlite.run("UPDATE media_info SET content_id = 'one'");
  sqlite.run("INSERT INTO live_pairs (photo_id, video_id) VALUES (2, 3)");
  sqlite.run("DELETE FROM live_queue");
  migrate(sqlite, silentLog);
  const pairs = new LivePairs(sqlite);
  const hasVideo = () => sqlite.query("SELECT 1 FROM photos WHERE node_id = 3").get() !== null;
  expect([pairs.hasQueued(), hasVideo()]).toEqual([true, false]);
  while (pairs.hasQueued()) pairs.pairSome(10);
  expect(hasVideo()).toBe(true);
  // The folder is restored.
  sqlite.run("UPDATE nodes SET parent_id = 1 WHERE id = 4");
  while (pairs.hasQueued()) pairs.pairSome(10);
  expect(hasVideo()).toBe(false);
  sqlite.close();
});
