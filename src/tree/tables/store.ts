import type { Database } from "bun:sqlite";
import type { Reader } from "../../db/reader.ts";
import { Events } from "../../events/events.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { invariant } from "../../lib/invariant.ts";
import { ROOT_PATH } from "../../lib/path.ts";
import { Accounts } from "./accounts.ts";
import { PageIndex } from "./page-index.ts";
import { Deletions } from "./deletions.ts";
import { BlobRows } from "./blob-rows.ts";
import { factsOf } from "../model/facts.ts";
import { FolderPaths } from "./folder-paths.ts";
import { HistoryLog } from "./history.ts";
import { Names } from "./names.ts";
import { NodeRows } from "./node-rows.ts";
import { NODE_COLUMNS, type NodeRow, toFile, toFolder, toNode } from "../model/rows.ts";
import { Tags } from "./tags.ts";
import { UndoLog } from "./undo.ts";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../model/types.ts";

/** What the tree works with. */
export interface TreeOptions {
  /** The writing connection; reads on the main thread use it too. */
  readonly sqlite: Database;
  /** For long reads; its thread starts at the first of them. */
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Log;
  /** How many files and folders an account may hold, the trash included; null, and the default, for no limit. */
  readonly maxNodesOf?: ((accountId: number) => number | null) | undefined;
  /** Hears of what happens to files. */
  readonly events?: Events | undefined;
}

/** Some hundred bytes each. */
const KNOWN_NODES_MAX = 10_000;
const KNOWN_CHARACTERS_MAX = 1_000;

/** Whether a node is worth keeping in memory: metadata may hold 64 KiB. */
function isSmall(node: TreeNode): boolean {
  if (node.kind === "file" && node.tags.length > 10) return false;
  let characters = 0;
  for (const key in node.metadata) characters += key.length + (node.metadata[key]?.length ?? 0);
  return characters < KNOWN_CHARACTERS_MAX;
}

/** The tables and caches of the tree, shared by everything in this folder. */
export class TreeStore {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly events: Events;
  readonly accounts: Accounts;
  readonly deletions: Deletions;
  readonly anchors: PageIndex;
  readonly blobs: BlobRows;
  readonly names: Names;
  readonly nodes: NodeRows;
  readonly paths: FolderPaths;
  readonly tags: Tags;
  readonly undo: UndoLog;
  readonly history: HistoryLog;
  /** Cut-off folders in which a large copy is being made; the reaper leaves them alone. */
  readonly underConstruction = new Set<number>();
  /** The deletion in progress of each detached folder: the folders from its top down to the level reached so far. */
  readonly deletionPaths = new Map<number, readonly { readonly id: number; readonly path: string }[]>();
  /** The device whose request is being carried out; null for all others. Set by {@link by} alone. */
  actorDeviceId: number | null = null;
  /** Of each account what was read since its tree last changed; what was read before is of no use any more. */
  readonly #known = new Map<number, { generation: number; readonly nodes: Map<string, TreeNode> }>();
  #knownCount = 0;
  readonly #byPublicId;
  readonly #byId;
  readonly #byIds;

  constructor({ sqlite, reader, clock, log, maxNodesOf = () => null, events = new Events() }: TreeOptions) {
    this.sqlite = sqlite;
    this.reader = reader;
    this.clock = clock;
    this.events = events;
    this.accounts = new Accounts(sqlite, {
      clock,
      actorDeviceId: () => this.actorDeviceId,
      maxNodesOf,
      onGrown: (tx, accountId, usedBeforeBytes, usedAfterBytes) =>
        events.emit(tx, "storage.grown", { accountId, usedBeforeBytes, usedAfterBytes }),
    });
    this.deletions = new Deletions(sqlite);
    this.anchors = new PageIndex(sqlite, reader, log);
    this.blobs = new BlobRows(sqlite);
    this.names = new Names(sqlite);
    this.nodes = new NodeRows(sqlite, this.anchors);
    this.paths = new FolderPaths(sqlite);
    this.tags = new Tags(sqlite);
    this.history = new HistoryLog(sqlite);
    this.undo = new UndoLog(sqlite, () => this.actorDeviceId, this.history);
    const select = `SELECT ${NODE_COLUMNS} FROM nodes n`;
    this.#byPublicId = sqlite.prepare<NodeRow, [string]>(`${select} WHERE n.public_id = ?1`);
    this.#byId = sqlite.prepare<NodeRow, [number]>(`${select} WHERE n.id = ?1`);
    this.#byIds = sqlite.prepare<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value`,
    );
  }

  /**
   * The node with this id, if it is the account's and in its tree. One that was read before is given again for as long as
   * nothing in the account's tree has changed; what other processes write is told by `dropCaches`.
   */
  findNode(ref: NodeRef): TreeNode | undefined {
    // What a deed reads may be undone.
    if (this.sqlite.inTransaction) return this.#readNode(ref);
    const generation = this.accounts.generationOf(ref.accountId);
    const own = this.#known.get(ref.accountId);
    const known = own?.generation === generation ? own.nodes.get(ref.publicId) : undefined;
    if (known !== undefined) return known;
    const node = this.#readNode(ref);
    if (node !== undefined && isSmall(node)) this.#remember(node, generation);
    return node;
  }

  /** The node with this public id, if it is in a tree, whosever. */
  findAnywhere(publicId: string): TreeNode | undefined {
    const row = this.#byPublicId.get(publicId);
    return row === null ? undefined : this.#place(row);
  }

  findFile(ref: NodeRef): FileNode | undefined {
    const node = this.findNode(ref);
    return node?.kind === "file" ? node : undefined;
  }

  findFolder(ref: NodeRef): FolderNode | undefined {
    const node = this.findNode(ref);
    return node?.kind === "folder" ? node : undefined;
  }

  /** The node with this row id, if it is in a tree. */
  findById(id: number): TreeNode | undefined {
    const row = this.#byId.get(id);
    return row === null ? undefined : this.#place(row);
  }

  /** The nodes with these row ids, in this order; what is gone is left out. */
  findByIds(ids: readonly number[]): TreeNode[] {
    const rows = this.#byIds.all(JSON.stringify(ids));
    const paths = this.paths.pathsOf(rows.flatMap(({ parent_id }) => (parent_id === null ? [] : [parent_id])));
    return rows.flatMap((row) => {
      if (row.parent_id === null) return [];
      const folder = paths.get(row.parent_id);
      return folder === undefined ? [] : [toNode(row, folder)];
    });
  }

  /** The file with this row id, which the caller knows to be in a tree. */
  getFile(id: number): FileNode {
    const node = this.findById(id);
    invariant(node?.kind === "file", "a file that was just found or made is in the tree");
    return node;
  }

  /** The folder with this row id, which the caller knows to be in a tree. */
  getFolder(id: number): FolderNode {
    const node = this.findById(id);
    invariant(node?.kind === "folder", "a folder that was just found or made is in the tree");
    return node;
  }

  /** Carries out a deed in the name of a device; null for nobody's. Synchronous, inside a deed. */
  by<T>(deviceId: number | null, deed: () => T): T {
    const before = this.actorDeviceId;
    this.actorDeviceId = deviceId;
    try {
      return deed();
    } finally {
      this.actorDeviceId = before;
    }
  }

  /** Tells what happened to a file, where anybody listens. Inside a deed. */
  tell(tx: Transaction, name: "file.created" | "file.updated" | "file.moved" | "file.deleted", file: FileNode): void {
    if (!this.events.hasListeners(name)) return;
    this.events.emit(tx, name, { accountId: file.accountId, file: factsOf(file), deviceId: this.actorDeviceId });
  }

  /** Tells what happened to a folder, where anybody listens. Inside a deed. */
  emitFolderEvent(tx: Transaction, name: "folder.created" | "folder.deleted", folder: FolderNode): void {
    if (!this.events.hasListeners(name)) return;
    const { accountId, publicId } = folder;
    const facts = { publicId, name: folder.name, folder: folder.folder };
    this.events.emit(tx, name, { accountId, folder: facts, deviceId: this.actorDeviceId });
  }

  /** Forgets everything kept in memory: another process wrote. */
  dropCaches(): void {
    this.#forgetNodes();
    this.deletionPaths.clear();
    this.paths.drop();
    this.names.drop();
  }

  #remember(node: TreeNode, generation: number): void {
    if (this.#knownCount >= KNOWN_NODES_MAX) this.#forgetNodes();
    const own = this.#known.get(node.accountId);
    if (own === undefined) {
      this.#known.set(node.accountId, { generation, nodes: new Map([[node.publicId, node]]) });
    } else {
      if (own.generation !== generation) {
        this.#knownCount -= own.nodes.size;
        own.nodes.clear();
        own.generation = generation;
      }
      own.nodes.set(node.publicId, node);
    }
    this.#knownCount++;
  }

  #forgetNodes(): void {
    this.#known.clear();
    this.#knownCount = 0;
  }

  #readNode(ref: NodeRef): TreeNode | undefined {
    const row = this.#byPublicId.get(ref.publicId);
    return row?.account_id === ref.accountId ? this.#place(row) : undefined;
  }

  #place(row: NodeRow): TreeNode | undefined {
    if (row.parent_id === null) {
      // A root, or a folder that was cut off from the tree.
      return row.name === ROOT_PATH ? toFolder(row, ROOT_PATH) : undefined;
    }
    const folder = this.paths.pathOf(row.parent_id);
    if (folder === undefined) return undefined;
    return row.blob_id === null ? toFolder(row, folder) : toFile(row, folder);
  }
}
