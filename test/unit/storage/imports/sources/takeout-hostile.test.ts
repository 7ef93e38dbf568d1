// Archives that are made to fill the memory, or to block the server.
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { toDigest } from "../../../../../src/blobs/digest.ts";
import { TakeoutSource } from "../../../../../src/features/storage/imports/sources/takeout/takeout-source.ts";
import { TarPart } from "../../../../../src/features/storage/imports/sources/takeout/tar-part.ts";
import { ZipPart } from "../../../../../src/features/storage/imports/sources/takeout/zip-part.ts";
import { readSource } from "../../../../support/import-sources.ts";
import { description, photoFile, takeoutTgz, takeoutZip } from "../../../../support/takeout.ts";

const PHOTO = photoFile("Photos from 2019", "a.jpg", "a");

/** @param onRead called with the length of each read */
function zipPart(bytes: Buffer, onRead: (lengthBytes: number) => void = () => {}): ZipPart {
  const read = async (_: unknown, offset: number, lengthBytes: number) => {
    onRead(lengthBytes);
    return Buffer.from(bytes.subarray(offset, offset + lengthBytes));
  };
  const open = async (_: unknown, offset: number, lengthBytes: number) => [await read(_, offset, lengthBytes)];
  const blobs = { read, open, fetchLocal: () => undefined };
  const digest = toDigest("0".repeat(64));
  // oxlint-disable-next-line no-unsafe-type-assertion -- a list of chunks can be read like a stream
  const store = blobs as unknown as ConstructorParameters<typeof ZipPart>[0]["bytes"];
  return new ZipPart({ name: "takeout-1.zip", bytes: store, digest, sizeBytes: bytes.length, close: async () => {} });
}

function tarPart(chunks: AsyncIterable<Uint8Array>): TarPart {
  return new TarPart({ name: "takeout-1.tgz", open: async () => chunks, close: async () => {} });
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

test("a description that says to be small is not read if it has many compressed bytes", async () => {
  // A whole archive was read into memory.
  const path = "Takeout/Google Photos/Photos from 2019/a.jpg.json";
  const padding = Buffer.alloc(5 * 1024 * 1024, "x");
  const zip = takeoutZip([PHOTO, { path, content: padding }], { isDeflated: false });
  // The size in the directory: it follows the compressed size.
  const at = zip.lastIndexOf(path) - 46;
  zip.writeUInt16LE(8, at + 10);
  zip.writeUInt32LE(100, at + 24);
  let largest = 0;
  const source = new TakeoutSource([zipPart(zip, (length) => (largest = Math.max(largest, length)))]);
  const { files, leftOut } = await readSource(source);
  expect(files.map(({ path: file }) => file)).toEqual(["2019/a.jpg"]);
  expect(leftOut.map(({ name, reason }) => [name, reason])).toEqual([[path, "unreadable"]]);
  expect(largest).toBeLessThan(4 * 1024 * 1024);
});

test("a description with very many values is not parsed", async () => {
  // A megabyte of brackets blocked the server for a second.
  const path = "Takeout/Google Photos/Photos from 2019/a.jpg.json";
  const { leftOut } = await readSource(
    new TakeoutSource([
      zipPart(takeoutZip([PHOTO, { path, content: `{"title":"a.jpg","x":[${"[],".repeat(100_000)}[]]}` }])),
    ]),
  );
  expect(leftOut).toMatchObject([{ name: path, reason: "unreadable" }]);
});

test.each([
  ["files", { files: 2, characters: 1_000_000 }],
  ["text", { files: 100, characters: 200 }],
])("archives with too much %s are not imported", async (_, limits) => {
  // Their index filled the memory of the server.
  const sidecar = description("Photos from 2019", "a.jpg.json", { title: "a.jpg", description: "x".repeat(100) });
  const other = photoFile("Photos from 2019", "b.jpg", "b");
  const parts = [zipPart(takeoutZip([PHOTO, sidecar])), tarPart(once(takeoutTgz([other])))];
  expect(await readSource(new TakeoutSource(parts, limits)).catch(String)).toContain("larder import");
});

test("an import is canceled within a long file of a TAR archive", async () => {
  // It ended only after the file, and so did the server.
  const controller = new AbortController();
  const large = photoFile("Photos from 2019", "a.mp4", randomBytes(2 * 1024 * 1024));
  const tgz = takeoutTgz([large]);
  let sent = 0;
  async function* slowly(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < tgz.length; at += 16_384) {
      sent++;
      if (sent === 2) controller.abort(new Error("canceled"));
      yield tgz.subarray(at, at + 16_384);
    }
  }
  const { signal } = controller;
  expect(await readSource(new TakeoutSource([tarPart(slowly())]), signal).catch(String)).toBe("Error: canceled");
  expect(sent).toBeLessThan(64);
});
