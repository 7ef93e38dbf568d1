import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { toDigest } from "../../../../src/blobs/digest.ts";
import { Layout } from "../../../../src/blobs/layout.ts";
import { ContentImporter } from "../../../../src/features/storage/import-export/content-importer.ts";
import type { ImportJob } from "../../../../src/features/storage/import-export/types.ts";

let folder = "";
let layout: Layout;
let contentImporter: ContentImporter;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-taker-"));
  layout = new Layout(join(folder, "data"));
  for (const path of layout.folders()) fs.mkdirSync(path, { recursive: true });
  contentImporter = new ContentImporter({ layout, label: "1-0", isSyncingEach: false });
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

function jobOf(name: string, job: Partial<ImportJob> = {}): ImportJob {
  return { path: join(folder, name), name, declaredType: undefined, how: "copy", isForced: false, ...job };
}

function write(name: string, content: string | Uint8Array): string {
  fs.writeFileSync(join(folder, name), content);
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

/** All files in the store, including unfinished ones. */
function stored(): string[] {
  const all = fs.readdirSync(layout.root, { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe("file content", () => {
  test.each([
    ["empty", 0],
    ["small", 10_000],
    ["just small", 512 * 1024],
    ["just large", 512 * 1024 + 1],
    ["large", 5_000_001],
  ])("that is %s is stored unchanged", async (_name, sizeBytes) => {
    const content = new Uint8Array(sizeBytes).map((_, index) => (index * 31) % 251);
    const digest = write("a.bin", content);
    expect(await contentImporter.importFile(jobOf("a.bin"))).toMatchObject({
      digest,
      sizeBytes,
      crc32: crc32(content),
      method: expect.stringMatching(/^(copied|cloned)$/),
    });
    expect(stored()).toEqual([digest]);
    expect(await contentImporter.importFile(jobOf("a.bin"))).toMatchObject({ digest, method: "there" });
    expect(await contentImporter.importFile(jobOf("a.bin", { isForced: true }))).toMatchObject({
      method: expect.stringMatching(/^(copied|cloned)$/),
    });
    expect(stored()).toEqual([digest]);
    expect(fs.readFileSync(join(folder, "a.bin"))).toEqual(Buffer.from(content));
  });

  test("is only read with `hash`", async () => {
    const digest = write("a.txt", "text");
    expect(await contentImporter.importFile(jobOf("a.txt", { how: "hash" }))).toMatchObject({
      digest,
      method: "hashed",
    });
    write("b.bin", new Uint8Array(1_000_000));
    expect(await contentImporter.importFile(jobOf("b.bin", { how: "hash" }))).toMatchObject({ method: "hashed" });
    expect(stored()).toEqual([]);
  });

  test.each([100, 1_000_000])("of %i bytes is hard-linked with `link`", async (sizeBytes) => {
    write("a.bin", new Uint8Array(sizeBytes));
    expect(await contentImporter.importFile(jobOf("a.bin", { how: "link" }))).toMatchObject({ method: "linked" });
    expect(fs.statSync(join(folder, "a.bin")).nlink).toBe(2);
    expect(stored()).toHaveLength(1);
  });

  test("that is stored with another size is written again", async () => {
    const digest = write("a.txt", "text");
    await contentImporter.importFile(jobOf("a.txt"));
    fs.truncateSync(layout.blob(Layout.digestOf(digest) ?? fail()), 2);
    expect(await contentImporter.importFile(jobOf("a.txt"))).toMatchObject({ method: "copied" });
  });

  test("gets its media type from its bytes", async () => {
    write("picture.txt", Buffer.from("\x89PNG\r\n\x1a\n0000IDAT", "latin1"));
    expect(await contentImporter.importFile(jobOf("picture.txt"))).toMatchObject({ mediaType: "image/png" });
  });
});

describe("a source", () => {
  test("that is a link, a folder, a pipe or missing is not stored", async () => {
    write("a.txt", "text");
    fs.symlinkSync("a.txt", join(folder, "link"));
    fs.mkdirSync(join(folder, "folder"));
    Bun.spawnSync(["mkfifo", join(folder, "pipe")]);
    expect(await contentImporter.importFile(jobOf("link"))).toMatchObject({ reason: "unreadable" });
    expect(await contentImporter.importFile(jobOf("folder"))).toMatchObject({ reason: "not_a_file" });
    expect(await contentImporter.importFile(jobOf("pipe"))).toMatchObject({ reason: "not_a_file" });
    expect(await contentImporter.importFile(jobOf("nothing"))).toMatchObject({ reason: "unreadable" });
    expect(stored()).toEqual([]);
  });

  test("that has more bytes than its size is not stored truncated", async () => {
    const path = "/proc/version";
    expect(fs.statSync(path).size).toBe(0);
    expect(await contentImporter.importFile({ ...jobOf("version"), path })).toMatchObject({ reason: "changed" });
    expect(stored()).toEqual([]);
  });

  test("that grows while it is read is not stored, and leaves no files behind", async () => {
    write("growing.bin", new Uint8Array(60_000_000));
    const path = join(folder, "growing.bin");
    const child = Bun.spawn(["sh", "-c", 'while :; do printf x >> "$0"; done', path]);
    try {
      const before = fs.statSync(path).size;
      while (fs.statSync(path).size === before) await Bun.sleep(1);
      expect(await contentImporter.importFile(jobOf("growing.bin"))).toMatchObject({ reason: "changed" });
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
    expect(stored()).toEqual([]);
  });
});

/** A store whose unfinished files a starting server deletes once, just before one of them is renamed. */
class SweptLayout extends Layout {
  swept = 0;

  override foldersOf(digest: Parameters<Layout["foldersOf"]>[0]): ReturnType<Layout["foldersOf"]> {
    if (this.swept++ === 0) for (const name of fs.readdirSync(this.staging)) fs.rmSync(join(this.staging, name));
    return super.foldersOf(digest);
  }
}

test.each([
  [4, true],
  [1_000_000, false],
])("%i bytes that a starting server swept away unfinished are written again", async (sizeBytes, isForced) => {
  const digest = write("a.bin", new Uint8Array(sizeBytes));
  const swept = new SweptLayout(join(folder, "data"));
  contentImporter = new ContentImporter({ layout: swept, label: "1-0", isSyncingEach: false });
  expect(await contentImporter.importFile(jobOf("a.bin", { isForced }))).toMatchObject({ digest });
  expect(swept.swept).toBe(2);
  expect(stored()).toEqual([digest]);
});

function fail(): never {
  throw new Error("no digest");
}

test("a small file is stored again after its folder in the store was removed", async () => {
  const digest = write("a.bin", "small");
  await contentImporter.importFile(jobOf("a.bin"));
  fs.rmSync(layout.foldersOf(toDigest(digest))[1], { recursive: true });
  expect(await contentImporter.importFile(jobOf("a.bin"))).toMatchObject({ digest, method: "copied" });
  expect(stored()).toEqual([digest]);
});

test("a small file that cannot be written leaves nothing in the store", async () => {
  write("a.bin", "small");
  const full = spyOn(fs, "writeSync").mockImplementation(() => {
    throw Object.assign(new Error("full"), { code: "ENOSPC" });
  });
  try {
    await expect(contentImporter.importFile(jobOf("a.bin"))).rejects.toMatchObject({ code: "ENOSPC" });
  } finally {
    full.mockRestore();
  }
  expect(stored()).toEqual([]);
});
