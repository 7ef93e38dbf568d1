import type { TreeNode } from "../model/types.ts";
import type { ChangePosition } from "./position.ts";

/** A change of one node. */
export type ChangeEntry =
  | { readonly change: "created" | "updated"; readonly node: TreeNode }
  | {
      readonly change: "deleted";
      readonly publicId: string;
      readonly kind: "file" | "folder";
      readonly deletedAtMs: number;
    };

/** An entry and the position of a reader that has just read it. */
export interface EmittedEntry {
  readonly entry: ChangeEntry;
  readonly at: ChangePosition;
}
