/** What an import from another system reads: a source offers files, albums, and what it can't offer. */
import type { Message } from "../../../translations/say.ts";

/** The systems that files are imported from. */
export const SOURCE_KINDS = ["takeout", "nextcloud", "immich"] as const;

/** A system that files are imported from. */
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** A system with files to import. */
export interface ImportSource {
  readonly kind: SourceKind;
  /**
   * Whether equal content is stored once, with the albums of all its copies: true for photo libraries, which put a copy
   * of a photo into each album. False for file trees, where copies in several folders are intended.
   */
  readonly mergesCopies: boolean;
  /**
   * Names the source in every run, such as its address and the account there: the keys of its files are unique in it.
   * Contains no secret.
   */
  readonly identity: string;
  /** Whether a file can be opened only until the next entry is requested, as in a stream. Each file is opened once then. */
  readonly isSequential?: true;
  /** Offers everything, in an order that is the same for an unchanged source. Holds a bounded part of the list in memory. */
  entries(signal: AbortSignal): AsyncIterable<SourceEntry>;
  /** Closes files and connections. */
  close(): Promise<void>;
}

/** What a source offers, one at a time. */
export type SourceEntry =
  | { readonly type: "file"; readonly file: SourceFile }
  | { readonly type: "album"; readonly album: SourceAlbum }
  | { readonly type: "total"; readonly files: number | undefined; readonly sizeBytes: number | undefined }
  | { readonly type: "leftOut"; readonly leftOut: LeftOut };

/** A file of a source. */
export interface SourceFile {
  /** Identifies the file in its source in every run: a path in the archive, a file ID, an asset ID. */
  readonly key: string;
  /** Differs if the content or the details differ: an ETag, a checksum. A known version of a key is not read again. */
  readonly version: string;
  /** Path below the target folder, with slashes. Names may be invalid here; the import makes them valid. */
  readonly path: string;
  /** Undefined if the source doesn't know it before the content was read. */
  readonly sizeBytes: number | undefined;
  /** Unix milliseconds. */
  readonly modifiedMs: number | undefined;
  readonly details: SourceDetails;
  /** A file of its own, even if the source merges copies and another file has the same content. */
  readonly isOwnCopy?: true;
  /** Opens the content from its first byte. A chunk is valid until the next one is requested. @throws {SourceError} if it can't be read */
  readonly open: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
}

/** Longer descriptions are cut. */
export const DESCRIPTION_BYTES_MAX = 32 * 1024;

/** What a source knows of a file; absent if it doesn't. */
export interface SourceDetails {
  /** ISO 8601, with an offset if the source knows it. */
  readonly capturedAt?: string;
  /** Degrees, WGS 84. */
  readonly location?: { readonly latitude: number; readonly longitude: number };
  readonly description?: string;
  readonly isFavorite?: true;
  readonly tags?: readonly string[];
  /** Names of the albums that contain the file. */
  readonly albums?: readonly string[];
}

/** An album of a source: offered before the files in it, or never. */
export interface SourceAlbum {
  readonly name: string;
  readonly description?: string;
}

/** Something that is not imported. */
export interface LeftOut {
  /** What it is: a path, a file name, or the name of a thing such as a share. */
  readonly name: string;
  readonly reason: LeftOutReason;
  /** How many of the same kind, if it stands for several. */
  readonly count?: number;
  /** A sentence for the report: what it is, and what to do about it. */
  readonly message: Message;
}

/** Why something is not imported. */
export type LeftOutReason =
  /** A description file without its photo. */
  | "unmatched"
  /** A kind of thing that Larder doesn't have, or doesn't take: shares, versions, comments. */
  | "unsupported"
  /** The archive is damaged, or the server doesn't deliver it. */
  | "unreadable"
  /** In the trash of the source. */
  | "trashed";

/** The source can't be read; the message says what happened and what to do. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  /** Whether a later attempt may succeed: a busy server, a lost connection. */
  readonly isTemporary: boolean;

  constructor(
    readonly text: Message,
    isTemporary: boolean,
    options?: ErrorOptions,
  ) {
    super(text.english, options);
    this.isTemporary = isTemporary;
  }
}
