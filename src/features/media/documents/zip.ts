/** Reads entries of ZIP files, which office documents and books are, within limits that a ZIP bomb cannot exceed. */
import type { Readable } from "node:stream";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { errorCode, messageOf } from "../../../lib/error.ts";
import { ContentFault } from "../processes/content-fault.ts";

/** A workbook of thousands of sheets and pictures has fewer. */
const ENTRIES_MAX = 20_000;
/** Bytes unpacked from one file: a document with 10 MB of text has 60 MB of XML. */
const UNPACKED_BYTES_MAX = 100 * 1024 * 1024;

/**
 * Opens a ZIP file, and closes it after `use`.
 * @throws ContentFault if it is damaged or beyond a limit; the system's error if the file cannot be read
 */
export async function withZip<T>(path: string, use: (zip: Zip) => Promise<T>): Promise<T> {
  let file: ZipFile | undefined;
  try {
    file = await openPromise(path, { lazyEntries: true, autoClose: false });
    return await use(new Zip(file, await listEntries(file)));
  } catch (error) {
    // Errors of the system have a code in capitals; those of zlib begin with Z.
    if (error instanceof ContentFault || /^E[A-Z]+$/.test(errorCode(error) ?? "")) throw error;
    throw new ContentFault(`it is damaged: ${messageOf(error)}`, error);
  } finally {
    file?.close();
  }
}

async function listEntries(file: ZipFile): Promise<Map<string, Entry>> {
  if (file.entryCount > ENTRIES_MAX) throw new ContentFault(`it has more than ${ENTRIES_MAX} entries`);
  const entries = new Map<string, Entry>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  file.on("entry", (entry: Entry) => {
    entries.set(entry.fileName, entry);
    file.readEntry();
  });
  file.on("end", resolve);
  file.on("error", reject);
  file.readEntry();
  await promise;
  return entries;
}

/** An open ZIP file. */
export class Zip {
  /** In the order of the file. */
  readonly names: readonly string[];
  readonly #file: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  #leftBytes = UNPACKED_BYTES_MAX;

  constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
    this.names = [...entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Names that match, in the order of the numbers in them: slide2 before slide10. */
  matching(pattern: RegExp): string[] {
    return this.names.filter((name) => pattern.test(name)).sort((a, b) => numberIn(a) - numberIn(b));
  }

  /** The bytes of an entry as they are unpacked; none if there is no such entry. Stop early to unpack no more. */
  async *stream(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    if (entry.isEncrypted()) throw new ContentFault("it is encrypted with a password");
    const stream: Readable = await this.#file.openReadStreamPromise(entry);
    try {
      for await (const chunk of stream) {
        if (!(chunk instanceof Buffer)) continue;
        this.#leftBytes -= chunk.length;
        if (this.#leftBytes < 0) throw new ContentFault(`it unpacks to more than ${UNPACKED_BYTES_MAX} bytes`);
        yield chunk;
      }
    } finally {
      stream.destroy();
    }
  }

  /** The whole entry; undefined if there is none or it has more bytes. */
  async read(name: string, bytesMax: number): Promise<Buffer | undefined> {
    if (!this.has(name)) return undefined;
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of this.stream(name)) {
      sizeBytes += chunk.length;
      if (sizeBytes > bytesMax) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

function numberIn(name: string): number {
  return Number(/(\d+)\D*$/.exec(name)?.[1] ?? 0);
}
