/**
 * Changes rows of nodes together with what depends on them: the counts of the parent and the name in the search index.
 */
import type { Database } from "bun:sqlite";
import type { Transaction, Writer } from "../../db/transaction.ts";
import type { Clock } from "../../lib/clock.ts";
import { invariant } from "../../lib/invariant.ts";
import { naturalKey } from "../../lib/natural-key.ts";
import { fold } from "../../lib/path.ts";
import { ChildCounts } from "./child-counts.ts";
import { FolderStates } from "./folder-states.ts";
import { IndexedNames } from "./indexed-names.ts";
import type { NaturalKeys } from "./natural-keys.ts";
import type { PageIndex } from "./page-index.ts";
import { Heights, EMPTY_PATH, type PathSize } from "./heights.ts";
import { fileDate, FILE, FOLDER } from "../model/rows.ts";
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
  /** Of a file; 1 by default. */
  readonly version?: number | undefined;
  /** When the content of a file was stored; `modifiedAtMs` by default. */
  readonly contentAtMs?: number | undefined;
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
  /** The file's own date; absent to leave it. */
  readonly fileModifiedAt?: string | null | undefined;
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
  readonly file_modified_at: string | null;
  readonly tags: string | null;
  readonly created_seq: number;
}

type Value = string | number | null;

/** Dependencies of {@link NodeRows}. */
interface NodeRowsOptions {
  readonly pageIndex: PageIndex;
  readonly naturalKeys: NaturalKeys;
  readonly clock: Clock;
  readonly epoch: string;
  readonly writer: Pick<Writer, "defer">;
}

/** The rows of `nodes` and `folders`. Every change runs inside a transaction. */
export class NodeRows {
  /** How deep the tree is below folders; inserts and moves raise it. */
  readonly heights: Heights;
  /** What folders show of everything below them. */
  readonly states: FolderStates;
  /** Counts and sizes of folders; the caller of an uncounted change updates them. */
  readonly children: ChildCounts;
  readonly #clock: Clock;
  readonly #naturalKeys: NaturalKeys;
  readonly #insert;
  readonly #insertFolder;
  readonly #names: IndexedNames;
  readonly #stored;
  readonly #update;
  readonly #setContent;
  readonly #deleteNode;
  readonly #deleteFolder;
  readonly #setPathSeq;
  readonly #cutOff;
  readonly #reattach;
  readonly #setCreatedSeq;
  readonly #setMediaType;

  constructor(sqlite: Database, { pageIndex, naturalKeys, clock, epoch, writer }: NodeRowsOptions) {
    this.#names = new IndexedNames(sqlite);
    writer.defer(sqlite, this.#names);
    this.#clock = clock;
    this.#naturalKeys = naturalKeys;
    this.heights = new Heights(sqlite);
    this.states = new FolderStates(sqlite, clock, epoch);
    this.children = new ChildCounts(sqlite, { states: this.states, pageIndex, clock });
    this.#insert = sqlite.prepare<undefined, Value[]>(
      `INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
         size_bytes, media_type, blob_id, version, content_at, content_by, original_name, file_modified_at, captured_at,
         is_public, tags, metadata, content_device_id, file_at, natural_key)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?23, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?24, ?25)`,
    );
    this.#insertFolder = sqlite.prepare<undefined, [number, number, number, number, number]>(
      `INSERT INTO folders (node_id, path_seq, levels_below, bytes_below, bytes, tree_bytes, tree_rev)
       VALUES (?1, ?2, ?3, ?4, 0, 0, ?5)`,
    );
    this.#stored = sqlite.prepare<StoredNode, [number]>(
      `SELECT id, kind, public_id, account_id, parent_id, name, sort_key, natural_key, created_at, modified_at, size_bytes, media_type,
         blob_id, version, content_at, content_by, original_name, file_modified_at, file_at, tags, created_seq FROM nodes WHERE id = ?1`,
    );
    this.#update = sqlite.prepare<undefined, Value[]>(
      `UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4, original_name = ?5, modified_at = ?6, seq = ?7,
         is_public = ?8, tags = ?9, metadata = ?10, file_modified_at = ?11, file_at = ?12, natural_key = ?13 WHERE id = ?1`,
    );
    this.#setContent = sqlite.prepare<undefined, Value[]>(
      `UPDATE nodes SET blob_id = ?2, size_bytes = ?3, media_type = ?4, version = ?5, content_at = ?6, content_by = ?7,
         modified_at = ?12, seq = ?8, file_modified_at = ?9, captured_at = ?10, content_device_id = ?11, file_at = ?13
       WHERE id = ?1`,
    );
    this.#deleteNode = sqlite.prepare<undefined, [number]>("DELETE FROM nodes WHERE id = ?1");
    this.#deleteFolder = sqlite.prepare<undefined, [number]>("DELETE FROM folders WHERE node_id = ?1");
    this.#setPathSeq = sqlite.prepare<undefined, [number, number]>(
      "UPDATE folders SET path_seq = ?2 WHERE node_id = ?1",
    );
    this.#cutOff = sqlite.prepare<undefined, [number, number]>(
      "UPDATE nodes SET parent_id = NULL, seq = ?2 WHERE id = ?1",
    );
    this.#reattach = sqlite.prepare<undefined, Value[]>(
      "UPDATE nodes SET parent_id = ?2, name = ?3, sort_key = ?4, seq = ?5, natural_key = ?6 WHERE id = ?1",
    );
    this.#setCreatedSeq = sqlite.prepare<undefined, [number, number]>(
      "UPDATE nodes SET created_seq = ?2 WHERE id = ?1",
    );
    this.#setMediaType = sqlite.prepare<undefined, [number, string]>("UPDATE nodes SET media_type = ?2 WHERE id = ?1");
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
    const { contentAtMs = node.modifiedAtMs } = node;
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
      isFile ? (node.version ?? 1) : null,
      isFile ? contentAtMs : null,
      node.contentBy,
      node.originalName,
      node.fileModifiedAt,
      node.capturedAt,
      node.isPublic ? 1 : 0,
      node.tags,
      node.metadata,
      node.contentDeviceId,
      node.createdSeq ?? node.seq,
      dateOf(node),
      this.#naturalKeys.forNew(node.parentId, node.name),
    );
    const id = Number(lastInsertRowid);
    if (!isFile) {
      const { below = EMPTY_PATH } = node;
      this.#insertFolder.run(id, node.seq, below.levels, below.bytes, this.#clock.nowMs());
      if (node.parentId !== null) this.heights.raise(node.parentId, node.name, below);
    }
    this.#names.insert(id, sortKey);
    return id;
  }

  /** Inserts a node and counts it in its folder. @returns its id */
  insert(tx: Transaction, node: NewNodeRow): number {
    const id = this.insertUncounted(node);
    invariant(node.parentId !== null, "what is counted is in a folder");
    const after = {
      id,
      sort_key: fold(node.name),
      natural_key: null,
      name: node.name,
      size_bytes: node.sizeBytes,
      created_at: node.createdAtMs,
      modified_at: node.modifiedAtMs,
      file_at: dateOf(node),
    };
    this.children.changed(tx, { accountId: node.accountId, folderId: node.parentId, kind: node.kind, after });
    return id;
  }

  /** Changes everything of a node except its content, and updates the counts of the folders it leaves and enters. */
  update(tx: Transaction, before: StoredNode, change: NodeUpdate): void {
    const sortKey = fold(change.name);
    const sortedAs = naturalKey(change.name);
    const { fileModifiedAt = before.file_modified_at } = change;
    const isDated = change.fileModifiedAt !== undefined && before.content_at !== null;
    const fileAtMs = isDated ? fileDate(change.fileModifiedAt, before.content_at) : before.file_at;
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
      fileModifiedAt,
      fileAtMs,
      sortedAs,
    );
    if (sortKey !== before.sort_key) {
      this.#names.remove(before.id, before.sort_key);
      this.#names.insert(before.id, sortKey);
    }
    const { parent_id: oldParent, kind, account_id: accountId } = before;
    const after = {
      ...before,
      name: change.name,
      sort_key: sortKey,
      natural_key: sortedAs,
      modified_at: change.modifiedAtMs,
      file_at: fileAtMs,
    };
    if (kind === FOLDER && (oldParent !== change.parentId || before.name !== change.name)) {
      this.heights.raise(change.parentId, change.name, this.heights.boundBelow(before.id));
    }
    if (oldParent === change.parentId) {
      this.children.changed(tx, { accountId, folderId: oldParent, kind, before, after });
      return;
    }
    if (oldParent !== null) this.children.changed(tx, { accountId, folderId: oldParent, kind, before });
    this.children.changed(tx, { accountId, folderId: change.parentId, kind, after });
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
      /** When it was stored; `nowMs` by default. */
      readonly contentAtMs?: number | undefined;
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
      contentAtMs = nowMs,
      contentBy,
      contentDeviceId,
      seq,
      fileModifiedAt,
      capturedAt,
    } = content;
    const fileAtMs = fileDate(fileModifiedAt, contentAtMs);
    this.#setContent.run(
      before.id,
      blobId,
      sizeBytes,
      mediaType,
      version,
      contentAtMs,
      contentBy,
      seq,
      fileModifiedAt,
      capturedAt,
      contentDeviceId,
      nowMs,
      fileAtMs,
    );
    invariant(before.parent_id !== null, "a file that gets a content is in a folder");
    const { account_id: accountId, parent_id: folderId } = before;
    const after = { ...before, size_bytes: sizeBytes, modified_at: nowMs, file_at: fileAtMs };
    // Even with the same bytes: listings show when the content was stored.
    this.children.changed(tx, { accountId, folderId, kind: FILE, before, after, isContent: true });
  }

  /** Changes the media type of a file; the caller adjusts the totals of types. */
  setMediaType(id: number, mediaType: string): void {
    this.#setMediaType.run(id, mediaType);
  }

  /** Removes a deleted node from the index of names. */
  deleteName(node: StoredNode): void {
    this.#names.remove(node.id, node.sort_key);
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
    const { account_id: accountId, parent_id: folderId } = folder;
    this.children.changed(tx, { accountId, folderId, kind: FOLDER, before: folder });
  }

  /** Puts a node from the trash into a folder. Its name there must be free. */
  reattach(
    tx: Transaction,
    node: StoredNode,
    target: { readonly parentId: number; readonly name: string; readonly seq: number },
  ): void {
    const sortKey = fold(target.name);
    const sortedAs = naturalKey(target.name);
    this.#reattach.run(node.id, target.parentId, target.name, sortKey, target.seq, sortedAs);
    if (node.kind === FOLDER) this.heights.raise(target.parentId, target.name, this.heights.boundBelow(node.id));
    if (sortKey !== node.sort_key) {
      this.#names.remove(node.id, node.sort_key);
      this.#names.insert(node.id, sortKey);
    }
    const after = { ...node, name: target.name, sort_key: sortKey, natural_key: sortedAs };
    this.children.changed(tx, { accountId: node.account_id, folderId: target.parentId, kind: node.kind, after });
  }
}

/** `nodes.file_at` of a new node. */
function dateOf({ kind, createdAtMs, modifiedAtMs, contentAtMs = modifiedAtMs, fileModifiedAt }: NewNodeRow): number {
  return kind === FILE ? fileDate(fileModifiedAt, contentAtMs) : createdAtMs;
}
