/**
 * The history of the tree: what was where at a moment, under which name, with which content. A moment is a number of
 * the journal of the account. A node existed if it was created up to that number. It was where its first row of
 * `former_places` after that number says, or else where it is now. Tags are those of today: no history of them is
 * recorded.
 *
 * Nodes that a person deleted permanently are not shown. Nodes that a device deleted are shown, from the rows recorded
 * for undoing it, and so are nodes that are in the trash now.
 */
import { invariant } from "../../lib/invariant.ts";
import { joinPath, ROOT_PATH, segmentsOf } from "../../lib/path.ts";
import { Steps } from "../../lib/steps.ts";
import { IN_TRASH } from "../tables/history.ts";
import {
  changedChildren,
  childFolder,
  childrenCount,
  childrenNaturally,
  childrenPage,
  childrenWithIds,
  itemCounts,
  type ChildAt,
  type AccountMoment,
  newChildren,
  type PastListQuery,
  pastStatements,
} from "./past-sql.ts";
import { fileDate, FILE, FOLDER, toFile, toFolder } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FileNode, FolderNode, TreeNode } from "../model/types.ts";
import { type FormerContent, parseDetail, type UndoDetail } from "../tables/undo.ts";
import { findVersion } from "../tables/versions.ts";

/** A folder at a moment: its row id (the folder may be deleted by now) and its path at that moment. */
export interface PastFolder {
  readonly id: number;
  readonly name: string;
  /** Path of the folder it was in. */
  readonly folder: string;
  readonly path: string;
}

/** A file or folder at a moment. */
export interface PastNode {
  readonly node: FileNode | FolderNode;
  /**
   * For files: whether the content of that moment is still available. If not, `node` describes the nearest available
   * version.
   */
  readonly isContentAvailable: boolean;
  /** It is in the trash now, or a device deleted it. */
  readonly isDeleted: boolean;
}

/** A file or folder that may differ now, by row ids. */
export interface PastEntry {
  readonly id: number;
  readonly isFolder: boolean;
  readonly parentId: number;
  readonly name: string;
}

/** The nodes of a folder at a moment that may differ now. */
export interface PastContents {
  /** From the top down; unchanged nodes are left out. */
  readonly changed: readonly PastEntry[];
  /** Whether `changed` is complete. */
  readonly isComplete: boolean;
  /** By the row id of a deleted node, the row id of the node that replaces it. */
  readonly present: ReadonlyMap<number, number>;
  /** Row ids of nodes created in these folders since; only if {@link isComplete}. */
  readonly newIds: readonly number[];
}

/** The data for creating a node again that a device deleted. */
interface DeletedByDevice {
  readonly deviceId: number;
  readonly publicId: string;
  readonly detail: UndoDetail;
}

/** Folders whose children one query reads. */
const FOLDERS_PER_QUERY = 500;
/** How long results are processed before the event loop gets a turn. */
const STEP_MS = 4;

/** Reads the history of all accounts of a database. */
export class PastReader {
  readonly #store: TreeStore;
  readonly #seqBefore: (accountId: number, atMs: number) => number;
  readonly #statements;

  /** @param seqBefore the journal number before the first change at or after a time */
  constructor(store: TreeStore, seqBefore: (accountId: number, atMs: number) => number) {
    this.#store = store;
    this.#seqBefore = seqBefore;
    this.#statements = pastStatements(store.sqlite);
  }

  /** The moment of an account after all its changes up to a time. */
  momentAt(accountId: number, atMs: number): AccountMoment {
    return { accountId, atMs, seq: this.#seqBefore(accountId, atMs + 1) };
  }

  /** The folder at a normalized path at a moment. */
  async findFolder(moment: AccountMoment, path: string): Promise<PastFolder | undefined> {
    const rootId = this.#store.paths.rootOf(moment.accountId);
    if (rootId === undefined) return undefined;
    let found: PastFolder = { id: rootId, name: ROOT_PATH, folder: ROOT_PATH, path: ROOT_PATH };
    for (const name of segmentsOf(path)) {
      const [[child]] = await this.#store.reader.read([childFolder(found.id, name, moment)]);
      if (child === undefined) return undefined;
      found = { id: child.id, name, folder: found.path, path: joinPath(found.path, name) };
    }
    return found;
  }

  /** A page of a folder that existed at a moment. Folders come first; ties by id in the direction of the sort. */
  async list(
    moment: AccountMoment,
    folder: PastFolder,
    query: PastListQuery,
  ): Promise<{ nodes: PastNode[]; total: number }> {
    const { page, total } = await this.#page(moment, folder, query);
    const counts = await this.#countItems(moment, page);
    const nodes = page.flatMap((row) => this.#describe(moment, folder, row, counts.get(row.id) ?? 0) ?? []);
    return { nodes, total };
  }

  async #page(
    moment: AccountMoment,
    folder: PastFolder,
    { sort, ...query }: PastListQuery,
  ): Promise<{ page: readonly ChildAt[]; total: number }> {
    const { reader } = this.#store;
    const { offset, limit } = query;
    if (sort === "natural") {
      const [sorted] = await reader.read([childrenNaturally(folder.id, moment, { sort, ...query })]);
      const ids = [...sorted.subarray(offset, offset + limit)];
      const [found] = await reader.read([childrenWithIds(folder.id, moment, { sort, ...query }, ids)]);
      const byId = new Map(found.map((row) => [row.id, row]));
      return { page: ids.flatMap((id) => byId.get(id) ?? []), total: sorted.length };
    }
    const [page] = await reader.read([childrenPage(folder.id, moment, { sort, ...query })]);
    const first = page[0];
    if (first !== undefined || offset === 0) return { page, total: first?.total ?? 0 };
    const [[counted]] = await reader.read([childrenCount(folder.id, moment, { sort, ...query })]);
    return { page, total: counted?.total ?? 0 };
  }

  /** A file at a moment; undefined if there was none with this id, or if its folder was permanently deleted since. */
  findFile(moment: AccountMoment, publicId: string): PastNode | undefined {
    const { accountId, seq, atMs } = moment;
    const id = this.#statements.ofPublicId.get(publicId, accountId)?.id;
    if (id === undefined || this.#statements.availability.get(id)?.isAvailable !== 1) return undefined;
    const location = this.#locationAt(moment, id);
    if (location === undefined) return undefined;
    const path = this.#pathAt(moment, location.parentId);
    const times = this.#statements.times.get(id, seq, atMs, accountId, FILE);
    if (path === undefined || times === null) return undefined;
    const row = { id, kind: FILE, name: location.name, ...times };
    const described = this.#describe(moment, { id: location.parentId, path }, row, 0);
    return described?.node.kind === "file" ? described : undefined;
  }

  /**
   * Compares a folder and all below it at a moment with now.
   * @param changesMax stop after about this many changes
   */
  async contents(moment: AccountMoment, folder: PastFolder, changesMax: number): Promise<PastContents> {
    const changed: PastEntry[] = [];
    const folderIds = [folder.id];
    const present = new Map<number, number>();
    this.#noteSuccessor(moment.accountId, folder.id, present);
    const steps = new Steps(STEP_MS);
    for (let from = 0; from < folderIds.length && changed.length <= changesMax; ) {
      const some = folderIds.slice(from, from + FOLDERS_PER_QUERY);
      from += some.length;
      const [found] = await this.#store.reader.read([changedChildren(some, moment)]);
      for (const { parent_id: parentId, id, kind, name, isBack, isGone } of found) {
        const entry = { id, isFolder: kind === FOLDER, parentId, name };
        if (entry.isFolder) folderIds.push(id);
        if (isBack === 0 && !(isGone === 1 && this.#isMadeAgain(moment, entry, present))) changed.push(entry);
        await steps.next();
      }
    }
    const isComplete = changed.length <= changesMax;
    const made = new Set(present.values());
    const presentIds = folderIds.map((id) => present.get(id) ?? id);
    const newIds = isComplete ? await this.#newIn(moment, presentIds) : [];
    return { changed: changed.slice(0, changesMax), isComplete, present, newIds: newIds.filter((id) => !made.has(id)) };
  }

  /** The version that a file had at a moment; undefined if it is not retained. */
  versionAt({ atMs }: AccountMoment, file: FileNode): number | undefined {
    if (file.contentAtMs <= atMs) return file.version;
    const found = this.#statements.versionAt.get(file.id, atMs)?.version;
    if (found !== undefined) return found;
    const after = this.#statements.versionAfter.get(file.id, atMs)?.version ?? file.version;
    // A file that existed had its first content, even if the clock was set back since.
    return after === 1 ? 1 : undefined;
  }

  /** The version that a file had at a moment which a device deleted later. */
  contentAt({ atMs }: AccountMoment, contents: readonly FormerContent[]): FormerContent | undefined {
    const found = contents.find(({ createdAtMs }) => createdAtMs <= atMs);
    const oldest = contents.at(-1);
    return found ?? (oldest?.version === 1 ? oldest : undefined);
  }

  /** The record of a node that a device deleted and nobody created again; undefined for all others. */
  findDeleted(accountId: number, nodeId: number): DeletedByDevice | undefined {
    const row = this.#statements.deleted.get(nodeId, accountId);
    return row === null ? undefined : { ...row, detail: parseDetail(row.before) };
  }

  /** The row id of the node that replaces one that a device deleted. */
  findSuccessor(accountId: number, nodeId: number): number | undefined {
    const row = this.#statements.successor.get(nodeId, accountId);
    return row === null ? undefined : parseDetail(row.before).restored?.nodeId;
  }

  /**
   * The node to restore from the trash so that a node is restored: itself, or a folder above it; undefined if it is not
   * in the trash.
   */
  findInTrash(accountId: number, nodeId: number): { readonly id: number; readonly publicId: string } | undefined {
    return this.#statements.topInTrash.get(nodeId, accountId) ?? undefined;
  }

  /** Whether a folder contains, at any depth, a node created by a moment. */
  holdsOlder({ seq }: AccountMoment, folderId: number): boolean {
    return this.#statements.older.get(folderId, seq) !== null;
  }

  /** The parent of a folder at a moment, by row id. */
  parentAt(moment: AccountMoment, folderId: number): number | undefined {
    return this.#locationAt(moment, folderId)?.parentId;
  }

  /** Records and returns the node that replaces a deleted one. */
  #noteSuccessor(accountId: number, nodeId: number, present: Map<number, number>): TreeNode | undefined {
    const id = this.findSuccessor(accountId, nodeId);
    const node = id === undefined ? undefined : this.#store.findById(id);
    if (node !== undefined) present.set(nodeId, node.id);
    return node;
  }

  /** Whether a deleted node was created again in its former folder; a file also with its former content. */
  #isMadeAgain(moment: AccountMoment, { id, parentId, name }: PastEntry, present: Map<number, number>): boolean {
    const node = this.#noteSuccessor(moment.accountId, id, present);
    if (node === undefined || node.name !== name || node.parentId !== (present.get(parentId) ?? parentId)) return false;
    if (node.kind === "folder") return true;
    const contents = this.findDeleted(moment.accountId, id)?.detail.file?.contents ?? [];
    return this.contentAt(moment, contents)?.digest === node.digest;
  }

  /** The number of children of each folder of a page. */
  async #countItems(moment: AccountMoment, page: readonly ChildAt[]): Promise<Map<number, number>> {
    const ids = page.filter(({ kind }) => kind === FOLDER).map(({ id }) => id);
    if (ids.length === 0) return new Map();
    const [counts] = await this.#store.reader.read([itemCounts(ids, moment)]);
    return new Map(counts.map(({ id, items }) => [id, items]));
  }

  async #newIn(moment: AccountMoment, folderIds: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    for (let from = 0; from < folderIds.length; from += FOLDERS_PER_QUERY) {
      const [some] = await this.#store.reader.read([
        newChildren(folderIds.slice(from, from + FOLDERS_PER_QUERY), moment),
      ]);
      for (const id of some) found.push(id);
    }
    return found.sort((a, b) => a - b);
  }

  /** The location of a node at a moment; undefined if it did not exist, was in the trash, or is unknown. */
  #locationAt({ accountId, seq }: AccountMoment, nodeId: number): { parentId: number; name: string } | undefined {
    const row =
      this.#statements.formerLocation.get(nodeId, seq, accountId) ??
      this.#statements.presentLocation.get(nodeId, accountId);
    if (row === null || row.createdSeq > seq || (row.parentId ?? IN_TRASH) <= IN_TRASH) return undefined;
    return { parentId: row.parentId ?? IN_TRASH, name: row.name };
  }

  /** Path of a folder at a moment; undefined if it was not reachable from the root. */
  #pathAt(moment: AccountMoment, folderId: number): string | undefined {
    const rootId = this.#store.paths.rootOf(moment.accountId);
    const names: string[] = [];
    for (let id = folderId; id !== rootId; ) {
      const location = this.#locationAt(moment, id);
      if (location === undefined) return undefined;
      names.push(location.name);
      id = location.parentId;
    }
    return names.reduceRight((path, name) => joinPath(path, name), ROOT_PATH);
  }

  #describe(
    moment: AccountMoment,
    folder: Pick<PastFolder, "id" | "path">,
    found: ChildAt,
    itemCount: number,
  ): PastNode | undefined {
    const { id, kind, name, created: createdAtMs, modified: modifiedAtMs } = found;
    const row = this.#statements.row.get(id);
    if (row === null) return this.#describeDeleted(moment, folder, found, itemCount);
    const isDeleted = row.parent_id === null || this.#store.paths.pathOf(row.parent_id) === undefined;
    const former = { ...row, parent_id: folder.id, name, created_at: createdAtMs, modified_at: modifiedAtMs };
    if (kind === FOLDER) {
      const node = { ...toFolder(former, folder.path), itemCount };
      return { node, isContentAvailable: true, isDeleted };
    }
    const file = { ...toFile(former, folder.path), originalName: row.original_name ?? row.name };
    const version = this.versionAt(moment, file);
    const nearest = version ?? this.#statements.versionAfter.get(id, moment.atMs)?.version ?? file.version;
    return {
      node: findVersion(this.#store, file, nearest) ?? file,
      isContentAvailable: version !== undefined,
      isDeleted,
    };
  }

  #describeDeleted(
    moment: AccountMoment,
    folder: Pick<PastFolder, "id" | "path">,
    { id, kind, name, created: createdAtMs, modified: modifiedAtMs }: ChildAt,
    itemCount: number,
  ): PastNode | undefined {
    const { accountId, seq } = moment;
    const deleted = this.findDeleted(accountId, id);
    // A person deleted it permanently in this very moment.
    if (deleted === undefined) return undefined;
    const { publicId, detail } = deleted;
    const { tags = [], metadata = {} } = detail.labelsFrom ?? {};
    const location = {
      id,
      publicId,
      accountId,
      parentId: folder.id,
      name,
      folder: folder.path,
      createdAtMs,
      modifiedAtMs,
      seq,
    };
    if (kind === FOLDER) {
      const node = { ...location, kind: "folder" as const, path: joinPath(folder.path, name), itemCount, metadata };
      return { node, isContentAvailable: true, isDeleted: true };
    }
    const { file } = detail;
    invariant(file !== undefined, "a deleted file has a description");
    const content = this.contentAt(moment, file.contents);
    const nearest = content ?? file.contents.at(-1);
    if (nearest === undefined) return undefined;
    const { version, digest, sizeBytes, mediaType, createdAtMs: contentAtMs } = nearest;
    const node: FileNode = {
      ...location,
      kind: "file",
      contentAtMs,
      contentDeviceId: null,
      sizeBytes,
      mediaType,
      blobId: 0,
      digest,
      version,
      originalName: file.originalName ?? name,
      fileModifiedAt: file.fileModifiedAt,
      capturedAt: file.capturedAt,
      fileAtMs: fileDate(file.fileModifiedAt, contentAtMs),
      isPublic: false,
      tags,
      metadata,
    };
    const isContentAvailable = content !== undefined && this.#store.blobs.find(digest) !== undefined;
    return { node, isContentAvailable, isDeleted: true };
  }
}
