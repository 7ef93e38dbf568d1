/** Contents that are not, or not only, on this disk: what the store asks of the place where they lie. */
import { AppError } from "../errors.ts";
import {
  type BlobIndex,
  type BlobStore,
  contentDamaged,
  contentMissing,
  type BlobWriter,
  type PutOptions,
} from "./blob-store.ts";
import { type Digest, toDigest } from "./digest.ts";

/** The other place. Contents come to it only after they are durable here. */
export interface RemoteStore {
  /** A content that is known to be there. */
  find(digest: Digest): { readonly sizeBytes: number } | undefined;
  /** Whether it is there now, by asking. @throws AppError provider_unavailable */
  isThere(digest: Digest): Promise<boolean>;
  /**
   * A part of a content as it comes.
   * @throws AppError content_missing | content_damaged | provider_unavailable, at the first piece or between two
   */
  read(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncGenerator<Uint8Array, void, undefined>>;
  /** What was read from there is not what its digest says. */
  noteMismatch(digest: Digest): void;
  /** The copy on this disk is used now. */
  noteUse(digest: Digest): void;
  /** A content on this disk has its committed row. @param isNew whether its bytes were just written */
  noteStored(digest: Digest, isNew: boolean): void;
  /** All of it was read from there, and was what its digest says. */
  noteVerified(digest: Digest, sizeBytes: number): void;
}

/** What {@link RemoteReader} works with. */
export interface RemoteReaderOptions {
  readonly remote: RemoteStore;
  readonly index: BlobIndex;
  /** Begins a content on this disk. */
  readonly begin: (options: PutOptions) => BlobWriter;
  /** Takes room on this disk for a copy. @returns what gives it back @throws AppError disk_full */
  readonly reserve: (bytes: number) => () => void;
}

/** Up to this size whoever asks for a content waits until it is here; larger ones are passed on as they come. */
const WAIT_FOR_BYTES_MAX = 64 * 1024 * 1024;

/** Brings contents back. Whatever is read whole is compared with its digest, and kept on this disk. */
export class RemoteReader {
  readonly #options: RemoteReaderOptions;
  readonly #coming = new Map<Digest, Promise<void>>();

  constructor(options: RemoteReaderOptions) {
    this.#options = options;
  }

  /** The other place. */
  get remote(): RemoteStore {
    return this.#options.remote;
  }

  /**
   * Fetches a content to this disk. Callers at the same time wait for the same transfer.
   * @throws AppError content_missing | content_damaged | provider_unavailable | disk_full | storage_error
   */
  fetchLocal(digest: Digest): Promise<void> {
    let coming = this.#coming.get(digest);
    if (coming === undefined) {
      coming = this.#download(digest).finally(() => this.#coming.delete(digest));
      this.#coming.set(digest, coming);
    }
    return coming;
  }

  /** Fetches a content even if this disk has it: the caller's row says that the copy here is damaged. @throws as {@link fetchLocal} */
  replace(digest: Digest): Promise<void> {
    return this.#download(digest);
  }

  /**
   * Makes a content readable without a long wait: small ones are fetched; of large ones, and on a full disk, the place is
   * only asked whether it is there. @throws as {@link fetchLocal}, disk_full excepted
   */
  async reach(digest: Digest): Promise<"here" | "away"> {
    if (this.#sizeOf(digest) <= WAIT_FOR_BYTES_MAX) {
      try {
        await this.fetchLocal(digest);
        return "here";
      } catch (error) {
        if (!(error instanceof AppError) || error.reason !== "disk_full") throw error;
      }
    }
    if (!(await this.remote.isThere(digest))) throw contentMissing(digest);
    return "away";
  }

  /**
   * A part of a content as it comes. The whole is compared with its digest before its last piece is given, and kept on
   * this disk where that has room.
   */
  async open(
    digest: Digest,
    offset: number,
    lengthBytes: number,
  ): Promise<AsyncGenerator<Uint8Array, void, undefined>> {
    const sizeBytes = this.#sizeOf(digest);
    const pieces = await this.remote.read(digest, offset, lengthBytes);
    return offset === 0 && lengthBytes === sizeBytes ? this.#checked(digest, sizeBytes, pieces) : pieces;
  }

  /** A part of a content at once in memory; small contents are fetched for it. */
  async read(digest: Digest, offset: number, lengthBytes: number): Promise<Buffer<ArrayBuffer>> {
    const bytes = Buffer.allocUnsafeSlow(lengthBytes);
    let at = 0;
    for await (const piece of await this.remote.read(digest, offset, lengthBytes)) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** The digest of what is there. Nothing is kept here. */
  async hash(digest: Digest): Promise<Digest> {
    const sizeBytes = this.#sizeOf(digest);
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const piece of await this.remote.read(digest, 0, sizeBytes)) hasher.update(piece);
    const actual = toDigest(hasher.digest("hex"));
    if (actual === digest) this.remote.noteVerified(digest, sizeBytes);
    else this.remote.noteMismatch(digest);
    return actual;
  }

  async #download(digest: Digest): Promise<void> {
    const sizeBytes = this.#sizeOf(digest);
    const release = this.#options.reserve(sizeBytes);
    try {
      const pieces = await this.remote.read(digest, 0, sizeBytes);
      const incoming = this.#begin(sizeBytes);
      try {
        for await (const piece of pieces) await incoming.write(piece);
        await this.#keep(digest, incoming);
      } finally {
        incoming.abort();
      }
    } finally {
      release();
    }
  }

  async *#checked(digest: Digest, sizeBytes: number, pieces: AsyncIterable<Uint8Array>) {
    const incoming = this.#begin(sizeBytes);
    const release = this.#tryToReserve(sizeBytes);
    let hasRoom = release !== undefined;
    const hasher = new Bun.CryptoHasher("sha256");
    let held: Uint8Array | undefined;
    try {
      for await (const piece of pieces) {
        hasher.update(piece);
        hasRoom &&= await this.#tryToWrite(incoming, piece);
        if (held !== undefined) yield held;
        held = piece;
      }
      if (toDigest(hasher.digest("hex")) !== digest) throw this.#damaged(digest);
      if (held !== undefined) yield held;
      if (hasRoom) await this.#keep(digest, incoming);
    } finally {
      incoming.abort();
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

  /** What can't be kept here is passed on all the same. */
  async #tryToWrite(incoming: BlobWriter, piece: Uint8Array): Promise<boolean> {
    try {
      await incoming.write(piece);
      return true;
    } catch (error) {
      if (error instanceof AppError && ["disk_full", "storage_error"].includes(error.reason)) return false;
      throw error;
    }
  }

  async #keep(digest: Digest, incoming: BlobWriter): Promise<void> {
    if (incoming.digest() !== digest) throw this.#damaged(digest);
    const held = await incoming.commit();
    // Its row is there already; where it went meanwhile, so do the bytes.
    held.release(false);
    this.remote.noteVerified(digest, held.sizeBytes);
    this.remote.noteUse(digest);
  }

  #begin(sizeBytes: number): BlobWriter {
    return this.#options.begin({
      limitBytes: sizeBytes,
      tooLarge: () =>
        new AppError(
          "content_damaged",
          "This file is damaged on the server. Upload the same file again, or ask your administrator to restore it.",
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

/** What makes streams of parts of a content, each opened when its first piece is taken; an error ends a stream as one. */
export function lazyBlobStream(
  blobs: Pick<BlobStore, "open">,
  digest: Digest,
): (offset: number, lengthBytes: number) => ReadableStream<Uint8Array> {
  return (offset, lengthBytes) => {
    let pieces: AsyncIterator<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          pieces ??= (await blobs.open(digest, offset, lengthBytes))[Symbol.asyncIterator]();
          const next = await pieces.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        },
        async cancel() {
          await pieces?.return?.();
        },
      },
      { highWaterMark: 0 },
    );
  };
}
