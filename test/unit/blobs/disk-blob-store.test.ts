import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { BlobLease } from "../../../src/blobs/blob-store.ts";
import { type Digest, toDigest } from "../../../src/blobs/digest.ts";
import { type Disk, realDisk } from "../../../src/blobs/disk.ts";
import { DiskBlobStore } from "../../../src/blobs/disk-blob-store.ts";
import { Layout } from "../../../src/blobs/layout.ts";
import { AppError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { say } from "../../../src/translations/say.ts";

const LIMIT = { limitBytes: 64 * 1024 * 1024, tooLarge: () => new AppError("file_too_large", say`too large`) };

/** A disk on which the given calls fail with system errors. */
function faultyDisk(faults: Partial<Record<keyof Disk, string>>): Disk {
  const fail = (call: keyof Disk) => {
    const code = faults[call];
    if (code !== undefined) throw Object.assign(new Error(`${code}: made to fail`), { code });
  };
  return {
    open: (path, flags) => (fail("open"), realDisk.open(path, flags)),
    write: (fd, bytes) => (fail("write"), realDisk.write(fd, bytes)),
    writeAt: (fd, bytes, position) => (fail("writeAt"), realDisk.writeAt(fd, bytes, position)),
    close: (fd) => realDisk.close(fd),
    link: (from, to) => (fail("link"), realDisk.link(from, to)),
    rename: (from, to) => (fail("rename"), realDisk.rename(from, to)),
    unlink: (path) => (fail("unlink"), realDisk.unlink(path)),
    makeFolder: (path) => (fail("makeFolder"), realDisk.makeFolder(path)),
    dataSync: async (fd) => (fail("dataSync"), realDisk.dataSync(fd)),
  };
}

describe("DiskBlobStore", () => {
  let folder: string;
  let rows: Map<Digest, { sizeBytes: number; isDamaged: boolean }>;
  let store: DiskBlobStore;

  const open = (options: { disk?: Disk; checkStore?: () => void; verifyAfterWrite?: boolean } = {}) => {
    const made = new DiskBlobStore({
      layout: new Layout(folder),
      index: { find: (digest) => rows.get(digest) },
      log: silentLog,
      checkStore: () => {},
      ...options,
    });
    made.makeFolders();
    return made;
  };
  const put = async (bytes: Uint8Array, into = store): Promise<BlobLease> => {
    const writer = into.begin(LIMIT);
    try {
      for (let at = 0; at < bytes.length; at += 65_536) await writer.write(bytes.subarray(at, at + 65_536));
      return await writer.commit();
    } finally {
      writer.abort();
    }
  };
  /** Stores a blob like a completed upload: its row is committed and its lease released. */
  const putAndName = async (bytes: Uint8Array): Promise<BlobLease> => {
    const lease = await put(bytes);
    rows.set(lease.digest, { sizeBytes: lease.sizeBytes, isDamaged: false });
    lease.release(true);
    return lease;
  };
  const sha256 = (bytes: Uint8Array) => toDigest(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
  const allFiles = () =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);

  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), "larder-blobs-"));
    rows = new Map();
    store = open();
  });
  afterEach(() => {
    store.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  for (const [name, size] of [
    ["empty", 0],
    ["small", 10_240],
    ["at the edge of memory", 256 * 1024],
    ["just beyond memory", 256 * 1024 + 1],
    ["large", 40 * 1024 * 1024 + 17],
  ] as const) {
    test(`a blob that is ${name} is stored whole under its digest, with its CRC-32`, async () => {
      const bytes = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
      const content = Buffer.alloc(size, bytes.length > 0 ? bytes : undefined);
      const lease = await put(content);
      expect(lease.digest).toBe(sha256(content));
      expect(lease.sizeBytes).toBe(size);
      expect(lease.crc32).toBe(crc32(content));
      expect(lease.isNew).toBe(true);
      expect(fs.readFileSync(store.pathOf(lease.digest)).equals(content)).toBe(true);
      expect(await store.hash(lease.digest)).toBe(lease.digest);
      expect(allFiles()).toEqual([lease.digest]);
      lease.release(true);
    });
  }

  test("the writer returns the first bytes, for detecting the type, also of a large blob", async () => {
    const content = Buffer.alloc(300_000, "abc");
    const writer = store.begin(LIMIT);
    await writer.write(content);
    expect(Buffer.from(writer.head).equals(content.subarray(0, 4100))).toBe(true);
    writer.abort();
  });

  test("many concurrent uploads of equal bytes store one blob", async () => {
    const content = Buffer.from("the same for everybody");
    const leases = await Promise.all(Array.from({ length: 20 }, () => put(content)));
    expect(new Set(leases.map((lease) => lease.digest)).size).toBe(1);
    expect(allFiles()).toHaveLength(1);
    const [first] = leases;
    expect(first && store.isLeased(first.digest)).toBe(true);
    for (const lease of leases) lease.release(true);
    expect(first && store.isLeased(first.digest)).toBe(false);
  });

  test("a blob that is stored already is not written again, and the staged file is deleted", async () => {
    const content = Buffer.alloc(400_000, 7);
    const first = await putAndName(content);
    const before = fs.statSync(store.pathOf(first.digest)).ino;
    const second = await put(content);
    expect(second.isNew).toBe(false);
    expect(fs.statSync(store.pathOf(first.digest)).ino).toBe(before);
    await Bun.sleep(0);
    expect(allFiles()).toEqual([first.digest]);
  });

  for (const [name, damage] of [
    ["has another size", (path: string) => fs.truncateSync(path, 3)],
    ["is missing", (path: string) => fs.unlinkSync(path)],
    ["failed its last check", () => {}],
  ] as const) {
    test(`a blob that ${name} is written again by the next upload`, async () => {
      const content = Buffer.alloc(5_000, 9);
      const { digest } = await putAndName(content);
      damage(store.pathOf(digest));
      rows.set(digest, { sizeBytes: content.length, isDamaged: name === "failed its last check" });
      const again = await put(content);
      expect(again.isNew).toBe(true);
      expect(await store.hash(digest)).toBe(digest);
    });
  }

  test("a file without a row is written again", async () => {
    const content = Buffer.from("left by a crash");
    const digest = sha256(content);
    const path = store.pathOf(digest);
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.writeFileSync(path, "torn");
    const lease = await put(content);
    expect(lease.isNew).toBe(true);
    expect(fs.readFileSync(path, "utf8")).toBe("left by a crash");
  });

  test("several small blobs in a batch are stored whole, also where a crash left part of one", async () => {
    const contents = Array.from({ length: 20 }, (_, index) => Buffer.from(`content ${index}`));
    const torn = store.pathOf(sha256(Buffer.from("content 7")));
    fs.mkdirSync(join(torn, ".."), { recursive: true });
    fs.writeFileSync(torn, "cont");
    const leases = await Promise.all(contents.map((content) => put(content)));
    leases.forEach(({ digest }, index) => {
      expect(fs.readFileSync(store.pathOf(digest), "utf8")).toBe(`content ${index}`);
      expect(fs.statSync(store.pathOf(digest)).mode & 0o777).toBe(0o600);
    });
    expect(allFiles()).toHaveLength(20);
  });

  test("a blob that can't be written fails alone, and nothing of it is left", async () => {
    const contents = Array.from({ length: 20 }, (_, index) => Buffer.from(`content ${index}`));
    // A folder with the name of the blob, which neither a new file nor a rename replaces.
    const taken = store.pathOf(sha256(Buffer.from("content 7")));
    fs.mkdirSync(taken, { recursive: true });
    const results = await Promise.allSettled(contents.map((content) => put(content)));
    expect(results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7]);
    expect(allFiles()).toHaveLength(19);
    fs.rmdirSync(taken);
    expect((await put(Buffer.from("content 7"))).isNew).toBe(true);
  });

  test("a blob whose folder can't be made does not fail the other one of its batch", async () => {
    const [bad, good] = [Buffer.from("content 7"), Buffer.from("content 8")];
    const top = join(store.pathOf(sha256(bad)), "..", "..");
    expect(store.pathOf(sha256(good))).not.toStartWith(top);
    fs.writeFileSync(top, "in the way");
    const results = await Promise.allSettled([put(bad), put(good)]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  });

  test("a missing disk is noticed before a batch is written", async () => {
    let isGone = false;
    const guarded = open({
      checkStore: () => {
        if (isGone) throw new AppError("store_missing", say`gone`);
      },
    });
    const putSome = (from: number) =>
      Promise.allSettled(Array.from({ length: 5 }, (_, index) => put(Buffer.from(`content ${from + index}`), guarded)));
    expect((await putSome(0)).every(({ status }) => status === "fulfilled")).toBe(true);
    isGone = true;
    const results = await putSome(5);
    expect(results.map((result) => result.status === "rejected" && (result.reason as AppError).reason)).toEqual(
      Array.from({ length: 5 }, () => "store_missing"),
    );
    expect(allFiles()).toHaveLength(5);
    guarded.close();
  });

  test("the first byte beyond the limit ends the write, and nothing is left", async () => {
    for (const size of [1_000, 1_000_000]) {
      const writer = store.begin({ limitBytes: size - 1, tooLarge: () => new AppError("file_too_large", say`no`) });
      const write = async () => {
        for (let at = 0; at < size; at += 500) await writer.write(Buffer.alloc(500));
      };
      expect(await write().catch((error: unknown) => (error as AppError).reason)).toBe("file_too_large");
      writer.abort();
    }
    await Bun.sleep(0);
    expect(allFiles()).toEqual([]);
  });

  const faults: [keyof Disk, string, number, string][] = [
    ["open", "EIO", 100, "storage_error"],
    ["open", "ENOSPC", 400_000, "disk_full"],
    ["write", "ENOSPC", 100, "disk_full"],
    ["write", "EDQUOT", 400_000, "disk_full"],
    ["write", "EIO", 400_000, "storage_error"],
    ["rename", "EIO", 300_000, "storage_error"],
    ["rename", "EROFS", 400_000, "storage_error"],
    ["makeFolder", "ENOSPC", 100, "disk_full"],
    ["dataSync", "EIO", 400_000, "storage_error"],
  ];
  for (const [call, code, size, reason] of faults) {
    test(`${code} from ${call} at ${size} bytes is ${reason}, and nothing is left`, async () => {
      const faulty = open({ disk: faultyDisk({ [call]: code }) });
      const rejection: unknown = await put(Buffer.alloc(size, 1), faulty).catch(
        (error: unknown) => (error as AppError).reason,
      );
      expect(rejection).toBe(reason);
      await Bun.sleep(0);
      expect(allFiles()).toEqual([]);
      faulty.close();
    });
  }

  test("a store whose disk is missing stores nothing", async () => {
    const gone = open({
      checkStore: () => {
        throw new AppError("store_missing", say`gone`);
      },
    });
    expect(await put(Buffer.from("x"), gone).catch((error: unknown) => (error as AppError).reason)).toBe(
      "store_missing",
    );
    expect(allFiles()).toEqual([]);
    gone.close();
  });

  test("with verification each blob is read back before it is acknowledged", async () => {
    const lying: Disk = {
      ...realDisk,
      write: (fd, bytes) =>
        realDisk.write(
          fd,
          bytes.map((byte) => byte ^ 1),
        ),
    };
    const careful = open({ disk: lying, verifyAfterWrite: true });
    expect(await put(Buffer.from("honest"), careful).catch((error: unknown) => (error as AppError).reason)).toBe(
      "storage_error",
    );
    expect(allFiles()).toEqual([]);
    careful.close();
  });

  test("the sweep deletes what a crash left in blobs/incoming/, and nothing else", async () => {
    const lease = await put(Buffer.from("stays"));
    fs.writeFileSync(join(folder, "blobs", "incoming", "1-1.part"), "half");
    fs.writeFileSync(join(folder, "blobs", "incoming", "note.txt"), "not ours");
    expect(store.sweepStaging()).toBe(1);
    expect(allFiles().sort()).toEqual([lease.digest, "note.txt"].sort());
  });

  test("a blob without a row is deleted when the last lease on it is released", async () => {
    const content = Buffer.from("rejected at the last moment");
    const [first, second] = await Promise.all([put(content), put(content)]);
    first?.release(false);
    expect(allFiles()).toHaveLength(1);
    second?.release(false);
    expect(allFiles()).toEqual([]);
    const named = await put(content);
    rows.set(named.digest, { sizeBytes: content.length, isDamaged: false });
    named.release(true);
    const again = await put(content);
    again.release(false);
    expect(allFiles()).toEqual([named.digest]);
  });

  test("a blob in quarantine is not in the store, and can be stored again", async () => {
    const content = Buffer.from("comes back");
    const { digest } = await putAndName(content);
    rows.delete(digest);
    store.quarantine(digest);
    expect(store.stat(digest)).toBeUndefined();
    store.quarantine(digest);
    const again = await put(content);
    expect(again.isNew).toBe(true);
    store.unlinkQuarantined(digest);
    store.unlinkQuarantined(digest);
    expect(await store.hash(digest)).toBe(digest);
  });

  test("a symbolic link in the store counts as missing", () => {
    const digest = sha256(Buffer.from("linked"));
    const path = store.pathOf(digest);
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.symlinkSync("/etc/passwd", path);
    expect(store.stat(digest)).toBeUndefined();
    expect(() => store.readSmall(digest, 10)).toThrow(AppError);
  });

  test("many small blobs that are written concurrently are all whole", async () => {
    const contents = Array.from({ length: 300 }, (_, i) => Buffer.from(`content ${i} `.repeat(50)));
    const leases = await Promise.all(contents.map((content) => put(content)));
    for (const [i, lease] of leases.entries()) {
      const content = contents[i];
      expect(content && lease.digest === sha256(content)).toBe(true);
      expect(await store.hash(lease.digest)).toBe(lease.digest);
    }
    expect(store.listFolder((leases[0]?.digest ?? "").slice(0, 2)).length).toBeGreaterThan(0);
  });
});
