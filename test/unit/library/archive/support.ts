import { crc32 } from "node:zlib";
import { type Digest, digestToBytes } from "../../../../src/blobs/digest.ts";
import { Entries } from "../../../../src/features/library/archive/entries.ts";
import { archiveBytes, archiveChunks } from "../../../../src/features/library/archive/chunks.ts";
import type { ContentSource } from "../../../../src/features/library/archive/types.ts";

/** A file or a folder (a path that ends with a slash) to archive. */
export interface Item {
  readonly path: string;
  /** The length of a file of zeros, instead of content. */
  readonly content?: Uint8Array | number;
}

const ZEROS = new Uint8Array(1024 * 1024);

/** The CRC-32 of this many zeros. */
function crcOfZeros(bytes: number): number {
  let crc = 0;
  for (let left = bytes; left > 0; left -= ZEROS.length) crc = crc32(ZEROS.subarray(0, left), crc);
  return crc;
}

async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left);
}

/** An archive of content in memory. Files of zeros use no memory. */
export class TestArchive {
  readonly entries = new Entries();
  readonly contents = new Map<string, Uint8Array | number>();
  readonly #folders = new Map<string, number>();
  readonly source: ContentSource = {
    open: ({ digest, offset, lengthBytes }) => {
      const content = this.contents.get(digest) ?? 0;
      return typeof content === "number" ? zeros(lengthBytes) : content.subarray(offset, offset + lengthBytes);
    },
  };

  constructor(items: readonly Item[]) {
    const crcs = new Map<number, number>();
    for (const { path, content = new Uint8Array() } of items) {
      const isFolder = path.endsWith("/");
      const segments = path.split("/").filter((segment) => segment !== "");
      const folder = segments.slice(0, -1).join("/");
      const digest = (path.length.toString(16) + Buffer.from(path).toString("hex"))
        .padEnd(64, "0")
        .slice(-64) as Digest;
      let crc = 0;
      if (typeof content !== "number") crc = crc32(content);
      else crc = crcs.get(content) ?? crcOfZeros(content);
      if (typeof content === "number") crcs.set(content, crc);
      const number = this.entries.add({
        parent: folder === "" ? -1 : (this.#folders.get(folder) ?? -1),
        name: segments.at(-1) ?? "",
        isFolder,
        sizeBytes: typeof content === "number" ? content : content.length,
        crc32: crc,
        modifiedSeconds: Date.UTC(2026, 0, 2, 3, 4, 5) / 1_000,
        digest: isFolder ? null : digestToBytes(digest),
      });
      if (isFolder) this.#folders.set(segments.join("/"), number);
      else this.contents.set(digest, content);
    }
  }

  get sizeBytes(): number {
    return archiveBytes(this.entries);
  }

  chunks(start = 0, end = this.sizeBytes): AsyncGenerator<Uint8Array> {
    return archiveChunks(this.entries, this.source, start, end);
  }

  async bytes(start = 0, end = this.sizeBytes): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.chunks(start, end)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}
