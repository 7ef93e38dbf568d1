import type { Digest } from "../../../blobs/digest.ts";

/** A blob and its size. */
export interface SizedBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** A blob that was just sent to the bucket. */
export interface SentBlob extends SizedBlob {
  /** The ETag of its object. */
  readonly etag: string;
}

/** Blobs and bytes of a storage tier. */
export interface TierCounts {
  readonly contents: number;
  readonly bytes: number;
}
