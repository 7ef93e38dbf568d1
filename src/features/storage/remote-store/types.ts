import type { Digest } from "../../../blobs/digest.ts";

/** A content to be dealt with. */
export interface PlacedContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
}

/** What is where, in contents and bytes. */
export interface TierCounts {
  readonly contents: number;
  readonly bytes: number;
}
