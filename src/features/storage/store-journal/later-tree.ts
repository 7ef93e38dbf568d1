/**
 * Carries out in a copy that was just opened what its store journal says of places: deletions, the trash, moves and renames.
 * For a tree that nobody has changed since its snapshot, so that the later state holds. Deleted files and folders go into
 * the trash, from which a person can take them. It may end at any point and be done again.
 */
import type { Database } from "bun:sqlite";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { TreeNode } from "../../../tree/model/types.ts";
import { ChangeBatches } from "./change-batches.ts";
import { idOf } from "./parse-record.ts";
import { RecordedLocations, type RecordedLocationsOptions } from "./recorded-locations.ts";
import type { FileRecord, FolderRecord } from "./records.ts";

/** What {@link LaterTree} works with. */
export interface LaterTreeOptions extends RecordedLocationsOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  /** Whether the records are everything that the account has: what they don't name is gone. */
  readonly isFull: boolean;
}

/** How many nodes were changed. */
export interface LaterCounts {
  /** Moved or renamed. */
  moved: number;
  /** Put into the trash, because they were deleted or put there later. */
  removed: number;
  /** Taken out of the trash. */
  restored: number;
  /** Not moved, or left in the trash: their place is taken, not there, or too deep. */
  refused: number;
}

type Live = FileRecord | FolderRecord;

const DEPTH_MAX = 10_000;

/** The later state of one account: {@link prepare}, then new nodes are made, then {@link finish}. */
export class LaterTree {
  readonly counts: LaterCounts = { moved: 0, removed: 0, restored: 0, refused: 0 };
  readonly #options: LaterTreeOptions;
  readonly #isTrashed;
  readonly #batches: ChangeBatches;
  readonly #places: RecordedLocations;
  #refused: readonly string[] = [];

  constructor(options: LaterTreeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.writer);
    this.#places = new RecordedLocations(options, this.#batches);
    this.#isTrashed = options.sqlite.prepare<{ one: 1 }, [string, number]>(
      "SELECT 1 AS one FROM trash t JOIN nodes n ON n.id = t.node_id WHERE n.public_id = ?1 AND t.account_id = ?2",
    );
  }

  /** Before new files and folders are made: frees the places of what is not there any more. */
  async prepare(): Promise<void> {
    const { treeWriter, accountId } = this.#options;
    const restored: string[] = [];
    for (const [id, record] of this.#records()) {
      if (record.trash === undefined && this.#isTrashed.get(id, accountId) !== null) restored.push(id);
    }
    const tooDeep = await this.#restoreSome(restored);
    if (tooDeep.length > 0) {
      // Where they were has moved since.
      await this.#moveSome(this.#movable());
      this.counts.refused = (await this.#restoreSome(tooDeep)).length;
    }
    await this.#removeAll(this.#goneNodes().filter(({ kind }) => kind === "file"));
    const inTheWay = new Map<string, TreeNode>();
    for (const [id, record] of this.#records()) {
      const holder = this.#places.find(id) === undefined ? this.#places.holderOf(record) : undefined;
      if (holder !== undefined && !this.#isInPlace(holder)) inTheWay.set(holder.publicId, holder);
    }
    await this.#batches.each([...inTheWay.values()], (tx, node) => void treeWriter.stepAside(tx, node));
  }

  /** After new files and folders were made: gives every node its later place. */
  async finish(): Promise<void> {
    const trashed: TreeNode[] = [];
    for (const [id, record] of this.#records()) {
      const node = record.trash === undefined ? undefined : this.#places.find(id);
      if (node !== undefined) trashed.push(node);
    }
    await this.#removeAll(trashed.filter(({ kind }) => kind === "file"));
    await this.#moveAll();
    // Last, when everything that stays has left them; those above first, so that what is in them goes with them.
    const folders = [...trashed, ...this.#goneNodes()].filter(({ kind }) => kind === "folder");
    await this.#removeAll(folders.toSorted((a, b) => a.folder.length - b.folder.length));
    const hidden: TreeNode[] = [];
    for (const [id, record] of this.#records()) {
      const node = this.#isHidden(record) ? this.#places.find(id) : undefined;
      if (node !== undefined) hidden.push(node);
    }
    await this.#removeAll(hidden);
    const stillThere = this.#refused.filter((id) => this.#places.find(id) !== undefined);
    this.counts.refused += stillThere.length;
  }

  /** Takes them out of the trash. @returns those whose place is too deep for them */
  async #restoreSome(ids: readonly string[]): Promise<string[]> {
    const { treeWriter, accountId } = this.#options;
    const tooDeep: string[] = [];
    await this.#batches.each(ids, (tx, publicId) => {
      try {
        treeWriter.restore(tx, { accountId, publicId });
        this.counts.restored++;
      } catch (error) {
        // Found out before anything is written.
        if (!(error instanceof AppError) || error.reason !== "path_too_long") throw error;
        tooDeep.push(publicId);
      }
    });
    return tooDeep;
  }

  /** What is there and was moved later. */
  #movable(): string[] {
    const ids: string[] = [];
    for (const [id] of this.#records()) if (this.#wantsMove(id)) ids.push(id);
    return ids;
  }

  async #moveAll(): Promise<void> {
    const waiting = await this.#moveSome(this.#movable());
    // What is left waits for each other, as two files that swapped their names, or for a folder that is to go.
    await this.#batches.each(waiting, (tx, id) => {
      const record = this.#options.staged.get(id);
      for (const node of [this.#places.find(id), record && this.#places.holderOf(record)]) {
        if (node !== undefined && !this.#isInPlace(node)) this.#options.treeWriter.stepAside(tx, node);
      }
    });
    this.#refused = await this.#moveSome(waiting);
  }

  /** @returns what could not be moved */
  async #moveSome(ids: readonly string[]): Promise<readonly string[]> {
    const refused = await this.#places.moveAll(ids);
    this.counts.moved += ids.length - refused.length;
    return refused;
  }

  async #removeAll(nodes: readonly TreeNode[]): Promise<void> {
    await this.#batches.each(nodes, (tx, { accountId, publicId }) => {
      // It went with a folder above it.
      if (this.#places.find(publicId) === undefined) return;
      this.#options.treeWriter.trash(tx, { accountId, publicId });
      this.counts.removed++;
    });
  }

  *#records(): Generator<[id: string, record: Live]> {
    for (const { record } of this.#options.staged.all()) yield [idOf(record), record];
  }

  /** What is there and was deleted later. */
  #goneNodes(): TreeNode[] {
    const { staged, isFull, sqlite, accountId } = this.#options;
    const ids = isFull
      ? sqlite
          .query<{ id: string }, [number]>("SELECT public_id AS id FROM nodes WHERE account_id = ?1")
          .all(accountId)
          .flatMap(({ id }) => (staged.get(id) === undefined ? [id] : []))
      : staged.gone();
    return ids.flatMap((id) => this.#places.find(id) ?? []).filter(({ parentId }) => parentId !== null);
  }

  /** Whether a node that is not in the trash itself lay in a folder that is, or that was deleted. */
  #isHidden(record: Live): boolean {
    const { staged } = this.#options;
    let above = record.in;
    for (let depth = 0; above !== undefined && depth < DEPTH_MAX; depth++) {
      const folder = staged.get(above);
      if (folder === undefined) return this.#places.find(above) === undefined;
      if (folder.trash !== undefined) return true;
      above = folder.in;
    }
    return false;
  }

  #wantsMove(id: string): boolean {
    const node = this.#places.find(id);
    return node !== undefined && node.parentId !== null && !this.#isInPlace(node);
  }

  /** Whether a node is where it was later. */
  #isInPlace(node: TreeNode): boolean {
    const { staged, isFull } = this.#options;
    const record = staged.get(node.publicId);
    // Nothing is said of it: it is as it was, or it is gone.
    if (record === undefined) return !isFull && staged.find(node.publicId)?.isGone !== true;
    return record.trash === undefined && this.#places.isInPlace(node, record);
  }
}
