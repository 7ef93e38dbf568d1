import { AppError } from "../errors.ts";
import { say } from "../translations/say.ts";
import { type Digest, toChecksum } from "./digest.ts";

/** A stored blob, as the database needs to know it. */
export interface BlobRef {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** CRC-32 (ISO 3309) of the whole blob, unsigned. */
  readonly crc32: number;
}

/**
 * A lease on a blob that was just stored and has no row yet. Garbage collection leaves a leased blob alone. The caller
 * releases the lease once its row is committed or given up.
 */
export interface BlobLease extends BlobRef {
  /** False if the blob was stored already and nothing was written. */
  readonly isNew: boolean;
  /**
   * Ends the lease. The bytes are deleted if no row names them and no other upload has a lease on them.
   * @param isNamed whether a committed row of the caller names the blob now
   */
  release(isNamed: boolean): void;
}

/** Limits of a new blob. */
export interface PutOptions {
  /** Largest size accepted; the first byte beyond it ends the write. */
  readonly limitBytes: number;
  /** Makes the error that is thrown at the first byte beyond the limit. */
  readonly tooLarge: () => Error;
}

/**
 * Immutable blobs on disk, named by their digest. Knows no users and no file names.
 *
 * A caller may rely on this: a committed blob is durable (bytes and folder entry) and whole; it never changes; equal
 * bytes are stored once; after an error nothing new is visible. A committed row of the database decides whether a blob
 * is there (see {@link BlobIndex}), never the existence of a file.
 */
export interface BlobStore {
  /** Begins a new blob. The caller writes the bytes as they arrive, then commits or aborts. */
  begin(options: PutOptions): BlobWriter;
  /**
   * Stores a finished, durable file as a blob. On the store's own file system nothing is copied: the file gets a second
   * name in the store. On another file system the bytes are copied, a buffer at a time.
   *
   * The first name stays, so a rejection at the last moment loses nothing. The caller deletes it once the blob has its
   * row, and never writes to it again.
   * @param blob digest, size and CRC-32 of the file
   * @throws AppError disk_full | storage_error | store_missing
   */
  adopt(path: string, blob: BlobRef): Promise<BlobLease>;
  /** Path of the blob, for sendfile and for the thumbnail process. The file may be missing: see {@link fetchLocal}. */
  pathOf(digest: Digest): string;
  /**
   * Size of the blob as stored, on this disk or in the remote store; undefined if neither has it. A symbolic link
   * counts as no blob and is not followed.
   */
  stat(digest: Digest): { sizeBytes: number } | undefined;
  /**
   * Fetches a blob from the remote store to this disk. For at least ten minutes after that, {@link pathOf},
   * {@link readSmall} and {@link readRange} find it. Returns undefined and does nothing if the blob is on this disk
   * already or the remote store does not have it.
   * @throws (rejects) AppError content_missing | content_damaged | provider_unavailable | disk_full
   */
  fetchLocal(digest: Digest): Promise<void> | undefined;
  /**
   * Like {@link fetchLocal}, for callers that can use a stream. A blob that would take long to fetch is only looked up in
   * the remote store (`remote`); {@link open} then streams it.
   */
  prepareRead(digest: Digest): Promise<"local" | "remote"> | undefined;
  /** Streams a range of a blob from this disk or the remote store. @throws as {@link fetchLocal}, also in mid-stream */
  open(digest: Digest, offset: number, lengthBytes: number): Promise<AsyncIterable<Uint8Array>>;
  /** Like {@link readRange}, also from the remote store. Synchronous if the blob is on this disk. @throws as both */
  read(digest: Digest, offset: number, lengthBytes: number): Buffer<ArrayBuffer> | Promise<Buffer<ArrayBuffer>>;
  /**
   * Reads a whole small blob synchronously (some microseconds for 10 KiB).
   * @param into as for {@link readRange}
   * @throws AppError content_missing
   */
  readSmall(digest: Digest, sizeBytes: number, into?: Buffer<ArrayBuffer>): Buffer<ArrayBuffer>;
  /**
   * Reads a small range of a blob synchronously.
   * @param into a buffer that is long enough; the result is its beginning. Without it, a new buffer.
   * @throws AppError content_missing if the blob is missing or shorter
   */
  readRange(digest: Digest, offset: number, lengthBytes: number, into?: Buffer<ArrayBuffer>): Buffer<ArrayBuffer>;
  /**
   * Reads the whole blob again, on this disk or in the remote store, and returns the digest of its bytes.
   * @throws AppError content_missing | storage_error | provider_unavailable
   */
  hash(digest: Digest): Promise<Digest>;
  /** Whether an upload has a lease on this blob. Garbage collection leaves it alone then. */
  isLeased(digest: Digest): boolean;
  /**
   * Moves a blob to quarantine, where it stays until {@link unlinkQuarantined}. Synchronous, so that no upload of the same
   * bytes comes between the caller's decision and the move. Does nothing if the blob is missing.
   */
  quarantine(digest: Digest): void;
  /** Deletes a blob from quarantine. Does nothing if it is missing. */
  unlinkQuarantined(digest: Digest): void;
  /** Files on disk under one first byte (`00` … `ff`), for the search for orphans. */
  listFolder(firstByte: string): { digest: Digest; modifiedAtMs: number }[];
}

/** The rows of blobs in the database, as far as the store needs them. */
export interface BlobIndex {
  /** The committed row of a blob, if there is one. */
  find(digest: Digest): { sizeBytes: number; isDamaged: boolean } | undefined;
  /** Whether the row says that the blob is damaged; costs nothing while no blob is. */
  isDamaged?(digest: Digest): boolean;
}

/** Writes one new blob. Exactly one of `commit` and `abort` ends it. */
export interface BlobWriter {
  /** Bytes written so far. */
  readonly sizeBytes: number;
  /** The first bytes (at most 4,100), for detecting the media type. */
  readonly head: Uint8Array;
  /**
   * Writes the next bytes; the caller may reuse the buffer once this returned or resolved. A promise is backpressure.
   * @throws the `tooLarge` error; AppError disk_full | storage_error
   */
  write(bytes: Uint8Array): Promise<void> | void;
  /** Digest of all written bytes; ends the writing. */
  digest(): Digest;
  /** Makes the blob durable. After an error nothing is left behind. @throws AppError disk_full | storage_error | store_missing */
  commit(): Promise<BlobLease>;
  /** Deletes the written bytes. Never throws; safe to call after `commit`. */
  abort(): void;
}

/** The error for a blob whose last read did not match its digest: it is never sent as if it were whole. */
export function contentDamaged(digest: Digest): AppError {
  return new AppError(
    "content_damaged",
    say`This file is damaged on the server. Upload the same file again, or ask your administrator to restore it.`,
    { checksum: toChecksum(digest) },
  );
}

/** The error for a blob that has a row but no bytes. */
export function contentMissing(digest: Digest): AppError {
  return new AppError(
    "content_missing",
    say`This file is missing on the server. Upload the same file again, or ask your administrator to restore it.`,
    { checksum: toChecksum(digest) },
  );
}
