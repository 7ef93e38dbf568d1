/**
 * Moves and renames that newer objects name, of nodes that nobody has changed since the database was put back. What was
 * moved in the present stays where it is, and so does what finds its place taken.
 */
import type { Writer } from "../../../db/transaction.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { ChangeBatches } from "./change-batches.ts";
import { idOf } from "./parse-record.ts";
import { RecordedLocations, type RecordedLocationsOptions } from "./recorded-locations.ts";
import type { FileRecord, FolderRecord } from "./records.ts";

/** What {@link NewerMoves} works with. */
export interface NewerMovesOptions extends RecordedLocationsOptions {
  readonly writer: Pick<Writer, "run">;
  /** Whether a record tells of a later change of a node. */
  readonly isLater: (node: TreeNode, record: FileRecord | FolderRecord) => boolean;
}

/** The moves of one account: {@link plan}, then {@link carryOut}. */
export class NewerMoves {
  readonly #options: NewerMovesOptions;
  readonly #wanted = new Set<string>();
  readonly #batches: ChangeBatches;
  readonly #places: RecordedLocations;

  constructor(options: NewerMovesOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.writer);
    this.#places = new RecordedLocations(options, this.#batches);
  }

  /** Whether a node is one of those that were to be moved. */
  has(publicId: string): boolean {
    return this.#wanted.has(publicId);
  }

  /** Looks for all moves. @returns how many there are */
  plan(): number {
    for (const { record } of this.#options.staged.all()) {
      const node = record.trash === undefined ? this.#places.find(idOf(record)) : undefined;
      if (node === undefined || node.parentId === null || this.isInPlace(node, record)) continue;
      if (this.#options.isLater(node, record)) this.#wanted.add(node.publicId);
    }
    return this.#wanted.size;
  }

  /** Carries them out. @returns how many could not be */
  async carryOut(): Promise<number> {
    const refused = await this.#places.moveAll([...this.#wanted]);
    // Those wait for each other: two files that swapped their names.
    await this.#batches.each(refused, (tx, id) => {
      const record = this.#options.staged.get(id);
      const holder = record && this.#places.holderOf(record);
      if (holder !== undefined && holder.publicId !== id && this.#wanted.has(holder.publicId)) {
        this.#options.treeWriter.stepAside(tx, holder);
      }
    });
    return (await this.#places.moveAll(refused)).length;
  }

  /** Whether a node is where a record says. */
  isInPlace(node: TreeNode, record: FileRecord | FolderRecord): boolean {
    return this.#places.isInPlace(node, record);
  }
}
