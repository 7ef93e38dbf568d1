/** The nouns of import and export. */
import type { Digest } from "../../../blobs/digest.ts";

/** What to do if the path has a file with other content: skip the file, store a new version, or number the name. */
export type ImportConflict = "skip" | "version" | "rename";

/** All values, the default first. */
export const IMPORT_CONFLICTS: readonly ImportConflict[] = ["skip", "version", "rename"];

/** Options of an import. */
export interface ImportRequest {
  /** The folder on disk, absolute. */
  readonly source: string;
  /** Normalized path of the target folder in the account; made if it is missing. */
  readonly folder: string;
  readonly onConflict: ImportConflict;
  /** Makes hard links instead of copies: the caller promises that nobody changes the source any more. */
  readonly isLinking: boolean;
  /** Reads every file, even if size and time are those of the file at its path. */
  readonly isRereading: boolean;
  /** Replaces invalid characters of names by `_`, instead of skipping such files. */
  readonly isRenaming: boolean;
  /** Reports what would be done, and changes nothing. */
  readonly isDryRun: boolean;
  /**
   * Whether a server uses the same database: transactions are short then, and its garbage collection may remove blobs.
   * Otherwise the caller keeps servers away until the import has ended.
   */
  readonly hasServer: boolean;
  /** Ends the import early; complete files stay. */
  readonly signal: AbortSignal;
  /** Called at intervals with the counts so far. */
  readonly onProgress: (soFar: ImportCounts) => void;
}

/** Why a file was not imported or exported. */
export type TransferReason =
  /** A symbolic link, socket, pipe or device: skipped on purpose. */
  | "not_a_file"
  /** An invalid name: control characters, a backslash, no valid UTF-8, or a path that is too long. */
  | "bad_name"
  /** The system could not read it. */
  | "unreadable"
  /** It changed repeatedly while it was read. */
  | "changed"
  /** Larger than the account's plan allows. */
  | "file_too_large"
  /** The path has a file with other content. */
  | "other_content"
  /** The path has a folder, or the path of one of its folders has a file. */
  | "name_taken"
  /** A WebDAV client has locked the file or its folder. */
  | "locked"
  /** The account's quota is reached. */
  | "quota_exceeded"
  /** The blob in the store is missing or damaged. */
  | "content_damaged"
  /** The version of that time is no longer stored. */
  | "content_gone"
  /** The target could not be written. */
  | "unwritable";

/** One file or folder that was not imported or exported. */
export interface TransferProblem {
  /** For an import on disk, for an export in the account. */
  readonly path: string;
  readonly reason: TransferReason;
  /** What happened, then what to do. */
  readonly message: string;
}

/** Counts of an import. */
export interface ImportCounts {
  /** All files that were found. */
  readonly seen: number;
  readonly imported: number;
  readonly importedBytes: number;
  /** Of the imported: new versions of existing files, and files with a numbered name. */
  readonly versions: number;
  readonly renamed: number;
  /** Imported before, with the same content. */
  readonly unchanged: number;
  readonly folders: number;
  /** How files came into the store: bytes copied, blocks shared with the source, or hard-linked. */
  readonly copied: number;
  readonly cloned: number;
  readonly linked: number;
  /** Not imported; links and other special files count as `leftOut`. */
  readonly problems: number;
  readonly leftOut: number;
}

/** The result of an import. */
export interface ImportReport extends ImportCounts {
  /** The first of them. */
  readonly problemList: readonly TransferProblem[];
  /** Changed names: on disk, and as stored. */
  readonly renamings: readonly { readonly path: string; readonly storedAs: string }[];
  /** Why it ended early. */
  readonly stopped: "interrupted" | "quota_exceeded" | undefined;
  readonly durationMs: number;
}

/** A file whose bytes are imported into the store. */
export interface ImportJob {
  readonly path: string;
  /** File name, for the media type. */
  readonly name: string;
  /** The media type of content without a signature; undefined to take it from the name. */
  readonly declaredType: string | undefined;
  /** `hash` only reads the file. */
  readonly how: "copy" | "link" | "hash";
  /** Writes the blob even if the store has a file of this digest, because that has no valid row. */
  readonly isForced: boolean;
}

/** The result of an {@link ImportJob}. The blob is not durable yet. */
export type ImportResult =
  | {
      readonly digest: Digest;
      readonly sizeBytes: number;
      readonly crc32: number;
      readonly mediaType: string;
      /** Modification time of the source. */
      readonly modifiedAtMs: number;
      readonly method: "there" | "copied" | "cloned" | "linked" | "hashed";
    }
  | { readonly reason: "unreadable" | "changed" | "not_a_file"; readonly message: string };

/** Options of an export. */
export interface ExportRequest {
  /** The target folder on disk, absolute; made if it is missing. */
  readonly target: string;
  /** Normalized path of the folder in the account. */
  readonly folder: string;
  /** Exports the state at this time; undefined for the current state. */
  readonly atMs: number | undefined;
  /** Writes `larder-export.json` with tags, descriptions and metadata, and XMP sidecars of photos and videos. */
  readonly hasManifest: boolean;
  /** Writes earlier versions as well, below `.larder-versions`. */
  readonly hasVersions: boolean;
  /** Reads existing files and replaces those with other content; otherwise compares only size and time. */
  readonly isRereading: boolean;
  /** Ends the export early; complete files stay. */
  readonly signal: AbortSignal;
  /** Called at intervals with the counts so far. */
  readonly onProgress: (soFar: ExportCounts) => void;
}

/** Counts of an export. */
export interface ExportCounts {
  readonly files: number;
  readonly written: number;
  readonly writtenBytes: number;
  /** Exported before. */
  readonly unchanged: number;
  readonly folders: number;
  /** Earlier versions, written now or before. */
  readonly versions: number;
  readonly problems: number;
}

/** The result of an export. */
export interface ExportReport extends ExportCounts {
  /** The first of them. */
  readonly problemList: readonly TransferProblem[];
  /** Files whose names the target can't have: path in the account, and on disk. */
  readonly renamings: readonly { readonly path: string; readonly writtenAs: string }[];
  /** Undefined without metadata. */
  readonly sidecars: SidecarReport | undefined;
  /** Why it ended early. */
  readonly stopped: "interrupted" | undefined;
  readonly durationMs: number;
}

/** The XMP sidecars of an export. */
export interface SidecarReport {
  readonly written: number;
  /** Exported before. */
  readonly unchanged: number;
  /** Photos and videos that should have one, and have none. */
  readonly leftOut: number;
  /** The first of them. */
  readonly list: readonly WithoutSidecar[];
}

/** A photo or video whose sidecar was not written. */
export interface WithoutSidecar {
  /** In the account. */
  readonly path: string;
  /** What happened, then what to do. */
  readonly message: string;
}

/** A sidecar to be written next to a photo. */
export interface SidecarJob {
  readonly target: string;
  /** Undefined if it says nothing: then it is written only over an earlier one. */
  readonly text: string | undefined;
}

/** The result of a {@link SidecarJob}. */
export type SidecarResult =
  | { readonly state: "written" | "unchanged" }
  /** It says nothing, and there was none. */
  | { readonly state: "absent" }
  /** The file exists, and Larder did not write it, or somebody has changed it since. */
  | { readonly state: "foreign" }
  | { readonly state: "unwritable"; readonly message: string };

/** A blob to be written as a file. */
export interface WriteJob {
  /** Path of the blob. */
  readonly source: string;
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Modification time of the file. */
  readonly modifiedAtMs: number;
  readonly target: string;
  readonly isRereading: boolean;
  readonly sidecar: SidecarJob | undefined;
}

/** The result of a {@link WriteJob}. */
export type WriteResult =
  | { readonly written: "copied" | "cloned" | "unchanged"; readonly sidecar: SidecarResult | undefined }
  | { readonly reason: "content_damaged" | "unwritable"; readonly message: string };
