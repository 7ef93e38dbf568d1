import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { FileRecord, FolderRecord } from "./records.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Folders are nested less deeply; a record of a damaged object may say otherwise. */
export const DEPTH_MAX = 10_000;

/** Derives the state and path of a node from the recorded folders above it. */
export class RecordAncestors {
  readonly #staged: StagedRecords;
  readonly #findPath: (folderId: string) => string | undefined;
  readonly #isGoneBelow = new Map<string, boolean>();
  readonly #isTrashedBelow = new Map<string, boolean>();

  /** @param findPath path in the database of a folder that no record names */
  constructor(staged: StagedRecords, findPath: (folderId: string) => string | undefined) {
    this.#staged = staged;
    this.#findPath = findPath;
  }

  /** Whether a folder above the node was deleted. */
  isGone(record: FileRecord | FolderRecord, depth = 0): boolean {
    const id = record.in;
    if (id === undefined || record.trash !== undefined || depth > DEPTH_MAX) return false;
    const known = this.#isGoneBelow.get(id);
    if (known !== undefined) return known;
    const parent = this.#staged.get(id);
    const isGone = parent === undefined ? this.#staged.find(id)?.isGone === true : this.isGone(parent, depth + 1);
    this.#isGoneBelow.set(id, isGone);
    return isGone;
  }

  /** Whether the node or a folder above it is in the trash. */
  isTrashed(record: FileRecord | FolderRecord, depth = 0): boolean {
    if (record.trash !== undefined) return true;
    if (record.in === undefined || depth > DEPTH_MAX) return false;
    const known = this.#isTrashedBelow.get(record.in);
    if (known !== undefined) return known;
    const parent = this.#staged.get(record.in);
    const isTrashed = parent !== undefined && this.isTrashed(parent, depth + 1);
    this.#isTrashedBelow.set(record.in, isTrashed);
    return isTrashed;
  }

  /** The path of the node; for one in the trash, the path that it had. */
  pathOf(record: FileRecord | FolderRecord, depth = 0): string {
    if (record.trash !== undefined) return joinPath(record.trash.path, record.name);
    const parent = record.in === undefined || depth > DEPTH_MAX ? undefined : this.#staged.get(record.in);
    if (parent === undefined) {
      return joinPath((record.in === undefined ? undefined : this.#findPath(record.in)) ?? ROOT_PATH, record.name);
    }
    const isBelowRoot = parent.in === undefined && parent.trash === undefined;
    return joinPath(isBelowRoot ? ROOT_PATH : this.pathOf(parent, depth + 1), record.name);
  }
}
