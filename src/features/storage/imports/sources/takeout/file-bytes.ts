import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../../../../errors.ts";
import { errorCode } from "../../../../../lib/error.ts";
import type { ZipBlobs } from "../../../../library/zip/zip-source.ts";
import { SourceError } from "../../source.ts";

const READ_BYTES = 256 * 1024;

/** A file on the machine, read at any position like a blob of the store. */
export class FileBytes implements ZipBlobs {
  readonly #file: FileHandle;
  readonly sizeBytes: number;

  private constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** @throws SourceError if there is no such file */
  static async open(path: string): Promise<FileBytes> {
    let file: FileHandle | undefined;
    try {
      file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat();
      if (stats.isFile()) return new FileBytes(file, stats.size);
    } catch (error) {
      await file?.close();
      throw new SourceError(`${path} can't be read. Check its name and permissions.`, false, { cause: error });
    }
    await file.close();
    throw new SourceError(`${path} is not a file.`, false);
  }

  fetchLocal(): undefined {
    return undefined;
  }

  async read(_digest: unknown, offset: number, lengthBytes: number): Promise<Buffer<ArrayBuffer>> {
    const buffer = Buffer.alloc(lengthBytes);
    for (let length = 0; length < lengthBytes; ) length += await this.#read(buffer.subarray(length), offset + length);
    return buffer;
  }

  async open(_digest: unknown, offset: number, lengthBytes: number): Promise<AsyncIterable<Uint8Array>> {
    return this.stream(offset, lengthBytes);
  }

  /** The bytes of a range. */
  async *stream(offset = 0, lengthBytes = this.sizeBytes - offset): AsyncGenerator<Uint8Array> {
    const end = offset + lengthBytes;
    for (let at = offset; at < end; ) {
      const bytes = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, end - at));
      const length = await this.#read(bytes, at);
      yield bytes.subarray(0, length);
      at += length;
    }
  }

  async #read(into: Buffer, offset: number): Promise<number> {
    let length: number;
    try {
      length = (await this.#file.read(into, 0, into.length, offset)).bytesRead;
    } catch (error) {
      const message = `The archive can't be read (${errorCode(error)}). Check the disk, then run the import again.`;
      throw new SourceError(message, true, { cause: error });
    }
    if (length === 0) throw new AppError("invalid_request", "The archive ends too early.");
    return length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
