/**
 * Restores a folder to a moment, in one transaction or several short ones. The state at that moment was read before. The
 * current state is read here, node by node, so concurrent changes are respected. Folders are restored before their
 * content, from the top down.
 *
 * Nothing is destroyed: content becomes a new version, and a node that occupies a name is renamed with a number.
 */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { PastContents, PastEntry, PastFolder } from "../../../tree/queries/past.ts";
import type { AccountMoment } from "../../../tree/queries/past-sql.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { RestoredNode, RestoreOutcome, RestoreSkip } from "./types.ts";

/** What to restore. */
export interface RestoreRunPlan {
  readonly moment: AccountMoment;
  readonly folder: PastFolder;
  /** Row id of its parent; undefined for the root. */
  readonly parentId: number | undefined;
  readonly contents: PastContents;
  readonly removesNew: boolean;
  /** The author of restored versions. */
  readonly createdBy: number;
  readonly quotaBytes: number | null;
}

/** Dependencies of {@link RestoreRun}. */
export interface RestoreRunOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
}

/** How many times a node may have been deleted and created again; beyond that it is not found. */
const LIVES_MAX = 100;

/** Carries out one restore. */
export class RestoreRun {
  readonly #options: RestoreRunOptions;
  readonly #plan: RestoreRunPlan;
  readonly #steps: Generator<void, void>;
  /** The transaction of the current step. */
  #currentTx: Transaction | undefined;
  readonly #outcomes: RestoreOutcome[] = [];
  /** Current row ids of folders by their former ones. */
  readonly #folders = new Map<number, number>();
  /** Row ids of nodes not yet restored. */
  readonly #pending: Set<number>;
  /** Former state of nodes that were renamed to free a name before their own turn. */
  readonly #renamedFrom = new Map<number, TreeNode>();
  /** Row ids of nodes that existed at the moment, or replaced one that did: they are not new. */
  readonly #old = new Set<number>();
  /** Row ids of nodes restored from the trash. */
  readonly #fromTrash = new Set<number>();

  constructor(options: RestoreRunOptions, plan: RestoreRunPlan) {
    this.#options = options;
    this.#plan = plan;
    this.#steps = this.#work();
    this.#pending = new Set(plan.contents.changed.map(({ id }) => id));
  }

  /** What was done so far. */
  get outcomes(): readonly RestoreOutcome[] {
    return this.#outcomes;
  }

  /**
   * Runs steps inside the caller's transaction for about `ms` milliseconds.
   * @returns whether the restore is complete
   * @throws AppError quota_exceeded, and what the tree rejects; the transaction is then rolled back
   */
  run(tx: Transaction, ms: number): boolean {
    this.#currentTx = tx;
    const endMs = performance.now() + ms;
    do {
      if (this.#steps.next().done === true) return true;
    } while (performance.now() < endMs);
    return false;
  }

  get #tx(): Transaction {
    invariant(this.#currentTx !== undefined, "a restore runs inside a transaction");
    return this.#currentTx;
  }

  *#work(): Generator<void, void> {
    const { folder, parentId, contents, moment } = this.#plan;
    const { treeWriter } = this.#options;
    const { accountId } = moment;
    for (const [formerId, id] of contents.present) {
      this.#folders.set(formerId, id);
      this.#old.add(id);
    }
    for (const { id } of contents.changed) {
      this.#old.add(this.#find(id)?.id ?? id);
      yield;
    }
    const newIds = contents.newIds.filter((id) => !this.#old.has(id));
    // New files are handled first, which frees their names; new folders last, after old items were moved out of them.
    const rest: number[] = [];
    for (const id of newIds) {
      if (!this.#handleNew(id, "file")) rest.push(id);
      yield;
    }
    if (parentId !== undefined) {
      const former = this.#find(parentId);
      const parent = former?.kind === "folder" ? former : treeWriter.ensureFolder(this.#tx, accountId, folder.folder);
      this.#folders.set(parentId, parent.id);
    }
    const own = parentId === undefined ? [] : [{ id: folder.id, isFolder: true, parentId, name: folder.name }];
    yield* this.#restoreAll([...own, ...contents.changed]);
    for (const id of rest) {
      this.#handleNew(id);
      yield;
    }
    for (const id of this.#fromTrash) {
      this.#returnToTrash(id);
      yield;
    }
  }

  /**
   * The estimated bytes that restoring an entry adds to the account, to check the quota beforehand. Read-only.
   */
  addedBytes({ id, isFolder }: PastEntry): number {
    if (isFolder) return 0;
    const { tree } = this.#options;
    const { moment } = this.#plan;
    const node = this.#find(id);
    if (node === undefined) {
      const contents = tree.past.findDeleted(moment.accountId, id)?.detail.file?.contents ?? [];
      return tree.past.contentAt(moment, contents)?.sizeBytes ?? 0;
    }
    const version = node.kind === "file" ? tree.past.versionAt(moment, node) : undefined;
    const former = node.kind === "file" && version !== undefined ? tree.findVersion(node, version) : undefined;
    return former === undefined || node.kind !== "file" || former.digest === node.digest ? 0 : former.sizeBytes;
  }

  /**
   * Whether an entry will be created again, because it is neither in the tree nor in the trash. It then counts as an
   * additional node. Read-only.
   */
  isRecreated({ id }: PastEntry): boolean {
    const { tree } = this.#options;
    const { accountId } = this.#plan.moment;
    return (
      this.#find(id) === undefined &&
      tree.past.findInTrash(accountId, id) === undefined &&
      tree.past.findDeleted(accountId, id) !== undefined
    );
  }

  /** If a node is too deep for its location, it is retried after the others, which may reduce its depth. */
  *#restoreAll(entries: readonly PastEntry[]): Generator<void, void> {
    for (let queued = entries; queued.length > 0; ) {
      const tooDeep = new Map<number, PastEntry>();
      for (const entry of queued) {
        const isParentPending = tooDeep.has(entry.parentId) && this.#find(entry.parentId) === undefined;
        if (isParentPending || !this.#tryRestore(entry)) tooDeep.set(entry.id, entry);
        yield;
      }
      if (tooDeep.size === queued.length) return this.#skipTooDeep([...tooDeep.values()]);
      queued = [...tooDeep.values()];
    }
  }

  /** @returns false if it is currently too deep for its location */
  #tryRestore(entry: PastEntry): boolean {
    try {
      this.#restoreEntry(entry);
      return true;
    } catch (error) {
      // Both are detected before anything is written.
      if (this.#skipLocked(error, this.#find(entry.id))) return true;
      if (!(error instanceof AppError) || error.reason !== "path_too_long") throw error;
      this.#pending.add(entry.id);
      return false;
    }
  }

  #skipTooDeep(entries: readonly PastEntry[]): void {
    for (const { id } of entries) {
      const node = this.#find(id);
      if (node !== undefined) this.#skip("too_deep", node);
    }
  }

  #restoreEntry(entry: PastEntry): void {
    this.#pending.delete(entry.id);
    const parentId = this.#folders.get(entry.parentId) ?? entry.parentId;
    const parentPath = this.#options.tree.pathOf(parentId);
    const present = this.#find(entry.id);
    if (parentPath === undefined) {
      if (present !== undefined) this.#skip("folder_gone", present);
      return;
    }
    if (present === undefined) this.#options.treeWriter.locks.requireUnlocked(this.#plan.moment.accountId, parentId);
    const node = present ?? this.#restoreFromTrash(entry.id);
    const restored =
      node === undefined
        ? this.#remake(entry, parentId, parentPath)
        : this.#restoreNode(node, entry, parentId, parentPath);
    if (restored === undefined) return;
    this.#old.add(restored.id);
    if (restored.kind === "folder" && restored.id !== entry.id) this.#folders.set(entry.id, restored.id);
  }

  /** The current node, or the one that replaced it. */
  #find(nodeId: number): TreeNode | undefined {
    const { tree } = this.#options;
    const { accountId } = this.#plan.moment;
    let id: number | undefined = nodeId;
    for (let lives = 0; id !== undefined && lives < LIVES_MAX; lives++) {
      const node = tree.findById(id);
      if (node !== undefined) return node.accountId === accountId ? node : undefined;
      id = tree.past.findSuccessor(accountId, id);
    }
    return undefined;
  }

  /** Restores a node from the trash, if it is there, with the folder with which it was trashed. */
  #restoreFromTrash(id: number): TreeNode | undefined {
    const { tree, treeWriter } = this.#options;
    const { accountId } = this.#plan.moment;
    const top = tree.past.findInTrash(accountId, id);
    if (top === undefined) return undefined;
    treeWriter.restore(this.#tx, { accountId, publicId: top.publicId });
    this.#fromTrash.add(top.id).add(id);
    return tree.findById(id);
  }

  /** A folder restored only because it contained something old returns to the trash. */
  #returnToTrash(id: number): void {
    const { tree, treeWriter } = this.#options;
    const node = this.#old.has(id) ? undefined : tree.findById(id);
    if (node !== undefined) treeWriter.trash(this.#tx, node);
  }

  /** Moves a node to its former location and restores the former content of a file. */
  #restoreNode(node: TreeNode, entry: PastEntry, parentId: number, parentPath: string): TreeNode {
    const moved = this.#moveBack(node, entry.name, parentId, parentPath);
    if (this.#fromTrash.has(moved.id))
      this.#outcomes.push({ outcome: "done", change: "undelete", node: toRestoredNode(moved) });
    return moved.kind === "file" ? this.#putContent(moved) : moved;
  }

  #moveBack(node: TreeNode, name: string, parentId: number, parentPath: string): TreeNode {
    if (node.parentId === parentId && node.name === name) return node;
    if (node.kind === "folder" && (parentPath === node.path || parentPath.startsWith(`${node.path}/`))) {
      this.#skip("inside_itself", node);
      return node;
    }
    this.#options.treeWriter.locks.requireMovable(node, node.parentId, parentId);
    this.#freeName(parentId, name);
    const moved = this.#options.treeWriter.restoreState(this.#tx, node, { folder: parentPath, name }, undefined);
    const { name: formerName, folder } = this.#renamedFrom.get(node.id) ?? node;
    const from = { name: formerName, folder };
    // Its temporary location after leaving the trash is not reported.
    if (!this.#fromTrash.has(node.id))
      this.#outcomes.push({ outcome: "done", change: "place", node: toRestoredNode(moved), from });
    return moved;
  }

  #putContent(file: FileNode): FileNode {
    const { tree, treeWriter } = this.#options;
    const { moment, createdBy, quotaBytes } = this.#plan;
    const version = tree.past.versionAt(moment, file);
    const former = version === undefined ? undefined : tree.findVersion(file, version);
    if (version === undefined || former === undefined) {
      this.#skip("content_gone", file);
      return file;
    }
    if (former.digest === file.digest) return file;
    treeWriter.locks.requireUnlocked(file.accountId, file.id);
    const changed = treeWriter.restoreContent(this.#tx, file, version, { createdBy, quotaBytes }) ?? file;
    this.#outcomes.push({ outcome: "done", change: "content", node: toRestoredNode(changed), version });
    return changed;
  }

  /** Creates again a node that a device deleted; undefined if a person has permanently deleted it since. */
  #remake(entry: PastEntry, parentId: number, parentPath: string): TreeNode | undefined {
    const { tree, treeWriter } = this.#options;
    const { accountId } = this.#plan.moment;
    const deleted = tree.past.findDeleted(accountId, entry.id);
    if (deleted === undefined) return undefined;
    const { deviceId, publicId, detail } = deleted;
    const { tags = [], metadata = {} } = detail.labelsFrom ?? {};
    const recreated = {
      accountId,
      former: { nodeId: entry.id, publicId },
      location: { folder: parentPath, name: entry.name },
      // Its public link was deleted with it.
      labels: { tags, metadata, isPublic: false },
    };
    const { file } = detail;
    const content = file && tree.past.contentAt(this.#plan.moment, file.contents);
    if (
      !entry.isFolder &&
      (file === undefined || content === undefined || tree.findBlob(content.digest) === undefined)
    ) {
      this.#skip("content_gone", { publicId, isFolder: false, name: entry.name, folder: parentPath });
      return undefined;
    }
    this.#freeName(parentId, entry.name);
    // Recorded as undone by a rewind of that device, so that a later rewind does not create it a second time.
    const made = treeWriter.rewinding(deviceId, () => {
      if (file === undefined || content === undefined) return treeWriter.recreateFolder(this.#tx, recreated);
      const again = { ...recreated, file, quotaBytes: this.#plan.quotaBytes };
      const newest = file.contents[0]?.version ?? content.version;
      const whole = treeWriter.recreateFile(this.#tx, { ...again, version: newest });
      return whole ?? treeWriter.recreateFile(this.#tx, { ...again, version: content.version });
    });
    if (made === undefined) return undefined;
    const version = made.kind === "file" && content?.version !== made.version ? content?.version : undefined;
    const by = { createdBy: this.#plan.createdBy, quotaBytes: this.#plan.quotaBytes };
    const whole = version === undefined ? made : (treeWriter.restoreContent(this.#tx, made, version, by) ?? made);
    const formerly = { formerId: publicId, ...(version !== undefined && { version }) };
    this.#outcomes.push({ outcome: "done", change: "undelete", node: toRestoredNode(whole), ...formerly });
    return whole;
  }

  /** Renames the node that occupies a name; if its own turn comes later, it gets its location then. */
  #freeName(parentId: number, name: string): void {
    const { tree, treeWriter } = this.#options;
    const occupant = tree.findNodeIn(parentId, name);
    if (occupant === undefined) return;
    const renamed = treeWriter.stepAside(this.#tx, occupant);
    if (this.#pending.has(occupant.id)) {
      if (!this.#renamedFrom.has(occupant.id)) this.#renamedFrom.set(occupant.id, occupant);
      return;
    }
    const from = { name: occupant.name, folder: occupant.folder };
    this.#outcomes.push({ outcome: "done", change: "aside", node: toRestoredNode(renamed), from });
  }

  /** @returns whether it exists and is of this kind */
  #handleNew(id: number, kind?: TreeNode["kind"]): boolean {
    const { tree } = this.#options;
    const node = tree.findById(id);
    if (node === undefined || (kind ?? node.kind) !== node.kind || this.#old.has(id)) return false;
    if (!this.#plan.removesNew) this.#outcomes.push({ outcome: "new", node: toRestoredNode(node) });
    else if (node.kind === "folder" && tree.past.holdsOlder(this.#plan.moment, node.id)) this.#skip("not_empty", node);
    else this.#removeNew(node);
    return true;
  }

  #removeNew(node: TreeNode): void {
    try {
      this.#options.treeWriter.trash(this.#tx, node);
      this.#outcomes.push({ outcome: "done", change: "remove", node: toRestoredNode(node) });
    } catch (error) {
      if (!this.#skipLocked(error, node)) throw error;
    }
  }

  /** Skips a node that a WebDAV client has locked. @returns whether that was the error */
  #skipLocked(error: unknown, node: TreeNode | undefined): boolean {
    if (!(error instanceof AppError) || error.reason !== "locked") return false;
    if (node !== undefined) this.#skip("locked", node);
    return true;
  }

  #skip(reason: RestoreSkip, node: TreeNode | RestoredNode): void {
    this.#outcomes.push({ outcome: "skipped", reason, node: "kind" in node ? toRestoredNode(node) : node });
  }
}

function toRestoredNode({ kind, publicId, name, folder }: TreeNode): RestoredNode {
  return { publicId, isFolder: kind === "folder", name, folder };
}
