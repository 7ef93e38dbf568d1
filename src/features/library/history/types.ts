import type { FolderNode } from "../../../tree/model/types.ts";
import type { PastNode } from "../../../tree/queries/past.ts";

/** One page of a folder at a moment. */
export interface PastListing {
  readonly folder: Pick<FolderNode, "path" | "name" | "folder">;
  readonly nodes: readonly PastNode[];
  readonly total: number;
}

/** A folder to be restored to a moment. */
export interface RestoreRequest {
  /** Normalized path at that moment; `/` restores everything. */
  readonly folderPath: string;
  readonly atMs: number;
  /** Returns what would be done, and changes nothing. */
  readonly isDryRun: boolean;
  /** Moves items to the trash that were added to the folder since. */
  readonly removesNew: boolean;
  /** If there is too much for one call: does a part of it instead of rejecting the request. */
  readonly isPartial: boolean;
}

/** The result of a restore. */
export interface RestoreResult {
  readonly outcomes: readonly RestoreOutcome[];
  /** How many nodes were added since and stay; `outcomes` lists the first. */
  readonly newCount: number;
  /** More is left: call again. */
  readonly hasMore: boolean;
}

/** How a file or folder was restored. */
export type RestoreChange =
  /** The former content, as a new version. */
  | "content"
  /** Renamed or moved back. */
  | "place"
  /** Restored from the trash, or created again after a device deleted it. */
  | "undelete"
  /** Renamed, because it occupied the name of something else. */
  | "aside"
  /** New since then: moved to the trash. */
  | "remove";

/** Why a node was not restored. */
export type RestoreSkip =
  /** The former content is no longer available. */
  | "content_gone"
  /** Its former folder is gone. */
  | "folder_gone"
  /** The folder would be inside itself. */
  | "inside_itself"
  /** The path of the node, or of something in it, would be too deep or too long. */
  | "too_deep"
  /** New since then, but it contains something older. */
  | "not_empty"
  /** A program has locked it, or a folder on the way. */
  | "locked";

/** A file or folder in the result. */
export interface RestoredNode {
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
}

/** One entry of the result. */
export type RestoreOutcome =
  | {
      readonly outcome: "done";
      readonly change: RestoreChange;
      readonly node: RestoredNode;
      /** Its location until now, with `place` and `aside`. */
      readonly from?: { readonly name: string; readonly folder: string };
      /** With `undelete`: the id before its deletion, if it changed. */
      readonly formerId?: string;
      /** With `content`, and with `undelete` if newer versions existed: the version that is current again. */
      readonly version?: number;
    }
  | { readonly outcome: "skipped"; readonly reason: RestoreSkip; readonly node: RestoredNode }
  /** Added to the folder since, and left there. */
  | { readonly outcome: "new"; readonly node: RestoredNode };
