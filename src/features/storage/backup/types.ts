import type { Digest } from "../../../blobs/digest.ts";

/** The paths of a data directory or a backup. */
export interface BackupLocation {
  readonly root: string;
  readonly database: string;
  readonly state: string;
  readonly blobs: string;
  readonly storeMarker: string;
  readonly snapshots: string;
  readonly secrets: string;
}

/** A blob that a database names. */
export interface BackupBlob {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Whether its last read did not match the digest. */
  readonly isDamaged: boolean;
}

/** A blob that could not be copied. */
export interface LostContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** missing: no file; damaged: the file has other bytes or another length; unreadable: the disk fails to read it. */
  readonly why: "missing" | "damaged" | "unreadable";
  /** Names of some of the files that use it or used it. */
  readonly names: readonly string[];
}

/** The results for all blobs that a database names. */
export interface CopyTotals {
  /** All blobs. */
  contents: number;
  bytes: number;
  /** Only in the bucket, and not copied. */
  elsewhere: number;
  /** Already in the target. */
  already: number;
  /** Hard-linked to the source's file. */
  linked: number;
  /** Share their blocks with the source's file (reflink). */
  cloned: number;
  copied: number;
  /** The number of cloned and copied blobs that replaced a hard link. */
  unshared: number;
  /** Bytes of new blobs. */
  newBytes: number;
  readonly lost: LostContent[];
}

/** What a backup will write. */
export interface Plan {
  /** Hard links, clones (which share blocks until one of them changes), or copies. */
  readonly how: "link" | "clone" | "copy";
  readonly contents: number;
  readonly bytes: number;
  /** Blobs of the target that are hard links to the source, from an earlier backup with links. */
  readonly shared: number;
  readonly availableBytes: number;
}

/** Progress of copying blobs; reported often. */
export interface CopyProgress {
  /** Blobs and bytes that the target has. */
  readonly contents: number;
  readonly bytes: number;
  readonly ofContents: number;
  readonly ofBytes: number;
  /** Bytes that were new. */
  readonly newBytes: number;
}

/** The result of a backup. */
export interface BackupSummary {
  readonly target: string;
  /** Name of its snapshot. */
  readonly snapshot: string;
  readonly takenAtMs: number;
  readonly store: string;
  readonly totals: CopyTotals;
  /** Number of snapshots in it, this one included. */
  readonly snapshots: number;
  /** Blobs that were deleted because no snapshot names them. */
  readonly pruned: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
}

/** Counts of a database, for the report of a restore. */
export interface DatabaseCounts {
  readonly users: number;
  readonly files: number;
  readonly folders: number;
  /** Bytes of all files, earlier versions and the trash. */
  readonly bytes: number;
  /** Undefined if nothing was ever changed, or an earlier version of Larder did not record it. */
  readonly lastChangeMs: number | undefined;
}
