/** The states of a text in the index: being written, searchable, none (with the reason), being removed. */
export const WRITING = 0;
export const READY = 1;
export const NONE = 2;
export const REMOVING = 3;

/** A text in the index. */
export interface TextRow {
  readonly blobId: number;
  readonly digest: Uint8Array;
  readonly state: number;
  /** The id of its first segment. */
  readonly first: number;
  readonly segments: number;
  readonly bytes: number;
  /** How long it took to read; null if it has to stay stored. */
  readonly readMs: number | null;
}

/** The columns of a {@link TextRow}, and their table. */
export const TEXT_ROW =
  "blob_id AS blobId, digest, state, first_segment AS first, segments, bytes, read_ms AS readMs FROM texts";
