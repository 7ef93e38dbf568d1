/** Undoes the changes of a device to one node, inside a transaction. */
import type { Transaction } from "../../../db/transaction.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { FormerLocation } from "../../../tree/tables/undo.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { planNode } from "./plan.ts";
import type { RewindQueries } from "./queries.ts";
import type {
  NodePlan,
  RewindAction,
  RewindOutcome,
  RewoundNode,
  SkipReason,
  TouchedNode,
  UndoEntry,
} from "./types.ts";

/** Options of {@link NodeUndoer}. */
interface NodeUndoerOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly queries: RewindQueries;
  /** Called with the row id of each deleted file. */
  readonly onDeleted: (nodeId: number) => void;
}

/** Which changes are undone, and who requested it. */
export interface RewindScope {
  readonly accountId: number;
  /** Row id of the device whose changes are undone. */
  readonly deviceId: number;
  readonly sinceMs: number;
  /** The device that the request came from. */
  readonly viaDeviceId: number | undefined;
  readonly quotaBytes: number | null;
}

type Restore = Extract<NodePlan, { kind: "restore" }>;
type Change = Extract<NodePlan, { kind: "change" }>;

/** Undoes nodes; one instance per rewind. */
export class NodeUndoer {
  readonly #options: NodeUndoerOptions;
  readonly #scope: RewindScope;

  constructor(options: NodeUndoerOptions, scope: RewindScope) {
    this.#options = options;
    this.#scope = scope;
  }

  /** The plan for a single node, used to sort nodes into a good order. */
  plan(touched: TouchedNode): { readonly plan: NodePlan; readonly isFolder: boolean } {
    const entries = this.#entriesOf(touched);
    const plan = entries.length === 0 ? ({ kind: "nothing" } as const) : planNode(entries, this.#currentOf(entries));
    return { plan, isFolder: entries[0]?.isFolder ?? false };
  }

  /** The current node, or the one that replaced it. */
  find(touched: TouchedNode): TreeNode | undefined {
    return this.#currentOf(this.#entriesOf(touched));
  }

  /**
   * Undoes the device's changes to the current state of a node, except those undone before. Call it inside a
   * transaction.
   * @throws AppError quota_exceeded | not_a_folder | invalid_path; the node is unchanged then
   */
  undo(tx: Transaction, touched: TouchedNode): RewindOutcome[] {
    const { treeWriter } = this.#options;
    const { viaDeviceId, deviceId } = this.#scope;
    return treeWriter.by(viaDeviceId, () =>
      treeWriter.rewinding(deviceId, () => this.#undo(tx, touched, new Set([touched.nodeId]))),
    );
  }

  #undo(tx: Transaction, touched: TouchedNode, visited: Set<number>): RewindOutcome[] {
    const { queries } = this.#options;
    const { accountId, deviceId } = this.#scope;
    const entries = this.#entriesOf(touched);
    if (entries.every(({ isRewound }) => isRewound)) return [];
    const current = this.#currentOf(entries);
    const outcomes = this.#apply(tx, planNode(entries, current), current, entries, visited);
    queries.markUndone(accountId, deviceId, entries);
    return outcomes;
  }

  #apply(
    tx: Transaction,
    plan: NodePlan,
    current: TreeNode | undefined,
    entries: readonly UndoEntry[],
    visited: Set<number>,
  ): RewindOutcome[] {
    switch (plan.kind) {
      case "nothing":
        return [];
      case "skip":
        return [skipped(plan.reason, current === undefined ? lastSeen(entries) : describe(current))];
      case "remove":
        return current === undefined ? [] : [this.#remove(tx, current)];
      case "change":
        return current === undefined ? [] : this.#change(tx, plan, current, visited);
      case "restore":
        return this.#restore(tx, plan, visited);
    }
  }

  /** Deletes what the device created; a folder only if it is empty. Blobs stay for the store's grace period. */
  #remove(tx: Transaction, node: TreeNode): RewindOutcome {
    const { treeWriter, onDeleted } = this.#options;
    if (node.kind === "folder") {
      if (node.itemCount > 0) return skipped("not_empty", describe(node));
      treeWriter.deleteFolder(tx, node, { onlyEmpty: true });
    } else {
      treeWriter.deleteFile(tx, node);
      tx.afterCommit(() => onDeleted(node.id));
    }
    return undone("deleted_created", describe(node));
  }

  #change(tx: Transaction, plan: Change, node: TreeNode, visited: Set<number>): RewindOutcome[] {
    const outcomes: RewindOutcome[] = [];
    const changed = this.#restoreLocation(tx, plan, node, visited, outcomes);
    let isContentGone = false;
    if (plan.version !== undefined && changed.kind === "file") {
      const file = this.#restoreContent(tx, changed, plan.version);
      isContentGone = file === undefined;
      if (file !== undefined && file.version !== changed.version)
        outcomes.push(undone("restored_content", describe(file)));
    }
    const { fileModifiedAt } = plan;
    if (fileModifiedAt !== undefined && changed.kind === "file") {
      this.#options.treeWriter.updateFile(tx, changed, { fileModifiedAt });
      if (fileModifiedAt !== changed.fileModifiedAt && outcomes.length === 0)
        outcomes.push(undone("labels_back", describe(changed)));
    }
    if (isContentGone) outcomes.push(skipped("content_gone", describe(changed)));
    if (plan.isPartial) outcomes.push(skipped("changed_by_others", describe(changed)));
    return outcomes;
  }

  #restoreLocation(
    tx: Transaction,
    plan: Change,
    node: TreeNode,
    visited: Set<number>,
    outcomes: RewindOutcome[],
  ): TreeNode {
    if (plan.location === undefined && plan.labels === undefined) return node;
    const location = plan.location && {
      name: plan.location.name,
      folder: this.#folderOf(tx, plan.location, visited, outcomes),
    };
    const changed = this.#options.treeWriter.restoreState(tx, node, location, plan.labels);
    if (changed.folder !== node.folder) outcomes.push(undone("moved_back", describe(changed)));
    else if (changed.name !== node.name) outcomes.push(undone("renamed_back", describe(changed)));
    if (plan.labels !== undefined) outcomes.push(undone("labels_back", describe(changed)));
    return changed;
  }

  #restoreContent(tx: Transaction, file: FileNode, version: number): FileNode | undefined {
    const { accountId, quotaBytes } = this.#scope;
    return this.#options.treeWriter.restoreContent(tx, file, version, { createdBy: accountId, quotaBytes });
  }

  #restore(tx: Transaction, plan: Restore, visited: Set<number>): RewindOutcome[] {
    const { deletion, location, labels, version } = plan;
    const { accountId, quotaBytes } = this.#scope;
    const outcomes: RewindOutcome[] = [];
    const { publicId, isFolder, nodeId } = deletion;
    const { fileModifiedAt = null } = plan;
    const file = deletion.file && { ...deletion.file, fileModifiedAt };
    const folder = this.#folderOf(tx, location, visited, outcomes);
    const lost = { accountId, former: { nodeId, publicId }, location: { folder, name: location.name }, labels };
    const made = isFolder
      ? this.#options.treeWriter.recreateFolder(tx, lost)
      : file && version !== undefined
        ? this.#options.treeWriter.recreateFile(tx, { ...lost, file, version, quotaBytes })
        : undefined;
    if (made === undefined) {
      return [
        ...outcomes,
        skipped("content_gone", { publicId, isFolder, name: location.name, folder: location.folder }),
      ];
    }
    return [...outcomes, { ...undone("restored_deleted", describe(made)), formerId: publicId }];
  }

  /**
   * The current path of the folder in which a node was. If the device deleted the folder, it is restored first; if
   * someone else deleted it, the folder's former path is used.
   */
  #folderOf(tx: Transaction, location: FormerLocation, visited: Set<number>, outcomes: RewindOutcome[]): string {
    const found = this.#findFolder(location.parentId);
    if (found !== undefined) return found.path;
    const entries = this.#entriesOf({ nodeId: location.parentId, publicId: "" });
    const last = entries.at(-1);
    if (last === undefined || visited.has(location.parentId)) return location.folder;
    visited.add(location.parentId);
    outcomes.push(...this.#undo(tx, last, visited));
    return this.#findFolder(location.parentId)?.path ?? location.folder;
  }

  /** The folder with this row id, or the one that replaced it. */
  #findFolder(nodeId: number): FolderNode | undefined {
    const { tree, queries } = this.#options;
    const { accountId } = this.#scope;
    const path = tree.pathOf(nodeId);
    if (path !== undefined) return tree.findFolderByPath(accountId, path);
    const restored = queries.findRestored(accountId, nodeId);
    return restored && tree.findFolder(accountId, restored.publicId);
  }

  #entriesOf({ nodeId }: TouchedNode): UndoEntry[] {
    const { accountId, deviceId, sinceMs } = this.#scope;
    return this.#options.queries.listEntries(accountId, deviceId, sinceMs, nodeId);
  }

  #currentOf(entries: readonly UndoEntry[]): TreeNode | undefined {
    const last = entries.at(-1);
    if (last === undefined) return undefined;
    return this.#options.tree.findNode(this.#scope.accountId, last.restored?.publicId ?? last.publicId);
  }
}

function undone(action: RewindAction, node: RewoundNode) {
  return { outcome: "undone", action, node } as const;
}

function skipped(reason: SkipReason, node: RewoundNode) {
  return { outcome: "skipped", reason, node } as const;
}

function describe({ kind, publicId, name, folder }: TreeNode): RewoundNode {
  return { publicId, isFolder: kind === "folder", name, folder };
}

/** Name and folder of a deleted node when the device last changed it. */
function lastSeen(entries: readonly UndoEntry[]): RewoundNode {
  const names = entries.flatMap(({ seen, placeFrom }) => seen ?? placeFrom ?? []);
  const location = names.at(-1);
  const last = entries.at(-1);
  return {
    publicId: last?.publicId ?? "",
    isFolder: last?.isFolder ?? false,
    name: location?.name ?? "",
    folder: location?.folder ?? "",
  };
}
