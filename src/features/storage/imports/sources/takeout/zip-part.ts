import { crc32, inflateRawSync } from "node:zlib";
import type { Digest } from "../../../../../blobs/digest.ts";
import { DEFLATED, findContent, readContent, STORED } from "../../../../library/zip/zip-content.ts";
import { eachZipEntry, type ZipEntry } from "../../../../library/zip/zip-directory.ts";
import { type ZipBlobs, ZipSource } from "../../../../library/zip/zip-source.ts";
import { AppError } from "../../../../../errors.ts";
import { invariant } from "../../../../../lib/invariant.ts";
import { type Message, say } from "../../../../../translations/say.ts";
import type { ArchivePart, PartEntry } from "./archive-part.ts";

/** A ZIP file, on the machine or in the store. */
export interface ZipFile {
  readonly name: string;
  readonly bytes: ZipBlobs;
  /** The same, but each chunk is valid until the next one is requested. */
  readonly reusedBytes?: ZipBlobs;
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly close: () => Promise<void>;
}

interface ZipPartEntry extends PartEntry {
  readonly zip: ZipEntry;
}

const LIMITS = { entries: 2_000_000, nameBytes: 256 * 1024 * 1024 };
/** More than a header with a long name has. */
const HEADER_WINDOW_BYTES = 1024;
/** As for archives that are extracted: content that is larger by more than this factor is rejected. */
const RATIO_MAX = 200;
const FREE_BYTES = 1024 * 1024;
const UNIX_LINK = 0xa000;
/** Compressed bytes of a small file: its declared size can be wrong. */
const SMALL_BYTES_MAX = 2 * FREE_BYTES;

/** A ZIP file of a Takeout. It is read at any position, and not unpacked. */
export class ZipPart implements ArchivePart {
  readonly isSequential = false;
  readonly #file: ZipFile;

  constructor(file: ZipFile) {
    this.#file = file;
  }

  get name(): string {
    return this.#file.name;
  }

  async *list(signal: AbortSignal): AsyncGenerator<PartEntry> {
    const { bytes } = this.#file;
    let compressedBytes = 0;
    for await (const zip of eachZipEntry(bytes, this.#file, LIMITS)) {
      signal.throwIfAborted();
      if (zip.name.endsWith("/")) continue;
      compressedBytes += zip.compressedBytes;
      // Entries that share bytes: an archive made to fill disks.
      const isOverlapping = compressedBytes > this.#file.sizeBytes;
      const entry: ZipPartEntry = {
        path: zip.name,
        sizeBytes: zip.sizeBytes,
        crc32: zip.crc32,
        modifiedMs: zip.modifiedAtMs,
        position: zip.offset,
        problem: isOverlapping ? say`Its bytes overlap with those of other files in the archive.` : problemOf(zip),
        zip,
      };
      yield entry;
    }
  }

  async *read(entry: PartEntry): AsyncGenerator<Uint8Array> {
    const zip = zipOf(entry);
    const { bytes, reusedBytes } = this.#file;
    const source = new ZipSource(bytes, this.#file, HEADER_WINDOW_BYTES);
    // What is compressed waits for the inflater, and must not change until then.
    const stored = zip.method === STORED ? (reusedBytes ?? bytes) : bytes;
    yield* readContent(stored, this.#file, zip, await findContent(source, this.#file, zip));
  }

  async readSmall(entry: PartEntry): Promise<Uint8Array> {
    const zip = zipOf(entry);
    if (zip.compressedBytes > SMALL_BYTES_MAX) throw damaged(zip);
    // The header and the content in one read: descriptions are many.
    const source = new ZipSource(this.#file.bytes, this.#file, HEADER_WINDOW_BYTES + zip.compressedBytes);
    const { start, end } = await findContent(source, this.#file, zip);
    const stored = await source.readAt(start, end - start);
    const content = zip.method === STORED ? Buffer.from(stored) : inflate(stored, zip.sizeBytes);
    if (content?.length === zip.sizeBytes && crc32(content) === zip.crc32) return content;
    throw damaged(zip);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function problemOf({ isEncrypted, method, sizeBytes, compressedBytes, unixType }: ZipEntry): Message | undefined {
  if (isEncrypted) return say`It is encrypted.`;
  if (unixType === UNIX_LINK) return say`It is a symbolic link.`;
  if (method !== STORED && method !== DEFLATED) return say`It is compressed in a way that Larder can't read.`;
  if (method === STORED && sizeBytes !== compressedBytes) return say`Its sizes contradict each other.`;
  const isBomb = sizeBytes > FREE_BYTES && sizeBytes > compressedBytes * RATIO_MAX;
  return isBomb ? say`It is compressed more than ${RATIO_MAX} times, as in archives made to fill disks.` : undefined;
}

function zipOf(entry: PartEntry): ZipEntry {
  invariant("zip" in entry, "an entry is read from the archive that listed it");
  // oxlint-disable-next-line no-unsafe-type-assertion -- only ZipPart makes entries with this field
  return (entry as ZipPartEntry).zip;
}

function damaged({ name }: ZipEntry): AppError {
  return new AppError("invalid_request", say`"${name}" is damaged in the archive.`);
}

/** @returns undefined if the bytes are damaged, or are more than declared */
function inflate(stored: Uint8Array, sizeBytes: number): Buffer | undefined {
  try {
    return inflateRawSync(stored, { maxOutputLength: Math.max(1, sizeBytes) });
  } catch {
    return undefined;
  }
}
