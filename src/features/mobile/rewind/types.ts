import type { AppError } from "../../../errors.ts";
import type { FormerLocation, Labels, UndoDetail, UndoWhat } from "../../../tree/tables/undo.ts";

/** A change of a device as it was noted. */
export interface UndoEntry extends UndoDetail {
  readonly seq: number;
  readonly nodeId: number;
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly what: UndoWhat;
  /** Undone already, or part of a rewind. */
  readonly isRewound: boolean;
}

/** What a device touched and is to be looked at. */
export interface TouchedNode {
  readonly nodeId: number;
  readonly publicId: string;
}

/** Why something of a node is left as it is. */
export type SkipReason = "changed_by_others" | "deleted_by_others" | "content_gone" | "not_empty";

/** What becomes of one node. */
export type NodePlan =
  /** As before already, or never there before. */
  | { readonly kind: "nothing" }
  | { readonly kind: "skip"; readonly reason: SkipReason }
  /** The device made it, and nobody else touched it. */
  | { readonly kind: "remove" }
  | {
      readonly kind: "change";
      readonly location?: FormerLocation;
      readonly labels?: Labels;
      /** The version that is to be its content again. */
      readonly version?: number;
      /** Others changed something that the device had changed: that is left. */
      readonly isPartial: boolean;
    }
  | {
      /** The device deleted it: it is made again. */
      readonly kind: "restore";
      readonly deletion: UndoEntry;
      readonly location: FormerLocation;
      readonly labels: Labels;
      /** Of files. */
      readonly version?: number;
    };

/** What was done to a file or folder. */
export type RewindAction =
  | "deleted_created"
  | "restored_deleted"
  | "restored_content"
  | "renamed_back"
  | "moved_back"
  | "labels_back";

/** A file or folder as outcomes tell of it. */
export interface RewoundNode {
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
}

/** One thing that a rewind did, left, or could not do. */
export type RewindOutcome =
  | {
      readonly outcome: "undone";
      readonly action: RewindAction;
      readonly node: RewoundNode;
      /** The id that a deleted one had before it was made again. */
      readonly formerId?: string;
    }
  | { readonly outcome: "skipped"; readonly reason: SkipReason; readonly node: RewoundNode }
  | { readonly outcome: "failed"; readonly publicId: string; readonly error: AppError };

/** What is asked for. */
export interface RewindRequest {
  /** The device whose changes are undone, as it calls itself; a removed one, too. */
  readonly devicePublicId: string;
  /** From this instant on; at most 30 days ago. */
  readonly sinceMs: number;
  /** Tells what would be done, and does nothing. */
  readonly isDryRun: boolean;
}

/** What a call did. */
export interface RewindResult {
  readonly outcomes: readonly RewindOutcome[];
  /** More is left: call again. */
  readonly hasMore: boolean;
}
