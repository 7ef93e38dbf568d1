import { createHash } from "node:crypto";

/** Up to this size an object is sent in one request; a larger one in parts of at least this size. */
export const PART_BYTES = 8 * 1024 * 1024;

/** Largest number of parts of an object (Amazon S3, "multipart upload limits"). */
const PARTS_MAX = 10_000;

/** Computes the ETag of an object of several parts, as Amazon does. Buffers may end anywhere. */
export class MultipartEtag {
  readonly #partBytes: number;
  readonly #parts = createHash("md5");
  #part = createHash("md5");
  #partLength = 0;
  #count = 0;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  update(buffer: Uint8Array): void {
    for (let at = 0; at < buffer.length; ) {
      const bytes = buffer.subarray(at, at + this.#partBytes - this.#partLength);
      this.#part.update(bytes);
      this.#partLength += bytes.length;
      at += bytes.length;
      if (this.#partLength === this.#partBytes) this.#close();
    }
  }

  digest(): string {
    if (this.#partLength > 0) this.#close();
    return `${this.#parts.digest("hex")}-${this.#count}`;
  }

  #close(): void {
    this.#parts.update(this.#part.digest());
    this.#part = createHash("md5");
    this.#partLength = 0;
    this.#count++;
  }
}

/** Size of the parts in which an object of this size is sent. */
export function partBytesOf(sizeBytes: number): number {
  return Math.max(PART_BYTES, Math.ceil(sizeBytes / PARTS_MAX));
}

/** The ETag that Amazon and most other services give an object with these bytes. */
export async function expectedEtag(sizeBytes: number, buffers: AsyncIterable<Uint8Array>): Promise<string> {
  const whole = createHash("md5");
  const multipart = new MultipartEtag(partBytesOf(sizeBytes));
  const isSmall = sizeBytes <= PART_BYTES;
  for await (const buffer of buffers) (isSmall ? whole : multipart).update(buffer);
  return isSmall ? whole.digest("hex") : multipart.digest();
}
