// The copy of a replica on this disk, with a real Litestream and a real S3 service.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { S3Client, toBody } from "../../../../src/blobs/s3/client.ts";
import { findNewestGeneration, type ReplicaObject } from "../../../../src/features/storage/replication/generations.ts";
import { ReplicaMirror } from "../../../../src/features/storage/replication/mirror.ts";
import { RestoreError, restoreMirror } from "../../../../src/features/storage/replication/restore-mirror.ts";
import { TestS3 } from "../../../support/s3-server.ts";
import { repositoryRoot, temporaryDirectory } from "../../../support/server.ts";

const LITESTREAM = join(repositoryRoot, "node_modules/@flydotio/litestream-linux-x64/litestream");
const PATH = "home/replica/db/00000001";

let s3: TestS3;
let client: S3Client;
let folder: string;
let database: Database;
let replicating: Bun.Subprocess | undefined;

beforeAll(async () => {
  s3 = await TestS3.start();
  const { settings } = s3;
  client = new S3Client({
    endpoint: settings["LARDER_S3_ENDPOINT"] ?? "",
    region: "us-east-1",
    bucket: settings["LARDER_S3_BUCKET"] ?? "",
    accessKeyId: settings["LARDER_S3_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: settings["LARDER_S3_SECRET_ACCESS_KEY"] ?? "",
    isPathStyle: true,
  });
});
afterAll(() => s3.stop());
beforeEach(async () => {
  await s3.clear();
  folder = await temporaryDirectory();
  database = new Database(join(folder, "l.db"));
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE numbers (n INTEGER PRIMARY KEY, text TEXT)");
});
afterEach(async () => {
  await stopReplicating();
  database.close();
  await rm(folder, { recursive: true, force: true });
});

function replicate(): void {
  const replica = {
    type: "s3",
    bucket: s3.settings["LARDER_S3_BUCKET"],
    path: PATH,
    endpoint: s3.settings["LARDER_S3_ENDPOINT"],
    region: "us-east-1",
    "force-path-style": true,
    "sync-interval": "20ms",
  };
  const config = join(folder, "replicate.yml");
  writeFileSync(
    config,
    JSON.stringify({ dbs: [{ path: join(folder, "l.db"), "monitor-interval": "20ms", replicas: [replica] }] }),
  );
  replicating = Bun.spawn([LITESTREAM, "replicate", "-config", config], {
    env: { LITESTREAM_ACCESS_KEY_ID: "S3RVER", LITESTREAM_SECRET_ACCESS_KEY: "S3RVER" },
    stdout: "ignore",
    stderr: "ignore",
  });
}

async function stopReplicating(): Promise<void> {
  replicating?.kill("SIGKILL");
  await replicating?.exited;
  replicating = undefined;
}

function insert(count: number): number {
  database.run(
    `WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ${count})
     INSERT INTO numbers (text) SELECT hex(randomblob(200)) FROM i`,
  );
  return database.query<{ n: number }, []>("SELECT count(*) AS n FROM numbers").get()?.n ?? 0;
}

function openMirror(): ReplicaMirror {
  return new ReplicaMirror({ client, prefix: `${PATH}/`, folder: join(folder, "mirror") });
}

/** The number of rows that a restore gives. */
async function restoredRows(mirror: ReplicaMirror): Promise<number> {
  const restored = new Database(
    await restoreMirror({ mirror, litestream: LITESTREAM, folder: join(folder, "restored") }),
  );
  try {
    expect(restored.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    // The snapshot may be from before the first transaction.
    const hasTable = restored.query("SELECT 1 FROM sqlite_schema WHERE name = 'numbers'").get() !== null;
    if (!hasTable) return 0;
    return restored.query<{ n: number }, []>("SELECT count(*) AS n FROM numbers").get()?.n ?? 0;
  } finally {
    restored.close();
  }
}

/**
 * Makes rounds until a restore has this many rows. Some of them look for a new history, as those of a standby do: on a busy
 * machine, Litestream may begin one.
 */
async function mirrorUntil(mirror: ReplicaMirror, rows: number): Promise<void> {
  for (let round = 1; ; round += 1) {
    await mirror.update({ kind: round % 10 === 0 ? "snapshot" : "quick" });
    if (mirror.generation !== undefined && (await restoredRows(mirror)) === rows) return;
  }
}

test("a copy follows the database, and a round without news costs two requests", async () => {
  const mirror = openMirror();
  expect(await mirror.update({ kind: "quick" })).toBe(0);
  expect(mirror.generation).toBeUndefined();
  insert(50);
  replicate();
  await mirrorUntil(mirror, 50);
  for (const count of [1, 1_000, 1]) await mirrorUntil(mirror, insert(count));
  s3.requests.length = 0;
  await mirror.update({ kind: "quick" });
  expect(s3.requests.filter((request) => request.startsWith("GET"))).toHaveLength(2);
}, 60_000);

test("a new history of the database is found, and the former one is removed from the disk", async () => {
  const mirror = openMirror();
  insert(50);
  replicate();
  await mirrorUntil(mirror, 50);
  const former = mirror.generation?.id;
  await stopReplicating();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  rmSync(join(folder, ".l.db-litestream"), { recursive: true });
  const rows = insert(7);
  replicate();
  // Both histories may be from the same second, so the object that names the current one decides.
  for (; mirror.generation?.id === former; await mirror.update({ kind: "snapshot" })) {
    const name = await readFile(join(folder, ".l.db-litestream/generation")).catch(() => undefined);
    if (name !== undefined) await client.put(`${PATH}/generation`, toBody(new Uint8Array(name)));
  }
  await mirrorUntil(mirror, rows);
  mirror.prune();
  expect(
    readdirSync(join(mirror.folder, "generations")).filter((id) => filesIn(join(mirror.folder, "generations", id)) > 0),
  ).toEqual([mirror.generation?.id ?? ""]);
  expect(await restoredRows(mirror)).toBe(rows);
}, 60_000);

test("another process continues with the files on the disk", async () => {
  insert(50);
  replicate();
  await mirrorUntil(openMirror(), 50);
  await stopReplicating();
  await openMirror().update({ kind: "snapshot" });
  const mirror = openMirror();
  expect(await mirror.update({ kind: "snapshot" })).toBe(0);
  expect(await restoredRows(mirror)).toBe(50);
}, 60_000);

test("an object that the retention removes during a round is not needed any more", async () => {
  insert(50);
  replicate();
  await mirrorUntil(openMirror(), 50);
  await stopReplicating();
  const stale = await client.list(`${PATH}/`, "");
  const first = stale.find(({ key }) => key.includes("/wal/"));
  if (first === undefined) throw new Error("there is no segment");
  const gone = { ...first, key: first.key.replace(/_[0-9a-f]{8}/, "_0fffffff") };
  let listings = 0;
  const racing = {
    get: (key: string, offset: number, length: number) => client.get(key, offset, length),
    getSmall: (key: string) => client.getSmall(key),
    list: async (prefix: string, after: string) => {
      const objects = await client.list(prefix, after);
      return after === "" && listings++ === 0 ? [...objects, gone] : objects;
    },
  };
  const mirror = new ReplicaMirror({ client: racing, prefix: `${PATH}/`, folder: join(folder, "other") });
  await mirror.update({ kind: "snapshot" });
  expect(await restoredRows(mirror)).toBe(50);
}, 60_000);

test("a damaged copy is an error, and is whole after it was cleared", async () => {
  const mirror = openMirror();
  insert(50);
  replicate();
  await mirrorUntil(mirror, 50);
  await stopReplicating();
  writeFileSync(join(mirror.folder, mirror.generation?.snapshot.key ?? ""), "damaged");
  await expect(restoredRows(mirror)).rejects.toThrow(RestoreError);
  mirror.clear();
  expect(existsSync(mirror.folder)).toBe(false);
  await mirror.update({ kind: "snapshot" });
  expect(await restoredRows(mirror)).toBe(50);
}, 60_000);

const object = (key: string, modifiedAtMs: number): ReplicaObject => ({
  key: `generations/${key}.lz4`,
  sizeBytes: 1,
  modifiedAtMs,
});

test("the newest generation with a snapshot is restored, from its newest snapshot", () => {
  const [a, b, c] = ["a", "b", "c"].map((digit) => digit.repeat(16));
  const objects = [
    object(`${b}/snapshots/00000000.snapshot`, 1),
    object(`${b}/snapshots/00000002.snapshot`, 5),
    object(`${b}/wal/00000001_00000000.wal`, 2),
    object(`${b}/wal/00000002_00000000.wal`, 4),
    object(`${b}/wal/0000000a_00000000.wal`, 7),
    object(`${a}/snapshots/00000000.snapshot`, 6),
    object(`${c}/wal/00000000_00000000.wal`, 9),
    { key: "generations/../../etc/passwd", sizeBytes: 1, modifiedAtMs: 10 },
  ];
  const newest = findNewestGeneration(objects, undefined);
  expect(newest?.id).toBe(b ?? "");
  expect([newest?.snapshot, ...(newest?.segments ?? [])].map((found) => found?.key.slice(29, -4))).toEqual([
    "snapshots/00000002.snapshot",
    "wal/00000002_00000000.wal",
    "wal/0000000a_00000000.wal",
  ]);
  expect(findNewestGeneration(objects, a)?.id).toBe(a ?? "");
  expect(findNewestGeneration(objects, c)?.id).toBe(b ?? "");
  expect(findNewestGeneration([], a)).toBeUndefined();
});

function filesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
