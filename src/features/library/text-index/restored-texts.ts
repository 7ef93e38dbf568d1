/** More than the longest text has. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Texts that are not in the index and were read again, in memory: the last ones. */
export class RestoredTexts {
  /** The one that was used last is at the end. */
  readonly #texts = new Map<number, Uint8Array>();
  #bytes = 0;

  set(blobId: number, text: Uint8Array): void {
    this.delete(blobId);
    this.#texts.set(blobId, text);
    this.#bytes += text.byteLength;
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= BYTES_MAX || oldest === blobId) break;
      this.delete(oldest);
    }
  }

  get(blobId: number): Uint8Array | undefined {
    const text = this.#texts.get(blobId);
    if (text === undefined) return undefined;
    this.#texts.delete(blobId);
    this.#texts.set(blobId, text);
    return text;
  }

  delete(blobId: number): void {
    this.#bytes -= this.#texts.get(blobId)?.byteLength ?? 0;
    this.#texts.delete(blobId);
  }
}
