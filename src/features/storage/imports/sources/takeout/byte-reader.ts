/** Reads exact numbers of bytes from a stream. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal;
  #rest: Uint8Array = new Uint8Array();
  /** Bytes read so far. */
  position = 0;

  /** @param signal ends reading, also within a long file that is skipped */
  constructor(source: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    this.#source = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /** The next bytes; undefined at the end. @throws Error if the stream ends within them */
  async read(lengthBytes: number): Promise<Buffer | undefined> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length < lengthBytes) {
      const bytes = await this.#next(lengthBytes - length);
      if (bytes === undefined && length === 0) return undefined;
      if (bytes === undefined) throw new Error("The file ends too early.");
      chunks.push(bytes);
      length += bytes.length;
    }
    return Buffer.concat(chunks);
  }

  /** Streams the next bytes. @throws Error if the stream ends within them */
  async *take(lengthBytes: number): AsyncGenerator<Uint8Array> {
    for (let left = lengthBytes; left > 0; ) {
      const bytes = await this.#next(left);
      if (bytes === undefined) throw new Error("The file ends too early.");
      left -= bytes.length;
      yield bytes;
    }
  }

  async skip(lengthBytes: number): Promise<void> {
    for await (const _ of this.take(lengthBytes));
  }

  async #next(lengthMax: number): Promise<Uint8Array | undefined> {
    this.#signal.throwIfAborted();
    while (this.#rest.length === 0) {
      const { done, value } = await this.#source.next();
      if (done === true) return undefined;
      this.#rest = value;
    }
    const bytes = this.#rest.subarray(0, lengthMax);
    this.#rest = this.#rest.subarray(bytes.length);
    this.position += bytes.length;
    return bytes;
  }
}
