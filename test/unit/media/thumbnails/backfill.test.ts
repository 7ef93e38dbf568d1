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

type Fakes = Partial<Omit<ThumbnailBackfillOptions, "thumbnails">> & {
  readonly thumbnails?: Partial<ThumbnailBackfillOptions["thumbnails"]>;
};

async function run({ thumbnails, ...options }: Fakes = {}): Promise<string> {
  const backfill = new ThumbnailBackfill({
    sqlite,
    derived: new DerivedStore(directory),
    isLocal: () => true,
    hasSpace: () => true,
    ...options,
    thumbnails: {
      canRender: (mediaType) => mediaType.startsWith("image/"),
      scheduleAndWait: async (digest) => requested.push(digest) > 0,
      status: async () => ({ renderer: "sharp", heic: true, ffmpeg: false }),
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

test("each blob is tried once, in more than one step", async () => {
  const digests = Array.from({ length: 300 }, (_, index) => add(index + 1));
  expect(await run()).toBe("300 thumbnails created");
  expect(requested).toEqual(digests);
  expect(await run()).toBe("0 thumbnails created");
  const added = add(301);
  expect(await run()).toBe("1 thumbnails created");
  expect(requested.at(-1)).toBe(added);
});

test("blobs that have both thumbnails, are damaged, in the bucket only, or no pictures are left out", async () => {
  const whole = add(1);
  for (const variant of ["medium", "small"]) await new DerivedStore(directory).put(whole, variant, new Uint8Array(1));
  const half = add(2);
  await new DerivedStore(directory).put(half, "medium", new Uint8Array(1));
  add(3, "image/jpeg", 1);
  add(4, "text/plain");
  const away = add(5);
  expect(await run({ isLocal: (digest) => digest !== away })).toBe("1 thumbnails created");
  expect(requested).toEqual([half]);
});

test("blobs with the ids of removed ones are tried", async () => {
  add(1);
  add(2);
  await run();
  sqlite.run("DELETE FROM blobs WHERE id = 2");
  sqlite.run("DELETE FROM nodes WHERE blob_id = 2");
  expect(await run()).toBe("0 thumbnails created");
  const added = add(2);
  expect(await run()).toBe("1 thumbnails created");
  expect(requested.at(-1)).toBe(added);
});

test.each<[string, Fakes]>([
  ["the disk is almost full", { hasSpace: () => false }],
  ["thumbnails of uploads wait", { thumbnails: { waiting: 65 } }],
  ["nothing can render", { thumbnails: { status: async () => ({ renderer: "none", heic: false, ffmpeg: false }) } }],
])("while %s, it makes none, and continues later", async (_, fakes) => {
  add(1);
  expect(await run(fakes)).toBe("0 thumbnails created; the next run continues");
  expect(cursor).toBeNull();
  expect(await run()).toBe("1 thumbnails created");
});

test("a stop does not wait for a rendering, and the next run makes it again", async () => {
  add(1);
  const scheduled = Promise.withResolvers<void>();
  const stuck = run({
    thumbnails: {
      scheduleAndWait: async () => {
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
  expect(await run()).toBe("1 thumbnails created");
});
