import type { FileNode } from "../../../tree/model/types.ts";

/** What happened to a recent file. */
export const RECENT_KINDS = ["added", "edited", "renamed", "moved", "restored", "changed", "opened"] as const;

/** One of {@link RECENT_KINDS}. */
export type RecentKind = (typeof RECENT_KINDS)[number];

/** A recent file as the user sees it. */
export interface RecentFile {
  readonly file: FileNode;
  readonly kind: RecentKind;
  readonly atMs: number;
  /** What the user may do with it. */
  readonly permission: "own" | "write" | "read";
  /** Whether the user may rename, move, and delete it. */
  readonly canManage: boolean;
  /** Public id of the received share that its paths begin at. */
  readonly share: string | undefined;
  /** Whether the user may see its earlier versions. */
  readonly showsVersions: boolean;
}

/** Where a list of recent files continues: with the changes before a journal number, and the openings after these. */
export interface RecentPosition {
  readonly seq: number;
  readonly openedAtMs: number;
  /** How many of the openings at that time were listed. */
  readonly openedThen: number;
}
