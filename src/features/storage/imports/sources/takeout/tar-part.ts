import { crc32, createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { AppError } from "../../../../../errors.ts";
import { messageOf } from "../../../../../lib/error.ts";
import { say } from "../../../../../translations/say.ts";
import type { ArchivePart, PartEntry } from "./archive-part.ts";
import { ByteReader } from "./byte-reader.ts";
import { BLOCK_BYTES, readHeader, type TarHeader } from "./tar-header.ts";

/** A compressed TAR file, on the machine or in the store. */
export interface TarFile {
  readonly name: string;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
  readonly close: () => Promise<void>;
}

/** Files whose content can be read while the archive is listed for the first time. */
const DESCRIPTION = /\.json$/i;
/** Long names and their like; larger ones are no names. */
const EXTENSION_BYTES_MAX = 1024 * 1024;

/**
 * A compressed TAR file of a Takeout. It has no directory, so it is read from front to back: once for the names, the
 * descriptions, and the checksums, and again for the contents.
 */
export class TarPart implements ArchivePart {
  readonly isSequential = true;
  readonly #file: TarFile;
  /** Checksums by position, once the whole archive was read. */
  readonly #checksums = new Map<number, number>();
  /** What is left of the file that was listed last. */
  #current: { readonly entry: PartEntry; readonly content: AsyncGenerator<Uint8Array>; isRead: boolean } | undefined;

  constructor(file: TarFile) {
    this.#file = file;
  }

  get name(): string {
    return this.#file.name;
  }

  async *list(signal: AbortSignal): AsyncGenerator<PartEntry> {
    const input = Readable.from(await this.#file.open(), { objectMode: false });
    const unpacked = createGunzip();
    input.on("error", (error) => unpacked.destroy(error));
    const reader = new ByteReader(input.pipe(unpacked), signal);
    try {
      yield* this.#listFrom(reader);
    } catch (error) {
      if (error instanceof AppError || signal.aborted) throw error;
      throw new AppError("invalid_request", say`${this.name} is damaged (${messageOf(error)}).`, {}, error);
    } finally {
      this.#current = undefined;
      input.destroy();
      unpacked.destroy();
    }
  }

  async *read(entry: PartEntry): AsyncGenerator<Uint8Array> {
    const current = this.#current;
    if (current?.entry !== entry && current?.entry.position !== entry.position) throw passed(entry);
    if (current.isRead) throw passed(entry);
    current.isRead = true;
    yield* current.content;
  }

  async readSmall(entry: PartEntry): Promise<Uint8Array> {
    return Buffer.concat(await Array.fromAsync(this.read(entry)));
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#listFrom(reader: ByteReader): AsyncGenerator<PartEntry> {
    for (let header = await nextHeader(reader); header !== undefined; header = await nextHeader(reader)) {
      const position = reader.position;
      const known = this.#checksums.get(position);
      const padding = (BLOCK_BYTES - (header.sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
      if (header.kind !== "file") {
        await reader.skip(header.sizeBytes + padding);
        continue;
      }
      yield* this.#listOne(reader, header, known);
      await reader.skip(padding);
    }
  }

  /** Offers a file. The first time, its checksum is known only after its content was read. */
  async *#listOne(reader: ByteReader, header: TarHeader, known: number | undefined): AsyncGenerator<PartEntry> {
    const { position } = reader;
    const { path, sizeBytes, modifiedMs } = header;
    const entry = { path, sizeBytes, crc32: known ?? 0, modifiedMs, position, problem: undefined };
    const content = async function* () {
      for await (const bytes of reader.take(sizeBytes)) {
        if (known === undefined) entry.crc32 = crc32(bytes, entry.crc32);
        yield bytes;
      }
    };
    const current = { entry, content: content(), isRead: false };
    this.#current = current;
    const isReadable = known !== undefined || DESCRIPTION.test(path);
    if (isReadable) yield entry;
    // What nobody has read, and what is left of a file whose reading was given up.
    if (!current.isRead) for await (const _ of current.content);
    await reader.skip(position + sizeBytes - reader.position);
    this.#checksums.set(position, entry.crc32);
    if (!isReadable) yield entry;
  }
}

/** The next header, with the long name before it; undefined at the end. */
async function nextHeader(reader: ByteReader): Promise<TarHeader | undefined> {
  let extension: Partial<TarHeader> = {};
  for (;;) {
    const block = await reader.read(BLOCK_BYTES);
    if (block === undefined || block.every((byte) => byte === 0)) return undefined;
    const header = readHeader(block);
    if (header.kind === "file" || header.kind === "other") return { ...header, ...extension };
    if (header.sizeBytes > EXTENSION_BYTES_MAX) throw new Error("A name is too long.");
    const text = (await reader.read(header.sizeBytes)) ?? Buffer.alloc(0);
    await reader.skip((BLOCK_BYTES - (header.sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
    extension = { ...extension, ...header.extend(text) };
  }
}

function passed({ path }: PartEntry): AppError {
  return new AppError("invalid_request", say`"${path}" can't be read again in this run. Run the import again.`);
}
