import type {
  FolderNode,
  FileNode,
  FindQuery,
  ListQuery,
  NodePage,
  TreeNode,
  TypeUsage,
  Usage,
  Drift,
} from "./types.ts";
import type { Digest } from "../../blobs/digest.ts";
import { ROOT_PATH } from "../../lib/path.ts";
import type { BlobRow } from "./blob-rows.ts";
import { type ChangePage, type ChangePosition, ChangeReader } from "./changes.ts";
import { Lister } from "./list.ts";
import { recountAccount, recountBlobs } from "./recount.ts";
import { Finder } from "./search.ts";
import type { TreeStore } from "./store.ts";

/** Copies of one content that are looked at: those of a folder that was just deleted are no files any more. */
const HOLDERS_MAX = 100;

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

  constructor(store: TreeStore) {
    this.#store = store;
    this.#lister = new Lister(store);
    this.#finder = new Finder(store);
    this.#changes = new ChangeReader(store);
    this.#cutOff = store.sqlite.prepare<{ id: number }, [number]>(
      `SELECT id FROM nodes INDEXED BY nodes_name WHERE parent_id IS NULL AND kind = 0 AND name <> '/'
         AND account_id = ?1`,
    );
    this.#holders = store.sqlite.prepare<{ id: number }, [number, number, number]>(
      "SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = ?1 AND account_id = ?2 LIMIT ?3",
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

  /** A file by its row id, of whatever account: for links that open without one. */
  findFileById(id: number): FileNode | undefined {
    const node = this.#store.findById(id);
    return node?.kind === "file" ? node : undefined;
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

  /** Whether the account deleted a file with this content, has made none with it since, and holds no other (D25). */
  wasDeleted(accountId: number, digest: Digest): boolean {
    if (this.#store.deletions.find(accountId, digest) === undefined) return false;
    return this.findFileWithContent(accountId, digest) === undefined;
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

  usage(accountId: number): Usage {
    return this.#store.accounts.usage(accountId);
  }

  /** Largest first. Files of a large folder that was just deleted leave this list within seconds, the sums at once. */
  usageByType(accountId: number): TypeUsage[] {
    return this.#store.accounts.usageByType(accountId);
  }

  /** The committed row of a content. */
  findBlob(digest: Digest): BlobRow | undefined {
    return this.#store.blobs.find(digest);
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

  /** Forgets what is kept in memory. To be called where `db.changedElsewhere()` says that another process wrote. */
  dropCaches(): void {
    this.#store.dropCaches();
  }
}
