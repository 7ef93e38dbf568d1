import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUFFER_BYTES, readContent } from "../../../../src/features/storage/integrity/hash-file.ts";

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-hash-"));
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

const digestOf = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

function stored(name: string, bytes: Uint8Array) {
  const path = join(folder, name);
  fs.writeFileSync(path, bytes);
  return { path, sizeBytes: bytes.length, digest: digestOf(bytes) };
}

const quietly = { isQuick: false, isSparing: false, onBytes: () => {} };

test.each([0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES + 7])(
  "a whole content of %d bytes is whole, also where the cache is spared",
  (sizeBytes) => {
    const content = stored("whole", crypto.getRandomValues(Buffer.alloc(Math.min(sizeBytes, 65_536))));
    const long = stored("long", Buffer.alloc(sizeBytes, 0x5a));
    for (const isSparing of [false, true]) {
      expect(readContent(content, { ...quietly, isSparing })).toBeUndefined();
      expect(readContent(long, { ...quietly, isSparing })).toBeUndefined();
    }
  },
);

test("each buffer is reported, so that the caller can slow down or end the read", () => {
  const content = stored("reads", Buffer.alloc(2 * BUFFER_BYTES + 5));
  const reads: number[] = [];
  readContent(content, { ...quietly, onBytes: (bytes) => reads.push(bytes) });
  expect(reads).toEqual([BUFFER_BYTES, BUFFER_BYTES, 5]);
  const stop = () => {
    throw new Error("enough");
  };
  expect(() => readContent(content, { ...quietly, onBytes: stop })).toThrow("enough");
});

test("a flipped bit, a wrong length, a missing file, a folder and a link each cause their own fault", () => {
  const bytes = Buffer.alloc(10_000, 7);
  const content = stored("content", bytes);
  const rotten = Buffer.from(bytes);
  rotten[5_000] = 6;
  expect(readContent({ ...stored("rotten", rotten), digest: content.digest }, quietly)).toEqual({
    kind: "damaged",
    detail: `checksum is sha256:${digestOf(rotten)}`,
  });
  expect(readContent({ ...stored("short", bytes.subarray(1)), sizeBytes: 10_000 }, quietly)).toEqual({
    kind: "damaged",
    detail: "it has 9999 bytes instead of 10000",
  });
  expect(readContent({ ...content, path: join(folder, "none") }, quietly)).toMatchObject({ kind: "missing" });
  expect(readContent({ ...content, path: join(content.path, "below") }, quietly)).toMatchObject({ kind: "missing" });
  expect(readContent({ ...content, path: folder }, quietly)).toMatchObject({ kind: "missing" });
  fs.symlinkSync(content.path, join(folder, "link"));
  expect(readContent({ ...content, path: join(folder, "link") }, quietly)).toMatchObject({ kind: "missing" });
});

test("a blob that is replaced by a good copy during the read is intact", () => {
  // The damage of the opened file must not be attributed to the file that replaced it.
  const bytes = Buffer.alloc(2 * BUFFER_BYTES, 7);
  const rotten = stored("replaced", Buffer.alloc(2 * BUFFER_BYTES, 8));
  const good = stored("good", bytes);
  const replace = () => {
    if (fs.existsSync(good.path)) fs.renameSync(good.path, rotten.path);
  };
  expect(readContent({ ...rotten, digest: good.digest }, { ...quietly, onBytes: replace })).toBeUndefined();
});

test("a quick check reads no bytes", () => {
  const content = stored("quick", Buffer.alloc(1_000));
  expect(readContent({ ...content, digest: "0".repeat(64) }, { ...quietly, isQuick: true })).toBeUndefined();
});

test("a failing disk makes a blob unreadable; a lack of file descriptors does not", () => {
  const content = stored("failing", Buffer.alloc(3 * BUFFER_BYTES));
  const fail = (code: string) => Object.assign(new Error(code), { code });
  const read = spyOn(fs, "readSync").mockImplementation(() => {
    throw fail("EIO");
  });
  try {
    expect(readContent(content, quietly)).toEqual({ kind: "unreadable", detail: "read error EIO at byte 0" });
  } finally {
    read.mockRestore();
  }
  const open = spyOn(fs, "openSync").mockImplementation(() => {
    throw fail("EMFILE");
  });
  try {
    expect(() => readContent(content, quietly)).toThrow("EMFILE");
    open.mockImplementation(() => {
      throw fail("EACCES");
    });
    expect(readContent(content, quietly)).toEqual({ kind: "unreadable", detail: "read error EACCES" });
  } finally {
    open.mockRestore();
  }
});
