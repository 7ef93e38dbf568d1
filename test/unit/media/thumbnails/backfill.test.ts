import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DerivedStore } from "../../../../src/blobs/derived.ts";
import { type Digest, digestFromBytes } from "../../../../src/blobs/digest.ts";
import {
  ThumbnailBackfill,
  type ThumbnailBackfillOptions,
} from "../../../../src/features/media/thumbnails/backfill.ts";
import type { ThumbnailStatus } from "../../../../src/features/media/thumbnails/protocol.ts";

let directory: string;
let sqlite: Database;
let requested: Digest[];
let cursor: string | null;
let abort: AbortController;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "larder-backfill-"));
  sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE blobs (id INTEGER PRIMARY KEY, digest BLOB, damaged_at INTEGER)");
  sqlite.run("CREATE TABLE nodes (id INTEGER PRIMARY KEY, blob_id INTEGER, media_type TEXT)");
  sqlite.run("CREATE INDEX nodes_blob ON nodes (blob_id)");
  requested = [];
  cursor = null;
  abort = new AbortController();
});
afterEach(() => {
  sqlite.close();
  rmSync(directory, { recursive: true });
});

/** Adds a blob with a file. */
function add(id: number, mediaType = "image/jpeg", damagedAt: number | null = null): Digest {
  const digest = new Bun.CryptoHasher("sha256").update(crypto.randomUUID()).digest();
  sqlite.run("INSERT INTO blobs (id, digest, damaged_at) VALUES (?, ?, ?)", [id, digest, damagedAt]);
  sqlite.run("INSERT INTO nodes (blob_id, media_type) VALUES (?, ?)", [id, mediaType]);
  return digestFromBytes(digest);
}

function remove(id: number): void {
  sqlite.run("DELETE FROM blobs WHERE id = ?", [id]);
  sqlite.run("DELETE FROM nodes WHERE blob_id = ?", [id]);
}

type Fakes = Partial<Omit<ThumbnailBackfillOptions, "thumbnails">> & {
  readonly thumbnails?: Partial<ThumbnailBackfillOptions["thumbnails"]>;
};

/** Reads the database of the test, in this thread. */
const reader: ThumbnailBackfillOptions["reader"] = {
  async read(statements) {
    const results: unknown = statements.map(({ sql, parameters }) => sqlite.query(sql).all(...parameters));
    return results as never;
  },
};

const SHARP: ThumbnailStatus = { renderer: "sharp", heic: true, ffmpeg: false };

async function run({ thumbnails, ...options }: Fakes = {}): Promise<string> {
  const backfill = new ThumbnailBackfill({
    reader,
    derived: new DerivedStore(directory),
    isLocal: () => true,
    hasSpace: () => true,
    ...options,
    thumbnails: {
      program: "larder 1",
      canRender: (mediaType) => mediaType.startsWith("image/"),
      make: async (digest) => {
        requested.push(digest);
        return "made";
      },
      status: async () => SHARP,
      waiting: 0,
      ...thumbnails,
    },
  });
  return backfill.run({
    signal: abort.signal,
    cursor,
    setCursor: async (next) => {
      cursor = next;
    },
  });
}

test("each blob is checked once, in more than one step", async () => {
  const digests = Array.from({ length: 300 }, (_, index) => add(index + 1));
  expect(await run()).toBe("300 files with new thumbnails");
  expect(requested).toEqual(digests);
  expect(await run()).toBe("0 files with new thumbnails");
  const added = add(301);
  expect(await run()).toBe("1 files with new thumbnails");
  expect(requested.slice(300)).toEqual([added]);
});

test("blobs that have both thumbnails, are damaged, in the bucket only, or no pictures are left out", async () => {
  const whole = add(1);
  for (const variant of ["medium", "small"]) await new DerivedStore(directory).put(whole, variant, new Uint8Array(1));
  const half = add(2);
  await new DerivedStore(directory).put(half, "medium", new Uint8Array(1));
  add(3, "image/jpeg", 1);
  add(4, "text/plain");
  const away = add(5);
  expect(await run({ isLocal: (digest) => digest !== away })).toBe("1 files with new thumbnails");
  expect(requested).toEqual([half]);
});

test("a blob of several files is a picture if one of them is", async () => {
  const digest = add(1, "application/octet-stream");
  sqlite.run("INSERT INTO nodes (blob_id, media_type) VALUES (1, 'image/jpeg')");
  await run();
  expect(requested).toEqual([digest]);
});

test("blobs with the ids of removed ones are checked", async () => {
  add(1);
  add(2);
  await run();
  remove(2);
  const [second, third] = [add(2), add(3)];
  await run();
  expect(requested.slice(2)).toEqual(expect.arrayContaining([second, third]));
});

test("another version, and ffmpeg, begin with the first blob again", async () => {
  const picture = add(1);
  const video = add(2, "video/mp4");
  await run();
  expect(requested.splice(0)).toEqual([picture]);
  await run({ thumbnails: { program: "larder 2" } });
  expect(requested.splice(0)).toEqual([picture]);
  add(3, "text/plain");
  await run({
    thumbnails: {
      program: "larder 2",
      canRender: (mediaType) => mediaType !== "text/plain",
      status: async () => ({ ...SHARP, ffmpeg: true }),
    },
  });
  expect(requested).toEqual([picture, video]);
});

test.each<[string, string, Fakes]>([
  ["the disk is almost full", "waiting for free disk space", { hasSpace: () => false }],
  ["thumbnails of uploads wait", "the next run continues", { thumbnails: { waiting: 65 } }],
  [
    "the image library does not load",
    "the image library is not available",
    { thumbnails: { status: async () => ({ ...SHARP, renderer: "bun" }) } },
  ],
])("while %s, it makes none, and continues later", async (_, reason, fakes) => {
  add(1);
  expect(await run(fakes)).toBe(reason);
  expect(cursor).toBeNull();
  expect(await run()).toBe("1 files with new thumbnails");
});

test("if none can be stored, it stops with an error, and makes them later", async () => {
  for (let id = 1; id <= 40; id++) add(id);
  let tried = 0;
  const make = async () => {
    tried += 1;
    return "failed" as const;
  };
  await expect(run({ thumbnails: { make } })).rejects.toThrow("of 16 files. The log");
  expect({ tried, cursor }).toEqual({ tried: 16, cursor: null });
  expect(await run()).toBe("40 files with new thumbnails");
});

test("one that fails for now does not hold up others, and those that can't be made are not tried again", async () => {
  const [broken, impossible] = [add(1), add(2)];
  const make = async (digest: Digest) => {
    requested.push(digest);
    return digest === broken ? "failed" : "none";
  };
  await expect(run({ thumbnails: { make } })).rejects.toThrow("of 1 file. The log");
  expect(cursor).toBeNull();
  const later = add(3);
  const others: Fakes = { thumbnails: { make: async (digest) => (digest === later ? "made" : make(digest)) } };
  requested = [];
  expect(await run(others)).toBe("1 files with new thumbnails");
  expect(requested).toEqual([broken, impossible]);
  requested = [];
  expect(await run(others)).toBe("0 files with new thumbnails");
  expect(requested).toEqual([]);
});

test("a stop does not wait for a rendering, and the next run makes it again", async () => {
  add(1);
  const scheduled = Promise.withResolvers<void>();
  const stuck = run({
    thumbnails: {
      make: async () => {
        scheduled.resolve();
        return new Promise<never>(() => {});
      },
    },
  });
  await scheduled.promise;
  abort.abort(new Error("stopped"));
  await expect(stuck).rejects.toThrow("stopped");
  expect(cursor).toBeNull();
  abort = new AbortController();
  expect(await run()).toBe("1 files with new thumbnails");
});
