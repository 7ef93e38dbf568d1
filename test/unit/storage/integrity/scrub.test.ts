import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../../../src/db/migrate.ts";
import { type Digest, digestToBytes, toDigest } from "../../../../src/blobs/digest.ts";
import { Layout } from "../../../../src/blobs/layout.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { AppError } from "../../../../src/errors.ts";
import { Events } from "../../../../src/events/events.ts";
import { BlobRows } from "../../../../src/features/storage/integrity/blob-rows.ts";
import { Scrub } from "../../../../src/features/storage/integrity/scrub.ts";
import { Integrity } from "../../../../src/features/storage/integrity/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { say } from "../../../../src/translations/say.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = Date.UTC(2030, 0, 1);

let folder: string;
let sqlite: Database;
let rows: BlobRows;
let integrity: Integrity;
let nowMs = NOW_MS;
let isStoreMounted = true;
const reported: string[] = [];
/** Sizes of the blobs in the bucket. */
const inBucket = new Map<Digest, number>();
const clock = { nowMs: () => nowMs };

beforeEach(() => {
  nowMs = NOW_MS;
  isStoreMounted = true;
  reported.length = 0;
  inBucket.clear();
  folder = fs.mkdtempSync(join(tmpdir(), "larder-scrub-"));
  sqlite = new Database(join(folder, "larder.db"), { create: true, strict: true });
  sqlite.run("PRAGMA synchronous=OFF");
  migrate(sqlite, silentLog);
  rows = new BlobRows(sqlite);
  const layout = new Layout(folder);
  const events = new Events();
  events.on("server.damaged", (_tx, { contents, database }) => void reported.push(`${contents} ${database}`));
  integrity = new Integrity({
    sqlite,
    rows,
    blobs: {
      pathOf: (digest) => layout.blob(digest),
      stat: (digest) => {
        const size = fs.statSync(layout.blob(digest), { throwIfNoEntry: false })?.size ?? inBucket.get(digest);
        return size === undefined ? undefined : { sizeBytes: size };
      },
      isLeased: () => false,
    },
    writer: new Writer(sqlite, silentLog),
    events,
    clock,
    log: silentLog,
    checkStore: () => {
      if (!isStoreMounted) throw new AppError("store_missing", say`The disk is away.`);
    },
  });
  sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, password_hash, role, plan, created_at)
     VALUES (1, 'usr_1', 'a@b.test', 'a@b.test', '', '', 'admin', 'free', 0)`,
  );
});

afterEach(async () => {
  await integrity.close();
  sqlite.close();
  fs.rmSync(folder, { recursive: true });
});

function newScrub(options: Partial<ConstructorParameters<typeof Scrub>[0]> = {}): Scrub {
  return new Scrub({
    integrity,
    clock,
    log: silentLog,
    databasePath: join(folder, "larder.db"),
    rateBytes: 1024 ** 3,
    maxTimeMs: 60_000,
    withinMs: 30 * DAY_MS,
    sumBytes: async () => 0,
    isBusy: () => false,
    ...options,
  });
}

const run = (scrub: Scrub, isRequested = false) => scrub.run(new AbortController().signal, isRequested);

/** Stores a blob, dated `daysAgo` days ago. */
function store(text: string, daysAgo: number): Digest {
  const digest = toDigest(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  const path = new Layout(folder).blob(digest);
  fs.mkdirSync(join(path, ".."), { recursive: true });
  fs.writeFileSync(path, text);
  const atMs = NOW_MS - daysAgo * DAY_MS;
  sqlite.run(
    `INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?1, ?2, 0, 1, ?3, ?3)`,
    [digestToBytes(digest), Buffer.byteLength(text), atMs],
  );
  return digest;
}

const pathOf = (digest: Digest) => new Layout(folder).blob(digest);

describe("a scrub", () => {
  test("reads blobs that were last read longer ago than half of the interval; on request, all blobs", async () => {
    const old = store("old", 20);
    const young = store("young", 10);
    expect(await run(newScrub())).toMatchObject({ contents: 1, bytes: 3, isDone: true });
    expect(rows.findHealth(old)?.verifiedAtMs).toBe(NOW_MS);
    expect(rows.findHealth(young)?.verifiedAtMs).toBeNull();
    expect(integrity.figures().oldestReadingMs).toBe(NOW_MS - 10 * DAY_MS);
    expect(await run(newScrub())).toMatchObject({ contents: 0 });
    nowMs += 1_000;
    expect(await run(newScrub(), true)).toMatchObject({ contents: 2 });
    expect(integrity.figures().oldestReadingMs).toBe(nowMs);
  });

  test("starts with the least recently read blobs, if the time does not suffice for all", async () => {
    const storeAll = () => Array.from({ length: 450 }, (_, index) => store(`content ${index}`, 20 + index));
    const digests = sqlite.transaction(storeAll)();
    const first = await run(newScrub({ maxTimeMs: 0 }));
    expect(first).toMatchObject({ contents: 200, isDone: false });
    const read = digests.filter((digest) => rows.findHealth(digest)?.verifiedAtMs === NOW_MS);
    expect(read).toEqual(digests.slice(250));
    await run(newScrub({ maxTimeMs: 0 }));
    expect(await run(newScrub({ maxTimeMs: 0 }))).toMatchObject({ contents: 50 });
    expect(await run(newScrub())).toMatchObject({ contents: 0, isDone: true });
  });

  test("reads blobs again whose last read is in the future", async () => {
    // A clock that is ten years ahead for one night must not prevent reads for ten years.
    const [ahead, damaged] = [store("ahead", 40), store("damaged", 40)];
    rows.markVerified(ahead, NOW_MS + 3_650 * DAY_MS);
    rows.markDamaged(damaged, NOW_MS + 3_650 * DAY_MS);
    expect(await run(newScrub())).toMatchObject({ contents: 2, found: 0, isDone: true });
    expect(rows.findHealth(ahead)?.verifiedAtMs).toBe(NOW_MS);
    expect(rows.findHealth(damaged)).toEqual({ verifiedAtMs: NOW_MS, damagedAtMs: null });
    expect(await run(newScrub())).toMatchObject({ contents: 0 });
  });

  test("reads nothing if it is turned off", async () => {
    store("old", 20);
    expect(await run(newScrub({ rateBytes: 0 }))).toBeUndefined();
  });

  test("stops at once when it is aborted, also in the middle of a blob", async () => {
    store("x".repeat(3_000_000), 20);
    const stop = new AbortController();
    // At this rate, it would take an hour.
    const running = newScrub({ rateBytes: 1_000 }).run(stop.signal);
    setTimeout(() => stop.abort(), 200);
    expect(await running).toMatchObject({ isDone: false });
  });

  test("reads faster than configured if it would not read all blobs within the interval", async () => {
    const logged: string[] = [];
    const log = {
      ...silentLog,
      info: (message: string, details?: object) => logged.push(message + JSON.stringify(details)),
    };
    await run(newScrub({ log, rateBytes: 1_000, maxTimeMs: 3_600_000, sumBytes: async () => 30 * 3_600 * 2_000 }));
    expect(logged).toEqual([expect.stringContaining('"bytesPerSecond":2400')]);
  });
});

describe("a finding", () => {
  test("is recorded and reported once, and resolved when a good copy is stored", async () => {
    const digest = store("content", 20);
    fs.writeFileSync(pathOf(digest), "konTent");
    expect(await run(newScrub())).toMatchObject({ found: 1 });
    expect(rows.isDamaged(digest)).toBe(true);
    nowMs += DAY_MS;
    expect(await run(newScrub())).toMatchObject({ found: 0, contents: 1 });
    expect(reported).toEqual(["1 false"]);
    const { findings, total } = integrity.list({ state: "all", offset: 0, limit: 10 });
    expect({ total, ...findings[0] }).toMatchObject({
      total: 1,
      kind: "damaged",
      digest,
      foundAtMs: NOW_MS,
      seenAtMs: NOW_MS + DAY_MS,
      resolvedAtMs: null,
    });
    fs.writeFileSync(pathOf(digest), "content");
    nowMs += DAY_MS;
    await run(newScrub());
    expect(rows.isDamaged(digest)).toBe(false);
    expect(integrity.list({ state: "open", offset: 0, limit: 10 }).total).toBe(0);
    expect(integrity.list({ state: "resolved", offset: 0, limit: 10 }).findings[0]).toMatchObject({
      resolution: "healed",
      resolvedAtMs: nowMs,
    });
    // Findings are deleted a year after they were resolved.
    nowMs += 366 * DAY_MS;
    await run(newScrub());
    expect(integrity.list({ state: "all", offset: 0, limit: 10 }).total).toBe(0);
  });

  test("a stop does not wait for a large blob that is read because it could not be sent", async () => {
    // A stop that waits for the whole read takes so long that the service manager kills the server.
    const digest = store("large", 20);
    const sizeBytes = 200 * 1024 ** 3;
    fs.truncateSync(pathOf(digest), sizeBytes);
    sqlite.run("UPDATE blobs SET size_bytes = ?1", [sizeBytes]);
    integrity.suspect(digest);
    await Bun.sleep(200);
    await integrity.close();
    expect(rows.findHealth(digest)).toEqual({ verifiedAtMs: null, damagedAtMs: null });
  });

  test("a missing store is not reported as missing blobs", async () => {
    const digest = store("content", 20);
    fs.rmSync(pathOf(digest));
    isStoreMounted = false;
    await expect(run(newScrub())).rejects.toThrow("away");
    expect(rows.isDamaged(digest)).toBe(false);
    expect(integrity.figures().open).toEqual({ damaged: 0, missing: 0, unreadable: 0, database: 0 });
  });

  test("a blob in the bucket is not missing", async () => {
    const digest = store("content", 20);
    fs.rmSync(pathOf(digest));
    inBucket.set(digest, 7);
    expect(await run(newScrub())).toMatchObject({ found: 0, isDone: true });
    inBucket.clear();
    expect(await run(newScrub())).toMatchObject({ found: 1 });
    expect(integrity.figures().open.missing).toBe(1);
  });

  test("damage of the database is reported, and resolved when the database is intact again", async () => {
    sqlite.run("PRAGMA foreign_keys=OFF");
    sqlite.run(
      `INSERT INTO versions (node_id, version, blob_id, size_bytes, media_type, created_at) VALUES (1, 1, 99, 0, '', 0)`,
    );
    expect(await run(newScrub())).toMatchObject({ problems: 1 });
    expect(integrity.figures().open.database).toBe(1);
    expect(reported).toEqual(["0 true"]);
    sqlite.run("DELETE FROM versions");
    await run(newScrub());
    expect(integrity.figures().open.database).toBe(0);
  });
});
