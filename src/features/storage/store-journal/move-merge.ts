/**
 * Merges recorded moves and renames of nodes that were not changed since the restore. A node that was moved since stays
 * where it is, and so does one whose new location is taken.
 */
import type { Writer } from "../../../db/transaction.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { ChangeBatches } from "./change-batches.ts";
import { idOf } from "./parse-record.ts";
import { RecordedLocations, type RecordedLocationsOptions } from "./recorded-locations.ts";
import type { FileRecord, FolderRecord } from "./records.ts";

/** Dependencies of {@link MoveMerge}. */
interface MoveMergeOptions extends RecordedLocationsOptions {
  readonly writer: Pick<Writer, "run">;
  /** Whether a record has a later change of a node. */
  readonly isLater: (node: TreeNode, record: FileRecord | FolderRecord) => boolean;
}

/** Merges the moves of one account: {@link plan}, then {@link execute}. */
export class MoveMerge {
  readonly #options: MoveMergeOptions;
  readonly #planned = new Set<string>();
  readonly #batches: ChangeBatches;
  readonly #locations: RecordedLocations;

  constructor(options: MoveMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.writer);
    this.#locations = new RecordedLocations(options, this.#batches);
  }

  /** Whether a move of the node was planned. */
  has(publicId: string): boolean {
    return this.#planned.has(publicId);
  }

  /** Finds all moves. @returns how many there are */
  plan(): number {
    for (const { record } of this.#options.staged.all()) {
      const node = record.trash === undefined ? this.#locations.find(idOf(record)) : undefined;
      if (node === undefined || node.parentId === null || this.isInPlace(node, record)) continue;
      if (this.#options.isLater(node, record)) this.#planned.add(node.publicId);
    }
    return this.#planned.size;
  }

  /** Makes the planned moves. @returns how many were rejected */
  async execute(): Promise<number> {
    const rejected = await this.#locations.moveAll([...this.#planned]);
    // Rejected moves may block each other, such as two files that swapped their names.
    await this.#batches.each(rejected, (tx, id) => {
      const record = this.#options.staged.get(id);
      const holder = record && this.#locations.findHolder(record);
      if (holder !== undefined && holder.publicId !== id && this.#planned.has(holder.publicId)) {
        this.#options.treeWriter.stepAside(tx, holder);
      }
    });
    return (await this.#locations.moveAll(rejected)).length;
  }

  /** Whether a node has the recorded location. */
  isInPlace(node: TreeNode, record: FileRecord | FolderRecord): boolean {
    return this.#locations.isInPlace(node, record);
  }
}
