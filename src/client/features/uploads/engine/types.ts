// Types of the uploads: one file, and the totals of all.

/** What to do if the name is taken: keep both, add a version, or ask the person first. */
export type OnConflict = "error" | "rename" | "version";

/** A person's choice for a name conflict. */
export type ConflictChoice = "rename" | "version" | "skip";

/**
 * The state of an upload.
 * `stalled`: the network or the server is unavailable, retries automatically; `signedOut`: continues after the sign-in;
 * `conflict`: the name is taken and a person must decide; `missing`: the file must be chosen, or access allowed, again.
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

/** The upload of one file. Sizes in bytes, `lastModified` in milliseconds since 1970. Immutable. */
export interface Upload {
  readonly id: string;
  /** Files that were added together; a choice "for all" applies to them. */
  readonly batch: string;
  /** Absolute path of the destination folder. */
  readonly folder: string;
  /** Path below the folder with the file name: `holiday/day 1/a.jpg`. */
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly mimeType: string;
  readonly lastModified: number;
  readonly onConflict: OnConflict;
  /** Id of a share from another account; `folder` is then a path below it. */
  readonly share: string | undefined;
  /** The URL of the upload on the server, once it has one. */
  readonly url: string | undefined;
  /** The largest request size; reduced if a proxy rejects it. */
  readonly chunkSize: number;
  readonly state: UploadState;
  readonly sent: number;
  /** What is wrong, for people to read. */
  readonly problem: string | undefined;
  /** Id of the stored file, once it is done. */
  readonly fileId: string | undefined;
}

/** A file to upload, where it comes from, and its path below the folder. */
export interface UploadSource {
  readonly file: File;
  /** Relative to the folder, with the file name. */
  readonly path: string;
  /** Lets the file be read again after a reload, if the browser supports it. */
  readonly handle?: FileSystemFileHandle | undefined;
}

/** The totals of all uploads. */
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

/** States that are neither final nor need a person. */
export const OPEN_STATES: ReadonlySet<UploadState> = new Set([
  "waiting",
  "sending",
  "finishing",
  "stalled",
  "signedOut",
]);

/** States that wait for a person. */
export const BLOCKED_STATES: ReadonlySet<UploadState> = new Set(["conflict", "missing", "failed"]);

/** Final states. */
export const ENDED_STATES: ReadonlySet<UploadState> = new Set(["done", "skipped"]);
