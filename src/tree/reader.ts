import type {
  FolderNode,
  FileNode,
  FileVersion,
  FindQuery,
  ListQuery,
  NodePage,
  NodeRef,
  TrashedNode,
  TreeNode,
  TypeUsage,
  Usage,
  Drift,
} from "./model/types.ts";
import { type Digest, digestFromBytes } from "../blobs/digest.ts";
import { fold, ROOT_PATH } from "../lib/path.ts";
import type { BlobRow } from "./tables/blob-rows.ts";
import { type ChangePage, ChangeReader } from "./journal/changes.ts";
import type { ChangePosition } from "./journal/position.ts";
import { Lister } from "./queries/list.ts";
import { PastReader } from "./queries/past.ts";
import { recountAccount, recountBlobs } from "./queries/recount.ts";
import { Finder } from "./queries/search.ts";
import type { TreeStore } from "./tables/store.ts";
import type { TagCount } from "./tables/tags.ts";
import { findVersion, listVersions } from "./tables/versions.ts";
import {
  isInTrash,
  listTrash,
  tagsInTrash,
  trashedBefore,
  trashedSeqOf,
  typesInTrash,
  MEASURED_IN_READER_MIN,
  type FolderSize,
  measureInReader,
} from "./operations/trash.ts";
import { type WalkVisitor, walkBelow } from "./queries/walk.ts";

/** Copies of one content that are looked at: those of a folder that was just deleted are no files any more. */
const HOLDERS_MAX = 100;

/** What an earlier content has of its own. */
interface VersionRow {
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly contentAtMs: number;
  readonly blobId: number;
  readonly digest: Uint8Array;
}

/**
 * The reading side of the tree. What is unknown, another account's, or cut off from the tree is undefined alike.
 * Everything that returns no promise is answered in place within microseconds.
 */
export class TreeReader {
  readonly #store: TreeStore;
  readonly #lister: Lister;
  readonly #finder: Finder;
  readonly #changes: ChangeReader;
  readonly #cutOff;
  readonly #holders;
  /** The tree as it was. */
  readonly past: PastReader;
  readonly #version;

  constructor(store: TreeStore) {
    this.#store = store;
    this.#lister = new Lister(store);
    this.#finder = new Finder(store);
    this.#changes = new ChangeReader(store);
    this.past = new PastReader(store, (accountId, atMs) => this.#changes.seqBefore(accountId, atMs));
    this.#cutOff = store.sqlite.prepare<{ id: number }, [number]>(
      `SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id IS NULL AND kind = 0 AND name <> '/'
         AND account_id = ?1`,
    );
    this.#holders = store.sqlite.prepare<{ id: number }, [number, number, number]>(
      "SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = ?1 AND account_id = ?2 LIMIT ?3",
    );
    this.#version = store.sqlite.prepare<VersionRow, [number, number]>(
      `SELECT v.size_bytes AS sizeBytes, v.media_type AS mediaType, v.created_at AS contentAtMs, v.blob_id AS blobId,
         b.digest FROM versions v JOIN blobs b ON b.id = v.blob_id WHERE v.node_id = ?1 AND v.version = ?2`,
    );
  }

  findFile(accountId: number, publicId: string): FileNode | undefined {
    return this.#store.findFile({ accountId, publicId });
  }

  findFolder(accountId: number, publicId: string): FolderNode | undefined {
    return this.#store.findFolder({ accountId, publicId });
  }

  findNode(accountId: number, publicId: string): TreeNode | undefined {
    return this.#store.findNode({ accountId, publicId });
  }

  /** A node by its public id, of whatever account. Who asks may not be one who may know: `permissions` decides (D51). */
  findAnywhere(publicId: string): TreeNode | undefined {
    return this.#store.findAnywhere(publicId);
  }

  /** A file by its row id, of whatever account: for links that open without one. */
  findFileById(id: number): FileNode | undefined {
    const node = this.#store.findById(id);
    return node?.kind === "file" ? node : undefined;
  }

  /** A file or folder by its row id, of whatever account: for links that open without one. */
  findById(id: number): TreeNode | undefined {
    return this.#store.findById(id);
  }

  /** Whether a node lies below a folder, at any depth, or is it: told by ids, never by paths (D51). */
  isWithin(node: TreeNode, folderId: number): boolean {
    return this.#store.paths.isWithin(node.id, folderId);
  }

  /** A file with one of its contents, the present or an earlier one; undefined where that one is gone. */
  findFileAt(id: number, version: number): FileNode | undefined {
    const file = this.findFileById(id);
    if (file === undefined || file.version === version) return file;
    const row = this.#version.get(id, version);
    if (row === null) return undefined;
    return { ...file, ...row, digest: digestFromBytes(row.digest), version };
  }

  /** The file or folder of this name in a folder, by row id. */
  findNodeIn(folderId: number, name: string): TreeNode | undefined {
    const holder = this.#store.names.find(folderId, name);
    return holder === undefined ? undefined : this.#store.findById(holder.id);
  }

  /** The folder at a normalised path. */
  findFolderByPath(accountId: number, path: string): FolderNode | undefined {
    const id = this.#store.paths.findId(accountId, path);
    const node = id === undefined ? undefined : this.#store.findById(id);
    return node?.kind === "folder" ? node : undefined;
  }

  /** The file of this name in the folder at a normalised path. */
  findFileNamed(accountId: number, folderPath: string, name: string): FileNode | undefined {
    const folderId = this.#store.paths.findId(accountId, folderPath);
    const holder = folderId === undefined ? undefined : this.#store.names.find(folderId, name);
    return holder === undefined ? undefined : this.findFileById(holder.id);
  }

  /** Some file of the account that has this content now. Its index is by content and account: others' files cost nothing. */
  findFileWithContent(accountId: number, digest: Digest): FileNode | undefined {
    const blob = this.#store.blobs.find(digest);
    if (blob === undefined) return undefined;
    for (const { id } of this.#holders.all(blob.id, accountId, HOLDERS_MAX)) {
      const file = this.findFileById(id);
      if (file !== undefined) return file;
    }
    return undefined;
  }

  /**
   * Whether the account deleted a file with this content, or put it into the trash, has made none with it since, and holds
   * no other (D25).
   */
  wasDeleted(accountId: number, digest: Digest): boolean {
    const isDeleted = this.#store.deletions.find(accountId, digest) !== undefined;
    if (!isDeleted && !this.#isInTrash(accountId, digest)) return false;
    return this.findFileWithContent(accountId, digest) === undefined;
  }

  /** The contents of a file, the newest first, the present one included. */
  listVersions(file: FileNode): FileVersion[] {
    return listVersions(this.#store, file);
  }

  /** The file with the content of one of its versions in place of the present one; undefined where that is not kept. */
  findVersion(file: FileNode, version: number): FileNode | undefined {
    return findVersion(this.#store, file, version);
  }

  /** The top folder of an account, which exists. */
  getRoot(accountId: number): FolderNode {
    const id = this.#store.paths.findId(accountId, ROOT_PATH);
    return this.#store.getFolder(id ?? 0);
  }

  /** Path of a folder by its row id. */
  pathOf(folderId: number): string | undefined {
    return this.#store.paths.pathOf(folderId);
  }

  /**
   * A page of a folder. A folder that is gone has none. Any page of any folder takes well below a millisecond, but for
   * the first deep one of a large folder after a start.
   */
  list(query: ListQuery): Promise<NodePage> {
    return this.#lister.list(query);
  }

  /** A page of what matches the filters. @throws AppError overloaded where too many searches wait already */
  find(query: FindQuery): Promise<NodePage> {
    const isFiltered =
      (query.search ?? "") !== "" || (query.tags ?? []).length > 0 || query.mediaTypePattern !== undefined;
    return isFiltered || query.recursive ? this.#finder.find(query) : this.#lister.list(query);
  }

  /** The labels of an account with the number of files that carry each: most used first, then by name; at most `limit`. */
  tagsOf(accountId: number, limit: number): TagCount[] {
    const inTrash = tagsInTrash(this.#store, accountId);
    const trashed = Object.keys(inTrash).length;
    if (trashed === 0) return this.#store.tags.list(accountId, limit);
    return this.#store.tags
      .list(accountId, limit + trashed)
      .map(({ tag, count }) => ({ tag, count: count - (inTrash[fold(tag)] ?? 0) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
      .slice(0, limit);
  }

  /** The nodes with these row ids, in this order; what is gone or cut off from the tree is left out. */
  findByIds(ids: readonly number[]): TreeNode[] {
    return this.#store.findByIds(ids);
  }

  usage(accountId: number): Usage {
    return this.#store.accounts.usage(accountId);
  }

  /** @throws AppError quota_exceeded where the account may not hold so many more files and folders */
  rejectNodes(accountId: number, added: number): void {
    this.#store.accounts.rejectNodes(accountId, added);
  }

  /** Largest first. Files of a large folder that was just deleted leave this list within seconds, the sums at once. */
  usageByType(accountId: number): TypeUsage[] {
    const inTrash = typesInTrash(this.#store, accountId);
    return this.#store.accounts
      .usageByType(accountId)
      .map(({ type, files, bytes }) => {
        const [trashedFiles, trashedBytes] = inTrash[type] ?? [0, 0];
        return { type, files: files - trashedFiles, bytes: bytes - trashedBytes };
      })
      .filter(({ files }) => files > 0)
      .sort((a, b) => b.bytes - a.bytes);
  }

  /** The committed row of a content. */
  findBlob(digest: Digest): BlobRow | undefined {
    return this.#store.blobs.find(digest);
  }

  /** Those of some contents that have a committed row which nothing refers to: a collector may be about to take them. */
  findUnreferenced(digests: readonly Digest[]): ReadonlySet<string> {
    return this.#store.blobs.findUnreferenced(digests);
  }

  /** The last journal number of an account: unchanged, nothing changed. */
  headOf(accountId: number): number {
    return this.#store.accounts.headOf(accountId);
  }

  /** Compares an account's stored numbers with what counting gives; empty when all is right. Repairs nothing (D22). */
  recount(accountId: number): Promise<Drift[]> {
    return recountAccount(this.#store.reader, accountId);
  }

  /** Compares the references of all contents with what counting gives; empty when all is right. Repairs nothing. */
  recountBlobs(): Promise<Drift[]> {
    return recountBlobs(this.#store.reader);
  }

  /** As {@link changesSince}, with what is long to read off the event loop. @see ChangeReader.readNext */
  nextChanges(
    accountId: number,
    from: ChangePosition,
    limit: number,
    wantsFolders: boolean,
    isValid: () => boolean,
  ): Promise<ChangePage | undefined> {
    return this.#changes.readNext(accountId, from, limit, wantsFolders, isValid);
  }

  /** What has changed since a place in the account's journal. In place; some milliseconds for 500 changes. */
  changesSince(accountId: number, from: ChangePosition, limit: number, wantsFolders: boolean): ChangePage {
    return this.#changes.read(accountId, from, limit, wantsFolders);
  }

  /** Deletions up to this number are remembered no more: who knows less must begin anew. */
  floorOf(accountId: number): number {
    return this.#changes.floorOf(accountId);
  }

  /** The journal number before the first change at or after an instant; the head where there is none. */
  seqBefore(accountId: number, atMs: number): number {
    return this.#changes.seqBefore(accountId, atMs);
  }

  /** Whether something that was deleted is still being taken apart: its tombstones are not all there yet. */
  isReaping(accountId: number): boolean {
    // A large copy that is being made is cut off, too.
    return this.#cutOff.all(accountId).some(({ id }) => !this.#store.underConstruction.has(id));
  }

  /**
   * Visits nodes and all below them in one snapshot, with the event loop going on in between (see `walk.ts`).
   * @param ids row ids of what is in a tree now
   * @returns the time of the last change in any of their accounts
   * @throws AppError not_found where one is gone; what `visit` throws
   */
  walk(ids: readonly number[], visit: WalkVisitor): Promise<number> {
    return walkBelow(this.#store, ids, visit);
  }

  /** Whether {@link weigh} is to be asked before a node is put into the trash: a folder in an account of many files. */
  isMeasuredInReader(node: TreeNode): boolean {
    return node.kind === "folder" && this.usage(node.accountId).files >= MEASURED_IN_READER_MIN;
  }

  /** What {@link TreeWriter.trash} wants to know of a large folder, read off the event loop; true until something changes. */
  measure(folder: TreeNode): Promise<FolderSize> {
    return measureInReader(this.#store, folder.accountId, folder.id);
  }

  /** A page of an account's trash, what came last in front, and how much there is in all. */
  listTrash(accountId: number, offset: number, limit: number): { entries: readonly TrashedNode[]; total: number } {
    return listTrash(this.#store, accountId, offset, limit);
  }

  /** Journal number at which a node went into the trash; undefined where it is not there. */
  trashedSeqOf(node: NodeRef): number | undefined {
    return trashedSeqOf(this.#store, node);
  }

  /** What was put into the trash up to a time, the oldest first, at most `limit`: of one account, or of all (null). */
  trashedBefore(atMs: number, limit: number, accountId: number | null): readonly NodeRef[] {
    return trashedBefore(this.#store, atMs, limit, accountId);
  }

  #isInTrash(accountId: number, digest: Digest): boolean {
    const blob = this.#store.blobs.find(digest);
    if (blob === undefined) return false;
    return this.#holders.all(blob.id, accountId, HOLDERS_MAX).some(({ id }) => isInTrash(this.#store, id));
  }

  /** Forgets what is kept in memory. To be called where `db.changedElsewhere()` says that another process wrote. */
  dropCaches(): void {
    this.#store.dropCaches();
  }
}
