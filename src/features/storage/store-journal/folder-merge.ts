import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { joinPath, parentPath, ROOT_PATH } from "../../../lib/path.ts";
import type { FolderNode, NodeRef } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { LOST_FOLDER } from "./rebuilt-tree.ts";
import { DEPTH_MAX } from "./record-ancestors.ts";
import { type FileRecord, type FolderRecord, ROOT } from "./records.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link FolderMerge}. */
interface FolderMergeOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly accountId: number;
  /**
   * Whether the database is a copy that was just opened: a deleted folder is not made again for a node in the trash.
   */
  readonly isCopy: boolean;
  /** Whether no node has this id, and none ever had. */
  readonly isFree: (publicId: string) => boolean;
}

/** Why a folder can't be made: a file has its name, it is too deep, or the account has reached its limit of nodes. */
const FOLDER_REJECTIONS: ReadonlySet<string> = new Set(["not_a_folder", "path_too_long", "quota_exceeded"]);

/** Makes missing folders of one account from their records. */
export class FolderMerge {
  readonly #options: FolderMergeOptions;
  /** Folders by the id in their records. */
  readonly #made = new Map<string, NodeRef>();
  /** Folders that go into the trash once everything is in them. */
  readonly toTrash: NodeRef[] = [];

  constructor(options: FolderMergeOptions) {
    this.#options = options;
  }

  /** The existing folder with this id. */
  find(id: string): FolderNode | undefined {
    return this.#options.tree.findFolder(this.#options.accountId, id);
  }

  /** The existing folder with this id, or at the recorded path, where it may have been made again. */
  findByIdOrPath(id: string, depth = 0): FolderNode | undefined {
    const existing = this.find(id);
    if (existing !== undefined) return existing;
    const record = this.#options.staged.get(id);
    if (record?.in === undefined || record.trash !== undefined || depth > DEPTH_MAX) return undefined;
    const parent = this.findByIdOrPath(record.in, depth + 1);
    return parent && this.#findNamed(parent, record.name);
  }

  /** The folder with this id, made from its record if it is missing. Called inside a transaction. */
  ensure(tx: Transaction, id: string, record: FileRecord | FolderRecord | undefined, depth = 0): NodeRef {
    const known = this.#made.get(id) ?? this.find(id);
    if (known !== undefined) return known;
    const ref = this.#make(tx, id, record, depth);
    this.#made.set(id, ref);
    return ref;
  }

  /** The folder that a node belongs into, made if it is missing. Called inside a transaction. */
  ensureParent(tx: Transaction, record: FileRecord | FolderRecord, depth = 0): NodeRef {
    const id = record.trash === undefined ? record.in : record.trash.in;
    const { staged, accountId, tree } = this.#options;
    if (id !== undefined) {
      const recorded = staged.get(id);
      if (recorded !== undefined || this.find(id) !== undefined) return this.ensure(tx, id, recorded, depth + 1);
    }
    if (record.trash !== undefined) return this.#ensureForTrash(tx, record.trash.path);
    return this.#tryToMake(tx, joinPath(ROOT_PATH, LOST_FOLDER)) ?? tree.getRoot(accountId);
  }

  #make(tx: Transaction, id: string, record: FileRecord | FolderRecord | undefined, depth: number): NodeRef {
    const { tree, treeWriter, accountId, isFree } = this.#options;
    const isRoot = record?.name === ROOT && record.trash === undefined;
    if (record === undefined || "file" in record || isRoot || depth > DEPTH_MAX) return tree.getRoot(accountId);
    const folder = this.ensureParent(tx, record, depth);
    const named = record.trash === undefined ? this.#findNamed(folder, record.name) : undefined;
    if (named !== undefined) return named;
    const made = treeWriter.mergeFolder(tx, {
      folder,
      publicId: isFree(id) ? id : undefined,
      name: record.name,
      createdAtMs: record.created,
      modifiedAtMs: record.modified,
      metadata: record.metadata ?? {},
    });
    const ref = { accountId, publicId: made.publicId };
    if (record.trash !== undefined) this.toTrash.push(ref);
    return ref;
  }

  /** The folder for a node that is moved to the trash afterwards. */
  #ensureForTrash(tx: Transaction, path: string): NodeRef {
    const { tree, accountId, isCopy } = this.#options;
    const made = isCopy ? undefined : this.#tryToMake(tx, path);
    if (made !== undefined) return made;
    for (let at = path; at !== ROOT_PATH; at = parentPath(at)) {
      const folder = tree.findFolderByPath(accountId, at);
      if (folder !== undefined) return folder;
    }
    return tree.getRoot(accountId);
  }

  /** @returns undefined if the folder is rejected */
  #tryToMake(tx: Transaction, path: string): NodeRef | undefined {
    try {
      return this.#options.treeWriter.ensureFolder(tx, this.#options.accountId, path);
    } catch (error) {
      if (error instanceof AppError && FOLDER_REJECTIONS.has(error.reason)) return undefined;
      throw error;
    }
  }

  #findNamed({ accountId, publicId }: NodeRef, name: string): FolderNode | undefined {
    const { tree } = this.#options;
    const folder = tree.findFolder(accountId, publicId);
    const child = folder && tree.findNodeIn(folder.id, name);
    if (child?.kind !== "folder" || this.toTrash.some((ref) => ref.publicId === child.publicId)) return undefined;
    return child;
  }
}
