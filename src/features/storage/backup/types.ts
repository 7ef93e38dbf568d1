import type { Digest } from "../../../blobs/digest.ts";

/** Where the parts of a data directory lie, a backup being one. */
export interface BackupLocation {
  readonly root: string;
  readonly database: string;
  readonly state: string;
  readonly blobs: string;
  readonly storeMarker: string;
  readonly snapshots: string;
  readonly secrets: string;
}

/** A content that a database names. */
export interface Content {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** A reading found it unlike its digest before. */
  readonly isDamaged: boolean;
}

/** A content that could not be taken along. */
export interface LostContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
  /** Not there; there with other bytes or another length; there, and the disk doesn't give it. */
  readonly why: "missing" | "damaged" | "unreadable";
  /** Names of files that are or were it, some of them. */
  readonly names: readonly string[];
}

/** What became of the contents that a database names. */
export interface CopyTotals {
  /** All that it names. */
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
  /** Of the cloned and copied: those that replaced a hard link. */
  unshared: number;
  /** Bytes of new blobs. */
  newBytes: number;
  readonly lost: LostContent[];
}

/** What a backup will write. */
export interface Plan {
  /** Hard links, clones that share their bytes on the disk until one of them changes, or copies. */
  readonly how: "link" | "clone" | "copy";
  readonly contents: number;
  readonly bytes: number;
  /** Blobs of the target that are hard links to the source, from an earlier backup with links. */
  readonly shared: number;
  readonly availableBytes: number;
}

/** Progress of copying blobs; reported often. */
export interface Progress {
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
  /** Undefined where nothing was ever changed, or an earlier version of Larder did not record it. */
  readonly lastChangeMs: number | undefined;
}
