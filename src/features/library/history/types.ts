import type { FolderNode } from "../../../tree/model/types.ts";
import type { PastNode } from "../../../tree/queries/past.ts";

/** One page of a folder as it was. */
export interface PastListing {
  readonly folder: Pick<FolderNode, "path" | "name" | "folder">;
  readonly nodes: readonly PastNode[];
  readonly total: number;
}

/** A folder that is to be as it was. */
export interface RestoreRequest {
  /** Normalised path at that moment; `/` is everything. */
  readonly folderPath: string;
  readonly atMs: number;
  /** Tells what would be done, and does nothing. */
  readonly isDryRun: boolean;
  /** Puts into the trash what came into the folder since. */
  readonly removesNew: boolean;
  /** Where there is more than one call takes: does a part of it, rather than nothing. */
  readonly isPartial: boolean;
}

/** What a restore did. */
export interface RestoreResult {
  readonly outcomes: readonly RestoreOutcome[];
  /** How much came into the folder since and is left there; `outcomes` tell of the first. */
  readonly newCount: number;
  /** More is left: call again. */
  readonly hasMore: boolean;
}

/** What was done to a file or folder so that it is as it was. */
export type RestoreChange =
  /** The content of then, as a new version. */
  | "content"
  /** Renamed or moved back. */
  | "place"
  /** Out of the trash, or made again after a device deleted it. */
  | "undelete"
  /** Renamed, because it stood where something else was. */
  | "aside"
  /** New since: put into the trash. */
  | "remove";

/** Why something is left other than it was. */
export type RestoreSkip =
  /** The content of then is not kept any more. */
  | "content_gone"
  /** The folder in which it was is gone. */
  | "folder_gone"
  /** A folder that would have to lie in itself, as things stand now. */
  | "inside_itself"
  /** It, or something in it, would lie too deep, or have too long a path. */
  | "too_deep"
  /** New since, but something older lies in it. */
  | "not_empty";

/** A file or folder as outcomes tell of it. */
export interface RestoredNode {
  readonly publicId: string;
  readonly isFolder: boolean;
  readonly name: string;
  /** Path of the folder that holds it. */
  readonly folder: string;
}

/** One thing that a restore did, or left. */
export type RestoreOutcome =
  | {
      readonly outcome: "done";
      readonly change: RestoreChange;
      readonly node: RestoredNode;
      /** Where it was until now, with `place` and `aside`. */
      readonly from?: { readonly name: string; readonly folder: string };
      /** With `undelete`: the id that it had before it was deleted, where it got another. */
      readonly formerId?: string;
      /** With `content`, and `undelete` where others had followed it: the version that is the content again. */
      readonly version?: number;
    }
  | { readonly outcome: "skipped"; readonly reason: RestoreSkip; readonly node: RestoredNode }
  /** Came into the folder since and is left there. */
  | { readonly outcome: "new"; readonly node: RestoredNode };
