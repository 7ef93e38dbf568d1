import type { Digest } from "../../../blobs/digest.ts";
import type { AppError } from "../../../errors.ts";
import type { FileNode } from "../../../tree/model/types.ts";

/** A file whose durability a device requests. */
export interface RequestedFile {
  readonly fileId: string;
  /** Of the device's own copy. */
  readonly digest?: Digest | undefined;
}

/** Why a blob was not read although the request asked for verification. */
export type UnreadReason = "verify_limit" | "overloaded" | "storage_error" | "content_missing";

/** The durability of a file's content. */
export interface Durability {
  readonly file: FileNode;
  /** Whether the device's digest is that of the current content; undefined if it sent none. */
  readonly isMatch: boolean | undefined;
  /** Whether the blob is on disk in its full size. It was synced before the upload was confirmed. */
  readonly isStored: boolean;
  /** When the blob was last read and found intact. */
  readonly verifiedAtMs: number | null;
  /**
   * Whether the blob was read and found intact: by this request if it asked for verification, otherwise at any time.
   */
  readonly isVerified: boolean;
  /** Whether the last read found the blob damaged or missing. */
  readonly isDamaged: boolean;
  readonly unreadReason: UnreadReason | undefined;
  /** The time of the newest database snapshot that has this file with this content. */
  readonly snapshotAtMs: number | null;
}

/** The durability of one requested file, or the error if it was not found. */
export type DurabilityOutcome =
  | { readonly fileId: string; readonly durability: Durability }
  | { readonly fileId: string; readonly error: AppError };
