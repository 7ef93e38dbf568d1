import { AppError } from "../errors.ts";
import { type Digest, toChecksum } from "./digest.ts";

/** A stored content: what the database needs to know of it. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** CRC-32 (ISO 3309) of the whole, unsigned. */
  readonly crc32: number;
}

/**
 * A content that was just stored and has no row yet. Until `release` is called the collector leaves it alone;
 * the caller releases it when its row is committed or given up.
 */
export interface BlobLease extends BlobRef {
  /** False where this very content was there already and nothing was written. */
  readonly isNew: boolean;
  /**
   * Lets go. Where nobody gave the content a row, and no other upload holds it, its bytes are removed again.
   * @param isNamed whether a committed row of the caller's names it now
   */
  release(isNamed: boolean): void;
}

/** What a caller wants of a new content beforehand. */
export interface PutOptions {
  /** Largest size accepted; the first byte beyond it ends the reading. */
  readonly limitBytes: number;
  /** The error to throw at the first byte beyond the limit. */
  readonly tooLarge: () => Error;
}

/**
 * Immutable contents on disk, named by their digest. Knows no users and no names.
 *
 * What a caller may rely on: a blob that `store` gave is durable (content and folder entry) and whole; it never
 * changes; equal content is kept once; after any error nothing new is visible. Whether a content is "there" is
 * decided by a committed row of the database (see {@link BlobIndex}), never by a file's existence.
 */
export interface BlobStore {
  /** Begins a new content. The caller writes pieces as they come, then stores or discards it. */
  begin(options: PutOptions): BlobWriter;
  /**
   * Takes over a finished, durable file as a content, without copying where it lies on the store's file system: it gets a
   * second name in the store. The first name stays; who gave it removes it once the content has its row, and from then
   * on never writes to it. So nothing is lost in between, and a refusal at the last moment leaves the file as it was.
   * On another file system the bytes are copied, in bounded pieces.
   * @param content what the file was found to hold
   * @throws AppError disk_full | storage_error | store_missing
   */
  adopt(path: string, content: BlobRef): Promise<BlobLease>;
  /** Where the bytes lie, for sendfile and for the thumbnail process. No promise that they are there: see {@link fetchLocal}. */
  pathOf(digest: Digest): string;
  /**
   * Size of the content as it is kept, on this disk or in another place; undefined where it is in neither. Links are not
   * followed: a link counts as none (D49).
   */
  stat(digest: Digest): { sizeBytes: number } | undefined;
  /**
   * Fetches a content to this disk from another place. {@link pathOf}, {@link readSmall} and {@link readRange} find it then,
   * for ten minutes at least. Undefined, and nothing done, where it is on this disk already or is in no other place.
   * @throws (rejects) AppError content_missing | content_damaged | provider_unavailable | disk_full
   */
  fetchLocal(digest: Digest): Promise<void> | undefined;
  /**
   * As {@link fetchLocal}, for callers that can use a stream: a content that would take long is not fetched. Its place is
   * only asked whether it is there (`away`); {@link open} then streams it.
   */
  prepareRead(digest: Digest): Promise<"here" | "away"> | undefined;
  /** A part of a content as it comes, wherever it lies. @throws as {@link fetchLocal}, before the first piece or between two */
  open(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncIterable<Uint8Array>>;
  /** As {@link readRange}, wherever the content lies: at once where that is here. @throws as both */
  read(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>>;
  /** The whole of a small content, read at once in place (some microseconds for 10 KiB). @throws AppError content_missing */
  readSmall(digest: Digest, sizeBytes: number): Buffer<ArrayBuffer>;
  /**
   * A small piece of a content, read at once in place.
   * @throws AppError content_missing where there is no such content, or it is shorter than that
   */
  readRange(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer>;
  /**
   * Reads the whole content again, where it lies, and gives the digest of what is there.
   * @throws AppError content_missing | storage_error | provider_unavailable
   */
  hash(digest: Digest): Promise<Digest>;
  /** Whether an upload is about to name this content; the collector leaves it alone then. */
  isLeased(digest: Digest): boolean;
  /**
   * Takes a content out of the store and keeps it aside until {@link unlinkQuarantined}. Synchronous, so that no upload
   * of the same bytes comes between the decision and the deed. Nothing happens where the content is not there.
   */
  quarantine(digest: Digest): void;
  /** Removes a content that was set aside. Nothing happens where it is gone already. */
  unlinkQuarantined(digest: Digest): void;
  /** What lies on disk under one first byte (`00` … `ff`), for the search for leftovers. */
  listFolder(firstByte: string): { digest: Digest; modifiedAtMs: number }[];
}

/** What the store asks of the database: is this content kept already, and is it believed to be whole? */
export interface BlobIndex {
  /** The committed row of this content, if there is one. */
  find(digest: Digest): { sizeBytes: number; isDamaged: boolean } | undefined;
  /** The same question for one that is about to be sent; costs nothing while no content is damaged. */
  isDamaged?(digest: Digest): boolean;
}

/** A content on its way in. Exactly one of `store` and `discard` ends it. */
export interface BlobWriter {
  /** Bytes written so far. */
  readonly sizeBytes: number;
  /** The first bytes (at most 4,100), for telling the media type. */
  readonly head: Uint8Array;
  /**
   * Takes the next piece; the caller may reuse it once this returned or resolved. A promise is backpressure.
   * @throws the `tooLarge` error; AppError disk_full | storage_error
   */
  write(piece: Uint8Array): Promise<void> | void;
  /** Digest of all that was written; ends the writing. */
  digest(): Digest;
  /** Makes the content durable. On any error nothing is left behind. @throws AppError disk_full | storage_error | store_missing */
  commit(): Promise<BlobLease>;
  /** Drops what was written. Never throws; safe to call after `store`. */
  abort(): void;
}

/** What is said of a content that its last reading found unlike its digest: it is never sent as if it were whole (D9). */
export function contentDamaged(digest: Digest): AppError {
  return new AppError(
    "content_damaged",
    "This file is damaged on the server. Upload the same file again, or ask your administrator to restore it.",
    { checksum: toChecksum(digest) },
  );
}

/** What is said where a content that has a row has no bytes. */
export function contentMissing(digest: Digest): AppError {
  return new AppError(
    "content_missing",
    "This file is missing on the server. Upload the same file again, or ask your administrator to restore it.",
    { checksum: toChecksum(digest) },
  );
}
