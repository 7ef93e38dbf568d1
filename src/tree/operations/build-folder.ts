/** Builds a folder with new files in many short transactions. It becomes visible when it is complete, or not at all. */
import type { Transaction, Writer } from "../../db/transaction.ts";
import { newId } from "../../lib/id.ts";
import { attachFolder } from "./attach-folder.ts";
import { ensureFolderId, folderRow } from "./make-folder.ts";
import { resolveName } from "./create.ts";
import { addSizes, type PathSize, sizeOfPath, sizeOfStep, rejectTooLong } from "../tables/heights.ts";
import { nameTaken } from "../tables/names.ts";
import { FILE } from "../model/rows.ts";
import type { TreeStore } from "../tables/store.ts";
import type { FolderNode, StoredBlob } from "../model/types.ts";
import { type RunStep, stepsOf } from "./copy.ts";

/** The folder to be built, and what it will contain. */
export interface FolderBuild {
  readonly accountId: number;
  /** Numbered if it is taken. */
  readonly name: string;
  readonly parentPath: string;
  /** Everything below it, and the folder itself. */
  readonly files: number;
  readonly folders: number;
  readonly fileBytes: number;
  /** An upper bound of the paths below it. */
  readonly below: PathSize;
  readonly createdBy: number;
  readonly quotaBytes: number | null;
  /** The device that builds it, as in `TreeWriter.by`, and the lock tokens of the request. */
  readonly deviceId?: number | undefined;
  readonly lockTokens?: readonly string[] | undefined;
  /** Called in the transaction that makes it visible. Throwing rolls that back. */
  readonly admit: (tx: Transaction) => void;
}

/** A folder in the folder that is built. */
export interface BuiltFolder {
  readonly parentId: number;
  readonly name: string;
  readonly below: PathSize;
}

/** A file in the folder that is built. */
export interface BuiltFile {
  readonly parentId: number;
  readonly name: string;
  readonly blob: StoredBlob;
  readonly mediaType: string;
  readonly fileModifiedAt: string | undefined;
}

interface Count {
  folders: number;
  files: number;
  bytes: number;
}

/** Folders whose numbers of children are stored in one transaction. */
const COUNTS_PER_STEP = 100;

/** Rows of a folder that is not part of the tree yet. {@link finish} or {@link abandon} ends it. */
export class FolderBuilder {
  readonly #store: TreeStore;
  readonly #run: RunStep;
  readonly #build: FolderBuild;
  readonly #counts = new Map<number, Count>();
  /** Row id of the folder. */
  readonly id: number;

  private constructor(store: TreeStore, run: RunStep, build: FolderBuild, id: number) {
    this.#store = store;
    this.#run = run;
    this.#build = build;
    this.id = id;
  }

  /**
   * Creates the empty folder, cut off from the tree. Rejects early what the end would reject.
   * @throws AppError quota_exceeded | path_too_long | locked
   */
  static async begin(store: TreeStore, writer: Writer, build: FolderBuild): Promise<FolderBuilder> {
    const run = stepsOf(store, writer, build);
    const { accountId, files, folders, fileBytes, quotaBytes } = build;
    const id = await run(() => {
      rejectEarly(store, build);
      // Takes the quota and gives it back: what is not attached does not count.
      store.accounts.take(accountId, { files, folders, fileBytes }, quotaBytes);
      const back = { numbers: 0, files: -files, folders: -folders, fileBytes: -fileBytes };
      const seq = store.accounts.take(accountId, back);
      const row = folderRow(accountId, null, build.name, store.clock.nowMs(), seq);
      const inserted = store.nodes.insertUncounted({ ...row, below: build.below });
      store.accounts.record(accountId, seq, inserted);
      store.underConstruction.add(inserted);
      return inserted;
    });
    return new FolderBuilder(store, run, build, id);
  }

  /** Adds folders, each in one that exists. @returns their row ids, in order */
  async addFolders(folders: readonly BuiltFolder[]): Promise<number[]> {
    const ids = await this.#run(() => folders.map((folder) => this.#insertFolder(folder)));
    for (const { parentId } of folders) this.#countOf(parentId).folders++;
    return ids;
  }

  /** Adds files. Their blobs are named by rows when the promise resolves. */
  async addFiles(files: readonly BuiltFile[]): Promise<void> {
    await this.#run(() => {
      for (const file of files) this.#insertFile(file);
    });
    for (const { parentId, blob } of files) {
      const count = this.#countOf(parentId);
      count.files++;
      count.bytes += blob.sizeBytes;
    }
  }

  /**
   * Makes the folder visible, with everything in it.
   * @throws what `admit` throws; AppError quota_exceeded | not_a_folder | path_too_long | locked
   */
  async finish(): Promise<FolderNode> {
    const { accountId } = this.#build;
    const counts = [...this.#counts];
    for (let from = 0; from < counts.length; from += COUNTS_PER_STEP) {
      const step = counts.slice(from, from + COUNTS_PER_STEP);
      // Not repeatable: bytes are added.
      await this.#run(
        () => {
          for (const [folderId, count] of step) this.#store.nodes.children.set(accountId, folderId, count);
        },
        { isRepeatable: false },
      );
    }
    const folder = await this.#run((tx) => this.#attach(tx));
    this.#store.underConstruction.delete(this.id);
    return folder;
  }

  /** Leaves the rows to `reapSome`. Does nothing after {@link finish}. */
  abandon(): void {
    this.#store.underConstruction.delete(this.id);
  }

  #countOf(folderId: number): Count {
    const known = this.#counts.get(folderId) ?? { folders: 0, files: 0, bytes: 0 };
    this.#counts.set(folderId, known);
    return known;
  }

  #insertFolder({ parentId, name, below }: BuiltFolder): number {
    const store = this.#store;
    const { accountId } = this.#build;
    const seq = store.accounts.take(accountId, {});
    const row = folderRow(accountId, parentId, name, store.clock.nowMs(), seq);
    const id = store.nodes.insertUncounted({ ...row, createdSeq: -this.id, below });
    store.accounts.record(accountId, seq, id);
    return id;
  }

  #insertFile({ parentId, name, blob, mediaType, fileModifiedAt }: BuiltFile): void {
    const store = this.#store;
    const { accountId, createdBy } = this.#build;
    const nowMs = store.clock.nowMs();
    const seq = store.accounts.take(accountId, {});
    const id = store.nodes.insertUncounted({
      publicId: newId("file", nowMs),
      accountId,
      parentId,
      kind: FILE,
      name,
      createdAtMs: nowMs,
      modifiedAtMs: nowMs,
      seq,
      createdSeq: -this.id,
      sizeBytes: blob.sizeBytes,
      mediaType,
      blobId: store.blobs.acquire(blob, nowMs),
      contentBy: createdBy,
      contentDeviceId: store.actorDeviceId,
      originalName: null,
      fileModifiedAt: fileModifiedAt ?? null,
      capturedAt: null,
      isPublic: false,
      tags: null,
      metadata: null,
    });
    store.accounts.record(accountId, seq, id);
    store.accounts.countType(accountId, mediaType, 1, blob.sizeBytes);
  }

  #attach(tx: Transaction): FolderNode {
    const store = this.#store;
    const { accountId, files, folders, fileBytes, quotaBytes, parentPath } = this.#build;
    this.#build.admit(tx);
    const parentId = ensureFolderId(store, tx, accountId, parentPath);
    const name = resolveName(store, tx, parentId, this.#build.name, "rename");
    if (typeof name !== "string") throw nameTaken(this.#build.name);
    store.nodes.heights.rejectTooDeep(this.id, parentId, name);
    store.locks.requireUnlocked(accountId, parentId);
    const totals = { files, folders, fileBytes };
    return attachFolder(store, tx, this.id, { accountId, parentId, name, metadata: null, totals, quotaBytes });
  }
}

/** @throws AppError path_too_long | locked */
function rejectEarly(store: TreeStore, { accountId, parentPath, name, below }: FolderBuild): void {
  rejectTooLong(addSizes(addSizes(sizeOfPath(parentPath), sizeOfStep(name)), below));
  const parentId = store.paths.findId(accountId, parentPath);
  if (parentId !== undefined) store.locks.requireUnlocked(accountId, parentId);
}
