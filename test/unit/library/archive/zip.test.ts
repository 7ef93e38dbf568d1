import { describe, expect, test } from "bun:test";
import { Readable } from "node:stream";
import { type Entry, fromBuffer, fromRandomAccessReader, RandomAccessReader, type ZipFile } from "yauzl";
import { TestArchive } from "./support.ts";

const GIB = 1024 ** 3;

/** Reads only the parts of an archive that a ZIP reader needs. */
class ArchiveReader extends RandomAccessReader {
  constructor(readonly archive: TestArchive) {
    super();
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.archive.chunks(start, end), { objectMode: false });
  }
}

async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Entry[]>();
  zip.on("entry", (entry: Entry) => {
    entries.push(entry);
    zip.readEntry();
  });
  zip.on("end", () => resolve(entries));
  zip.on("error", reject);
  zip.readEntry();
  return promise;
}

/** Opens the archive with random access. */
async function open(archive: TestArchive): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true };
  fromRandomAccessReader(new ArchiveReader(archive), archive.sizeBytes, options, (error, zip) => {
    if (error === null) resolve(zip);
    else reject(error);
  });
  return promise;
}

/** Opens the archive from all its bytes. */
async function openWhole(archive: TestArchive): Promise<ZipFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ZipFile>();
  fromBuffer(await archive.bytes(), { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, zip) =>
    error === null ? resolve(zip) : reject(error),
  );
  return promise;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>();
  zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  return Buffer.concat(await Array.fromAsync(await promise));
}

const SMALL = [
  { path: "Fotos/" },
  { path: "Fotos/größe – 日本語.txt", content: Buffer.from("grüße") },
  { path: "Fotos/leer.txt" },
  { path: "Fotos/leer/" },
  { path: "Fotos/tief/" },
  { path: "Fotos/tief/b.bin", content: Buffer.alloc(3_000, 7) },
  { path: "oben.txt", content: Buffer.from("oben") },
];

describe("an archive", () => {
  test("can be read by another program: names, folders, content, times, modes", async () => {
    const archive = new TestArchive(SMALL);
    const zip = await openWhole(archive);
    const entries = await entriesOf(zip);
    expect(entries.map(({ fileName }) => fileName)).toEqual(SMALL.map(({ path }) => path));
    for (const [index, entry] of entries.entries()) {
      const isFolder = entry.fileName.endsWith("/");
      expect(entry.externalFileAttributes >>> 16).toBe(isFolder ? 0o040_755 : 0o100_644);
      expect(entry.getLastModDate()).toEqual(new Date("2026-01-02T03:04:05Z"));
      if (!isFolder) expect(await contentOf(zip, entry)).toEqual(Buffer.from(SMALL[index]?.content ?? []));
    }
  });

  test("is sent in any range as a slice of the whole", async () => {
    const archive = new TestArchive(SMALL);
    const whole = await archive.bytes();
    expect(whole.length).toBe(archive.sizeBytes);
    const offsets = new Set([0, 1, whole.length - 1, whole.length, archive.entries.contentBytes]);
    for (let number = 0; number < archive.entries.count; number++) {
      const { offset, path, sizeBytes } = archive.entries.get(number);
      for (const edge of [offset, offset + 30, offset + 30 + path.length + 9, offset + 39 + path.length + sizeBytes]) {
        for (const offset of [edge - 1, edge, edge + 1]) if (offset >= 0 && offset <= whole.length) offsets.add(offset);
      }
    }
    for (let offset = archive.entries.contentBytes; offset <= whole.length; offset += 17) offsets.add(offset);
    for (const start of offsets) {
      for (const end of offsets) {
        if (start < end) expect((await archive.bytes(start, end)).equals(whole.subarray(start, end))).toBe(true);
      }
    }
  });

  test("contains a file of more than 4 GiB and the files after it", async () => {
    const last = Buffer.from("after");
    const archive = new TestArchive([
      { path: "film.bin", content: 5 * GIB },
      { path: "exact.bin", content: 0xffff_ffff },
      { path: "last.txt", content: last },
    ]);
    const zip = await open(archive);
    const entries = await entriesOf(zip);
    expect(entries.map(({ fileName, uncompressedSize }) => [fileName, uncompressedSize])).toEqual([
      ["film.bin", 5 * GIB],
      ["exact.bin", 0xffff_ffff],
      ["last.txt", last.length],
    ]);
    const [, , entry] = entries;
    if (entry === undefined) throw new Error("no last entry");
    expect(await contentOf(zip, entry)).toEqual(last);
  });

  test("contains 65,535 entries, and more", async () => {
    for (const count of [65_535, 70_000]) {
      const items = Array.from({ length: count }, (_, index) => ({
        path: `f${index}.txt`,
        content: Buffer.of(index & 255),
      }));
      const archive = new TestArchive(items);
      const zip = await openWhole(archive);
      expect(zip.entryCount).toBe(count);
      const entries = await entriesOf(zip);
      expect(entries.length).toBe(count);
      const last = entries.at(-1);
      if (last === undefined) throw new Error("no last entry");
      expect(await contentOf(zip, last)).toEqual(Buffer.of((count - 1) & 255));
    }
  }, 120_000);

  test("stops if a file is shorter than its row or differs from it, and is never silently short", async () => {
    const items = [
      { path: "a.bin", content: Buffer.alloc(100_000, 1) },
      { path: "b.bin", content: Buffer.alloc(100_000, 2) },
    ];
    for (const bad of [Buffer.alloc(99_999, 2), Buffer.alloc(100_000, 3)]) {
      const archive = new TestArchive(items);
      const [, damaged = ""] = [...archive.contents.keys()];
      archive.contents.set(damaged, bad);
      let sent = 0;
      const reading = (async () => {
        for await (const chunk of archive.chunks()) sent += chunk.length;
      })();
      expect(reading).rejects.toMatchObject({ reason: "content_damaged" });
      await reading.catch(() => {});
      // The last byte of a damaged file is never sent.
      expect(sent).toBeLessThan(archive.entries.contentBytes);
    }
  });
});
