/**
 * Merges recorded deletions, moves and renames into a copy that was just opened. Its tree was not changed since its
 * snapshot, so the recorded state always wins. Deleted files and folders are moved to the trash, where users can
 * restore them. It may be interrupted at any point and run again.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { ChangeBatches } from "./change-batches.ts";
import { idOf } from "./parse-record.ts";
import { RecordedLocations, type RecordedLocationsOptions } from "./recorded-locations.ts";
import type { FileRecord, FolderRecord } from "./records.ts";

/** Dependencies of {@link CopyMerge}. */
interface CopyMergeOptions extends RecordedLocationsOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  /** Whether the records are the whole account: a node without a record was deleted. */
  readonly isFull: boolean;
}

/** How many nodes were changed. */
interface CopyMergeCounts {
  /** Moved or renamed. */
  moved: number;
  /** Moved to the trash, because they were deleted or trashed after the snapshot. */
  removed: number;
  /** Restored from the trash. */
  restored: number;
  /** Not moved, or left in the trash: their location is taken, missing or too deep. */
  rejected: number;
}

type LiveRecord = FileRecord | FolderRecord;

const DEPTH_MAX = 10_000;

/** Merges one account: {@link prepare}, then the caller makes new nodes, then {@link finish}. */
export class CopyMerge {
  readonly counts: CopyMergeCounts = { moved: 0, removed: 0, restored: 0, rejected: 0 };
  readonly #options: CopyMergeOptions;
  readonly #isTrashed;
  readonly #batches: ChangeBatches;
  readonly #locations: RecordedLocations;
  #rejected: readonly string[] = [];

  constructor(options: CopyMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.writer);
    this.#locations = new RecordedLocations(options, this.#batches);
    this.#isTrashed = options.sqlite.prepare<{ one: 1 }, [string, number]>(
      "SELECT 1 AS one FROM trash t JOIN nodes n ON n.id = t.node_id WHERE n.public_id = ?1 AND t.account_id = ?2",
    );
  }

  /** Call before new files and folders are made: frees the locations of nodes that were deleted or moved. */
  async prepare(): Promise<void> {
    const { treeWriter, accountId } = this.#options;
    const restored: string[] = [];
    for (const [id, record] of this.#records()) {
      if (record.trash === undefined && this.#isTrashed.get(id, accountId) !== null) restored.push(id);
    }
    const tooDeep = await this.#restoreSome(restored);
    if (tooDeep.length > 0) {
      // The folder that they were in has moved since.
      await this.#moveSome(this.#movable());
      this.counts.rejected = (await this.#restoreSome(tooDeep)).length;
    }
    await this.#trashAll(this.#goneNodes().filter(({ kind }) => kind === "file"));
    const blocking = new Map<string, TreeNode>();
    for (const [id, record] of this.#records()) {
      const holder = this.#locations.find(id) === undefined ? this.#locations.findHolder(record) : undefined;
      if (holder !== undefined && !this.#isInPlace(holder)) blocking.set(holder.publicId, holder);
    }
    await this.#batches.each([...blocking.values()], (tx, node) => void treeWriter.stepAside(tx, node));
  }

  /** Call after new files and folders were made: gives every node its recorded location. */
  async finish(): Promise<void> {
    const trashed: TreeNode[] = [];
    for (const [id, record] of this.#records()) {
      const node = record.trash === undefined ? undefined : this.#locations.find(id);
      if (node !== undefined) trashed.push(node);
    }
    await this.#trashAll(trashed.filter(({ kind }) => kind === "file"));
    await this.#moveAll();
    // Last, when all nodes that stay have left them. Parents come first, so that folders in them are trashed with them.
    const folders = [...trashed, ...this.#goneNodes()].filter(({ kind }) => kind === "folder");
    await this.#trashAll(folders.toSorted((a, b) => a.folder.length - b.folder.length));
    const belowTrash: TreeNode[] = [];
    for (const [id, record] of this.#records()) {
      const node = this.#isBelowTrash(record) ? this.#locations.find(id) : undefined;
      if (node !== undefined) belowTrash.push(node);
    }
    await this.#trashAll(belowTrash);
    const stillThere = this.#rejected.filter((id) => this.#locations.find(id) !== undefined);
    this.counts.rejected += stillThere.length;
  }

  /** Restores nodes from the trash. @returns those whose location is too deep */
  async #restoreSome(ids: readonly string[]): Promise<string[]> {
    const { treeWriter, accountId } = this.#options;
    const tooDeep: string[] = [];
    await this.#batches.each(ids, (tx, publicId) => {
      try {
        treeWriter.restore(tx, { accountId, publicId });
        this.counts.restored++;
      } catch (error) {
        // Thrown before anything is written.
        if (!(error instanceof AppError) || error.reason !== "path_too_long") throw error;
        tooDeep.push(publicId);
      }
    });
    return tooDeep;
  }

  /** Ids of existing nodes that were moved after the snapshot. */
  #movable(): string[] {
    const ids: string[] = [];
    for (const [id] of this.#records()) if (this.#mustMove(id)) ids.push(id);
    return ids;
  }

  async #moveAll(): Promise<void> {
    const blocked = await this.#moveSome(this.#movable());
    // The rest block each other, like two files that swapped their names, or are blocked by a folder that was deleted.
    await this.#batches.each(blocked, (tx, id) => {
      const record = this.#options.staged.get(id);
      for (const node of [this.#locations.find(id), record && this.#locations.findHolder(record)]) {
        if (node !== undefined && !this.#isInPlace(node)) this.#options.treeWriter.stepAside(tx, node);
      }
    });
    this.#rejected = await this.#moveSome(blocked);
  }

  /** @returns ids of nodes that could not be moved */
  async #moveSome(ids: readonly string[]): Promise<readonly string[]> {
    const rejected = await this.#locations.moveAll(ids);
    this.counts.moved += ids.length - rejected.length;
    return rejected;
  }

  async #trashAll(nodes: readonly TreeNode[]): Promise<void> {
    await this.#batches.each(nodes, (tx, { accountId, publicId }) => {
      // It was trashed together with a folder above it.
      if (this.#locations.find(publicId) === undefined) return;
      this.#options.treeWriter.trash(tx, { accountId, publicId });
      this.counts.removed++;
    });
  }

  *#records(): Generator<[id: string, record: LiveRecord]> {
    for (const { record } of this.#options.staged.all()) yield [idOf(record), record];
  }

  /** Existing nodes that were deleted after the snapshot. */
  #goneNodes(): TreeNode[] {
    const { staged, isFull, sqlite, accountId } = this.#options;
    const ids = isFull
      ? sqlite
          .query<{ id: string }, [number]>("SELECT public_id AS id FROM nodes WHERE account_id = ?1")
          .all(accountId)
          .flatMap(({ id }) => (staged.get(id) === undefined ? [id] : []))
      : staged.gone();
    return ids.flatMap((id) => this.#locations.find(id) ?? []).filter(({ parentId }) => parentId !== null);
  }

  /** Whether a folder above the node is in the trash or was deleted. */
  #isBelowTrash(record: LiveRecord): boolean {
    const { staged } = this.#options;
    let above = record.in;
    for (let depth = 0; above !== undefined && depth < DEPTH_MAX; depth++) {
      const folder = staged.get(above);
      if (folder === undefined) return this.#locations.find(above) === undefined;
      if (folder.trash !== undefined) return true;
      above = folder.in;
    }
    return false;
  }

  #mustMove(id: string): boolean {
    const node = this.#locations.find(id);
    return node !== undefined && node.parentId !== null && !this.#isInPlace(node);
  }

  /** Whether a node has its recorded location. */
  #isInPlace(node: TreeNode): boolean {
    const { staged, isFull } = this.#options;
    const record = staged.get(node.publicId);
    // Without a record it did not change, or it was deleted.
    if (record === undefined) return !isFull && staged.find(node.publicId)?.isGone !== true;
    return record.trash === undefined && this.#locations.isInPlace(node, record);
  }
}
