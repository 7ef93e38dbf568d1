import type { Database } from "bun:sqlite";
import { toDigest } from "../../../blobs/digest.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { joinPath, parentPath, ROOT_PATH } from "../../../lib/path.ts";
import type { MergedContent } from "../../../tree/operations/merge-newer.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode, FolderNode, NodeRef, TreeNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { ChangeBatches } from "./change-batches.ts";
import type { ContentFinder } from "./content-finder.ts";
import { type ContentRecord, type FileRecord, type FolderRecord, ROOT } from "./records.ts";
import { LOST_FOLDER } from "./rebuilt-tree.ts";
import { LaterTree } from "./later-tree.ts";
import { NewerMoves } from "./newer-moves.ts";
import { NewerShares } from "./newer-shares.ts";
import type { StagedRecords } from "./staged-records.ts";

/** What {@link AccountMerge} works with. */
export interface AccountMergeOptions {
  readonly sqlite: Database;
  readonly writer: Pick<Writer, "run">;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly staged: StagedRecords;
  readonly finder: ContentFinder;
  /** Zero for one that is not there yet, of which nothing is changed. */
  readonly accountId: number;
  /** What was changed after this was changed in the present, not in the time that the objects tell of. */
  readonly unchangedSinceMs: number;
  readonly isDryRun: boolean;
  /** Whether a share is noted to have ended. */
  readonly isEnded: (shareId: string) => boolean;
  readonly nowMs: number;
  /** Whether the records are everything that the account has, and all of them could be read. */
  readonly isFull: boolean;
  /** For a copy that was just opened: deletions and moves are carried out too. See {@link LaterTree}. */
  readonly later?: { readonly isFull: boolean } | undefined;
}

/** Counts of what was merged. */
export interface MergeResult {
  /** Made. */
  readonly files: number;
  readonly folders: number;
  /** Contents that follow those of files which are there. */
  readonly versions: number;
  /** Files and folders that got labels, a description or metadata. */
  readonly labels: number;
  /** Of the files made: those beside one whose content was replaced in the present as well. */
  readonly beside: number;
  /** Files and folders made that went into the trash, as they were. */
  readonly trashed: number;
  /** Not carried out: files and folders that were deleted or put into the trash, */
  readonly deletions: number;
  /** and moved or renamed, where they were changed since or their place is taken. */
  readonly moves: number;
  /** Links and shares that are there again, */
  readonly shares: number;
  /** and those that ended, because they were revoked. */
  readonly revoked: number;
  /** Put into the trash, in a copy that was just opened. */
  readonly removed: number;
  /** Moved, renamed or, in a copy that was just opened, taken out of the trash. */
  readonly moved: number;
  /** Paths of what was made or got a content, the first thousand. */
  readonly names: readonly string[];
}

type Counts = { -readonly [Field in Exclude<keyof MergeResult, "names">]: number };

const NAMES_MAX = 1_000;
const DEPTH_MAX = 10_000;
/** Why a folder can't be made: a file has its name, it is too deep, or the account has as many as it may have. */
const FOLDER_REJECTIONS: ReadonlySet<string> = new Set(["not_a_folder", "path_too_long", "quota_exceeded"]);

/** Compares the newer objects of one account with what it has, and applies what it lacks. */
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
    shares: 0,
    revoked: 0,
    removed: 0,
    moved: 0,
  };
  readonly #names: string[] = [];
  /** Folders as the objects name them, and as they are in the present. */
  readonly #folders = new Map<string, NodeRef>();
  readonly #isGoneBelow = new Map<string, boolean>();
  readonly #isTrashedBelow = new Map<string, boolean>();
  /** Folders that are put into the trash once all is in them. */
  readonly #toTrash: NodeRef[] = [];
  readonly #row;
  readonly #wasDeleted;
  readonly #isHeld;
  readonly #userId;
  readonly #moves: NewerMoves;
  /** Nodes that are made and have shares. */
  readonly #madeShared = new Set<string>();
  readonly #batches: ChangeBatches;

  constructor(options: AccountMergeOptions) {
    this.#options = options;
    this.#batches = new ChangeBatches(options.isDryRun ? undefined : options.writer);
    const { sqlite } = options;
    this.#row = sqlite.prepare<{ accountId: number }, [string]>(
      "SELECT account_id AS accountId FROM nodes WHERE public_id = ?1",
    );
    this.#wasDeleted = sqlite.prepare<{ one: 1 }, [string]>(
      "SELECT 1 AS one FROM tombstones WHERE public_id = ?1 LIMIT 1",
    );
    this.#isHeld = sqlite.prepare<{ one: 1 }, [string, number]>(
      `SELECT 1 AS one FROM blobs b WHERE b.digest = unhex(?1) AND (
         EXISTS (SELECT 1 FROM nodes n WHERE n.blob_id = b.id AND n.account_id = ?2)
         OR EXISTS (SELECT 1 FROM versions v JOIN nodes n ON n.id = v.node_id WHERE v.blob_id = b.id AND n.account_id = ?2))`,
    );
    this.#userId = sqlite.prepare<{ id: number }, [string]>("SELECT id FROM users WHERE public_id = ?1");
    this.#moves = new NewerMoves({ ...options, isLater: (node, record) => this.#isOlder(node, record) });
  }

  /** Merges all records. Those of the trash come last, so that they take no name from the others. */
  async run(): Promise<MergeResult> {
    const { staged, tree, treeWriter, accountId, isDryRun, later: asLater } = this.#options;
    const later = asLater && !isDryRun ? new LaterTree({ ...this.#options, ...asLater }) : undefined;
    await later?.prepare();
    for (const isTrashed of [false, true]) {
      for (const { record } of staged.all()) {
        if ("file" in record || this.#isTrashed(record) !== isTrashed) continue;
        this.#folder(record);
        await this.#batches.runFull();
      }
      await this.#batches.run();
      if (!isTrashed && later === undefined) await this.#moveAll();
      for (const { record } of staged.all()) {
        if (!("file" in record) || this.#isTrashed(record) !== isTrashed) continue;
        await this.#file(record);
        await this.#batches.runFull();
      }
      await this.#batches.run();
    }
    for (const ref of this.#toTrash) {
      this.#batches.add((tx) => {
        // One of them may have gone with another one above it.
        if (tree.findNode(accountId, ref.publicId) !== undefined) treeWriter.trash(tx, ref);
      });
    }
    await this.#batches.run();
    for (const id of staged.gone()) {
      if (tree.findNode(accountId, id) !== undefined) this.#counts.deletions++;
    }
    if (later !== undefined) {
      await later.finish();
      const { removed, moved, restored, refused } = later.counts;
      Object.assign(this.#counts, { removed, moved: moved + restored, moves: refused, deletions: 0 });
    }
    const shares = new NewerShares({ ...this.#options, isMade: (id) => this.#madeShared.has(id) });
    Object.assign(this.#counts, await shares.apply());
    return { ...this.#counts, names: this.#names };
  }

  /** After the folders, and before files take the names that it frees. */
  async #moveAll(): Promise<void> {
    const planned = this.#moves.plan();
    const refused = this.#options.isDryRun ? 0 : await this.#moves.carryOut();
    this.#counts.moved = planned - refused;
    this.#counts.moves = refused;
  }

  #folder(record: FolderRecord): void {
    const { tree, accountId, staged } = this.#options;
    const { folder: id } = record;
    const there = tree.findFolder(accountId, id);
    if (there !== undefined) {
      this.#compareNode(there, record);
      this.#labelFolder(there, record);
      return;
    }
    if (record.name === ROOT || this.#row.get(id) !== null || this.#wasDeleted.get(id) !== null) return;
    if (this.#isGone(record)) return;
    if (this.#place(id) !== undefined) return;
    this.#countMade(record, "folders");
    if (record.shares !== undefined) this.#madeShared.add(id);
    this.#batches.add((tx) => void this.#ensureFolder(tx, id, staged.get(id), 0));
  }

  async #file(record: FileRecord): Promise<void> {
    const { tree, accountId } = this.#options;
    const there = tree.findFile(accountId, record.file);
    if (there !== undefined) {
      this.#compareNode(there, record);
      await this.#continue(there, record);
      return;
    }
    if (this.#isGone(record)) return;
    const isFree = this.#row.get(record.file) === null;
    // Whoever deleted it since knew what went.
    if (isFree && this.#wasDeleted.get(record.file) !== null) return;
    const told = contentsOf(record);
    const wanted = isFree ? told : this.#unheld(told);
    if (wanted.length === 0 || this.#cameAgain(record)) return;
    await this.#make(record, wanted, isFree ? record.file : undefined);
  }

  /** Whether the same file was sent anew under its name, as devices do that miss it, and nothing else would be lost. */
  #cameAgain(record: FileRecord): boolean {
    const folder = record.in === undefined ? undefined : this.#place(record.in);
    const holder = folder && this.#options.tree.findNodeIn(folder.id, record.name);
    return (
      holder?.kind === "file" &&
      holder.digest === record.content.sha256 &&
      this.#unheld(record.versions ?? []).length === 0
    );
  }

  /** A file that is there: what follows its content, or, where that was replaced in the present, a file beside it. */
  async #continue(there: FileNode, record: FileRecord): Promise<void> {
    const { unchangedSinceMs, treeWriter } = this.#options;
    const told = contentsOf(record);
    const same = told.find(({ version }) => version === there.version);
    const isContinued =
      same === undefined
        ? there.contentAtMs <= unchangedSinceMs && record.content.at > there.contentAtMs
        : same.sha256 === there.digest;
    if (!isContinued) {
      const lacking = this.#unheld(told);
      if (lacking.length > 0 && (await this.#make(record, lacking, undefined))) this.#counts.beside++;
      return;
    }
    const later = await this.#available(
      told.filter(({ version }) => version > there.version),
      record,
    );
    const { fileModifiedAt, capturedAt } = record;
    if (later.length > 0) this.#emitRename(record);
    for (const content of later) {
      this.#counts.versions++;
      const next = { ...this.#toMerged(content), fileModifiedAt, capturedAt };
      this.#batches.add((tx) => void treeWriter.mergeContent(tx, there, next));
    }
    if (!this.#isOlder(there, record)) return;
    const tags = [...new Set([...there.tags, ...(record.tags ?? [])])];
    const metadata = changedMetadata(there, record);
    if (tags.length === there.tags.length && metadata === undefined) return;
    this.#counts.labels++;
    this.#batches.add((tx) => void treeWriter.updateFile(tx, there, { tags, ...(metadata && { metadata }) }));
  }

  #labelFolder(there: FolderNode, record: FolderRecord): void {
    const metadata = changedMetadata(there, record);
    if (metadata === undefined || !this.#isOlder(there, record)) return;
    this.#counts.labels++;
    this.#batches.add((tx) => void this.#options.treeWriter.updateFolder(tx, there, { metadata }));
  }

  /** Whether a node is as it was when the database was put back, and the objects tell of a later change. */
  #isOlder(there: TreeNode, record: FileRecord | FolderRecord): boolean {
    if (this.#moves.has(there.publicId)) return true;
    return there.modifiedAtMs <= this.#options.unchangedSinceMs && record.modified > there.modifiedAtMs;
  }

  /** Counts what is told of a node and is not carried out. */
  #compareNode(there: TreeNode, record: FileRecord | FolderRecord): void {
    const isRoot = there.kind === "folder" && there.parentId === null;
    if (record.trash !== undefined) this.#counts.deletions++;
    else if (!isRoot && !this.#moves.has(there.publicId) && !this.#moves.isInPlace(there, record)) this.#counts.moves++;
  }

  /** Decides on a new file. @returns whether there is anything to make it of */
  async #make(record: FileRecord, wanted: readonly ContentRecord[], publicId: string | undefined): Promise<boolean> {
    const { treeWriter, accountId } = this.#options;
    const contents = (await this.#available(wanted, record)).map((content) => this.#toMerged(content));
    if (contents.length === 0) return false;
    this.#countMade(record, "files");
    if (publicId !== undefined && record.shares !== undefined) this.#madeShared.add(publicId);
    this.#batches.add((tx) => {
      const folder = this.#folderOf(tx, record, 0);
      const { name, originalName, fileModifiedAt, capturedAt, tags = [], metadata = {} } = record;
      const made = treeWriter.mergeFile(tx, {
        folder,
        publicId,
        name,
        contents,
        createdAtMs: record.created,
        modifiedAtMs: record.modified,
        originalName,
        fileModifiedAt,
        capturedAt,
        tags,
        metadata,
      });
      if (record.trash !== undefined) treeWriter.trash(tx, { accountId, publicId: made.publicId });
    });
    return true;
  }

  #countMade(record: FileRecord | FolderRecord, kind: "files" | "folders"): void {
    this.#counts[kind]++;
    if (record.trash !== undefined) this.#counts.trashed++;
    this.#emitRename(record);
  }

  #emitRename(record: FileRecord | FolderRecord): void {
    if (this.#names.length < NAMES_MAX) this.#names.push(this.#pathOf(record));
  }

  async #available(contents: readonly ContentRecord[], record: FileRecord): Promise<ContentRecord[]> {
    const found: ContentRecord[] = [];
    for (const content of contents) {
      if (await this.#options.finder.isThere(content, this.#pathOf(record))) found.push(content);
    }
    return found;
  }

  /** Those that the account has in no file and no version. */
  #unheld(contents: readonly ContentRecord[]): ContentRecord[] {
    return contents.filter(({ sha256 }) => this.#isHeld.get(sha256, this.#options.accountId) === null);
  }

  #toMerged({ version, sha256, size, crc32, type, at, by }: ContentRecord): MergedContent {
    return {
      version,
      blob: { digest: toDigest(sha256), sizeBytes: size, crc32 },
      mediaType: type,
      createdAtMs: at,
      createdBy: by === undefined ? null : (this.#userId.get(by)?.id ?? null),
    };
  }

  /** The folder that a node goes into, made where it is missing. */
  #folderOf(tx: Transaction, record: FileRecord | FolderRecord, depth: number): NodeRef {
    const id = record.trash === undefined ? record.in : record.trash.in;
    const { staged, accountId } = this.#options;
    if (id !== undefined) {
      const told = staged.get(id);
      if (told !== undefined || this.#present(id) !== undefined) return this.#ensureFolder(tx, id, told, depth + 1);
    }
    if (record.trash !== undefined) return this.#folderForTrash(tx, record.trash.path);
    return this.#tryFolder(tx, joinPath(ROOT_PATH, LOST_FOLDER)) ?? this.#options.tree.getRoot(accountId);
  }

  /** A folder, made where it is missing; undefined where that is refused. */
  #tryFolder(tx: Transaction, path: string): NodeRef | undefined {
    try {
      return this.#options.treeWriter.ensureFolder(tx, this.#options.accountId, path);
    } catch (error) {
      if (error instanceof AppError && FOLDER_REJECTIONS.has(error.reason)) return undefined;
      throw error;
    }
  }

  /** Where a node is made that goes into the trash. In a copy that was just opened no folder is made for it that is gone. */
  #folderForTrash(tx: Transaction, path: string): NodeRef {
    const { tree, accountId, later } = this.#options;
    const made = later === undefined ? this.#tryFolder(tx, path) : undefined;
    if (made !== undefined) return made;
    for (let at = path; at !== ROOT_PATH; at = parentPath(at)) {
      const folder = tree.findFolderByPath(accountId, at);
      if (folder !== undefined) return folder;
    }
    return tree.getRoot(accountId);
  }

  #ensureFolder(tx: Transaction, id: string, record: FileRecord | FolderRecord | undefined, depth: number): NodeRef {
    const known = this.#folders.get(id) ?? this.#present(id);
    if (known !== undefined) return known;
    const ref = this.#makeFolder(tx, id, record, depth);
    this.#folders.set(id, ref);
    return ref;
  }

  #makeFolder(tx: Transaction, id: string, record: FileRecord | FolderRecord | undefined, depth: number): NodeRef {
    const { tree, treeWriter, accountId } = this.#options;
    const isRoot = record?.name === ROOT && record.trash === undefined;
    if (record === undefined || "file" in record || isRoot || depth > DEPTH_MAX) return tree.getRoot(accountId);
    const folder = this.#folderOf(tx, record, depth);
    const named = record.trash === undefined ? this.#findNamed(folder, record.name) : undefined;
    if (named !== undefined) return named;
    const isFree = this.#row.get(id) === null && this.#wasDeleted.get(id) === null;
    const made = treeWriter.mergeFolder(tx, {
      folder,
      publicId: isFree ? id : undefined,
      name: record.name,
      createdAtMs: record.created,
      modifiedAtMs: record.modified,
      metadata: record.metadata ?? {},
    });
    if (record.trash !== undefined) this.#toTrash.push({ accountId, publicId: made.publicId });
    return { accountId, publicId: made.publicId };
  }

  #findNamed({ accountId, publicId }: NodeRef, name: string): FolderNode | undefined {
    const { tree } = this.#options;
    const folder = tree.findFolder(accountId, publicId);
    const holder = folder && tree.findNodeIn(folder.id, name);
    if (holder?.kind !== "folder" || this.#toTrash.some((ref) => ref.publicId === holder.publicId)) return undefined;
    return holder;
  }

  /** The folder in the present, under its id or, as it was made anew, under its name; undefined where it is to be made. */
  #place(id: string, depth = 0): FolderNode | undefined {
    const there = this.#present(id);
    if (there !== undefined) return there;
    const told = this.#options.staged.get(id);
    if (told?.in === undefined || told.trash !== undefined || depth > DEPTH_MAX) return undefined;
    const parent = this.#place(told.in, depth + 1);
    return parent && this.#findNamed(parent, told.name);
  }

  /** The folder in the present, as far as it is there under its id. */
  #present(id: string): FolderNode | undefined {
    return this.#options.tree.findFolder(this.#options.accountId, id);
  }

  /** Whether a node went with a folder above it. */
  #isGone(record: FileRecord | FolderRecord, depth = 0): boolean {
    const { staged } = this.#options;
    const id = record.in;
    if (id === undefined || record.trash !== undefined || depth > DEPTH_MAX) return false;
    const known = this.#isGoneBelow.get(id);
    if (known !== undefined) return known;
    const above = staged.get(id);
    const isGone = above === undefined ? staged.find(id)?.isGone === true : this.#isGone(above, depth + 1);
    this.#isGoneBelow.set(id, isGone);
    return isGone;
  }

  /** Whether a node is in the trash, by itself or with a folder above it. */
  #isTrashed(record: FileRecord | FolderRecord, depth = 0): boolean {
    if (record.trash !== undefined) return true;
    if (record.in === undefined || depth > DEPTH_MAX) return false;
    const known = this.#isTrashedBelow.get(record.in);
    if (known !== undefined) return known;
    const above = this.#options.staged.get(record.in);
    const isTrashed = above !== undefined && this.#isTrashed(above, depth + 1);
    this.#isTrashedBelow.set(record.in, isTrashed);
    return isTrashed;
  }

  #pathOf(record: FileRecord | FolderRecord, depth = 0): string {
    if (record.trash !== undefined) return joinPath(record.trash.path, record.name);
    const above = record.in === undefined || depth > DEPTH_MAX ? undefined : this.#options.staged.get(record.in);
    if (above === undefined) {
      return joinPath((record.in === undefined ? undefined : this.#present(record.in)?.path) ?? ROOT_PATH, record.name);
    }
    const isBelowRoot = above.in === undefined && above.trash === undefined;
    return joinPath(isBelowRoot ? ROOT_PATH : this.#pathOf(above, depth + 1), record.name);
  }
}

/** All contents of a file, oldest first. */
function contentsOf({ versions = [], content }: FileRecord): ContentRecord[] {
  return [...versions, content].toSorted((a, b) => a.version - b.version);
}

/** Keys that the record has and the node has not, or otherwise; undefined for none. */
function changedMetadata(
  { metadata }: TreeNode,
  { metadata: told = {} }: FileRecord | FolderRecord,
): Record<string, string> | undefined {
  const changed = Object.entries(told).filter(([key, value]) => metadata[key] !== value);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
