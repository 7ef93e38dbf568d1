import type { Database } from "bun:sqlite";
import type { Reader } from "../../db/reader.ts";
import { isWriting } from "../../db/shared-reads.ts";
import { Events } from "../../events/events.ts";
import type { Transaction, Writer } from "../../db/transaction.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { invariant } from "../../lib/invariant.ts";
import { ROOT_PATH } from "../../lib/path.ts";
import { Accounts } from "./accounts.ts";
import { PageIndex } from "./page-index.ts";
import { Deletions } from "./deletions.ts";
import { BlobRows } from "./blob-rows.ts";
import { summarizeFile } from "../model/file-summary.ts";
import { FolderPaths } from "./folder-paths.ts";
import { HistoryLog } from "./history.ts";
import { Locks } from "./locks.ts";
import { Names } from "./names.ts";
import { NaturalKeys } from "./natural-keys.ts";
import type { NameSearches } from "./name-searches.ts";
import { NodeRows } from "./node-rows.ts";
import { NODE_COLUMNS, type NodeRow, toFile, toFolder, toNode } from "../model/rows.ts";
import { Properties } from "./properties.ts";
import { Tags } from "./tags.ts";
import { UndoLog } from "./undo.ts";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../model/types.ts";

/** Dependencies of the tree. */
export interface TreeOptions {
  /** The writing connection; reads on the main thread use it too. */
  readonly sqlite: Database;
  /** For long reads; its thread starts at the first one. */
  readonly reader: Reader;
  /** Searches in names of large accounts; without it, all searches read the database. */
  readonly nameSearches?: NameSearches | undefined;
  /** Runs the steps of work that takes several transactions. */
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Differs after each restore of the database from a snapshot; empty (the default) if it never was restored. */
  readonly epoch?: string | undefined;
  /** How many files and folders an account may hold, including the trash; null (the default) for no limit. */
  readonly maxNodesOf?: ((accountId: number) => number | null) | undefined;
  /** Receives the events of files. */
  readonly events?: Events | undefined;
}

/** A few hundred bytes each. */
const CACHED_NODES_MAX = 10_000;
const CACHED_CHARACTERS_MAX = 1_000;

/** Whether a node is small enough to cache: metadata may have 64 KiB. */
function isSmall(node: TreeNode): boolean {
  if (node.kind === "file" && node.tags.length > 10) return false;
  let characters = 0;
  for (const key in node.metadata) characters += key.length + (node.metadata[key]?.length ?? 0);
  return characters < CACHED_CHARACTERS_MAX;
}

/** The tables and caches of the tree, shared by everything in this folder. */
export class TreeStore {
  readonly sqlite: Database;
  readonly reader: Reader;
  readonly nameSearches: NameSearches | undefined;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly events: Events;
  readonly accounts: Accounts;
  readonly deletions: Deletions;
  readonly pageIndex: PageIndex;
  readonly blobs: BlobRows;
  readonly names: Names;
  readonly naturalKeys: NaturalKeys;
  readonly nodes: NodeRows;
  readonly paths: FolderPaths;
  readonly properties: Properties;
  readonly locks: Locks;
  readonly tags: Tags;
  readonly undo: UndoLog;
  readonly history: HistoryLog;
  /** Cut-off folders that hold an unfinished large copy; `reapSome` leaves them alone. */
  readonly underConstruction = new Set<number>();
  /** The deletion in progress of each detached folder: the folders from its top down to the current level. */
  readonly deletionPaths = new Map<number, readonly { readonly id: number; readonly path: string }[]>();
  /** The device whose request is running; null if there is none. Only {@link by} sets it. */
  actorDeviceId: number | null = null;
  /** Nodes read since the last change of their account; a later generation invalidates them. */
  readonly #cached = new Map<number, { generation: number; readonly nodes: Map<string, TreeNode> }>();
  #cachedCount = 0;
  readonly #byPublicId;
  readonly #byId;
  readonly #byIds;

  constructor(options: TreeOptions) {
    const { sqlite, reader, writer, clock, log, epoch = "" } = options;
    const { maxNodesOf = () => null, events = new Events() } = options;
    this.sqlite = sqlite;
    this.reader = reader;
    this.nameSearches = options.nameSearches;
    this.writer = writer;
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
    this.pageIndex = new PageIndex(sqlite, reader, log);
    this.blobs = new BlobRows(sqlite);
    this.names = new Names(sqlite);
    this.naturalKeys = new NaturalKeys({ sqlite, reader, writer, log, onRemoved: () => this.pageIndex.clear() });
    this.nodes = new NodeRows(sqlite, {
      pageIndex: this.pageIndex,
      naturalKeys: this.naturalKeys,
      clock,
      epoch,
      writer,
    });
    this.paths = new FolderPaths(sqlite);
    this.properties = new Properties(sqlite);
    this.locks = new Locks(sqlite, clock, this.paths);
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
   * The node with this id, if it is in the tree of the account. A node read before is returned from the cache while the
   * tree of the account stays unchanged; `dropCaches` is called when another process wrote.
   */
  findNode(ref: NodeRef): TreeNode | undefined {
    // Rows read inside a transaction may be rolled back.
    if (isWriting(this.sqlite)) return this.#readNode(ref);
    const generation = this.accounts.generationOf(ref.accountId);
    const own = this.#cached.get(ref.accountId);
    const cached = own?.generation === generation ? own.nodes.get(ref.publicId) : undefined;
    if (cached !== undefined) return cached;
    const node = this.#readNode(ref);
    if (node !== undefined && isSmall(node)) this.#cacheNode(node, generation);
    return node;
  }

  /** The node with this public id, if it is in the tree of any account. */
  findAnywhere(publicId: string): TreeNode | undefined {
    const row = this.#byPublicId.get(publicId);
    return row === null ? undefined : this.#toNode(row);
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
    return row === null ? undefined : this.#toNode(row);
  }

  /** The nodes with these row ids, in this order; deleted ones are left out. */
  findByIds(ids: readonly number[]): TreeNode[] {
    const rows = this.#byIds.all(JSON.stringify(ids));
    const paths = this.paths.pathsOf(rows.flatMap(({ parent_id }) => (parent_id === null ? [] : [parent_id])));
    return rows.flatMap((row) => {
      if (row.parent_id === null) return [];
      const folder = paths.get(row.parent_id);
      return folder === undefined ? [] : [toNode(row, folder)];
    });
  }

  /** The file with this row id, which must be in a tree. */
  getFile(id: number): FileNode {
    const node = this.findById(id);
    invariant(node?.kind === "file", "a file that was just found or made is in the tree");
    return node;
  }

  /** The folder with this row id, which must be in a tree. */
  getFolder(id: number): FolderNode {
    const node = this.findById(id);
    invariant(node?.kind === "folder", "a folder that was just found or made is in the tree");
    return node;
  }

  /** Runs `body` in the name of a device; null for none. Synchronous, inside a transaction. */
  by<T>(deviceId: number | null, body: () => T): T {
    const before = this.actorDeviceId;
    this.actorDeviceId = deviceId;
    try {
      return body();
    } finally {
      this.actorDeviceId = before;
    }
  }

  /** Emits an event of a file if anybody listens. Inside a transaction. */
  emitFileEvent(
    tx: Transaction,
    name: "file.created" | "file.updated" | "file.moved" | "file.deleted",
    file: FileNode,
  ): void {
    if (!this.events.hasListeners(name)) return;
    this.events.emit(tx, name, { accountId: file.accountId, file: summarizeFile(file), deviceId: this.actorDeviceId });
  }

  /** Emits an event of a folder if anybody listens. Inside a transaction. */
  emitFolderEvent(tx: Transaction, name: "folder.created" | "folder.deleted", folder: FolderNode): void {
    if (!this.events.hasListeners(name)) return;
    const { accountId, publicId } = folder;
    const summary = { publicId, name: folder.name, folder: folder.folder };
    this.events.emit(tx, name, { accountId, folder: summary, deviceId: this.actorDeviceId });
  }

  /** Clears all caches: another process wrote. */
  dropCaches(): void {
    this.#dropNodes();
    this.deletionPaths.clear();
    this.paths.drop();
    this.names.drop();
  }

  #cacheNode(node: TreeNode, generation: number): void {
    if (this.#cachedCount >= CACHED_NODES_MAX) this.#dropNodes();
    const own = this.#cached.get(node.accountId);
    if (own === undefined) {
      this.#cached.set(node.accountId, { generation, nodes: new Map([[node.publicId, node]]) });
    } else {
      if (own.generation !== generation) {
        this.#cachedCount -= own.nodes.size;
        own.nodes.clear();
        own.generation = generation;
      }
      own.nodes.set(node.publicId, node);
    }
    this.#cachedCount++;
  }

  #dropNodes(): void {
    this.#cached.clear();
    this.#cachedCount = 0;
  }

  #readNode(ref: NodeRef): TreeNode | undefined {
    const row = this.#byPublicId.get(ref.publicId);
    return row?.account_id === ref.accountId ? this.#toNode(row) : undefined;
  }

  #toNode(row: NodeRow): TreeNode | undefined {
    if (row.parent_id === null) {
      // A root, or a folder that was cut off from the tree.
      return row.name === ROOT_PATH ? toFolder(row, ROOT_PATH) : undefined;
    }
    const folder = this.paths.pathOf(row.parent_id);
    if (folder === undefined) return undefined;
    return row.blob_id === null ? toFolder(row, folder) : toFile(row, folder);
  }
}
