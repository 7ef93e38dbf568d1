import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Digest, toDigest } from "../../../src/blobs/digest.ts";
import { Layout } from "../../../src/blobs/layout.ts";
import { takeSnapshot } from "../../../src/db/snapshot.ts";
import { readTar, writeTar } from "../../../src/features/backup/tar.ts";
import { dataPaths } from "../../../src/server/data-directory.ts";

let root: string;
let layout: Layout;
let sqlite: Database;

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-tar-"));
  layout = new Layout(join(root, "data"));
  sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE blobs (id INTEGER PRIMARY KEY, digest BLOB, size_bytes INTEGER, damaged_at INTEGER, refs INTEGER)");
  sqlite.run("CREATE TABLE nodes (id INTEGER, blob_id INTEGER, name TEXT)");
  sqlite.run("CREATE TABLE versions (node_id INTEGER, blob_id INTEGER)");
});

afterEach(() => {
  sqlite.close();
  fs.rmSync(root, { recursive: true });
});

function put(content: Buffer): Digest {
  const digest = toDigest(new Bun.CryptoHasher("sha256").update(content).digest("hex"));
  fs.mkdirSync(dirname(layout.blob(digest)), { recursive: true });
  fs.writeFileSync(layout.blob(digest), content);
  const insert = "INSERT INTO blobs (digest, size_bytes, refs) VALUES (?, ?, 1)";
  sqlite.run(insert, [Buffer.from(digest, "hex"), content.byteLength]);
  return digest;
}

test("a content that the disk doesn't give, from its start or in the middle, is told; the archive has all the others", async () => {
  const failing = put(Buffer.alloc(3_000_000, "a"));
  const closed = put(Buffer.from("closed"));
  const short = put(Buffer.from("became shorter"));
  const good = [put(Buffer.from("one")), put(Buffer.alloc(2_000_001, "b"))];
  const { openSync, readSync } = fs;
  const paths = new Map<number, string>();
  const fail = (code: string) => {
    throw Object.assign(new Error(code), { code });
  };
  const opening = spyOn(fs, "openSync").mockImplementation((path, ...rest) => {
    if (String(path).endsWith(closed)) fail("EIO");
    const fd = openSync(path, ...rest);
    paths.set(fd, String(path));
    return fd;
  });
  const reading = spyOn(fs, "readSync").mockImplementation(((fd: number, ...rest: [Buffer]) => {
    if (paths.get(fd)?.endsWith(short) === true) return 0;
    const got = readSync(fd, ...rest);
    return paths.get(fd)?.endsWith(failing) === true && got < 1024 * 1024 ? fail("EIO") : got;
  }) as typeof readSync);
  const pieces: Buffer[] = [];
  const write = (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes));
  try {
    const { tally } = await writeTar({
      source: dataPaths(join(root, "data")),
      takeSnapshot: () => takeSnapshot(sqlite, join(root, "taken"), "backup"),
      isLive: false,
      write,
      onProgress: () => {},
    });
    expect(Object.fromEntries(tally.lost.map(({ digest, why }) => [digest, why]))).toEqual({
      [failing]: "unreadable",
      [closed]: "unreadable",
      [short]: "damaged",
    });
  } finally {
    opening.mockRestore();
    reading.mockRestore();
  }
  async function* archive() {
    yield* pieces;
  }
  fs.mkdirSync(join(root, "restored"));
  expect(await readTar(archive(), join(root, "restored"))).toEqual({ damaged: 2 });
  const restored = new Layout(join(root, "restored"));
  expect(good.map((digest) => fs.existsSync(restored.blob(digest)))).toEqual([true, true]);
  expect([failing, closed, short].some((digest) => fs.existsSync(restored.blob(digest)))).toBe(false);
});
