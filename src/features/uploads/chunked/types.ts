import type { Digest } from "../../../blobs/digest.ts";
import type { AppError } from "../../../errors.ts";
import type { OnConflict } from "../../../tree/model/types.ts";
import type { ChunkPlan } from "./chunk-plan.ts";

/** The status of an upload. The last three are final. */
export type UploadStatus = "pending" | "uploading" | "paused" | "failed" | "completed" | "cancelled" | "expired";

/** The statuses that a client may set. */
export const CLIENT_STATUSES = ["uploading", "paused", "failed", "cancelled"] as const;

/** One of {@link CLIENT_STATUSES}. */
export type ClientStatus = (typeof CLIENT_STATUSES)[number];

/** The device of uploads without one: tus uploads use the same rows. */
export const NO_DEVICE = 0;

/** A file that is being uploaded, as stored in the database. */
export interface Upload extends ChunkPlan {
  readonly id: number;
  /** `upl_…`; also the name of its bytes in the staging area. */
  readonly publicId: string;
  readonly sessionId: number;
  readonly accountId: number;
  readonly deviceId: number;
  readonly localId: string;
  readonly name: string;
  readonly folderPath: string;
  readonly mediaType: string | undefined;
  /** Expected digest of the whole file, if announced. */
  readonly digest: Digest | undefined;
  readonly status: UploadStatus;
  readonly reservedBytes: number;
  readonly onConflict: OnConflict;
  /** Public id of the file to replace, and the digest that its content must have until then. */
  readonly targetId: string | undefined;
  readonly baseDigest: Digest | undefined;
  readonly nonce: Uint8Array;
  /** Sent by an unattended backup. */
  readonly isAutomatic: boolean;
  readonly expiresAtMs: number;
  /** Public id of the file that it became. */
  readonly fileId: string | undefined;
}

/** One file of a request to upload/init. */
export interface UploadEntry {
  readonly localId: string;
  readonly name: string;
  readonly size: number;
  readonly mimeType?: string | undefined;
  readonly folder?: string | undefined;
  readonly checksum?: string | undefined;
  readonly onConflict?: OnConflict | undefined;
  readonly fileId?: string | undefined;
  readonly baseChecksum?: string | undefined;
  readonly automatic?: boolean | undefined;
}

/** Options for all files of a session. */
export interface UploadOptions {
  readonly wifiOnly: boolean;
  readonly chunkSizeBytes: number;
  readonly maxRetries: number;
  /** Sent by an unattended backup: content that its user deleted is rejected. */
  readonly isAutomatic: boolean;
}

/** The result for one file: a plan, or the reason why there is none. */
export type FilePlan =
  | {
      readonly upload: Upload;
      /** Chunks stored by an earlier call that began the same upload. */
      readonly completedChunks: readonly number[];
      readonly isAlreadyStored: boolean;
    }
  | { readonly error: AppError };

/** The result, with the client's own id of the file. */
export type PlannedFile = FilePlan & { readonly localId: string };

/** An upload session that has just begun. */
export interface PlannedSession {
  /** `ups_…` */
  readonly publicId: string;
  readonly options: UploadOptions;
  readonly files: readonly PlannedFile[];
  readonly expiresAtMs: number;
}

/** The state of an upload on the server. */
export interface UploadProgress {
  readonly upload: Upload;
  readonly status: UploadStatus;
  readonly completedChunks: readonly number[];
  readonly missingChunks: readonly number[];
  readonly bytesUploaded: number;
}
