import { constants, readlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "../../../../../errors.ts";
import { errorCode } from "../../../../../lib/error.ts";
import { say } from "../../../../../translations/say.ts";
import type { ZipBlobs } from "../../../../library/zip/zip-source.ts";
import { SourceError } from "../../source.ts";

const READ_BYTES = 256 * 1024;

/** A file on the machine, read at any position like a blob of the store. */
export class FileBytes implements ZipBlobs {
  readonly #file: FileHandle;
  readonly sizeBytes: number;
  /** One for each file that was read at the same time. */
  readonly #buffers: Buffer[] = [];

  private constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** @throws SourceError if there is no such file, or it is a link that is not followed */
  static async open(path: string, followsLinks: boolean): Promise<FileBytes> {
    let file: FileHandle | undefined;
    try {
      const flags = constants.O_RDONLY | constants.O_NONBLOCK;
      file = await open(path, followsLinks ? flags : flags | constants.O_NOFOLLOW);
      const stats = await file.stat();
      // A link could have replaced a folder above it.
      const isHere = followsLinks || readlinkSync(`/proc/self/fd/${file.fd}`) === path;
      if (stats.isFile() && isHere) return new FileBytes(file, stats.size);
    } catch (error) {
      await file?.close();
      const message = say`"${basename(path)}" can't be read. Check its name and permissions. Links in the folder for imports are not followed.`;
      throw new SourceError(message, false, { cause: error });
    }
    await file.close();
    throw new SourceError(say`"${basename(path)}" is not a file.`, false);
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
    for await (const bytes of this.streamReused(offset, lengthBytes)) yield new Uint8Array(bytes);
  }

  /** The bytes of a range. Each chunk is valid until the next one is requested: new memory costs more than the reading. */
  async *streamReused(offset: number, lengthBytes: number): AsyncGenerator<Uint8Array> {
    const end = offset + lengthBytes;
    const buffer = this.#buffers.pop() ?? Buffer.allocUnsafeSlow(READ_BYTES);
    try {
      for (let at = offset; at < end; ) {
        const length = await this.#read(buffer.subarray(0, Math.min(READ_BYTES, end - at)), at);
        yield buffer.subarray(0, length);
        at += length;
      }
    } finally {
      this.#buffers.push(buffer);
    }
  }

  async #read(into: Buffer, offset: number): Promise<number> {
    let length: number;
    try {
      length = (await this.#file.read(into, 0, into.length, offset)).bytesRead;
    } catch (error) {
      const message = say`The archive can't be read (${errorCode(error) ?? ""}). Check the disk, then run the import again.`;
      throw new SourceError(message, true, { cause: error });
    }
    if (length === 0) throw new AppError("invalid_request", say`The archive ends too early.`);
    return length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
