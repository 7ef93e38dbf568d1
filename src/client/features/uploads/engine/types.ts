// The nouns of uploading: one file on its way, and what all of them come to.

/** How a file that meets a taken name is stored: beside the other, as its next version, or not before a person was asked. */
export type OnConflict = "error" | "rename" | "version";

/** What a person answers where a name is taken. */
export type ConflictChoice = "rename" | "version" | "skip";

/**
 * Where an upload stands.
 * `stalled`: the network or the server is away, it goes on by itself; `signedOut`: it goes on after the sign-in;
 * `conflict`: the name is taken and a person must say; `missing`: the file must be chosen or allowed again.
 */
export type UploadState =
  | "waiting"
  | "sending"
  | "finishing"
  | "stalled"
  | "signedOut"
  | "paused"
  | "conflict"
  | "missing"
  | "failed"
  | "skipped"
  | "done";

/** One file on its way. Sizes in bytes, `lastModified` in milliseconds since 1970. Never changed in place. */
export interface Upload {
  readonly id: string;
  /** Files that were added in one go: an answer "for all" holds for them. */
  readonly batch: string;
  /** Absolute path of the folder that it was added to. */
  readonly folder: string;
  /** Below the folder, name included: `holiday/day 1/a.jpg`. */
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly mimeType: string;
  readonly lastModified: number;
  readonly onConflict: OnConflict;
  /** Id of a share that was made for this account: `folder` is a path below it. */
  readonly share: string | undefined;
  /** Address of the upload at the server, once it has one. */
  readonly url: string | undefined;
  /** Largest body of one request; shrinks where a proxy refuses it. */
  readonly chunkSize: number;
  readonly state: UploadState;
  readonly sent: number;
  /** What is wrong, in words, where something is. */
  readonly problem: string | undefined;
  /** Id of the stored file, when it is done. */
  readonly fileId: string | undefined;
}

/** A file to be uploaded, where it comes from, and where it goes below the folder. */
export interface UploadSource {
  readonly file: File;
  /** Relative to the folder, name included. */
  readonly path: string;
  /** Lets the file be read again after a reload, where the browser has such. */
  readonly handle?: FileSystemFileHandle | undefined;
}

/** All uploads together. */
export interface UploadTotals {
  readonly files: number;
  readonly filesDone: number;
  readonly filesOpen: number;
  readonly filesBlocked: number;
  readonly bytes: number;
  readonly bytesSent: number;
  readonly isSending: boolean;
  readonly isStalled: boolean;
  readonly isPaused: boolean;
  readonly bytesPerSecond: number | undefined;
  readonly secondsLeft: number | undefined;
}

/** What the tray shows. */
export interface UploadsSnapshot {
  readonly uploads: readonly Upload[];
  readonly totals: UploadTotals;
}

/** States in which an upload is neither at its end nor needs a person. */
export const OPEN_STATES: ReadonlySet<UploadState> = new Set([
  "waiting",
  "sending",
  "finishing",
  "stalled",
  "signedOut",
]);

/** States in which nothing happens before a person does something. */
export const BLOCKED_STATES: ReadonlySet<UploadState> = new Set(["conflict", "missing", "failed"]);

/** States that are left by nothing but being cleared away. */
export const ENDED_STATES: ReadonlySet<UploadState> = new Set(["done", "skipped"]);
