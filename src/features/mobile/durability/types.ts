import type { Digest } from "../../../blobs/digest.ts";
import type { AppError } from "../../../errors.ts";
import type { FileNode } from "../../../tree/model/types.ts";

/** A file that is asked about, and the bytes that the asker has, where it says so. */
export interface AskedFile {
  readonly fileId: string;
  readonly digest?: Digest | undefined;
}

/** Why a content was not read although that was asked for. */
export type Unread = "verify_limit" | "overloaded" | "storage_error" | "content_missing";

/** What the server can say of a content that it keeps. Times are milliseconds since 1970 UTC. */
export interface Durability {
  readonly file: FileNode;
  /** Whether the bytes asked about are the file's present content; undefined where none were named. */
  readonly isMatch: boolean | undefined;
  /** The bytes lie on disk, all of them by their number. They were synced before the file was acknowledged. */
  readonly isStored: boolean;
  /** When they were last read again and found to be these bytes. */
  readonly verifiedAtMs: number | null;
  /** Read and found whole: by this very question where it asked for that, else at any time, and not damaged since. */
  readonly isVerified: boolean;
  /** The last reading found other bytes, or none. */
  readonly isDamaged: boolean;
  readonly unread: Unread | undefined;
  /** When the newest copy of the database was taken that has this file with this content. */
  readonly snapshotAtMs: number | null;
}

/** What is known of one file that was asked about. */
export type DurabilityOutcome =
  | { readonly fileId: string; readonly durability: Durability }
  | { readonly fileId: string; readonly error: AppError };
