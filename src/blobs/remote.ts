/** Blobs in a remote store: what the blob store needs of it, and how blobs are fetched from it. */
import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import {
  type BlobIndex,
  type BlobRef,
  type BlobStore,
  contentDamaged,
  contentMissing,
  type BlobWriter,
  type PutOptions,
} from "./blob-store.ts";
import { type Digest, toDigest } from "./digest.ts";

/** A remote store. A blob is sent to it only after it is durable on this disk. */
export interface RemoteStore {
  /**
   * Sends a leased blob of this disk, unless the remote store is known to have it. Without this function blobs are sent in
   * the background, after their rows are committed.
   * @throws AppError provider_unavailable | storage_error
   */
  readonly sendNow?: ((blob: BlobRef) => Promise<void> | undefined) | undefined;
  /** A blob that the remote store is known to have. */
  find(digest: Digest): { readonly sizeBytes: number } | undefined;
  /** Asks the service whether it has the blob now. @throws AppError provider_unavailable */
  isThere(digest: Digest): Promise<boolean>;
  /**
   * Streams a range of a blob.
   * @throws AppError content_missing | content_damaged | provider_unavailable, at the first buffer or in mid-stream
   */
  read(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncGenerator<Uint8Array, void, undefined>>;
  /** The bytes that were read do not match the digest. */
  noteMismatch(digest: Digest): void;
  /** The copy on this disk was just used. */
  noteUse(digest: Digest): void;
  /** A blob on this disk has its committed row. @param isNew whether its bytes were just written */
  noteStored(digest: Digest, isNew: boolean): void;
  /** The whole blob was read and matches its digest. */
  noteVerified(digest: Digest, sizeBytes: number): void;
}

/** Dependencies of {@link RemoteReader}. */
interface RemoteReaderOptions {
  readonly remote: RemoteStore;
  readonly index: BlobIndex;
  /** Begins a blob on this disk. */
  readonly begin: (options: PutOptions) => BlobWriter;
  /** Reserves space on this disk for a copy. @returns what releases it @throws AppError disk_full */
  readonly reserve: (bytes: number) => () => void;
}

/** Up to this size a reader waits until the blob is on this disk; larger blobs are streamed. */
const WAIT_FOR_BYTES_MAX = 64 * 1024 * 1024;

/** Reads blobs of a remote store. A blob that is read whole is compared with its digest, and stored on this disk. */
export class RemoteReader {
  readonly #options: RemoteReaderOptions;
  readonly #transfers = new Map<Digest, Promise<void>>();

  constructor(options: RemoteReaderOptions) {
    this.#options = options;
  }

  /** The store that it reads. */
  get remote(): RemoteStore {
    return this.#options.remote;
  }

  /**
   * Fetches a blob to this disk. Concurrent callers wait for the same transfer.
   * @throws AppError content_missing | content_damaged | provider_unavailable | disk_full | storage_error
   */
  fetchLocal(digest: Digest): Promise<void> {
    let transfer = this.#transfers.get(digest);
    if (transfer === undefined) {
      transfer = this.#download(digest).finally(() => this.#transfers.delete(digest));
      this.#transfers.set(digest, transfer);
    }
    return transfer;
  }

  /** Fetches a blob even if this disk has it, because its copy here is damaged. @throws as {@link fetchLocal} */
  replace(digest: Digest): Promise<void> {
    return this.#download(digest);
  }

  /**
   * Makes a blob readable without a long wait. A small one is fetched. For a large one, or on a full disk, the service is
   * only asked whether it has it. @throws as {@link fetchLocal}, except disk_full
   */
  async prepareRead(digest: Digest): Promise<"local" | "remote"> {
    if (this.#sizeOf(digest) <= WAIT_FOR_BYTES_MAX) {
      try {
        await this.fetchLocal(digest);
        return "local";
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== "disk_full") throw error;
      }
    }
    if (!(await this.remote.isThere(digest))) throw contentMissing(digest);
    return "remote";
  }

  /**
   * Streams a range of a blob. A whole blob is compared with its digest before its last buffer is returned, and stored on
   * this disk if there is space.
   */
  async open(
    digest: Digest,
    offset: number,
    lengthBytes: number,
  ): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    const sizeBytes = this.#sizeOf(digest);
    const buffers = await this.remote.read(digest, offset, lengthBytes);
    return offset === 0 && lengthBytes === sizeBytes ? this.#verifyAndStore(digest, sizeBytes, buffers) : buffers;
  }

  /** Reads a range of a blob into memory. */
  async read(digest: Digest, offset: number, lengthBytes: number): Promise<Buffer<ArrayBuffer>> {
    const bytes = Buffer.allocUnsafeSlow(lengthBytes);
    let at = 0;
    for await (const buffer of await this.remote.read(digest, offset, lengthBytes)) {
      bytes.set(buffer, at);
      at += buffer.length;
    }
    return bytes;
  }

  /** Reads the whole blob and returns the digest of its bytes. Stores nothing on this disk. */
  async hash(digest: Digest): Promise<Digest> {
    const sizeBytes = this.#sizeOf(digest);
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const buffer of await this.remote.read(digest, 0, sizeBytes)) hasher.update(buffer);
    const actual = toDigest(hasher.digest("hex"));
    if (actual === digest) this.remote.noteVerified(digest, sizeBytes);
    else this.remote.noteMismatch(digest);
    return actual;
  }

  async #download(digest: Digest): Promise<void> {
    const sizeBytes = this.#sizeOf(digest);
    const release = this.#options.reserve(sizeBytes);
    try {
      const buffers = await this.remote.read(digest, 0, sizeBytes);
      const writer = this.#begin(sizeBytes);
      try {
        for await (const buffer of buffers) await writer.write(buffer);
        await this.#store(digest, writer);
      } finally {
        writer.abort();
      }
    } finally {
      release();
    }
  }

  async *#verifyAndStore(digest: Digest, sizeBytes: number, buffers: AsyncIterable<Uint8Array>) {
    const writer = this.#begin(sizeBytes);
    const release = this.#tryToReserve(sizeBytes);
    let hasSpace = release !== undefined;
    const hasher = new Bun.CryptoHasher("sha256");
    let previous: Uint8Array | undefined;
    try {
      for await (const buffer of buffers) {
        hasher.update(buffer);
        hasSpace &&= await this.#tryToWrite(writer, buffer);
        if (previous !== undefined) yield previous;
        previous = buffer;
      }
      if (toDigest(hasher.digest("hex")) !== digest) throw this.#damaged(digest);
      if (previous !== undefined) yield previous;
      if (hasSpace) await this.#store(digest, writer);
    } finally {
      writer.abort();
      release?.();
    }
  }

  #tryToReserve(bytes: number): (() => void) | undefined {
    try {
      return this.#options.reserve(bytes);
    } catch (error) {
      if (error instanceof AppError && error.reason === "disk_full") return undefined;
      throw error;
    }
  }

  /** @returns false if the disk failed or is full: the reader gets the bytes all the same */
  async #tryToWrite(writer: BlobWriter, buffer: Uint8Array): Promise<boolean> {
    try {
      await writer.write(buffer);
      return true;
    } catch (error) {
      if (error instanceof AppError && ["disk_full", "storage_error"].includes(error.reason)) return false;
      throw error;
    }
  }

  async #store(digest: Digest, writer: BlobWriter): Promise<void> {
    if (writer.digest() !== digest) throw this.#damaged(digest);
    const lease = await writer.commit();
    // The row exists already. Where it was deleted since, this deletes the bytes as well.
    lease.release(false);
    this.remote.noteVerified(digest, lease.sizeBytes);
    this.remote.noteUse(digest);
  }

  #begin(sizeBytes: number): BlobWriter {
    return this.#options.begin({
      limitBytes: sizeBytes,
      tooLarge: () =>
        new AppError(
          "content_damaged",
          say`This file is damaged on the server. Upload the same file again, or ask your administrator to restore it.`,
        ),
    });
  }

  #damaged(digest: Digest): AppError {
    this.remote.noteMismatch(digest);
    return contentDamaged(digest);
  }

  /** @throws AppError content_missing */
  #sizeOf(digest: Digest): number {
    const row = this.#options.index.find(digest);
    if (row === undefined) throw contentMissing(digest);
    return row.sizeBytes;
  }
}

/** Returns a function that makes streams of ranges of a blob. A stream is opened when its first buffer is read. */
export function lazyBlobStream(
  blobs: Pick<BlobStore, "open">,
  digest: Digest,
): (offset: number, lengthBytes: number) => ReadableStream<Uint8Array> {
  return (offset, lengthBytes) => {
    let iterator: AsyncIterator<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          iterator ??= (await blobs.open(digest, offset, lengthBytes))[Symbol.asyncIterator]();
          const next = await iterator.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        },
        async cancel() {
          await iterator?.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  };
}
