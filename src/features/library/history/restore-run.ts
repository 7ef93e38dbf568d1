/**
 * Brings a folder back to a moment, in one transaction or in several short ones. What was then is known before; what is now is read here, node by
 * node, so that changes made in between are met as they are. Folders come before what was in them, from the top down.
 *
 * Nothing is destroyed: contents become new versions, and whoever stands where something was is numbered out of its way.
 */
import type { Transaction } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { PastContents, PastEntry, PastFolder } from "../../../tree/queries/past.ts";
import type { Moment } from "../../../tree/queries/past-sql.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { RestoredNode, RestoreOutcome, RestoreSkip } from "./types.ts";

/** What is to be brought back. */
export interface RestorePlanRun {
  readonly moment: Moment;
  readonly folder: PastFolder;
  /** Row id of the folder that held it; undefined for the root. */
  readonly parentId: number | undefined;
  readonly contents: PastContents;
  readonly removesNew: boolean;
  /** Who is named for what comes back as a new version. */
  readonly createdBy: number;
  readonly quotaBytes: number | null;
}

/** What {@link RestoreRun} works with. */
export interface RestoreRunOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
}

/** How often a node may have been deleted and made again, and still be followed. */
const LIVES_MAX = 100;

/** See the head of this file. One for a restore. */
export class RestoreRun {
  readonly #options: RestoreRunOptions;
  readonly #plan: RestorePlanRun;
  readonly #steps: Generator<void, void>;
  /** The transaction of the present step. */
  #currentTx: Transaction | undefined;
  readonly #outcomes: RestoreOutcome[] = [];
  /** Row ids now, by those of then, where they differ: of folders all. */
  readonly #folders = new Map<number, number>();
  /** Row ids of what is not put back yet. */
  readonly #waiting: Set<number>;
  /** Where those were that had to step aside before their turn. */
  readonly #steppedFrom = new Map<number, TreeNode>();
  /** Row ids of what was there then, or was made in place of it: not new, whenever it was made. */
  readonly #old = new Set<number>();
  /** Row ids of what came out of the trash. */
  readonly #fromTrash = new Set<number>();

  constructor(options: RestoreRunOptions, plan: RestorePlanRun) {
    this.#options = options;
    this.#plan = plan;
    this.#steps = this.#work();
    this.#waiting = new Set(plan.contents.changed.map(({ id }) => id));
  }

  /** What was done so far. */
  get outcomes(): readonly RestoreOutcome[] {
    return this.#outcomes;
  }

  /**
   * Does some of it, inside the caller's transaction, until the time is over.
   * @returns whether that was all
   * @throws AppError quota_exceeded, and what the tree refuses; the caller's transaction is undone then
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
    // New files go first, and free names; new folders go last, when nothing old is in them any more.
    const rest: number[] = [];
    for (const id of newIds) {
      if (!this.#handleNew(id, "file")) rest.push(id);
      yield;
    }
    if (parentId !== undefined) {
      const held = this.#find(parentId);
      const holder = held?.kind === "folder" ? held : treeWriter.ensureFolder(this.#tx, accountId, folder.folder);
      this.#folders.set(parentId, holder.id);
    }
    const own = parentId === undefined ? [] : [{ id: folder.id, isFolder: true, parentId, name: folder.name }];
    yield* this.#bringAll([...own, ...contents.changed]);
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
   * The bytes that an entry adds to the account, as far as that is known before; for asking beforehand whether all of it
   * finds room. Reads only.
   */
  bytesOf({ id, isFolder }: PastEntry): number {
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

  /** Whether an entry is made again, as it is in the tree and in the trash no more: it counts as one more then. Reads only. */
  isRemade({ id }: PastEntry): boolean {
    const { tree } = this.#options;
    const { accountId } = this.#plan.moment;
    return (
      this.#find(id) === undefined &&
      tree.past.findInTrash(accountId, id) === undefined &&
      tree.past.findDeleted(accountId, id) !== undefined
    );
  }

  /** Where something is too deep for its place, what is put back after it may make room: it is tried again then. */
  *#bringAll(entries: readonly PastEntry[]): Generator<void, void> {
    for (let waiting = entries; waiting.length > 0; ) {
      const tooDeep = new Map<number, PastEntry>();
      for (const entry of waiting) {
        const isAwaited = tooDeep.has(entry.parentId) && this.#find(entry.parentId) === undefined;
        if (isAwaited || !this.#fits(entry)) tooDeep.set(entry.id, entry);
        yield;
      }
      if (tooDeep.size === waiting.length) return this.#skipTooDeep([...tooDeep.values()]);
      waiting = [...tooDeep.values()];
    }
  }

  /** @returns false where it is too deep for its place as things stand now */
  #fits(entry: PastEntry): boolean {
    try {
      this.#bring(entry);
      return true;
    } catch (error) {
      // Found out before anything of it is written.
      if (!(error instanceof AppError) || error.reason !== "path_too_long") throw error;
      this.#waiting.add(entry.id);
      return false;
    }
  }

  #skipTooDeep(entries: readonly PastEntry[]): void {
    for (const { id } of entries) {
      const node = this.#find(id);
      if (node !== undefined) this.#skip("too_deep", node);
    }
  }

  #bring(entry: PastEntry): void {
    this.#waiting.delete(entry.id);
    const parentId = this.#folders.get(entry.parentId) ?? entry.parentId;
    const parentPath = this.#options.tree.pathOf(parentId);
    const present = this.#find(entry.id);
    if (parentPath === undefined) {
      if (present !== undefined) this.#skip("folder_gone", present);
      return;
    }
    const node = present ?? this.#takeOut(entry.id);
    const isBack =
      node === undefined ? this.#remake(entry, parentId, parentPath) : this.#put(node, entry, parentId, parentPath);
    if (isBack === undefined) return;
    this.#old.add(isBack.id);
    if (isBack.kind === "folder" && isBack.id !== entry.id) this.#folders.set(entry.id, isBack.id);
  }

  /** The node as it is in the tree now, or the one that was made in its place. */
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

  /** Takes a node out of the trash, if it is there, with the folder in which it went there; wherever it then stands. */
  #takeOut(id: number): TreeNode | undefined {
    const { tree, treeWriter } = this.#options;
    const { accountId } = this.#plan.moment;
    const top = tree.past.findInTrash(accountId, id);
    if (top === undefined) return undefined;
    treeWriter.restore(this.#tx, { accountId, publicId: top.publicId });
    this.#fromTrash.add(top.id).add(id);
    return tree.findById(id);
  }

  /** A folder that came out only because something old was in it goes back. */
  #returnToTrash(id: number): void {
    const { tree, treeWriter } = this.#options;
    const node = this.#old.has(id) ? undefined : tree.findById(id);
    if (node !== undefined) treeWriter.trash(this.#tx, node);
  }

  /** Puts a node of the tree where it was, and gives a file its content of then. */
  #put(node: TreeNode, entry: PastEntry, parentId: number, parentPath: string): TreeNode {
    const placed = this.#place(node, entry.name, parentId, parentPath);
    if (this.#fromTrash.has(placed.id))
      this.#outcomes.push({ outcome: "done", change: "undelete", node: tellOf(placed) });
    return placed.kind === "file" ? this.#putContent(placed) : placed;
  }

  #place(node: TreeNode, name: string, parentId: number, parentPath: string): TreeNode {
    if (node.parentId === parentId && node.name === name) return node;
    if (node.kind === "folder" && (parentPath === node.path || parentPath.startsWith(`${node.path}/`))) {
      this.#skip("inside_itself", node);
      return node;
    }
    this.#makeRoom(parentId, name);
    const placed = this.#options.treeWriter.putBack(this.#tx, node, { folder: parentPath, name }, undefined);
    const { name: formerName, folder } = this.#steppedFrom.get(node.id) ?? node;
    const from = { name: formerName, folder };
    // Where it stood for a moment when it came out of the trash is no news.
    if (!this.#fromTrash.has(node.id))
      this.#outcomes.push({ outcome: "done", change: "place", node: tellOf(placed), from });
    return placed;
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
    const changed = treeWriter.putContentBack(this.#tx, file, version, { createdBy, quotaBytes }) ?? file;
    this.#outcomes.push({ outcome: "done", change: "content", node: tellOf(changed), version });
    return changed;
  }

  /** Makes again what a device deleted; undefined where a person has deleted it for good meanwhile. */
  #remake(entry: PastEntry, parentId: number, parentPath: string): TreeNode | undefined {
    const { tree, treeWriter } = this.#options;
    const { accountId } = this.#plan.moment;
    const deleted = tree.past.findDeleted(accountId, entry.id);
    if (deleted === undefined) return undefined;
    const { deviceId, publicId, detail } = deleted;
    const { tags = [], metadata = {} } = detail.labelsFrom ?? {};
    const lost = {
      accountId,
      former: { nodeId: entry.id, publicId },
      location: { folder: parentPath, name: entry.name },
      // Its link died with it.
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
    this.#makeRoom(parentId, entry.name);
    // Noted as undone by a rewind of that device: a rewind that is asked for later makes it no second time.
    const made = treeWriter.rewinding(deviceId, () => {
      if (file === undefined || content === undefined) return treeWriter.remakeFolder(this.#tx, lost);
      const again = { ...lost, file, quotaBytes: this.#plan.quotaBytes };
      const newest = file.contents[0]?.version ?? content.version;
      const whole = treeWriter.remakeFile(this.#tx, { ...again, version: newest });
      return whole ?? treeWriter.remakeFile(this.#tx, { ...again, version: content.version });
    });
    if (made === undefined) return undefined;
    const version = made.kind === "file" && content?.version !== made.version ? content?.version : undefined;
    const by = { createdBy: this.#plan.createdBy, quotaBytes: this.#plan.quotaBytes };
    const whole = version === undefined ? made : (treeWriter.putContentBack(this.#tx, made, version, by) ?? made);
    const formerly = { formerId: publicId, ...(version !== undefined && { version }) };
    this.#outcomes.push({ outcome: "done", change: "undelete", node: tellOf(whole), ...formerly });
    return whole;
  }

  /** Numbers whoever has the name out of the way; one whose turn is still to come finds its own place then. */
  #makeRoom(parentId: number, name: string): void {
    const { tree, treeWriter } = this.#options;
    const holder = tree.findNodeIn(parentId, name);
    if (holder === undefined) return;
    const stepped = treeWriter.stepAside(this.#tx, holder);
    if (this.#waiting.has(holder.id)) {
      if (!this.#steppedFrom.has(holder.id)) this.#steppedFrom.set(holder.id, holder);
      return;
    }
    const from = { name: holder.name, folder: holder.folder };
    this.#outcomes.push({ outcome: "done", change: "aside", node: tellOf(stepped), from });
  }

  /** @returns whether it is there, and of this kind */
  #handleNew(id: number, kind?: TreeNode["kind"]): boolean {
    const { tree, treeWriter } = this.#options;
    const node = tree.findById(id);
    if (node === undefined || (kind ?? node.kind) !== node.kind || this.#old.has(id)) return false;
    if (!this.#plan.removesNew) this.#outcomes.push({ outcome: "new", node: tellOf(node) });
    else if (node.kind === "folder" && tree.past.holdsOlder(this.#plan.moment, node.id)) this.#skip("not_empty", node);
    else {
      treeWriter.trash(this.#tx, node);
      this.#outcomes.push({ outcome: "done", change: "remove", node: tellOf(node) });
    }
    return true;
  }

  #skip(reason: RestoreSkip, node: TreeNode | RestoredNode): void {
    this.#outcomes.push({ outcome: "skipped", reason, node: "kind" in node ? tellOf(node) : node });
  }
}

function tellOf({ kind, publicId, name, folder }: TreeNode): RestoredNode {
  return { publicId, isFolder: kind === "folder", name, folder };
}
