import type { Digest } from "../../../blobs/digest.ts";

/** Where the bytes of contents come from; the store of blobs, or a stand-in for it. */
export interface ContentSource {
  /**
   * A piece of a content. Small ones come at once, others as they are read.
   * @throws AppError content_missing | content_damaged where the content is not there, or not of that size
   */
  open(content: {
    readonly digest: Digest;
    /** Of the whole content, as its row says. */
    readonly sizeBytes: number;
    readonly offset: number;
    readonly lengthBytes: number;
  }): Uint8Array | AsyncIterable<Uint8Array> | Promise<Uint8Array | AsyncIterable<Uint8Array>>;
}

/**
 * An archive that is fully known before a byte of a content is read: a ZIP whose entries are stored as they are. The
 * same files give the same bytes, so that a download that broke off goes on where it was.
 */
export interface ArchivePlan {
  /** To save it under: `Photos.zip`. */
  readonly fileName: string;
  readonly sizeBytes: number;
  /** Strong, with its quotes: over path, size, CRC-32, digest and time of every entry. */
  readonly etag: string;
  /** Files and folders in it. */
  readonly entries: number;
  /** When anything in the accounts concerned last changed: never before what is in the archive. */
  readonly lastModifiedMs: number;
  /** The account whose traffic it is. */
  readonly accountId: number;
  /**
   * Bytes `start` up to, not including, `end`, as they are read. A content that can't be read, or is not what its row says,
   * ends it with an error: the archive is never silently short.
   */
  pieces(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** The same as a stream that reads only as fast as it is taken. */
  stream(start: number, end: number): ReadableStream<Uint8Array>;
}
