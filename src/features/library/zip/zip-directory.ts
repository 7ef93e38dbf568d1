/** Reads the directory of a ZIP file: the names and positions of its entries, without their content. */
import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel } from "yauzl";
import { AppError } from "../../../errors.ts";
import { messageOf } from "../../../lib/error.ts";
import { Steps } from "../../../lib/steps.ts";
import { say } from "../../../translations/say.ts";
import { type ZipBlob, type ZipBlobs, ZipSource } from "./zip-source.ts";

/** An entry of a ZIP file, as its directory says. Nothing of it has been checked. */
export interface ZipEntry {
  /** The path, with a slash at the end for folders. */
  readonly name: string;
  readonly rawName: Buffer;
  readonly sizeBytes: number;
  readonly compressedBytes: number;
  readonly crc32: number;
  readonly method: number;
  readonly isEncrypted: boolean;
  /** Type bits of the Unix mode; 0 if there are none. */
  readonly unixType: number;
  /** Position of the entry's own header. */
  readonly offset: number;
  /** Undefined if the archive has no valid date. */
  readonly modifiedAtMs: number | undefined;
}

/** Entries of one archive; larger ones must be downloaded. */
export const ZIP_ENTRIES_MAX = 100_000;
/** Bytes of the names in a directory, which stay in memory while it is used. */
const NAME_BYTES_MAX = 16 * 1024 * 1024;
/** How long reading may block the event loop, in milliseconds. */
const STEP_MS = 10;

const UTF8_FLAG = 0x800;
/** Encrypted content, strongly encrypted content, encrypted directory. */
const ENCRYPTION_FLAGS = 0x1 | 0x40 | 0x2000;
const AES_METHOD = 99;
const UNIX_TYPE = 0xf000;
const UNICODE_PATH_FIELD = 0x7075;

/**
 * Reads all entries, in the order of the directory.
 * @throws AppError invalid_request if it is not a ZIP file, is damaged, or has too many entries; as the blob store
 */
export async function readZipDirectory(blobs: ZipBlobs, blob: ZipBlob): Promise<ZipEntry[]> {
  return Array.fromAsync(eachZipEntry(blobs, blob, { entries: ZIP_ENTRIES_MAX, nameBytes: NAME_BYTES_MAX }));
}

/** Reads one entry after another. @throws as {@link readZipDirectory}, also in between */
export async function* eachZipEntry(
  blobs: ZipBlobs,
  blob: ZipBlob,
  max: { readonly entries: number; readonly nameBytes: number },
): AsyncGenerator<ZipEntry> {
  const source = new ZipSource(blobs, blob);
  const steps = new Steps(STEP_MS);
  let nameBytes = 0;
  try {
    const file = await fromRandomAccessReaderPromise(source, blob.sizeBytes, {
      lazyEntries: true,
      decodeStrings: false,
      validateEntrySizes: false,
      autoClose: false,
    });
    if (file.entryCount > max.entries) throw tooManyEntries(max.entries);
    for await (const entry of file.eachEntry()) {
      nameBytes += entry.fileNameRaw.length;
      if (nameBytes > max.nameBytes) throw tooManyEntries(max.entries);
      yield toEntry(entry);
      await steps.next();
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    const message = say`This file is not a complete ZIP archive (${messageOf(error)}). Upload it again, or download it.`;
    throw new AppError("invalid_request", message, { problem: "damaged" }, error);
  }
}

/** @throws AppError invalid_request */
function tooManyEntries(limit: number): AppError {
  const message = say`Archives of up to ${limit} entries can be opened here. Download this one.`;
  return new AppError("invalid_request", message, { problem: "too_many_entries", limit });
}

function toEntry(entry: Entry): ZipEntry {
  const { generalPurposeBitFlag: flags, compressionMethod: method } = entry;
  return {
    name: decodeName(entry),
    rawName: entry.fileNameRaw,
    sizeBytes: entry.uncompressedSize,
    compressedBytes: entry.compressedSize,
    crc32: entry.crc32,
    method,
    isEncrypted: (flags & ENCRYPTION_FLAGS) !== 0 || method === AES_METHOD,
    unixType: (entry.externalFileAttributes >>> 16) & UNIX_TYPE,
    offset: entry.relativeOffsetOfLocalHeader,
    modifiedAtMs: dateOf(entry),
  };
}

/** Names are in UTF-8 or in CP437. Macs write UTF-8 without saying so. */
function decodeName({ generalPurposeBitFlag: flags, fileNameRaw, extraFields }: Entry): string {
  const isMarked = (flags & UTF8_FLAG) !== 0 || extraFields.some(({ id }) => id === UNICODE_PATH_FIELD);
  if (!isMarked && fileNameRaw.some((byte) => byte > 127)) {
    const utf8 = fileNameRaw.toString("utf8");
    if (!utf8.includes("\uFFFD")) return utf8;
  }
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
}

function dateOf(entry: Entry): number | undefined {
  const ms = entry.getLastModDate().getTime();
  // The zero date of archives without dates is in 1979.
  return Number.isFinite(ms) && entry.lastModFileDate !== 0 ? ms : undefined;
}
