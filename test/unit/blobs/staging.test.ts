import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { toDigest } from "../../../src/blobs/digest.ts";
import { type Disk, realDisk } from "../../../src/blobs/disk.ts";
import { DiskBlobStore } from "../../../src/blobs/disk-blob-store.ts";
import { Layout } from "../../../src/blobs/layout.ts";
import { Staging } from "../../../src/blobs/staging.ts";
import { SyncQueue } from "../../../src/blobs/sync-queue.ts";
import { silentLog } from "../../../src/lib/log.ts";

const MIB = 1024 * 1024;

let folder: string;
let syncQueue: SyncQueue;
let staging: Staging;

const open = (disk: Disk = realDisk) => new Staging({ directory: folder, syncQueue, log: silentLog, disk });
const bytesOf = (sizeBytes: number, seed = 1) =>
  Buffer.from(Array.from({ length: sizeBytes }, (_, at) => (at * seed) % 251));
const sumsOf = (bytes: Buffer) => ({
  digest: toDigest(createHash("sha256").update(bytes).digest("hex")),
  crc32: crc32(bytes),
});

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-staging-"));
  syncQueue = new SyncQueue(folder, silentLog);
  staging = open();
});

afterEach(() => {
  staging.close();
  syncQueue.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

describe("Staging", () => {
  test("writes bytes at their position, in a file that only its user can read", async () => {
    const file = staging.open("a", 10);
    file.write(Buffer.from("56789"), 5);
    file.write(Buffer.from("01234"), 0);
    await file.sync();
    expect(fs.readFileSync(staging.pathOf("a"), "latin1")).toBe("0123456789");
    expect(fs.statSync(staging.pathOf("a")).mode & 0o777).toBe(0o600);
    expect([
      file.contains(Buffer.from("345"), 3),
      file.contains(Buffer.from("346"), 3),
      file.contains(Buffer.from("99"), 9),
    ]).toEqual([true, false, false]);
    expect(file.read(3, 2).toString()).toBe("234");
    file.release();
    expect(staging.list()).toEqual(["a"]);
    staging.remove("a");
    staging.remove("a");
    expect(staging.list()).toEqual([]);
  });

  test("hashes several files ahead, and returns the hashes of each whole file", async () => {
    const contents = [bytesOf(3 * MIB + 5), bytesOf(20 * MIB, 3), bytesOf(1, 5)];
    const files = contents.map((content, index) => staging.open(`${index}`, content.length));
    for (const [index, content] of contents.entries()) {
      for (let at = 0; at < content.length; at += MIB) {
        files[index]?.write(content.subarray(at, at + MIB), at);
        staging.hashAhead(`${index}`, Math.min(at + MIB, content.length));
      }
    }
    const sums = await Promise.all(contents.map((content, index) => staging.hashWhole(`${index}`, content.length)));
    expect(sums).toEqual(contents.map(sumsOf));
    // Requested again, and by a process without the earlier hash state.
    expect(await staging.hashWhole("1", 20 * MIB)).toEqual(sumsOf(contents[1] ?? Buffer.alloc(0)));
    const other = open();
    expect(await other.hashWhole("0", 3 * MIB + 5)).toEqual(sumsOf(contents[0] ?? Buffer.alloc(0)));
    other.close();
    for (const file of files) file.release();
  });

  test("hashes again what was changed after it was hashed", async () => {
    const content = bytesOf(2 * MIB);
    const file = staging.open("a", content.length);
    file.write(content, 0);
    staging.hashAhead("a", content.length);
    expect(await staging.hashWhole("a", content.length)).toEqual(sumsOf(content));
    content[5] = 99;
    file.write(content.subarray(0, 10), 0);
    staging.invalidate("a");
    expect(await staging.hashWhole("a", content.length)).toEqual(sumsOf(content));
    file.release();
  });

  test("reports a file that is missing or too short", async () => {
    expect(staging.hashWhole("none", 5)).rejects.toMatchObject({ reason: "storage_error" });
    fs.writeFileSync(staging.pathOf("short"), "abc");
    expect(staging.hashWhole("short", 5)).rejects.toMatchObject({ reason: "storage_error" });
    staging.hashAhead("none", 5);
    fs.writeFileSync(staging.pathOf("none"), "abcde");
    expect(await staging.hashWhole("none", 5)).toEqual(sumsOf(Buffer.from("abcde")));
  });

  test("shares a sync among all callers that wait, and never skips one", async () => {
    let syncs = 0;
    const lease: (() => void)[] = [];
    const disk = {
      ...realDisk,
      dataSync: () => new Promise<void>((resolve) => (syncs++, lease.push(resolve))),
    };
    const slow = open(disk);
    const file = slow.open("a", MIB);
    file.write(bytesOf(10), 0);
    let done = 0;
    const first = file.sync().then(() => done++);
    file.write(bytesOf(10), 10);
    const others = [file.sync(), file.sync(), file.sync()].map((sync) => sync.then(() => done++));
    expect(syncs).toBe(1);
    lease.shift()?.();
    await first;
    // The others wrote after the first sync began: all of them share the second one.
    expect(done).toBe(1);
    while (lease.length === 0) await new Promise(setImmediate);
    expect(syncs).toBe(2);
    lease.shift()?.();
    await Promise.all(others);
    expect([done, syncs]).toEqual([4, 2]);
    file.release();
    slow.close();
  });

  test("a failed sync fails for all users of the open file, but not for those who open it later", async () => {
    let isBroken = true;
    const failing = async () => {
      if (isBroken) throw Object.assign(new Error("EIO"), { code: "EIO" });
    };
    const broken = open({ ...realDisk, dataSync: failing });
    const one = broken.open("a", MIB);
    const two = broken.open("a", MIB);
    one.write(bytesOf(10), 0);
    two.write(bytesOf(10), 10);
    expect(one.sync()).rejects.toMatchObject({ reason: "storage_error" });
    await one.sync().catch(() => {});
    isBroken = false;
    // What the failed sync left on disk of the other's bytes is unknown as well.
    expect(two.sync()).rejects.toMatchObject({ reason: "storage_error" });
    const later = broken.open("a", MIB);
    later.write(bytesOf(10), 0);
    await later.sync();
    for (const file of [one, two, later]) file.release();
    broken.close();
  });

  test("reports a full disk", async () => {
    const full = open({
      ...realDisk,
      writeAt: () => {
        throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      },
    });
    const file = full.open("a", MIB);
    expect(() => file.write(bytesOf(5), 0)).toThrow(expect.objectContaining({ reason: "disk_full" }));
    file.release();
    full.close();
  });

  test("stages replacement bytes until they are whole, and copies them again safely", async () => {
    const content = bytesOf(3 * MIB);
    const file = staging.open("a", content.length);
    file.write(content, 0);
    const dropped = staging.beginReplacement();
    dropped.append(bytesOf(10));
    dropped.abort();
    expect(staging.list()).toEqual(["a"]);
    const side = staging.beginReplacement();
    const other = bytesOf(2 * MIB - 7, 7);
    side.append(other.subarray(0, 100));
    side.append(other.subarray(100));
    await side.commit("a.1.next");
    side.abort();
    expect(staging.list().sort()).toEqual(["a", "a.1.next"]);
    for (let round = 0; round < 2; round++) expect(await staging.copyInto("a.1.next", file, 5)).toBe(true);
    other.copy(content, 5);
    expect(fs.readFileSync(staging.pathOf("a")).equals(content)).toBe(true);
    expect(await staging.copyInto("none", file, 5)).toBe(false);
    expect(staging.list()).not.toContain("none");
    file.release();
  });
});

describe("adopting a staged file as a blob", () => {
  const content = bytesOf(MIB);
  const sums = { ...sumsOf(content), sizeBytes: content.length };
  let rows: Map<string, { sizeBytes: number; isDamaged: boolean }>;

  const openStore = (disk: Disk = realDisk) => {
    const store = new DiskBlobStore({
      layout: new Layout(folder),
      index: { find: (digest) => rows.get(digest) },
      log: silentLog,
      checkStore: () => {},
      disk,
    });
    store.makeFolders();
    return store;
  };
  const stage = async () => {
    const file = staging.open("upl", content.length);
    file.write(content, 0);
    await file.sync();
    file.release();
    return staging.pathOf("upl");
  };
  const incoming = () => fs.readdirSync(join(folder, "blobs", "incoming"));

  beforeEach(() => {
    rows = new Map();
  });

  test("needs no copy, and keeps the staged name until its owner deletes it", async () => {
    const store = openStore();
    const path = await stage();
    const lease = await store.adopt(path, sums);
    expect(lease).toMatchObject({ ...sums, isNew: true });
    expect(fs.statSync(store.pathOf(sums.digest)).ino).toBe(fs.statSync(path).ino);
    expect(incoming()).toEqual([]);
    rows.set(sums.digest, { sizeBytes: sums.sizeBytes, isDamaged: false });
    lease.release(true);
    staging.remove("upl");
    expect(fs.readFileSync(store.pathOf(sums.digest)).equals(content)).toBe(true);
    store.close();
  });

  test("works again after a crash between the rename and the row", async () => {
    const path = await stage();
    const before = openStore();
    await before.adopt(path, sums);
    before.close();
    const store = openStore();
    const lease = await store.adopt(path, sums);
    expect(lease.isNew).toBe(true);
    expect(incoming()).toEqual([]);
    expect(fs.readFileSync(store.pathOf(sums.digest)).equals(content)).toBe(true);
    store.close();
  });

  test("leaves the staged file unchanged if the upload is rejected at the end", async () => {
    const store = openStore();
    const path = await stage();
    (await store.adopt(path, sums)).release(false);
    expect(store.stat(sums.digest)).toBeUndefined();
    expect(fs.readFileSync(path).equals(content)).toBe(true);
    store.close();
  });

  test("does not write a blob again that is already stored", async () => {
    const store = openStore();
    const path = await stage();
    (await store.adopt(path, sums)).release(true);
    rows.set(sums.digest, { sizeBytes: sums.sizeBytes, isDamaged: false });
    expect((await store.adopt(path, sums)).isNew).toBe(false);
    expect(incoming()).toEqual([]);
    store.close();
  });

  test("copies it if the store is on another file system", async () => {
    const store = openStore({
      ...realDisk,
      link: () => {
        throw Object.assign(new Error("EXDEV"), { code: "EXDEV" });
      },
    });
    const path = await stage();
    const lease = await store.adopt(path, sums);
    expect(lease.isNew).toBe(true);
    expect(fs.statSync(store.pathOf(sums.digest)).ino).not.toBe(fs.statSync(path).ino);
    expect(fs.readFileSync(store.pathOf(sums.digest)).equals(content)).toBe(true);
    expect(incoming()).toEqual([]);
    store.close();
  });
});
