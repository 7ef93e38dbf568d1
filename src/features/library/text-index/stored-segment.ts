/**
 * Where the text of a segment is: in the file, if the file has the same bytes there, as plain text does; else compressed
 * in the index, until that has no space for it any more; else nowhere, until its file is read again.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** The columns of a segment that describe its text. */
export interface StoredSegment {
  /** The compressed text; null if it is not in the index. */
  readonly text: Uint8Array | null;
  /** Bytes before it in the whole text. */
  readonly position: number;
  /** Bytes. */
  readonly length: number;
  /** Detects another text, as after damage. */
  readonly hash: number;
}

/** Where texts that are not in the index are looked for. */
export interface TextSources {
  /** The file; undefined if it may leave this disk. */
  readonly path: string | undefined;
  /** The whole text, if it was read again. */
  readonly restored?: Uint8Array | undefined;
}

/**
 * 29 % of documentation, in 18 ms for a segment. Quality 5 makes 33 % in 1 ms, 11 28 % in 37 ms, and zstd 36 % or, at its
 * best level, 35 %.
 */
const COMPRESSION = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
};
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** @param path of the file; undefined if it may leave this disk @param hasSpace whether the text may be in the index */
export function storeSegment(
  text: Uint8Array,
  position: number,
  path: string | undefined,
  hasSpace: boolean,
): StoredSegment {
  const segment = { text: null, position, length: text.byteLength, hash: hashOf(text) };
  if (!hasSpace || readFromFile(segment, path) !== undefined) return segment;
  return { ...segment, text: brotliCompressSync(text, COMPRESSION) };
}

/** The text; undefined if its file has to be read again. */
export function loadSegment(segment: StoredSegment, { path, restored }: TextSources): string | undefined {
  const { position, length } = segment;
  const bytes = restored?.subarray(position, position + length) ?? decompress(segment) ?? readFromFile(segment, path);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

/** Undefined if it is not stored, or damaged. */
function decompress({ text, hash }: StoredSegment): Buffer | undefined {
  if (text === null) return undefined;
  try {
    const bytes = brotliDecompressSync(text);
    return hashOf(bytes) === hash ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a segment is in a text where it was before. */
export function isInText({ position, length, hash }: Omit<StoredSegment, "text">, text: Uint8Array): boolean {
  return hashOf(text.subarray(position, position + length)) === hash;
}

function hashOf(text: Uint8Array): number {
  return Bun.hash.xxHash32(text);
}

/** The bytes at its position, or after the mark with which some files begin. */
function readFromFile({ position, length, hash }: StoredSegment, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  for (const from of [position, position + BYTE_ORDER_MARK.length]) {
    const bytes = readBytes(path, from, length);
    if (bytes !== undefined && hashOf(bytes) === hash) return bytes;
  }
  return undefined;
}

function readBytes(path: string, from: number, length: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.alloc(length);
    return readSync(file, bytes, 0, length, from) === length ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
