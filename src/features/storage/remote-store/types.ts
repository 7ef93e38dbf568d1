import type { Digest } from "../../../blobs/digest.ts";

/** A blob and its size. */
export interface SizedBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** Blobs and bytes of a storage tier. */
export interface TierCounts {
  readonly contents: number;
  readonly bytes: number;
}
