/**
 * Moves and renames that newer objects name, of nodes that nobody has changed since the database was put back. What was
 * moved in the present stays where it is, and so does what finds its place taken.
 */
import type { Transaction, Writer } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { TreeReader } from "../tree/reader.ts";
import type { TreeNode } from "../tree/types.ts";
import type { TreeWriter } from "../tree/writer.ts";
import type { FileRecord, FolderRecord } from "./records.ts";
import type { StagedRecords } from "./staged-records.ts";

/** What {@link NewerMoves} works with. */
export interface NewerMovesOptions {
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly accountId: number;
  /** Whether a record tells of a later change of a node. */
  readonly isLater: (node: TreeNode, record: FileRecord | FolderRecord) => boolean;
}

/** Nodes moved in one transaction. */
const BATCH = 50;
/** A move may have to wait for another one that frees its place: so often it is tried. */
const ROUNDS_MAX = 100;
/** Places are taken or not there, or too deep: found out before anything is written. */
const REFUSALS: ReadonlySet<string> = new Set([
  "name_taken",
  "invalid_path",
  "path_too_long",
  "not_found",
  "not_a_folder",
]);

/** See the head of this file. */
export class NewerMoves {
  readonly #options: NewerMovesOptions;
  readonly #wanted = new Set<string>();

  constructor(options: NewerMovesOptions) {
    this.#options = options;
  }

  /** Whether a node is one of those that were to be moved. */
  has(publicId: string): boolean {
    return this.#wanted.has(publicId);
  }

  /** Looks for all moves. @returns how many there are */
  plan(): number {
    for (const { record } of this.#options.staged.all()) {
      const node = record.trash === undefined ? this.#find(idOf(record)) : undefined;
      if (node === undefined || node.parentId === null || this.isInPlace(node, record)) continue;
      if (this.#options.isLater(node, record)) this.#wanted.add(node.publicId);
    }
    return this.#wanted.size;
  }

  /** Carries them out. @returns how many could not be */
  async carryOut(): Promise<number> {
    const refused = await this.#moveSome([...this.#wanted]);
    // Those wait for each other: two files that swapped their names.
    await this.#each(refused, (tx, id) => {
      const record = this.#options.staged.get(id);
      const holder = record && this.#holderOf(record);
      if (holder !== undefined && holder.publicId !== id && this.#wanted.has(holder.publicId)) {
        this.#options.treeWriter.stepAside(tx, holder);
      }
    });
    return (await this.#moveSome(refused)).length;
  }

  /** Whether a node is where a record says. */
  isInPlace(node: TreeNode, record: FileRecord | FolderRecord): boolean {
    const parent = node.parentId === null ? undefined : this.#options.tree.findById(node.parentId);
    return node.name === record.name && parent?.publicId === record.in;
  }

  /** Moves until no more can be. @returns what could not */
  async #moveSome(ids: readonly string[]): Promise<string[]> {
    let waiting = [...ids];
    for (let round = 0; waiting.length > 0 && round < ROUNDS_MAX; round++) {
      const refused: string[] = [];
      await this.#each(waiting, (tx, id) => {
        if (!this.#move(tx, id)) refused.push(id);
      });
      if (refused.length === waiting.length) return refused;
      waiting = refused;
    }
    return waiting;
  }

  #move(tx: Transaction, id: string): boolean {
    const { tree, treeWriter, accountId, staged } = this.#options;
    const [node, record] = [this.#find(id), staged.get(id)];
    const folder = record?.in === undefined ? undefined : tree.findFolder(accountId, record.in);
    if (node === undefined || record === undefined || folder === undefined) return false;
    const changes = { name: record.name, folderPath: folder.path };
    try {
      if (node.kind === "file") treeWriter.updateFile(tx, node, changes);
      else treeWriter.updateFolder(tx, node, changes);
      return true;
    } catch (error) {
      if (error instanceof AppError && REFUSALS.has(error.reason)) return false;
      throw error;
    }
  }

  async #each(ids: readonly string[], change: (tx: Transaction, id: string) => void): Promise<void> {
    for (let from = 0; from < ids.length; from += BATCH) {
      const some = ids.slice(from, from + BATCH);
      await this.#options.writer.run(
        (tx) => {
          for (const id of some) change(tx, id);
        },
        // It counts.
        { isRepeatable: false },
      );
    }
  }

  #find(id: string): TreeNode | undefined {
    return this.#options.tree.findNode(this.#options.accountId, id);
  }

  #holderOf(record: FileRecord | FolderRecord): TreeNode | undefined {
    const { tree, accountId } = this.#options;
    const folder = record.in === undefined ? undefined : tree.findFolder(accountId, record.in);
    return folder && tree.findNodeIn(folder.id, record.name);
  }
}

function idOf(record: FileRecord | FolderRecord): string {
  return "file" in record ? record.file : record.folder;
}
