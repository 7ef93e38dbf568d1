import type {
  FolderNode,
  FileNode,
  FileVersion,
  FindQuery,
  FolderState,
  ListQuery,
  NodePage,
  NodeRef,
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
import { ChildReader, type ListedNode, type ListingPosition } from "./queries/children.ts";
import { Lister } from "./queries/list.ts";
import { PastReader } from "./queries/past.ts";
import { recountAccount, recountBlobs } from "./queries/recount.ts";
import { TrashLister } from "./queries/trash-list.ts";
import { FilteredLister } from "./queries/filtered-list.ts";
import type { Locks } from "./tables/locks.ts";
import { countUpTo } from "./operations/copy.ts";
import type { TreeStore } from "./tables/store.ts";
import type { DeadProperty } from "./tables/properties.ts";
import type { TagCount } from "./tables/tags.ts";
import { findVersion, listVersions } from "./tables/versions.ts";
import { isInTrash, tagsInTrash, trashedBefore, trashedSeqOf, typesInTrash } from "./tables/trash.ts";
import { bytesBelow, type FolderSize, isCurrent, isLarge, measureInReader } from "./operations/measure-folder.ts";
import { type WalkVisitor, walkBelow, walkFiles } from "./queries/walk.ts";

/** Files with the same content that are checked: those of a folder that was just deleted are no longer in the tree. */
const SAME_CONTENT_MAX = 100;

/** The columns of an earlier version. */
interface VersionContentRow {
  readonly sizeBytes: number;
  readonly mediaType: string;
  readonly contentAtMs: number;
  readonly blobId: number;
  readonly digest: Uint8Array;
}

/**
 * The reading side of the tree. A node that is unknown, belongs to another account or is cut off from the tree is
 * undefined in each case. Methods that return no promise take microseconds.
 *
 * The methods are grouped: look-up of nodes, listings, totals, blobs, the journal, deletion and trash. The history is
 * in {@link past}.
 */
export class TreeReader {
  readonly #store: TreeStore;
  readonly #lister: Lister;
  readonly #children: ChildReader;
  readonly #filtered: FilteredLister;
  readonly #changes: ChangeReader;
  readonly #cutOff;
  readonly #withContent;
  /** The history of the tree. */
  readonly past: PastReader;
  /** The trash of all accounts. */
  readonly trash: TrashLister;
  /** The locks of WebDAV clients. */
  readonly locks: Pick<Locks, "on" | "list" | "find">;
  readonly #version;

  constructor(store: TreeStore) {
    this.#store = store;
    this.#lister = new Lister(store);
    this.#children = new ChildReader(store.sqlite);
    this.#filtered = new FilteredLister(store);
    this.#changes = new ChangeReader(store);
    this.locks = store.locks;
    this.trash = new TrashLister(store);
    this.past = new PastReader(store, (accountId, atMs) => this.#changes.seqBefore(accountId, atMs));
    this.#cutOff = store.sqlite.prepare<{ id: number }, [number]>(
      "SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id IS NULL AND kind = 0 AND name <> '/' AND account_id = ?",
    );
    this.#withContent = store.sqlite.prepare<{ id: number }, [number, number, number]>(
      "SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = ?1 AND account_id = ?2 LIMIT ?3",
    );
    this.#version = store.sqlite.prepare<VersionContentRow, [number, number]>(
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

  /** A node of any account by its public id. The caller must check permissions. */
  findAnywhere(publicId: string): TreeNode | undefined {
    return this.#store.findAnywhere(publicId);
  }

  /** A file of any account by its row id: links open without an account. */
  findFileById(id: number): FileNode | undefined {
    const node = this.#store.findById(id);
    return node?.kind === "file" ? node : undefined;
  }

  /** A file or folder of any account by its row id: links open without an account. */
  findById(id: number): TreeNode | undefined {
    return this.#store.findById(id);
  }

  /** Whether a node is a folder or is below it, at any depth. Compares ids, never paths. */
  isWithin(node: TreeNode, folderId: number): boolean {
    return this.#store.paths.isWithin(node.id, folderId);
  }

  /** A file with the content of a version, the current or an earlier one; undefined if that is gone. */
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

  /** The folder at a normalized path. */
  findFolderByPath(accountId: number, path: string): FolderNode | undefined {
    const id = this.#store.paths.findId(accountId, path);
    const node = id === undefined ? undefined : this.#store.findById(id);
    return node?.kind === "folder" ? node : undefined;
  }

  /** The file of this name in the folder at a normalized path. */
  findFileNamed(accountId: number, folderPath: string, name: string): FileNode | undefined {
    const folderId = this.#store.paths.findId(accountId, folderPath);
    const holder = folderId === undefined ? undefined : this.#store.names.find(folderId, name);
    return holder === undefined ? undefined : this.findFileById(holder.id);
  }

  /** Any file of the account that has this content now. Files of others with it cost nothing. */
  findFileWithContent(accountId: number, digest: Digest): FileNode | undefined {
    const blob = this.#store.blobs.find(digest);
    if (blob === undefined) return undefined;
    for (const { id } of this.#withContent.all(blob.id, accountId, SAME_CONTENT_MAX)) {
      const file = this.findFileById(id);
      if (file !== undefined) return file;
    }
    return undefined;
  }

  /** Whether the account deleted or trashed a file with this content, created none with it since, and has no other. */
  wasDeleted(accountId: number, digest: Digest): boolean {
    const isDeleted = this.#store.deletions.find(accountId, digest) !== undefined;
    if (!isDeleted && !this.#isInTrash(accountId, digest)) return false;
    return this.findFileWithContent(accountId, digest) === undefined;
  }

  /** The versions of a file, newest first, including the current one. */
  listVersions(file: FileNode): FileVersion[] {
    return listVersions(this.#store, file);
  }

  /** The file with the content of a version in place of the current one; undefined if that version is not retained. */
  findVersion(file: FileNode, version: number): FileNode | undefined {
    return findVersion(this.#store, file, version);
  }

  /** The root folder of an account, which exists. */
  getRoot(accountId: number): FolderNode {
    return this.#store.getFolder(this.#store.paths.findId(accountId, ROOT_PATH) ?? 0);
  }

  /** Counts a node and everything below it, until there are more than `max` files and folders. */
  countBelow(node: TreeNode, max: number): { readonly files: number; readonly folders: number } {
    return node.kind === "file" ? { files: 1, folders: 0 } : countUpTo(this.#store, node.id, max);
  }

  /** Path of a folder by its row id. */
  pathOf(folderId: number): string | undefined {
    return this.#store.paths.pathOf(folderId);
  }

  /**
   * A page of a folder; empty for a deleted one. Any page takes well below a millisecond, except the first deep page of
   * a large folder after startup.
   */
  list(query: ListQuery): Promise<NodePage> {
    return this.#lister.list(query);
  }

  /**
   * The next children of a folder after a position, at most `limit`, for programs that read whole folders: folders first,
   * each kind by creation. Fewer than `limit` at the end.
   */
  childrenAfter(folderId: number, position: ListingPosition, limit: number): ListedNode[] {
    return this.#children.after(folderId, position, limit);
  }

  /** A page of the nodes that match the filters. @throws AppError overloaded if too many searches are queued */
  find(query: FindQuery): Promise<NodePage> {
    const isFiltered =
      (query.search ?? "") !== "" || (query.tags ?? []).length > 0 || query.mediaTypePattern !== undefined;
    return isFiltered || query.recursive ? this.#filtered.find(query) : this.#lister.list(query);
  }

  /** The tags of an account with the number of their files: most used first, then by name; at most `limit`. */
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

  /** The nodes with these row ids, in this order; deleted and cut-off ones are left out. */
  findByIds(ids: readonly number[]): TreeNode[] {
    return this.#store.findByIds(ids);
  }

  /** The properties that clients stored with these nodes, by row id, in alphabetical order. Nodes without any are left out. */
  propertiesOf(nodeIds: readonly number[]): Map<number, DeadProperty[]> {
    return this.#store.properties.of(nodeIds);
  }

  usage(accountId: number): Usage {
    return this.#store.accounts.usage(accountId);
  }

  /** @throws AppError quota_exceeded if the account may not hold this many more files and folders */
  rejectNodes(accountId: number, added: number): void {
    this.#store.accounts.rejectNodes(accountId, added);
  }

  /**
   * Largest first. Files of a large folder that was just deleted leave this list within seconds, the totals at once.
   */
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

  /** The committed row of a blob. */
  findBlob(digest: Digest): BlobRow | undefined {
    return this.#store.blobs.find(digest);
  }

  /** Those of these blobs whose committed row has no references: garbage collection may be about to delete them. */
  findUnreferenced(digests: readonly Digest[]): ReadonlySet<string> {
    return this.#store.blobs.findUnreferenced(digests);
  }

  /** The last journal number of an account: while it stays, nothing has changed. */
  headOf(accountId: number): number {
    return this.#store.accounts.headOf(accountId);
  }

  /** Compares the stored counters of an account with a fresh count; empty if all are right. Repairs nothing. */
  recount(accountId: number): Promise<Drift[]> {
    return recountAccount(this.#store.reader, accountId);
  }

  /** Compares the reference counts of all blobs with a fresh count; empty if all are right. Repairs nothing. */
  recountBlobs(): Promise<Drift[]> {
    return recountBlobs(this.#store.reader);
  }

  /** As {@link changesSince}; long reads run in the reading thread. @see ChangeReader.readNext */
  nextChanges(
    accountId: number,
    from: ChangePosition,
    limit: number,
    wantsFolders: boolean,
    isValid: () => boolean,
  ): Promise<ChangePage | undefined> {
    return this.#changes.readNext(accountId, from, limit, wantsFolders, isValid);
  }

  /** The changes since a position in the journal. Runs on the main thread: some milliseconds for 500 changes. */
  changesSince(accountId: number, from: ChangePosition, limit: number, wantsFolders: boolean): ChangePage {
    return this.#changes.read(accountId, from, limit, wantsFolders);
  }

  /** The number up to which deletions are no longer recorded: a reader that knows less must start over. */
  floorSeq(accountId: number): number {
    return this.#changes.floorSeq(accountId);
  }

  /** The journal number before the first change at or after a time; the head if there is none. */
  seqBefore(accountId: number, atMs: number): number {
    return this.#changes.seqBefore(accountId, atMs);
  }

  /** Whether deleted folders still have rows: not all of their tombstones are written yet. */
  isReaping(accountId: number): boolean {
    // An unfinished large copy is cut off, too.
    return this.#cutOff.all(accountId).some(({ id }) => !this.#store.underConstruction.has(id));
  }

  /**
   * Visits nodes and all below them, given by row id (see `walk.ts`). @returns the last change in any of their accounts
   * @throws AppError not_found if one is gone; what `visit` throws
   */
  walk(ids: readonly number[], visit: WalkVisitor): Promise<number> {
    return walkBelow(this.#store, ids, visit);
  }

  /** Like {@link walk}, for any number of files of an account, in this order. Those that are gone are left out. */
  walkFiles(accountId: number, ids: readonly number[], visit: WalkVisitor): Promise<number> {
    return walkFiles(this.#store, accountId, ids, visit);
  }

  /** Whether to call {@link measure} before trashing a node: a folder in an account with many files. */
  isMeasuredInReader(node: TreeNode): boolean {
    return isLarge(this.#store, node);
  }

  /**
   * ETags and sizes of folders by row id, in one query; deleted folders are left out. Call
   * {@link TreeWriter.refreshFolders} first. Read the states before the children that you show with them: then an ETag is
   * never newer than the children, and a client that stores it misses nothing.
   */
  folderStates(ids: readonly number[]): Map<number, FolderState> {
    return this.#store.nodes.states.read(ids);
  }

  /** Bytes below the folders among these nodes as they are now, by row id; null while they are unknown. */
  folderSizes(nodes: readonly TreeNode[]): Map<number, number | null> {
    return this.#store.nodes.states.sizesOf(nodes);
  }

  /** Whether the ETag of a folder is up to date without refreshing it. Synchronous. False while very many have changed. */
  isFresh({ accountId, id }: Pick<TreeNode, "accountId" | "id">): boolean {
    return this.#store.nodes.states.isFresh(accountId, id);
  }

  /** Bytes of all files below a folder, added up in the reading thread. For {@link FolderState.sizeBytes} null. */
  folderSize(id: number): Promise<number> {
    return bytesBelow(this.#store, id);
  }

  /**
   * The totals of a folder, read in the reading thread. {@link TreeWriter.trash} uses them if nothing has changed since.
   */
  measure(folder: TreeNode): Promise<FolderSize> {
    return measureInReader(this.#store, folder.accountId, folder.id);
  }

  /** Whether nothing changed in the account of a folder since it was measured. */
  isCurrent({ accountId }: TreeNode, measured: FolderSize): boolean {
    return isCurrent(this.#store, accountId, measured);
  }

  /** Journal number at which a node was trashed; undefined if it is not in the trash. */
  trashedSeqOf(node: NodeRef): number | undefined {
    return trashedSeqOf(this.#store, node);
  }

  /** Nodes trashed up to a time, oldest first, at most `limit`: of one account, or of all (null). */
  trashedBefore(atMs: number, limit: number, accountId: number | null): readonly NodeRef[] {
    return trashedBefore(this.#store, atMs, limit, accountId);
  }

  #isInTrash(accountId: number, digest: Digest): boolean {
    const blob = this.#store.blobs.find(digest);
    if (blob === undefined) return false;
    return this.#withContent.all(blob.id, accountId, SAME_CONTENT_MAX).some(({ id }) => isInTrash(this.#store, id));
  }

  /** Clears the caches. Called when `db.changedElsewhere()` reports that another process wrote. */
  dropCaches(): void {
    this.#store.dropCaches();
  }
}
