import type { Digest } from "../../../blobs/digest.ts";

/** What can be wrong. `database`: its structure; the others are of one content. */
export const FINDING_KINDS = ["damaged", "missing", "unreadable", "database"] as const;

/** One of {@link FINDING_KINDS}. */
export type FindingKind = (typeof FINDING_KINDS)[number];

/** Something that was found wrong, as it is kept. */
export interface Finding {
  readonly publicId: string;
  readonly kind: FindingKind;
  /** Null for a fault of the database. */
  readonly digest: Digest | null;
  readonly sizeBytes: number | null;
  /** In words, without names of files. */
  readonly detail: string;
  readonly foundAtMs: number;
  /** When a reading last found it so. */
  readonly seenAtMs: number;
  readonly resolvedAtMs: number | null;
  /** healed: found whole since; removed: nothing refers to the content any more. */
  readonly resolution: "healed" | "removed" | null;
  /** How many files have or had this content. */
  readonly files: number;
}

/** How many findings are open, by kind. */
export type OpenFindings = Readonly<Record<FindingKind, number>>;

/** What a reading of one content gave; null where it is whole. */
export interface Reading {
  readonly digest: Digest;
  readonly fault: { readonly kind: Exclude<FindingKind, "database">; readonly detail: string } | null;
}
