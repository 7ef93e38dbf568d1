import type { AppError } from "../../../errors.ts";
import type { FormerLocation, Labels, UndoDetail, UndoWhat } from "../../../tree/tables/undo.ts";

/** A recorded change of a device. */
export interface UndoEntry extends UndoDetail {
  readonly seq: number;
  readonly nodeId: number;
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly what: UndoWhat;
  /** Whether it was undone, or is part of a rewind. */
  readonly isRewound: boolean;
}

/** A node that a device changed. */
export interface TouchedNode {
  readonly nodeId: number;
  readonly publicId: string;
}

/** Why a node, or one aspect of it, is not rewound. */
export type SkipReason = "changed_by_others" | "deleted_by_others" | "content_gone" | "not_empty";

/** What a rewind does with one node. */
export type NodePlan =
  /** The node has its former state, or did not exist then and does not exist now. */
  | { readonly kind: "nothing" }
  | { readonly kind: "skip"; readonly reason: SkipReason }
  /** The device created it, and nobody else changed it. */
  | { readonly kind: "remove" }
  | {
      readonly kind: "change";
      readonly location?: FormerLocation;
      readonly labels?: Labels;
      /** The version whose content is restored. */
      readonly version?: number;
      /** The file's own date. */
      readonly fileModifiedAt?: string | null;
      /** Whether others changed some aspects too; these stay. */
      readonly isPartial: boolean;
    }
  | {
      /** The device deleted it: it is created again. */
      readonly kind: "restore";
      readonly deletion: UndoEntry;
      readonly location: FormerLocation;
      readonly labels: Labels;
      /** Only of files. */
      readonly version?: number;
      readonly fileModifiedAt?: string | null;
    };

/** What a rewind did with a file or folder. */
export type RewindAction =
  | "deleted_created"
  | "restored_deleted"
  | "restored_content"
  | "renamed_back"
  | "moved_back"
  | "labels_back";

/** A file or folder in an outcome. */
export interface RewoundNode {
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly name: string;
  /** The path of its parent folder. */
  readonly folder: string;
}

/** One change that a rewind undid, skipped, or failed to undo. */
export type RewindOutcome =
  | {
      readonly outcome: "undone";
      readonly action: RewindAction;
      readonly node: RewoundNode;
      /** The id of a deleted node before it was created again. */
      readonly formerId?: string;
    }
  | { readonly outcome: "skipped"; readonly reason: SkipReason; readonly node: RewoundNode }
  | { readonly outcome: "failed"; readonly publicId: string; readonly error: AppError };

/** A request for a rewind. */
export interface RewindRequest {
  /** The device whose changes are undone; it may be removed. */
  readonly devicePublicId: string;
  /** Changes from this time on are undone; at most 30 days ago. */
  readonly sinceMs: number;
  /** Only returns what would be done. */
  readonly isDryRun: boolean;
}

/** The result of one call. */
export interface RewindResult {
  readonly outcomes: readonly RewindOutcome[];
  /** Whether changes are left: call again. */
  readonly hasMore: boolean;
}
