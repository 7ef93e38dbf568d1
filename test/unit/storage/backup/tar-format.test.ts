import { describe, expect, test } from "bun:test";
import {
  BLOCK_BYTES,
  paddingOf,
  readHeader,
  readPax,
  TarError,
  writeHeader,
} from "../../../../src/features/storage/backup/tar-format.ts";

const GIB = 1024 ** 3;

describe("a header", () => {
  test.each([0, 1, 511, 512, 8 * GIB - 1])("is read as it was written, for %p bytes", (sizeBytes) => {
    const header = writeHeader({ name: "blobs/x", sizeBytes, kind: "file" }, 1_700_000_000_000);
    expect(header.byteLength).toBe(BLOCK_BYTES);
    expect(readHeader(header)).toEqual({ kind: "file", name: "blobs/x", sizeBytes });
  });

  test("with a size beyond octal digits follows an extended header with that size", () => {
    const blocks = writeHeader({ name: "blobs/x", sizeBytes: 9 * GIB, kind: "file" }, 0);
    const extended = readHeader(blocks.subarray(0, BLOCK_BYTES));
    if (extended.kind !== "extended") throw new Error("no extended header");
    expect(readPax(blocks.subarray(BLOCK_BYTES, BLOCK_BYTES + extended.sizeBytes))).toEqual({ size: 9 * GIB });
    expect(blocks.byteLength).toBe(3 * BLOCK_BYTES);
    expect(readHeader(blocks.subarray(2 * BLOCK_BYTES))).toMatchObject({ kind: "file", name: "blobs/x" });
  });

  test("with a changed byte, of a link, or of random bytes is rejected; zeros are the end", () => {
    const header = Buffer.from(writeHeader({ name: "a", sizeBytes: 3, kind: "file" }, 0));
    const changed = Buffer.from(header);
    changed[0] = 0x62;
    expect(() => readHeader(changed)).toThrow(TarError);
    expect(() => readHeader(new Uint8Array(BLOCK_BYTES).fill(7))).toThrow(TarError);
    expect(readHeader(new Uint8Array(BLOCK_BYTES))).toEqual({ kind: "end" });
    const link = Buffer.from(header);
    link[156] = 0x32;
    link.write(`${(Number.parseInt(header.toString("latin1", 148, 154), 8) + 2).toString(8).padStart(6, "0")}\0 `, 148);
    expect(() => readHeader(link)).toThrow("of a type");
  });

  test("with a name that is too long is not written", () => {
    expect(() => writeHeader({ name: "x".repeat(101), sizeBytes: 0, kind: "file" }, 0)).toThrow(TarError);
  });
});

test("members are padded to whole blocks", () => {
  expect([0, 1, 511, 512, 513].map(paddingOf)).toEqual([0, 511, 1, 0, 511]);
});

test("a pax record with a wrong length is rejected", () => {
  expect(() => readPax(Buffer.from("0 size=1\n"))).toThrow(TarError);
  expect(() => readPax(Buffer.from("nonsense"))).toThrow(TarError);
});
