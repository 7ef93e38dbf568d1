/** Reads the content of one entry of a ZIP file, and checks it against what the directory declares. */
import { crc32, createInflateRaw } from "node:zlib";
import { Readable } from "node:stream";
import { AppError } from "../../../errors.ts";
import { say } from "../../../translations/say.ts";
import type { ZipEntry } from "./zip-directory.ts";
import { type ZipBlob, type ZipBlobs, ZipSource } from "./zip-source.ts";

/** Compression methods that can be read. */
export const STORED = 0;
export const DEFLATED = 8;

const LOCAL_HEADER_BYTES = 30;
const LOCAL_HEADER_SIGNATURE = 0x04034b50;

/** Where the bytes of an entry are in the ZIP file. */
export interface ContentRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the bytes of an entry by its own header, which must have the name that the directory says.
 * @throws AppError invalid_request; as the blob store
 */
export async function findContent(source: ZipSource, blob: ZipBlob, entry: ZipEntry): Promise<ContentRange> {
  const nameEnd = entry.offset + LOCAL_HEADER_BYTES + entry.rawName.length;
  if (nameEnd > blob.sizeBytes) throw mismatch(entry);
  const header = await source.readAt(entry.offset, LOCAL_HEADER_BYTES + entry.rawName.length);
  const nameBytes = header.readUInt16LE(26);
  const hasSameName =
    header.readUInt32LE(0) === LOCAL_HEADER_SIGNATURE &&
    nameBytes === entry.rawName.length &&
    header.subarray(LOCAL_HEADER_BYTES).equals(entry.rawName);
  const start = nameEnd + header.readUInt16LE(28);
  const end = start + entry.compressedBytes;
  if (!hasSameName || end > blob.sizeBytes) throw mismatch(entry);
  return { start, end };
}

/**
 * The content of an entry. Ends with an error unless it has exactly the declared size and checksum.
 * @throws AppError invalid_request, possibly in mid-stream; as the blob store
 */
export async function* readContent(
  blobs: ZipBlobs,
  blob: ZipBlob,
  entry: ZipEntry,
  range?: ContentRange,
): AsyncGenerator<Uint8Array> {
  const { start, end } = range ?? (await findContent(new ZipSource(blobs, blob), blob, entry));
  const stored = end === start ? [] : await blobs.open(blob.digest, start, end - start);
  let sizeBytes = 0;
  let checksum = 0;
  for await (const chunk of entry.method === STORED ? stored : inflate(stored, entry)) {
    sizeBytes += chunk.length;
    // Headers lie: without this, a small archive could fill the disk.
    if (sizeBytes > entry.sizeBytes) throw mismatch(entry);
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (sizeBytes !== entry.sizeBytes || checksum !== entry.crc32) throw mismatch(entry);
}

async function* inflate(
  stored: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  const input = Readable.from(stored, { objectMode: false });
  const inflater = createInflateRaw();
  // The error reaches the reader of the inflater.
  input.on("error", (error) => inflater.destroy(error));
  try {
    for await (const chunk of input.pipe(inflater)) yield chunk;
  } catch (error) {
    throw error instanceof AppError ? error : mismatch(entry, error);
  } finally {
    input.destroy();
    inflater.destroy();
  }
}

/** The error for an entry that is not what the directory says. */
function mismatch({ name }: ZipEntry, cause?: unknown): AppError {
  const message = say`"${name}" in this archive is damaged: it does not match the directory of the archive.`;
  return new AppError("invalid_request", message, { problem: "damaged", entry: name }, cause);
}
