import type { Digest } from "../../../blobs/digest.ts";

/** Kinds of findings. `database`: its structure; the others concern one blob. */
export const FINDING_KINDS = ["damaged", "missing", "unreadable", "database"] as const;

/** One of {@link FINDING_KINDS}. */
export type FindingKind = (typeof FINDING_KINDS)[number];

/** A recorded fault. */
export interface Finding {
  readonly publicId: string;
  readonly kind: FindingKind;
  /** Null for a fault of the database. */
  readonly digest: Digest | null;
  readonly sizeBytes: number | null;
  /** A description without the names of files. */
  readonly detail: string;
  readonly foundAtMs: number;
  /** When it was last found. */
  readonly seenAtMs: number;
  readonly resolvedAtMs: number | null;
  /** healed: found whole since; removed: the blob has no references any more. */
  readonly resolution: "healed" | "removed" | null;
  /** Number of files that use the blob, in their current or an earlier version. */
  readonly files: number;
}

/** How many findings are open, by kind. */
export type OpenFindings = Readonly<Record<FindingKind, number>>;

/** The result of reading one blob; the fault is null if it is whole. */
export interface Reading {
  readonly digest: Digest;
  readonly fault: { readonly kind: Exclude<FindingKind, "database">; readonly detail: string } | null;
}
