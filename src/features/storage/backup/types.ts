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
  /** Lie in a bucket alone, and were not taken along. */
  elsewhere: number;
  /** Were there before. */
  already: number;
  /** Got a second name for the same bytes on the disk. */
  linked: number;
  /** Share their bytes on the disk with the original until one of them changes (reflink). */
  cloned: number;
  copied: number;
  /** Of the cloned and copied: were the source's own files before, by a hard link. */
  unshared: number;
  /** Bytes of what is new. */
  newBytes: number;
  readonly lost: LostContent[];
}

/** What a backup is about to write. */
export interface Plan {
  /** Hard links, clones that share their bytes on the disk until one of them changes, or copies. */
  readonly how: "link" | "clone" | "copy";
  readonly contents: number;
  readonly bytes: number;
  /** Contents of the target that are the very files of the source, from an earlier backup with links. */
  readonly shared: number;
  readonly availableBytes: number;
}

/** Reported while contents are brought, often. */
export interface Progress {
  /** How far: contents and bytes that are there. */
  readonly contents: number;
  readonly bytes: number;
  readonly ofContents: number;
  readonly ofBytes: number;
  /** Bytes that were new. */
  readonly newBytes: number;
}

/** How a backup went. */
export interface BackupSummary {
  readonly target: string;
  /** Name of the copy of the database that it is. */
  readonly snapshot: string;
  readonly takenAtMs: number;
  readonly store: string;
  readonly totals: CopyTotals;
  /** Copies of the database that are kept in it, this one included. */
  readonly snapshots: number;
  /** Contents that were removed because no kept copy of the database names them. */
  readonly pruned: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
}

/** What a database holds, as a restore tells it (D42). */
export interface DatabaseCounts {
  readonly users: number;
  readonly files: number;
  readonly folders: number;
  /** Of all files, earlier versions and what lies in the trash. */
  readonly bytes: number;
  /** Undefined where nothing was ever changed, or the database is of a time before this was kept. */
  readonly lastChangeMs: number | undefined;
}
