import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Digest, toDigest } from "../../../../src/blobs/digest.ts";
import { Layout } from "../../../../src/blobs/layout.ts";
import { copyBlobs } from "../../../../src/features/storage/backup/copy-blobs.ts";
import { BlobCopier } from "../../../../src/features/storage/backup/blob-copier.ts";

let root: string;
let source: Layout;
let target: Layout;

beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), "larder-placer-"));
  source = new Layout(join(root, "source"));
  target = new Layout(join(root, "target"));
});

afterEach(() => fs.rmSync(root, { recursive: true }));

function put(
  text: string,
  path?: (digest: Digest) => string,
): { digest: Digest; sizeBytes: number; isDamaged: boolean } {
  const digest = toDigest(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  const target = path?.(digest) ?? source.blob(digest);
  fs.mkdirSync(dirname(target), { recursive: true });
  fs.writeFileSync(target, text);
  return { digest, sizeBytes: text.length, isDamaged: false };
}

describe("a blob", () => {
  test("that is copied gets its name only once it is complete and synced", () => {
    const content = put("one");
    const blobCopier = new BlobCopier({ source, target, mayLink: false });
    expect(blobCopier.copy(content)).toMatch(/copied|cloned/);
    expect(fs.existsSync(target.blob(content.digest))).toBe(false);
    blobCopier.finish();
    expect(fs.readFileSync(target.blob(content.digest), "utf8")).toBe("one");
    expect(fs.readdirSync(target.staging)).toEqual([]);
  });

  test("that is linked is the same file", () => {
    const content = put("one");
    const blobCopier = new BlobCopier({ source, target, mayLink: true });
    expect(blobCopier.copy(content)).toBe("linked");
    blobCopier.finish();
    expect(fs.statSync(target.blob(content.digest)).ino).toBe(fs.statSync(source.blob(content.digest)).ino);
  });

  test("that is damaged, truncated, missing or a symbolic link is reported and not copied", () => {
    const changed = put("right");
    fs.writeFileSync(source.blob(changed.digest), "wrong");
    const cut = put("longer");
    fs.writeFileSync(source.blob(cut.digest), "long");
    const missing = { ...put("gone"), isDamaged: false };
    fs.rmSync(source.blob(missing.digest));
    const link = put("linked to");
    fs.renameSync(source.blob(link.digest), join(root, "elsewhere"));
    fs.symlinkSync(join(root, "elsewhere"), source.blob(link.digest));
    const blobCopier = new BlobCopier({ source, target, mayLink: false });
    const all = [changed, cut, missing, link];
    expect(all.map((content) => blobCopier.copy(content))).toEqual(["damaged", "damaged", "missing", "missing"]);
    blobCopier.finish();
    expect(all.some(({ digest }) => fs.existsSync(target.blob(digest)))).toBe(false);
    expect(fs.readdirSync(target.staging)).toEqual([]);
  });

  test("that was found damaged earlier is read before it is linked", () => {
    const content = put("right");
    fs.writeFileSync(source.blob(content.digest), "wrong");
    const blobCopier = new BlobCopier({ source, target, mayLink: true });
    expect(blobCopier.copy({ ...content, isDamaged: true })).toBe("damaged");
  });

  test("in quarantine is copied from there", () => {
    const content = put("aside", (digest) => source.quarantined(digest));
    const blobCopier = new BlobCopier({ source, target, mayLink: true });
    expect(blobCopier.copy(content)).toBe("linked");
  });
});

test("unfinished files of an earlier run are deleted", () => {
  fs.mkdirSync(target.staging, { recursive: true });
  fs.writeFileSync(join(target.staging, "1-1.part"), "half");
  new BlobCopier({ source, target, mayLink: false }).finish();
  expect(fs.readdirSync(target.staging)).toEqual([]);
});

test("a target that fails is reported, and copied blobs stay", () => {
  const first = put("first");
  const second = put("second");
  const blobCopier = new BlobCopier({ source, target, mayLink: false });
  blobCopier.copy(first);
  blobCopier.flush();
  fs.rmSync(target.staging, { recursive: true });
  expect(() => blobCopier.copy(second)).toThrow("ENOENT");
  expect(fs.existsSync(target.blob(first.digest))).toBe(true);
});

test("a target that is removed is reported by its own error, not by that of the clean-up", async () => {
  const content = put("one");
  const sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE blobs (digest BLOB, size_bytes INTEGER, damaged_at INTEGER, refs INTEGER)");
  sqlite.run("INSERT INTO blobs VALUES (?, 3, NULL, 1)", [Buffer.from(content.digest, "hex")]);
  const fail = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  for (const call of ["writeSync", "copyFileSync"] as const) {
    const broken = spyOn(fs, call).mockImplementation(fail("EIO"));
    const { rmSync } = fs;
    const clearing = spyOn(fs, "rmSync").mockImplementation((path, options) =>
      broken.mock.calls.length > 0 ? fail("EFAULT")() : rmSync(path, options),
    );
    try {
      const bringing = copyBlobs({ sqlite, source, target, mayLink: false, onProgress: () => {} });
      await expect(bringing).rejects.toThrow("EIO");
    } finally {
      broken.mockRestore();
      clearing.mockRestore();
    }
    new BlobCopier({ source, target, mayLink: false }).abandon();
  }
  sqlite.close();
});
