/** Undoes what a device did to one node, within a deed. */
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

/** What {@link NodeUndoer} works with. */
export interface NodeUndoerOptions {
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly queries: RewindQueries;
  /** Called with the row id of each deleted file. */
  readonly onDeleted: (nodeId: number) => void;
}

/** Whose changes are undone, since when, and who asks. */
export interface RewindScope {
  readonly accountId: number;
  /** Row id of the device that is rewound. */
  readonly deviceId: number;
  readonly sinceMs: number;
  /** The device that the request came from. */
  readonly viaDeviceId: number | undefined;
  readonly quotaBytes: number | null;
}

type Restore = Extract<NodePlan, { kind: "restore" }>;
type Change = Extract<NodePlan, { kind: "change" }>;

/** One for a rewind. */
export class NodeUndoer {
  readonly #options: NodeUndoerOptions;
  readonly #scope: RewindScope;

  constructor(options: NodeUndoerOptions, scope: RewindScope) {
    this.#options = options;
    this.#scope = scope;
  }

  /** What would become of a node by itself, to put many into a good order. */
  plan(touched: TouchedNode): { readonly plan: NodePlan; readonly isFolder: boolean } {
    const entries = this.#entriesOf(touched);
    const plan = entries.length === 0 ? ({ kind: "nothing" } as const) : planNode(entries, this.#currentOf(entries));
    return { plan, isFolder: entries[0]?.isFolder ?? false };
  }

  /** A node as it is, or the one made in its place. */
  find(touched: TouchedNode): TreeNode | undefined {
    return this.#currentOf(this.#entriesOf(touched));
  }

  /**
   * Undoes what the device did to a node, as it is at this moment; what was undone already is left. Inside a deed.
   * @throws AppError quota_exceeded | not_a_folder | invalid_path; nothing of it is done then
   */
  undo(tx: Transaction, touched: TouchedNode): RewindOutcome[] {
    const { treeWriter } = this.#options;
    const { viaDeviceId, deviceId } = this.#scope;
    return treeWriter.by(viaDeviceId, () =>
      treeWriter.rewinding(deviceId, () => this.#undo(tx, touched, new Set([touched.nodeId]))),
    );
  }

  #undo(tx: Transaction, touched: TouchedNode, way: Set<number>): RewindOutcome[] {
    const { queries } = this.#options;
    const { accountId, deviceId } = this.#scope;
    const entries = this.#entriesOf(touched);
    if (entries.every(({ isRewound }) => isRewound)) return [];
    const current = this.#currentOf(entries);
    const outcomes = this.#carryOut(tx, planNode(entries, current), current, entries, way);
    queries.settle(accountId, deviceId, entries);
    return outcomes;
  }

  #carryOut(
    tx: Transaction,
    plan: NodePlan,
    current: TreeNode | undefined,
    entries: readonly UndoEntry[],
    way: Set<number>,
  ): RewindOutcome[] {
    switch (plan.kind) {
      case "nothing":
        return [];
      case "skip":
        return [skipped(plan.reason, current === undefined ? lastSeen(entries) : tellOf(current))];
      case "remove":
        return current === undefined ? [] : [this.#remove(tx, current)];
      case "change":
        return current === undefined ? [] : this.#change(tx, plan, current, way);
      case "restore":
        return this.#restore(tx, plan, way);
    }
  }

  /** What the device made goes; a folder only when nothing is in it. Contents stay for the store's grace period. */
  #remove(tx: Transaction, node: TreeNode): RewindOutcome {
    const { treeWriter, onDeleted } = this.#options;
    if (node.kind === "folder") {
      if (node.itemCount > 0) return skipped("not_empty", tellOf(node));
      treeWriter.deleteFolder(tx, node, { onlyEmpty: true });
    } else {
      treeWriter.deleteFile(tx, node);
      tx.afterCommit(() => onDeleted(node.id));
    }
    return undone("deleted_created", tellOf(node));
  }

  #change(tx: Transaction, plan: Change, node: TreeNode, way: Set<number>): RewindOutcome[] {
    const outcomes: RewindOutcome[] = [];
    const changed = this.#putBack(tx, plan, node, way, outcomes);
    let isContentGone = false;
    if (plan.version !== undefined && changed.kind === "file") {
      const file = this.#putContentBack(tx, changed, plan.version);
      isContentGone = file === undefined;
      if (file !== undefined && file.version !== changed.version)
        outcomes.push(undone("restored_content", tellOf(file)));
    }
    if (isContentGone) outcomes.push(skipped("content_gone", tellOf(changed)));
    if (plan.isPartial) outcomes.push(skipped("changed_by_others", tellOf(changed)));
    return outcomes;
  }

  #putBack(tx: Transaction, plan: Change, node: TreeNode, way: Set<number>, outcomes: RewindOutcome[]): TreeNode {
    if (plan.place === undefined && plan.labels === undefined) return node;
    const place = plan.place && {
      name: plan.place.name,
      folder: this.#folderOf(tx, plan.place, way, outcomes),
    };
    const changed = this.#options.treeWriter.putBack(tx, node, place, plan.labels);
    if (changed.folder !== node.folder) outcomes.push(undone("moved_back", tellOf(changed)));
    else if (changed.name !== node.name) outcomes.push(undone("renamed_back", tellOf(changed)));
    if (plan.labels !== undefined) outcomes.push(undone("labels_back", tellOf(changed)));
    return changed;
  }

  #putContentBack(tx: Transaction, file: FileNode, version: number): FileNode | undefined {
    const { accountId, quotaBytes } = this.#scope;
    return this.#options.treeWriter.putContentBack(tx, file, version, { createdBy: accountId, quotaBytes });
  }

  #restore(tx: Transaction, { deletion, place, labels, version }: Restore, way: Set<number>): RewindOutcome[] {
    const { accountId, quotaBytes } = this.#scope;
    const outcomes: RewindOutcome[] = [];
    const { publicId, isFolder, nodeId, file } = deletion;
    const folder = this.#folderOf(tx, place, way, outcomes);
    const lost = { accountId, former: { nodeId, publicId }, location: { folder, name: place.name }, labels };
    const made = isFolder
      ? this.#options.treeWriter.remakeFolder(tx, lost)
      : file && version !== undefined
        ? this.#options.treeWriter.remakeFile(tx, { ...lost, file, version, quotaBytes })
        : undefined;
    if (made === undefined) {
      return [...outcomes, skipped("content_gone", { publicId, isFolder, name: place.name, folder: place.folder })];
    }
    return [...outcomes, { ...undone("restored_deleted", tellOf(made)), formerId: publicId }];
  }

  /**
   * Path of the folder in which something was, wherever that folder is now. If the device deleted it, it is made again
   * first; if it is gone otherwise, the path that it had is taken.
   */
  #folderOf(tx: Transaction, place: FormerLocation, way: Set<number>, outcomes: RewindOutcome[]): string {
    const found = this.#findFolder(place.parentId);
    if (found !== undefined) return found.path;
    const entries = this.#entriesOf({ nodeId: place.parentId, publicId: "" });
    const last = entries.at(-1);
    if (last === undefined || way.has(place.parentId)) return place.folder;
    way.add(place.parentId);
    outcomes.push(...this.#undo(tx, last, way));
    return this.#findFolder(place.parentId)?.path ?? place.folder;
  }

  /** The folder with this row id, or the one made in its place. */
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

function tellOf({ kind, publicId, name, folder }: TreeNode): RewoundNode {
  return { publicId, isFolder: kind === "folder", name, folder };
}

/** How a node that is gone was called when the device had to do with it last. */
function lastSeen(entries: readonly UndoEntry[]): RewoundNode {
  const names = entries.flatMap(({ seen, placeFrom }) => seen ?? placeFrom ?? []);
  const place = names.at(-1);
  const last = entries.at(-1);
  return {
    publicId: last?.publicId ?? "",
    isFolder: last?.isFolder ?? false,
    name: place?.name ?? "",
    folder: place?.folder ?? "",
  };
}
