import type { FileNode } from "../../../tree/model/types.ts";
import type { ItemRights } from "../permissions/item-rights.ts";

/** What happened to a recent file. */
export const RECENT_KINDS = ["added", "edited", "renamed", "moved", "restored", "changed", "opened"] as const;

/** One of {@link RECENT_KINDS}. */
export type RecentKind = (typeof RECENT_KINDS)[number];

/** A recent file as the user sees it. */
export interface RecentFile extends ItemRights {
  readonly file: FileNode;
  readonly kind: RecentKind;
  readonly atMs: number;
}

/** Where a list of recent files continues: with the changes before a journal number, and the openings after these. */
export interface RecentPosition {
  readonly seq: number;
  readonly openedAtMs: number;
  /** How many of the openings at that time were listed. */
  readonly openedThen: number;
}
