/** The archives of a Takeout, as downloaded. */
import type { Message } from "../../../../../translations/say.ts";

/** A file in an archive. */
export interface PartEntry {
  /** As in the archive, without a slash at the start. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly crc32: number;
  /** Unix milliseconds. */
  readonly modifiedMs: number | undefined;
  /** Orders the entries of an archive by their position in it. */
  readonly position: number;
  /** Why it can't be read; undefined if it can. */
  readonly problem: Message | undefined;
}

/** One archive. */
export interface ArchivePart {
  /** File name. */
  readonly name: string;
  /** Whether it can only be read from front to back. */
  readonly isSequential: boolean;
  /**
   * All files in it, in the order of the archive. A sequential archive can be listed several times.
   * @throws AppError invalid_request, possibly in between, if the archive is damaged; as the blob store
   */
  list(signal: AbortSignal): AsyncIterable<PartEntry>;
  /**
   * The content of a file. In a sequential archive, only of the last one that was listed.
   * @throws AppError invalid_request, possibly in between, if it is damaged; as the blob store
   */
  read(entry: PartEntry): AsyncIterable<Uint8Array>;
  /** The whole content of a small file. @throws as {@link read} */
  readSmall(entry: PartEntry): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A file of an archive that is imported. */
export interface IndexedFile {
  readonly part: ArchivePart;
  readonly entry: PartEntry;
}
