import type { Digest } from "../../../blobs/digest.ts";

/** Reads file content: from the blob store, or in tests from a substitute. */
export interface ContentSource {
  /**
   * A range of a file. Small ranges are returned as bytes, others as a stream.
   * @throws AppError content_missing | content_damaged if the blob is missing or has another size
   */
  open(content: {
    readonly digest: Digest;
    /** Size of the whole content according to its row. */
    readonly sizeBytes: number;
    readonly offset: number;
    readonly lengthBytes: number;
  }): Uint8Array | AsyncIterable<Uint8Array> | Promise<Uint8Array | AsyncIterable<Uint8Array>>;
}

/**
 * An archive whose every byte position is known before any file is read: a ZIP of uncompressed entries. The same files
 * give the same bytes, so that an interrupted download can resume.
 */
export interface ArchivePlan {
  /** Name of the downloaded file: `Photos.zip`. */
  readonly fileName: string;
  readonly sizeBytes: number;
  /** Strong, with quotes: a hash of path, size, CRC-32, digest and time of every entry. */
  readonly etag: string;
  /** Files and folders in it. */
  readonly entries: number;
  /** When anything in its accounts last changed: never earlier than the content of the archive. */
  readonly lastModifiedMs: number;
  /** The account charged with the traffic. */
  readonly accountId: number;
  /**
   * Bytes `start` to `end` (exclusive), read on demand. Throws if a file cannot be read or does not match its row: the
   * archive is never silently short.
   */
  chunks(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined>;
  /** The same as a stream that reads only as fast as its consumer. */
  stream(start: number, end: number): ReadableStream<Uint8Array>;
}
