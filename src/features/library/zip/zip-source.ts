/** Reads a stored ZIP file at any position, on this disk or in the remote store. */
import { Readable } from "node:stream";
import { RandomAccessReader } from "yauzl";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";

/** The part of the blob store that is needed. */
export type ZipBlobs = Pick<BlobStore, "read" | "open" | "fetchLocal">;

/** A ZIP file, by its content. */
export interface ZipBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** Bytes read at once. The directory is read from front to back, in pieces of some 50 bytes. */
const WINDOW_BYTES = 256 * 1024;

/** Gives yauzl the bytes of a blob. It reads from a window, so that the remote store gets few requests. */
export class ZipSource extends RandomAccessReader {
  readonly #blobs: ZipBlobs;
  readonly #blob: ZipBlob;
  readonly #windowBytes: number;
  #window: { readonly start: number; readonly bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };

  /** @param windowBytes how much is read at once; less if only one header is needed */
  constructor(blobs: ZipBlobs, blob: ZipBlob, windowBytes = WINDOW_BYTES) {
    super();
    this.#windowBytes = windowBytes;
    this.#blobs = blobs;
    this.#blob = blob;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    report: (error: Error | null) => void,
  ): void {
    this.readAt(position, length).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        report(null);
      },
      (error: unknown) =>
        report(error instanceof Error ? error : new Error("The file can't be read.", { cause: error })),
    );
  }

  /** @throws RangeError outside of the file; as {@link BlobStore.read} */
  async readAt(position: number, length: number): Promise<Buffer> {
    const { sizeBytes, digest } = this.#blob;
    if (position < 0 || position + length > sizeBytes) throw new RangeError("The ZIP file ends too early.");
    const { start, bytes } = this.#window;
    if (position < start || position + length > start + bytes.length) {
      const windowBytes = Math.max(length, Math.min(this.#windowBytes, sizeBytes - position));
      this.#window = { start: position, bytes: await this.#blobs.read(digest, position, windowBytes) };
    }
    const from = position - this.#window.start;
    return this.#window.bytes.subarray(from, from + length);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const { digest } = this.#blob;
    const blobs = this.#blobs;
    const read = async function* () {
      yield* await blobs.open(digest, start, end - start);
    };
    return Readable.from(read());
  }
}
