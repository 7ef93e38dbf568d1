import type { Database } from "bun:sqlite";
import { toDigest } from "../../../blobs/digest.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../tree/model/types.ts";
import type { MergedContent } from "../../../tree/operations/merge-newer.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { AlbumMerge } from "./album-merge.ts";
import type { BlobFinder } from "./blob-finder.ts";
import { ChangeBatches } from "./change-batches.ts";
import { CopyMerge } from "./copy-merge.ts";
import { FavoriteMerge } from "./favorite-merge.ts";
import { FolderMerge } from "./folder-merge.ts";
import { MoveMerge } from "./move-merge.ts";
import { RecordAncestors } from "./record-ancestors.ts";
import { type ContentRecord, type FileRecord, type FolderRecord, ROOT } from "./records.ts";
import { ShareMerge } from "./share-merge.ts";
import type { StagedRecords } from "./staged-records.ts";

/** Dependencies of {@link AccountMerge}. */
interface AccountMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly finder: BlobFinder;
  /** Zero for an account that does not exist yet; nothing is changed then. */
  readonly accountId: number;
  /** Changes in the database after this time were made since the restore, and stay. */
  readonly unchangedSinceMs: number;
  readonly isDryRun: boolean;
  /** Whether a share is noted as ended. */
  readonly isEnded: (shareId: string) => boolean;
  readonly nowMs: number;
  /** Whether the records are the whole account, and all of them could be read. */
  readonly isFull: boolean;
  /** For a copy that was just opened: deletions and moves are merged as well. See {@link CopyMerge}. */
  readonly later?: { readonly isFull: boolean } | undefined;
}

/** Counts of what was merged. */
export interface MergeResult {
  /** Files and folders that were made. */
  readonly files: number;
  readonly folders: number;
  /** New versions of existing files. */
  readonly versions: number;
  /** Files and folders that got tags, a description or metadata. */
  readonly labels: number;
  /** Of the files: those made next to a file whose content was replaced since the restore. */
  readonly beside: number;
  /** Of the files and folders: those that were in the trash. */
  readonly trashed: number;
  /** Not merged: files and folders that were deleted or moved to the trash. */
  readonly deletions: number;
  /** Not merged: moves and renames of nodes that were changed since the restore, or whose new location is taken. */
  readonly moves: number;
  /** Albums that were created or changed. */
  readonly albums: number;
  /** Links and shares that were restored. */
  readonly shares: number;
  /** Links and shares that ended, because they were revoked. */
  readonly revoked: number;
  /** In a copy that was just opened: files and folders that were moved to the trash. */
  readonly removed: number;
  /** Moved, renamed or, in a copy that was just opened, restored from the trash. */
  readonly moved: number;
  /** Paths of new files and folders and of files with new versions; the first thousand. */
  readonly names: readonly string[];
}

type Counts = { -readonly [Field in Exclude<keyof MergeResult, "names">]: number };

const NAMES_MAX = 1_000;

/** Merges the newer records of one account into the database. */
export class AccountMerge {
  readonly #options: AccountMergeOptions;
  readonly #counts: Counts = {
    files: 0,
    folders: 0,
    versions: 0,
    labels: 0,
    beside: 0,
    trashed: 0,
    deletions: 0,
    moves: 0,
    albums: 0,
    shares: 0,
    revoked: 0,
    removed: 0,
    moved: 0,
  };
  readonly #names: string[] = [];
  readonly #findRow;
  readonly #findTombstone;
  readonly #findUse;
  readonly #findUser;
  readonly #ancestors: RecordAncestors;
  readonly #folders: FolderMerge;
  readonly #moves: MoveMerge;
  /** Public ids of new nodes that have shares. */
  readonly #newWithShares = new Set<string>();
  readonly #batches: ChangeBatches;

  constructor(options: AccountMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite, staged } = options;
    this.#findRow = sqlite.prepare<{ accountId: number }, [string]>(
      "SELECT account_id AS accountId FROM nodes WHERE public_id = ?1",
    );
    this.#findTombstone = sqlite.prepare<{ one: 1 }, [string]>(
      "SELECT 1 AS one FROM tombstones WHERE public_id = ?1 LIMIT 1",
    );
    this.#findUse = sqlite.prepare<{ one: 1 }, [string, number]>(
      `SELECT 1 AS one FROM blobs b WHERE b.digest = unhex(?1) AND (
         EXISTS (SELECT 1 FROM nodes n WHERE n.blob_id = b.id AND n.account_id = ?2)
         OR EXISTS (SELECT 1 FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.blob_id = b.id AND n.account_id = ?2))`,
    );
    this.#findUser = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1");
    this.#moves = new MoveMerge({ ...options, isLater: (node, record) => this.#isOlder(node, record) });
    this.#folders = new FolderMerge({
      ...options,
      isCopy: options.later !== undefined,
      isFree: (id) => !this.#isTaken(id) && !this.#wasDeleted(id),
    });
    this.#ancestors = new RecordAncestors(staged, (id) => this.#folders.find(id)?.path);
  }

  /** Merges all records. Nodes in the trash come last, so that they take no name from the others. */
  async run(): Promise<MergeResult> {
    const { isDryRun, later } = this.#options;
    const copy = later && !isDryRun ? new CopyMerge({ ...this.#options, ...later }) : undefined;
    await copy?.prepare();
    await this.#mergeFolders(false);
    // After the folders, which moved nodes may go into, and before files take the names that the moves free.
    if (copy === undefined) await this.#mergeMoves();
    await this.#mergeFiles(false);
    await this.#mergeFolders(true);
    await this.#mergeFiles(true);
    await this.#trashFolders();
    if (copy === undefined) this.#countDeletions();
    else await this.#finishCopy(copy);
    this.#counts.albums = await new AlbumMerge(this.#options).apply();
    const shares = new ShareMerge({ ...this.#options, isMade: (id) => this.#newWithShares.has(id) });
    Object.assign(this.#counts, await shares.apply());
    await new FavoriteMerge({ ...this.#options, isCopy: later !== undefined }).apply();
    return { ...this.#counts, names: this.#names };
  }

  async #mergeFolders(isTrashed: boolean): Promise<void> {
    for (const { record } of this.#options.staged.all()) {
      if ("file" in record || this.#ancestors.isTrashed(record) !== isTrashed) continue;
      this.#mergeFolder(record);
      await this.#batches.runFull();
    }
    await this.#batches.run();
  }

  async #mergeFiles(isTrashed: boolean): Promise<void> {
    for (const { record } of this.#options.staged.all()) {
      if (!("file" in record) || this.#ancestors.isTrashed(record) !== isTrashed) continue;
      await this.#mergeFile(record);
      await this.#batches.runFull();
    }
    await this.#batches.run();
  }

  async #mergeMoves(): Promise<void> {
    const planned = this.#moves.plan();
    const rejected = this.#options.isDryRun ? 0 : await this.#moves.execute();
    this.#counts.moved = planned - rejected;
    this.#counts.moves = rejected;
  }

  async #trashFolders(): Promise<void> {
    const { tree, treeWriter, accountId } = this.#options;
    for (const ref of this.#folders.toTrash) {
      this.#batches.add((tx) => {
        // It may have been trashed together with a folder above it.
        if (tree.findNode(accountId, ref.publicId) !== undefined) treeWriter.trash(tx, ref);
      });
    }
    await this.#batches.run();
  }

  #countDeletions(): void {
    const { staged, tree, accountId } = this.#options;
    for (const id of staged.gone()) {
      if (tree.findNode(accountId, id) !== undefined) this.#counts.deletions++;
    }
  }

  async #finishCopy(copy: CopyMerge): Promise<void> {
    await copy.finish();
    const { removed, moved, restored, rejected } = copy.counts;
    Object.assign(this.#counts, { removed, moved: moved + restored, moves: rejected, deletions: 0 });
  }

  #mergeFolder(incoming: FolderRecord): void {
    const { staged } = this.#options;
    const { folder: id } = incoming;
    const existing = this.#folders.find(id);
    if (existing !== undefined) {
      this.#countUnmerged(existing, incoming);
      this.#mergeFolderMetadata(existing, incoming);
      return;
    }
    if (incoming.name === ROOT || this.#isTaken(id) || this.#wasDeleted(id)) return;
    if (this.#ancestors.isGone(incoming)) return;
    if (this.#folders.findByIdOrPath(id) !== undefined) return;
    this.#countNew(incoming, "folders");
    if (incoming.shares !== undefined) this.#newWithShares.add(id);
    this.#batches.add((tx) => void this.#folders.ensure(tx, id, staged.get(id)));
  }

  async #mergeFile(incoming: FileRecord): Promise<void> {
    const { tree, accountId } = this.#options;
    const existing = tree.findFile(accountId, incoming.file);
    if (existing !== undefined) {
      this.#countUnmerged(existing, incoming);
      await this.#mergeVersions(existing, incoming);
      return;
    }
    if (this.#ancestors.isGone(incoming)) return;
    const isFree = !this.#isTaken(incoming.file);
    // A file that was deleted since the restore was deleted on purpose.
    if (isFree && this.#wasDeleted(incoming.file)) return;
    const recorded = listContents(incoming);
    const contents = isFree ? recorded : this.#findUnused(recorded);
    if (contents.length === 0 || this.#wasUploadedAgain(incoming)) return;
    await this.#makeFile(incoming, contents, isFree ? incoming.file : undefined);
  }

  /** Whether a device uploaded the same file again under its name, and no version would be lost. */
  #wasUploadedAgain(incoming: FileRecord): boolean {
    const folder = incoming.in === undefined ? undefined : this.#folders.findByIdOrPath(incoming.in);
    const existing = folder && this.#options.tree.findNodeIn(folder.id, incoming.name);
    return (
      existing?.kind === "file" &&
      existing.digest === incoming.content.sha256 &&
      this.#findUnused(incoming.versions ?? []).length === 0
    );
  }

  /**
   * Adds the newer versions to an existing file. If its content was replaced since the restore, a second file gets
   * them instead.
   */
  async #mergeVersions(existing: FileNode, incoming: FileRecord): Promise<void> {
    const { unchangedSinceMs, treeWriter } = this.#options;
    const recorded = listContents(incoming);
    const same = recorded.find(({ version }) => version === existing.version);
    const isContinued =
      same === undefined
        ? existing.contentAtMs <= unchangedSinceMs && incoming.content.at > existing.contentAtMs
        : same.sha256 === existing.digest;
    if (!isContinued) {
      const unused = this.#findUnused(recorded);
      if (unused.length > 0 && (await this.#makeFile(incoming, unused, undefined))) this.#counts.beside++;
      return;
    }
    const later = await this.#findAvailable(
      recorded.filter(({ version }) => version > existing.version),
      incoming,
    );
    const { fileModifiedAt, capturedAt } = incoming;
    if (later.length > 0) this.#noteName(incoming);
    for (const content of later) {
      this.#counts.versions++;
      const next = { ...this.#toMerged(content), fileModifiedAt, capturedAt };
      this.#batches.add((tx) => void treeWriter.mergeContent(tx, existing, next));
    }
    this.#mergeFileMetadata(existing, incoming);
  }

  #mergeFileMetadata(existing: FileNode, incoming: FileRecord): void {
    if (!this.#isOlder(existing, incoming)) return;
    const tags = [...new Set([...existing.tags, ...(incoming.tags ?? [])])];
    const metadata = changedMetadata(existing, incoming);
    if (tags.length === existing.tags.length && metadata === undefined) return;
    this.#counts.labels++;
    const changes = { tags, ...(metadata && { metadata }) };
    this.#batches.add((tx) => void this.#options.treeWriter.updateFile(tx, existing, changes));
  }

  #mergeFolderMetadata(existing: FolderNode, incoming: FolderRecord): void {
    const metadata = changedMetadata(existing, incoming);
    if (metadata === undefined || !this.#isOlder(existing, incoming)) return;
    this.#counts.labels++;
    this.#batches.add((tx) => void this.#options.treeWriter.updateFolder(tx, existing, { metadata }));
  }

  /** Whether a node is as it was restored, and the record has a later change of it. */
  #isOlder(existing: TreeNode, incoming: FileRecord | FolderRecord): boolean {
    if (this.#moves.has(existing.publicId)) return true;
    return existing.modifiedAtMs <= this.#options.unchangedSinceMs && incoming.modified > existing.modifiedAtMs;
  }

  /** Counts a recorded deletion or move that is not merged. */
  #countUnmerged(existing: TreeNode, incoming: FileRecord | FolderRecord): void {
    const isRoot = existing.kind === "folder" && existing.parentId === null;
    if (incoming.trash !== undefined) this.#counts.deletions++;
    else if (!isRoot && !this.#moves.has(existing.publicId) && !this.#moves.isInPlace(existing, incoming))
      this.#counts.moves++;
  }

  /** Adds the change that makes a new file. @returns false if the store has none of its blobs */
  async #makeFile(
    incoming: FileRecord,
    recorded: readonly ContentRecord[],
    publicId: string | undefined,
  ): Promise<boolean> {
    const { treeWriter, accountId } = this.#options;
    const contents = (await this.#findAvailable(recorded, incoming)).map((content) => this.#toMerged(content));
    if (contents.length === 0) return false;
    this.#countNew(incoming, "files");
    if (publicId !== undefined && incoming.shares !== undefined) this.#newWithShares.add(publicId);
    this.#batches.add((tx) => {
      const folder = this.#folders.ensureParent(tx, incoming);
      const { name, originalName, fileModifiedAt, capturedAt, tags = [], metadata = {} } = incoming;
      const made = treeWriter.mergeFile(tx, {
        folder,
        publicId,
        name,
        contents,
        createdAtMs: incoming.created,
        modifiedAtMs: incoming.modified,
        originalName,
        fileModifiedAt,
        capturedAt,
        tags,
        metadata,
      });
      if (incoming.trash !== undefined) treeWriter.trash(tx, { accountId, publicId: made.publicId });
    });
    return true;
  }

  #countNew(incoming: FileRecord | FolderRecord, kind: "files" | "folders"): void {
    this.#counts[kind]++;
    if (incoming.trash !== undefined) this.#counts.trashed++;
    this.#noteName(incoming);
  }

  #noteName(incoming: FileRecord | FolderRecord): void {
    if (this.#names.length < NAMES_MAX) this.#names.push(this.#ancestors.pathOf(incoming));
  }

  async #findAvailable(contents: readonly ContentRecord[], incoming: FileRecord): Promise<ContentRecord[]> {
    const available: ContentRecord[] = [];
    for (const content of contents) {
      if (await this.#options.finder.find(content, this.#ancestors.pathOf(incoming))) available.push(content);
    }
    return available;
  }

  /** The contents that no file and no version of the account has. */
  #findUnused(contents: readonly ContentRecord[]): ContentRecord[] {
    return contents.filter(({ sha256 }) => this.#findUse.get(sha256, this.#options.accountId) === null);
  }

  #toMerged({ version, sha256, size, crc32, type, at, by }: ContentRecord): MergedContent {
    return {
      version,
      blob: { digest: toDigest(sha256), sizeBytes: size, crc32 },
      mediaType: type,
      createdAtMs: at,
      createdBy: by === undefined ? null : (this.#findUser.get(by)?.id ?? null),
    };
  }

  #isTaken(publicId: string): boolean {
    return this.#findRow.get(publicId) !== null;
  }

  #wasDeleted(publicId: string): boolean {
    return this.#findTombstone.get(publicId) !== null;
  }
}

/** All contents of a file, oldest first. */
function listContents({ versions = [], content }: FileRecord): ContentRecord[] {
  return [...versions, content].toSorted((a, b) => a.version - b.version);
}

/** Metadata of the record that the node does not have, or has with another value; undefined for none. */
function changedMetadata(
  { metadata }: TreeNode,
  { metadata: recorded = {} }: FileRecord | FolderRecord,
): Record<string, string> | undefined {
  const changed = Object.entries(recorded).filter(([key, value]) => metadata[key] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
