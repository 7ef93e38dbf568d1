import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { ChangeBatches } from "./change-batches.ts";
import type { FileRecord, FolderRecord } from "./records.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link RecordedLocations}. */
export interface RecordedLocationsOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly accountId: number;
}

/** A move may have to wait for another one that frees its location. This is the limit of rounds. */
const ROUNDS_MAX = 1_000;
/**
 * Errors after which a move is tried again; all are thrown before anything is written. The name is taken; the target is
 * inside the moved folder; the location is missing, or too deep until a folder above it has moved.
 */
const REJECTIONS: ReadonlySet<string> = new Set([
  "name_taken",
  "invalid_path",
  "path_too_long",
  "not_found",
  "not_a_folder",
]);

/** Moves nodes of an account to their recorded locations. */
export class RecordedLocations {
  readonly #options: RecordedLocationsOptions;
  readonly #batches: ChangeBatches;

  constructor(options: RecordedLocationsOptions, batches: ChangeBatches) {
    this.#options = options;
    this.#batches = batches;
  }

  /** A node of the account by its public id. */
  find(id: string): TreeNode | undefined {
    return this.#options.tree.findNode(this.#options.accountId, id);
  }

  /** The node that has a recorded location now. */
  findHolder(record: FileRecord | FolderRecord): TreeNode | undefined {
    const folder = this.#folderOf(record);
    return folder && this.#options.tree.findNodeIn(folder.id, record.name);
  }

  /** Whether a node has the recorded location. */
  isInPlace(node: TreeNode, record: FileRecord | FolderRecord): boolean {
    const parent = node.parentId === null ? undefined : this.#options.tree.findById(node.parentId);
    return node.name === record.name && parent?.publicId === record.in;
  }

  /** Moves nodes until no more can be moved. @returns ids of those that could not */
  async moveAll(ids: readonly string[]): Promise<readonly string[]> {
    let waiting = ids;
    for (let round = 0; waiting.length > 0 && round < ROUNDS_MAX; round++) {
      const rejected: string[] = [];
      await this.#batches.each(waiting, (tx, id) => {
        if (!this.#move(tx, id)) rejected.push(id);
      });
      if (rejected.length === waiting.length) return rejected;
      // In a chain of moves the last one may have to be made first.
      waiting = rejected.toReversed();
    }
    return waiting;
  }

  #move(tx: Transaction, id: string): boolean {
    const { treeWriter, staged } = this.#options;
    const [node, record] = [this.find(id), staged.get(id)];
    const folder = record && this.#folderOf(record);
    if (node === undefined || record === undefined || folder === undefined) return false;
    const changes = { name: record.name, folderPath: folder.path };
    try {
      if (node.kind === "file") treeWriter.updateFile(tx, node, changes);
      else treeWriter.updateFolder(tx, node, changes);
      return true;
    } catch (error) {
      if (error instanceof AppError && REJECTIONS.has(error.reason)) return false;
      throw error;
    }
  }

  #folderOf(record: FileRecord | FolderRecord) {
    const { tree, accountId } = this.#options;
    return record.in === undefined ? undefined : tree.findFolder(accountId, record.in);
  }
}
