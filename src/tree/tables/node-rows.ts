/**
 * Changes rows of nodes together with what depends on them: the counts of the parent and the name in the search index.
 */
import type { Database } from "bun:sqlite";
import type { Transaction } from "../../db/transaction.ts";
import { invariant } from "../../lib/invariant.ts";
import { fold } from "../../lib/path.ts";
import type { PageIndex } from "./page-index.ts";
import { Heights, EMPTY_PATH, type PathSize } from "./heights.ts";
import { FILE, FOLDER } from "../model/rows.ts";
import type { SortKeys } from "../model/sorts.ts";

/** A row of `nodes` to be inserted. */
interface NewNodeRow {
  readonly publicId: string;
  readonly accountId: number;
  /** Null: cut off from the tree and not visible yet. */
  readonly parentId: number | null;
  readonly kind: number;
  readonly name: string;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
  readonly seq: number;
  /** If it differs from `seq`; see `nodes.createdSeq` in the schema. */
  readonly createdSeq?: number | undefined;
  /** 0 for folders. */
  readonly sizeBytes: number;
  readonly mediaType: string | null;
  readonly blobId: number | null;
  readonly contentBy: number | null;
  readonly contentDeviceId: number | null;
  readonly originalName: string | null;
  readonly fileModifiedAt: string | null;
  readonly capturedAt: string | null;
  readonly isPublic: boolean;
  readonly tags: string | null;
  readonly metadata: string | null;
  /** For a folder: what will be below it; see `heights.ts`. */
  readonly below?: PathSize | undefined;
}

/** The columns that a change of a node may set. */
interface NodeUpdate {
  readonly parentId: number;
  readonly name: string;
  readonly originalName: string | null;
  readonly modifiedAtMs: number;
  readonly seq: number;
  readonly isPublic: boolean;
  readonly tags: string | null;
  readonly metadata: string | null;
}

/** A row of `nodes` before a change. */
export interface StoredNode extends SortKeys {
  readonly kind: number;
  readonly public_id: string;
  readonly account_id: number;
  readonly parent_id: number | null;
  readonly media_type: string | null;
  readonly blob_id: number | null;
  readonly version: number | null;
  readonly content_at: number | null;
  readonly content_by: number | null;
  readonly original_name: string | null;
  readonly tags: string | null;
  readonly created_seq: number;
}

type Value = string | number | null;

/** The rows of `nodes` and `folders`. Every change runs inside a transaction. */
export class NodeRows {
  /** How deep the tree is below folders; inserts and moves raise it. */
  readonly heights: Heights;
  readonly #pageIndex: PageIndex;
  readonly #insert;
  readonly #insertFolder;
  readonly #insertName;
  readonly #deleteName;
  readonly #stored;
  readonly #update;
  readonly #setContent;
  readonly #deleteNode;
  readonly #deleteFolder;
  readonly #countChildren;
  readonly #countChildrenWithRev;
  readonly #setPathSeq;
  readonly #cutOff;
  readonly #reattach;
  readonly #setCounts;
  readonly #setCreatedSeq;

  constructor(sqlite: Database, pageIndex: PageIndex) {
    this.#pageIndex = pageIndex;
    this.heights = new Heights(sqlite);
    this.#insert = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
         size_bytes, media_type, blob_id, version, content_at, content_by, original_name, file_modified_at, captured_at,
         is_public, tags, metadata, content_device_id)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?23, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)`,
    );
    this.#insertFolder = sqlite.prepare<undefined, [number, number, number, number]>(
      "INSERT INTO folders (node_id, path_seq, levels_below, bytes_below) VALUES (?1, ?2, ?3, ?4)",
    );
    this.#insertName = sqlite.prepare<undefined, [number, string]>("INSERT INTO node_names (rowid, t) VALUES (?1, ?2)");
    this.#deleteName = sqlite.prepare<undefined, [number, string]>(
      "INSERT INTO node_names (node_names, rowid, t) VALUES ('delete', ?1, ?2)",
    );
    this.#stored = sqlite.prepare<StoredNode, [number]>(
      `SELECT id, kind, public_id, account_id, parent_id, name, sort_key, created_at, modified_at, size_bytes, media_type,
         blob_id, version, content_at, content_by, original_name, tags, created_seq FROM nodes WHERE id = ?1`,
    );
    this.#update = sqlite.prepare<undefined, Value[]>(
      `UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4, original_name = ?5, modified_at = ?6, seq = ?7,
         is_public = ?8, tags = ?9, metadata = ?10 WHERE id = ?1`,
    );
    this.#setContent = sqlite.prepare<undefined, Value[]>(
      `UPDATE nodes SET blob_id = ?2, size_bytes = ?3, media_type = ?4, version = ?5, content_at = ?6, content_by = ?7,
         modified_at = ?6, seq = ?8, file_modified_at = ?9, captured_at = ?10, content_device_id = ?11 WHERE id = ?1`,
    );
    this.#deleteNode = sqlite.prepare<undefined, [number]>("DELETE FROM nodes WHERE id = ?1");
    this.#deleteFolder = sqlite.prepare<undefined, [number]>("DELETE FROM folders WHERE node_id = ?1");
    const counting = `UPDATE folders SET children_rev = children_rev + 1, child_folders = child_folders + ?2,
      child_files = child_files + ?3 WHERE node_id = ?1`;
    this.#countChildren = sqlite.prepare<undefined, [number, number, number]>(counting);
    this.#countChildrenWithRev = sqlite.prepare<{ children_rev: number }, [number, number, number]>(
      `${counting} RETURNING children_rev`,
    );
    this.#setPathSeq = sqlite.prepare<undefined, [number, number]>(
      "UPDATE folders SET path_seq = ?2 WHERE node_id = ?1",
    );
    this.#cutOff = sqlite.prepare<undefined, [number, number]>(
      "UPDATE nodes SET parent_id = NULL, seq = ?2 WHERE id = ?1",
    );
    this.#reattach = sqlite.prepare<undefined, Value[]>(
      "UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4, seq = ?5 WHERE id = ?1",
    );
    this.#setCounts = sqlite.prepare<undefined, [number, number, number]>(
      "UPDATE folders SET child_folders = ?2, child_files = ?3 WHERE node_id = ?1",
    );
    this.#setCreatedSeq = sqlite.prepare<undefined, [number, number]>(
      "UPDATE nodes SET created_seq = ?2 WHERE id = ?1",
    );
  }

  /** The row of a node; it must exist. */
  get(id: number): StoredNode {
    const row = this.#stored.get(id);
    invariant(row !== null, "a node that was just found has a row");
    return row;
  }

  /** Inserts a node with its name in the search index, without counting it in its folder. @returns its id */
  insertUncounted(node: NewNodeRow): number {
    const sortKey = fold(node.name);
    const isFile = node.kind === FILE;
    const { lastInsertRowid } = this.#insert.run(
      node.publicId,
      node.accountId,
      node.parentId,
      node.kind,
      node.name,
      sortKey,
      node.createdAtMs,
      node.modifiedAtMs,
      node.seq,
      node.sizeBytes,
      node.mediaType,
      node.blobId,
      isFile ? 1 : null,
      isFile ? node.modifiedAtMs : null,
      node.contentBy,
      node.originalName,
      node.fileModifiedAt,
      node.capturedAt,
      node.isPublic ? 1 : 0,
      node.tags,
      node.metadata,
      node.contentDeviceId,
      node.createdSeq ?? node.seq,
    );
    const id = Number(lastInsertRowid);
    if (!isFile) {
      const { below = EMPTY_PATH } = node;
      this.#insertFolder.run(id, node.seq, below.levels, below.bytes);
      if (node.parentId !== null) this.heights.raise(node.parentId, node.name, below);
    }
    this.#insertName.run(id, sortKey);
    return id;
  }

  /** Inserts a node and counts it in its folder. @returns its id */
  insert(tx: Transaction, node: NewNodeRow): number {
    const id = this.insertUncounted(node);
    invariant(node.parentId !== null, "what is counted is in a folder");
    this.childChanged(tx, node.parentId, node.kind, undefined, {
      id,
      sort_key: fold(node.name),
      name: node.name,
      size_bytes: node.sizeBytes,
      created_at: node.createdAtMs,
      modified_at: node.modifiedAtMs,
    });
    return id;
  }

  /** Sets the number of children of a folder created in this transaction. */
  setCounts(folderId: number, folders: number, files: number): void {
    this.#setCounts.run(folderId, folders, files);
  }

  /** Changes everything of a node except its content, and updates the counts of the folders it leaves and enters. */
  update(tx: Transaction, before: StoredNode, change: NodeUpdate): void {
    const sortKey = fold(change.name);
    this.#update.run(
      before.id,
      change.parentId,
      change.name,
      sortKey,
      change.originalName,
      change.modifiedAtMs,
      change.seq,
      change.isPublic ? 1 : 0,
      change.tags,
      change.metadata,
    );
    if (sortKey !== before.sort_key) {
      this.#deleteName.run(before.id, before.sort_key);
      this.#insertName.run(before.id, sortKey);
    }
    const after = { ...before, name: change.name, sort_key: sortKey, modified_at: change.modifiedAtMs };
    const { parent_id: oldParent, kind } = before;
    if (kind === FOLDER && (oldParent !== change.parentId || before.name !== change.name)) {
      this.heights.raise(change.parentId, change.name, this.heights.boundBelow(before.id));
    }
    if (oldParent === change.parentId) this.childChanged(tx, oldParent, kind, before, after);
    else {
      if (oldParent !== null) this.childChanged(tx, oldParent, kind, before, undefined);
      this.childChanged(tx, change.parentId, kind, undefined, after);
    }
  }

  /** Gives a file its next content. */
  setContent(
    tx: Transaction,
    before: StoredNode,
    content: {
      readonly blobId: number;
      readonly sizeBytes: number;
      readonly mediaType: string;
      readonly version: number;
      readonly nowMs: number;
      readonly contentBy: number;
      readonly contentDeviceId: number | null;
      readonly seq: number;
      readonly fileModifiedAt: string | null;
      readonly capturedAt: string | null;
    },
  ): void {
    const {
      blobId,
      sizeBytes,
      mediaType,
      version,
      nowMs,
      contentBy,
      contentDeviceId,
      seq,
      fileModifiedAt,
      capturedAt,
    } = content;
    this.#setContent.run(
      before.id,
      blobId,
      sizeBytes,
      mediaType,
      version,
      nowMs,
      contentBy,
      seq,
      fileModifiedAt,
      capturedAt,
      contentDeviceId,
    );
    invariant(before.parent_id !== null, "a file that gets a content is in a folder");
    const after = { ...before, size_bytes: sizeBytes, modified_at: nowMs };
    this.childChanged(tx, before.parent_id, FILE, before, after);
  }

  /** Removes a deleted node from the index of names. */
  deleteName(node: StoredNode): void {
    this.#deleteName.run(node.id, node.sort_key);
  }

  /** Deletes the row of a node; the caller removes its name and adjusts the counts of its folder. */
  deleteUncounted(node: StoredNode): void {
    if (node.kind === FOLDER) this.#deleteFolder.run(node.id);
    this.#deleteNode.run(node.id);
  }

  /** Sets the number at which a folder became visible. */
  setCreatedSeq(id: number, seq: number): void {
    this.#setCreatedSeq.run(id, seq);
  }

  /** Sets the number of the last rename or move of a folder. */
  setPathSeq(folderId: number, seq: number): void {
    this.#setPathSeq.run(folderId, seq);
  }

  /** Takes a folder with all below it out of the tree, in one row, and adjusts the counts of its former folder. */
  cutOff(tx: Transaction, folder: StoredNode, seq: number): void {
    invariant(folder.parent_id !== null, "a root stays");
    this.#cutOff.run(folder.id, seq);
    this.childChanged(tx, folder.parent_id, FOLDER, folder, undefined);
  }

  /** Puts a node from the trash into a folder. Its name there must be free. */
  reattach(
    tx: Transaction,
    node: StoredNode,
    target: { readonly parentId: number; readonly name: string; readonly seq: number },
  ): void {
    const sortKey = fold(target.name);
    this.#reattach.run(node.id, target.parentId, target.name, sortKey, target.seq);
    if (node.kind === FOLDER) this.heights.raise(target.parentId, target.name, this.heights.boundBelow(node.id));
    if (sortKey !== node.sort_key) {
      this.#deleteName.run(node.id, node.sort_key);
      this.#insertName.run(node.id, sortKey);
    }
    this.childChanged(tx, target.parentId, node.kind, undefined, { ...node, name: target.name, sort_key: sortKey });
  }

  /**
   * Updates the counts of a folder for a child that was added (`after` alone), removed (`before` alone) or changed
   * (both).
   */
  childChanged(
    tx: Transaction,
    folderId: number,
    kind: number,
    before: SortKeys | undefined,
    after: SortKeys | undefined,
  ): void {
    const change = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    const folders = kind === FOLDER ? change : 0;
    const files = kind === FILE ? change : 0;
    if (!this.#pageIndex.watches(folderId)) {
      this.#countChildren.run(folderId, folders, files);
      return;
    }
    const row = this.#countChildrenWithRev.get(folderId, folders, files);
    invariant(row !== null, "a folder has a row of counts");
    tx.afterCommit(() => this.#pageIndex.apply({ folderId, kind, rev: row.children_rev, before, after }));
  }
}
