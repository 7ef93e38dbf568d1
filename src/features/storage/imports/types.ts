/** The nouns of imports from other systems. Times are milliseconds since 1970 UTC. */
import type { Message } from "../../../translations/say.ts";
import type { LeftOutReason, SourceKind } from "./source.ts";

/** Why a file was not imported, or only in part. */
export type ImportProblemReason =
  | LeftOutReason
  /** Its path is too long or too deep. */
  | "bad_name"
  /** A file has the path of one of its folders. */
  | "name_taken"
  /** A WebDAV client has locked the folder or the file. */
  | "locked"
  /** Larger than the plan of the account allows. */
  | "file_too_large"
  /** The account has no space left for it. */
  | "quota_exceeded"
  /** It changed in the source and in Larder: the file in Larder stays as it is. */
  | "changed_here"
  /** It is stored, but not all of its albums, tags, or marks. */
  | "incomplete";

/** Something that was not imported. */
export interface ImportProblem {
  readonly name: string;
  readonly reason: ImportProblemReason;
  /** What happened, then what to do. */
  readonly message: Message;
}

/** Counts of an import. */
export interface ImportCounts {
  /** What the source has; null until it is known. */
  total: number | null;
  totalBytes: number | null;
  /** Files of the source so far, however they ended. */
  found: number;
  foundBytes: number;
  imported: number;
  importedBytes: number;
  /** New versions of files that an earlier import stored. */
  updated: number;
  /** Copies of imported files: only their albums were added. */
  merged: number;
  /** Imported before. */
  unchanged: number;
  /** Imported before, and deleted or put into the trash since. */
  deleted: number;
  /** What was not imported, by reason. */
  problems: Partial<Record<ImportProblemReason, number>>;
}

/** The counts of an import that begins. */
export function newCounts(): ImportCounts {
  return {
    total: null,
    totalBytes: null,
    found: 0,
    foundBytes: 0,
    imported: 0,
    importedBytes: 0,
    updated: 0,
    merged: 0,
    unchanged: 0,
    deleted: 0,
    problems: {},
  };
}

/** The counts of a run that continues: what it has imported counts, and everything is found again. */
export function continuedCounts({
  total,
  totalBytes,
  imported,
  importedBytes,
  updated,
  merged,
}: ImportCounts): ImportCounts {
  return { ...newCounts(), total, totalBytes, imported, importedBytes, updated, merged };
}

/** The number of all problems. */
export function countProblems({ problems }: ImportCounts): number {
  return Object.values(problems).reduce((sum, count) => sum + count, 0);
}

/**
 * The state of a run:
 * - waiting: for other imports.
 * - paused: by the person. `interrupted`: by an end of the server or a lost connection; it can continue.
 * - failed: it can continue once the cause is gone, such as a full quota.
 */
export const RUN_STATES = ["waiting", "running", "paused", "interrupted", "completed", "failed", "canceled"] as const;

/** One of {@link RUN_STATES}. */
export type RunState = (typeof RUN_STATES)[number];

/** Who began a run. */
export const RUN_ORIGINS = ["account", "administrator", "command"] as const;

/** One of {@link RUN_ORIGINS}. */
export type RunOrigin = (typeof RUN_ORIGINS)[number];

/** What a run needs to continue. Contains no secret. */
export interface RunRequest {
  /** Normalized path of the target folder. */
  readonly folder: string;
  /** Imports files again that were deleted since an earlier import. */
  readonly restoresDeleted: boolean;
  /** Ids of the archives in the account. */
  readonly fileIds?: readonly string[];
  /** Paths of archives on the machine. */
  readonly paths?: readonly string[];
  readonly url?: string;
  readonly username?: string;
}

/** An import of one account. */
export interface ImportRun {
  readonly id: number;
  /** `imp_…` */
  readonly publicId: string;
  readonly accountId: number;
  readonly kind: SourceKind;
  readonly origin: RunOrigin;
  /** What it reads, as people call it. */
  readonly source: string;
  readonly request: RunRequest;
  readonly state: RunState;
  /** Why it stopped; null if it did not. */
  readonly message: Message | null;
  readonly counts: ImportCounts;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
  readonly endedAtMs: number | null;
}
