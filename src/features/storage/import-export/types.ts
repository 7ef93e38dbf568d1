/** The nouns of import and export. */
import type { Digest } from "../../../blobs/digest.ts";

/** What to do with a file whose path is taken by another content: leave what is there, store a version of it, or number. */
export type ImportConflict = "skip" | "version" | "rename";

/** All of them, the default first. */
export const IMPORT_CONFLICTS: readonly ImportConflict[] = ["skip", "version", "rename"];

/** What is to be brought in, and how. */
export interface ImportRequest {
  /** The folder on disk, absolute. */
  readonly source: string;
  /** Normalised path of the folder in the account that takes its contents; made where it is missing. */
  readonly folder: string;
  readonly onConflict: ImportConflict;
  /** Give contents a second name instead of copying them: the caller promises that nobody changes the source any more. */
  readonly isLinking: boolean;
  /** Reads every file, also those whose size and time are those of the file at their path. */
  readonly isRereading: boolean;
  /** Replaces what names may not have by `_`, instead of leaving such files out. */
  readonly isRenaming: boolean;
  /** Tells what would be done, and does nothing. */
  readonly isDryRun: boolean;
  /** Whether a server works on the same database: then it is never kept waiting for long. */
  readonly hasServer: boolean;
  /** Ends it early; what is complete by then is kept. */
  readonly signal: AbortSignal;
  /** Called now and then with how far it is. */
  readonly onProgress: (soFar: ImportCounts) => void;
}

/** Why something was not brought in, or not written out. */
export type TransferReason =
  /** A symbolic link, socket, pipe or device: left out on purpose. */
  | "not_a_file"
  /** A name that is not kept: control characters, a backslash, no valid UTF-8, or a path that is too long. */
  | "bad_name"
  /** The system did not let it be read. */
  | "unreadable"
  /** It was changed again and again while it was read. */
  | "changed"
  /** Larger than the account's plan takes. */
  | "file_too_large"
  /** The path is taken by a file with other content. */
  | "other_content"
  /** The path is taken by a folder, or a folder on the way to it by a file. */
  | "name_taken"
  /** The account may hold no more. */
  | "quota_exceeded"
  /** The content in the store is missing or not what it was. */
  | "content_damaged"
  /** The content of that time is kept no more. */
  | "content_gone"
  /** The target could not be written. */
  | "unwritable";

/** One thing that was not carried over. */
export interface TransferProblem {
  /** On disk with an import, in the account with an export. */
  readonly path: string;
  readonly reason: TransferReason;
  /** What happened, then what to do. */
  readonly message: string;
}

/** How far an import is. */
export interface ImportCounts {
  /** Files that were met so far, of any kind. */
  readonly seen: number;
  readonly imported: number;
  readonly importedBytes: number;
  /** Of those imported: new versions of files that were there, and files under a numbered name. */
  readonly versions: number;
  readonly renamed: number;
  /** There already, with the same content. */
  readonly unchanged: number;
  readonly folders: number;
  /** How contents came into the store: bytes copied, shared with the source, or under a second name. */
  readonly copied: number;
  readonly cloned: number;
  readonly linked: number;
  /** Not brought in; links and the like are `leftOut` instead. */
  readonly problems: number;
  readonly leftOut: number;
}

/** What an import did. */
export interface ImportReport extends ImportCounts {
  /** The first of them. */
  readonly problemList: readonly TransferProblem[];
  /** Names that were changed: on disk, and as stored. */
  readonly renamings: readonly { readonly path: string; readonly storedAs: string }[];
  /** Why it ended before its time. */
  readonly stopped: "interrupted" | "quota_exceeded" | undefined;
  readonly durationMs: number;
}

/** A content to be brought in. */
export interface TakeJob {
  readonly path: string;
  /** Of the file, for its media type. */
  readonly name: string;
  /** `hash` only reads it. */
  readonly how: "copy" | "link" | "hash";
  /** Write it also where a content of this digest lies already: no row vouches for that one. */
  readonly isForced: boolean;
}

/** What became of a {@link TakeJob}. A content that was placed is not durable yet. */
export type TakeResult =
  | {
      readonly digest: Digest;
      readonly sizeBytes: number;
      readonly crc32: number;
      readonly mediaType: string;
      /** When the source was changed last. */
      readonly modifiedAtMs: number;
      readonly placed: "there" | "copied" | "cloned" | "linked" | "hashed";
    }
  | { readonly reason: "unreadable" | "changed" | "not_a_file"; readonly message: string };

/** What is to be written out, and how. */
export interface ExportRequest {
  /** The folder on disk that takes it, absolute; made where it is missing. */
  readonly target: string;
  /** Normalised path of the folder in the account. */
  readonly folder: string;
  /** As it was at this moment; as it is now where absent. */
  readonly atMs: number | undefined;
  /** Writes `larder-export.json` with tags, descriptions and metadata beside. */
  readonly hasManifest: boolean;
  /** Writes earlier versions, too, below `.larder-versions`. */
  readonly hasVersions: boolean;
  /** Reads what is there already, and writes again what is other than in the account; else size and time tell. */
  readonly isRereading: boolean;
  /** Ends it early; what is complete by then stays. */
  readonly signal: AbortSignal;
  /** Called now and then with how far it is. */
  readonly onProgress: (soFar: ExportCounts) => void;
}

/** How far an export is. */
export interface ExportCounts {
  readonly files: number;
  readonly written: number;
  readonly writtenBytes: number;
  /** There already. */
  readonly unchanged: number;
  readonly folders: number;
  /** Earlier versions, written or there already. */
  readonly versions: number;
  readonly problems: number;
}

/** What an export did. */
export interface ExportReport extends ExportCounts {
  /** The first of them. */
  readonly problemList: readonly TransferProblem[];
  /** What the target could not have under its own name: path in the account, and on disk. */
  readonly renamings: readonly { readonly path: string; readonly writtenAs: string }[];
  /** Why it ended before its time. */
  readonly stopped: "interrupted" | undefined;
  readonly durationMs: number;
}

/** A content to be written out. */
export interface WriteJob {
  /** Where the content lies. */
  readonly source: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** The time that the file gets. */
  readonly modifiedAtMs: number;
  readonly target: string;
  readonly isRereading: boolean;
}

/** What became of a {@link WriteJob}. */
export type WriteResult =
  | { readonly written: "copied" | "cloned" | "unchanged" }
  | { readonly reason: "content_damaged" | "unwritable"; readonly message: string };
