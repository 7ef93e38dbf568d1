import { AppError } from "../../../errors.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { User } from "../../accounts/users/types.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import type { ImportProgress } from "./import-progress.ts";
import type { SourceFile, SourceFolder, WalkedEntry } from "./source-walk.ts";
import type { ImportRequest } from "./types.ts";

/** Dependencies of {@link ImportPlan}. */
interface ImportPlanOptions {
  readonly tree: TreeReader;
  readonly user: User;
  readonly request: ImportRequest;
  readonly limits: StorageLimits;
  readonly progress: ImportProgress;
}

/** A file to be read, or a folder to be made. */
export type PlannedEntry =
  | { readonly kind: "folder"; readonly folder: SourceFolder }
  | { readonly kind: "file"; readonly file: SourceFile; readonly isTaken: boolean };

/** Decides for each entry of the walk whether it is imported. Changes nothing but the progress. */
export class ImportPlan {
  readonly #options: ImportPlanOptions;
  /** The folder in the account that the walk is in, and its row id if it exists. */
  #current: { readonly path: string; readonly id: number | undefined } = { path: "", id: undefined };
  /** Path of a folder that can't be made, because a file has it. */
  #blocked: string | undefined;
  /** Bytes and nodes that a dry run would add. */
  #plannedBytes = 0;
  #plannedNodes = 0;

  constructor(options: ImportPlanOptions) {
    this.#options = options;
  }

  /** @returns what is to be imported; undefined for an entry that is skipped, and always in a dry run */
  next(entry: WalkedEntry): PlannedEntry | undefined {
    const { progress } = this.#options;
    if (entry.kind === "problem") progress.addProblem(entry.path, entry.reason, entry.message);
    else if (entry.kind === "renamed") progress.addRenaming(entry.path, entry.storedAs);
    else if (entry.kind === "folder") return this.#planFolder(entry);
    else if (!isBelow(entry.folder, this.#blocked)) return this.#planFile(entry);
    return undefined;
  }

  #planFolder(folder: SourceFolder): PlannedEntry | undefined {
    const { tree, user, request, progress } = this.#options;
    const { treePath: path, path: onDisk } = folder;
    if (isBelow(path, this.#blocked)) return undefined;
    this.#blocked = undefined;
    const id = tree.findFolderByPath(user.id, path)?.id;
    this.#current = { path, id };
    if (id !== undefined) return undefined;
    const parent = path.slice(0, path.lastIndexOf("/")) || ROOT_PATH;
    if (tree.findFileNamed(user.id, parent, path.slice(path.lastIndexOf("/") + 1)) !== undefined) {
      this.#blocked = path;
      progress.addProblem(onDisk, "name_taken", `"${path}" is a file in the account. Rename one of the two.`);
      return undefined;
    }
    if (!request.isDryRun) return { kind: "folder", folder };
    progress.counts.folders++;
    this.#countNode(onDisk);
    return undefined;
  }

  #planFile(file: SourceFile): PlannedEntry | undefined {
    const { request, limits, progress } = this.#options;
    const { onConflict, isRereading, isDryRun } = request;
    progress.counts.seen++;
    const { maxFileSizeBytes, plan } = limits;
    if (maxFileSizeBytes !== null && file.sizeBytes > maxFileSizeBytes) {
      const message = `The file is larger than the plan "${plan}" allows (${maxFileSizeBytes} bytes). To change the plan: larder user set EMAIL --plan PLAN`;
      progress.addProblem(file.path, "file_too_large", message);
      return undefined;
    }
    const existing = this.#findExisting(file);
    if (existing?.kind === "file" && !isRereading && isUnchanged(existing, file)) {
      progress.counts.unchanged++;
      return undefined;
    }
    if (existing?.kind === "folder" && onConflict !== "rename") {
      const message = `"${joinPath(file.folder, file.name)}" is a folder in the account.`;
      progress.addProblem(file.path, "name_taken", message);
      return undefined;
    }
    // A file of another size has other content: it need not be read.
    const isOther = existing?.kind === "file" && existing.sizeBytes !== file.sizeBytes;
    if (isOther && onConflict === "skip") {
      progress.addOtherContent(file);
      return undefined;
    }
    const isTaken = existing !== undefined;
    if (!isDryRun) return { kind: "file", file, isTaken };
    this.#countFile(file, isTaken);
    return undefined;
  }

  #findExisting(file: SourceFile): TreeNode | undefined {
    const { id } = this.#current;
    return id === undefined ? undefined : this.#options.tree.findNodeIn(id, file.name);
  }

  /** Counts a file that a dry run would import. */
  #countFile(file: SourceFile, isTaken: boolean): void {
    const { tree, user, request, limits, progress } = this.#options;
    const { counts } = progress;
    counts.imported++;
    counts.importedBytes += file.sizeBytes;
    this.#plannedBytes += file.sizeBytes;
    if (isTaken && request.onConflict === "version") counts.versions++;
    if (isTaken && request.onConflict === "rename") counts.renamed++;
    const { quotaBytes } = limits;
    const { usedBytes } = tree.usage(user.id);
    if (quotaBytes !== null && usedBytes + this.#plannedBytes > quotaBytes) progress.stopForQuota(file, quotaBytes);
    if (!isTaken) this.#countNode(file.path);
  }

  #countNode(path: string): void {
    const { tree, user, progress } = this.#options;
    this.#plannedNodes++;
    try {
      tree.rejectNodes(user.id, this.#plannedNodes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      progress.addRejection(path, error);
    }
  }
}

function isBelow(path: string, top: string | undefined): boolean {
  return top !== undefined && (path === top || path.startsWith(`${top}/`));
}

/** Whether size and time of a file are those on disk. */
function isUnchanged(existing: FileNode, { sizeBytes, modifiedAtMs }: SourceFile): boolean {
  const { fileModifiedAt } = existing;
  return existing.sizeBytes === sizeBytes && fileModifiedAt !== null && Date.parse(fileModifiedAt) === modifiedAtMs;
}
