/**
 * Imports a folder of the machine into an account, next to a running server or without one. The steps for each file:
 * 1. Plan: skip a file whose path, size and time the account has already.
 * 2. Read: threads read files and copy their bytes into the store.
 * 3. Sync: one sync makes some thousand files durable.
 * 4. Send: the files go to the bucket, if files must be there before they are acknowledged.
 * 5. Write: the files get their rows, in short transactions. After a crash, the next import continues from there.
 */
import * as fs from "node:fs";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import { Layout } from "../../../blobs/layout.ts";
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { joinPath } from "../../../lib/path.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import { say } from "../../../translations/say.ts";
import type { RemoteStoreService } from "../remote-store/service.ts";
import type { User } from "../../accounts/users/types.ts";
import type { FavoriteService } from "../../library/favorites/service.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { writeInBatches } from "./batch-writes.ts";
import { type ImportGroup, newGroup, sendBlobs } from "./import-group.ts";
import { ImportPlan, type PlannedEntry } from "./import-plan.ts";
import { explainFullDisk, ImportProgress } from "./import-progress.ts";
import { ImportRows, type ReadFile, type WrittenFile } from "./import-rows.ts";
import { ImportedAccount, type ImportedAccountOptions } from "./imported-account.ts";
import { readManifest } from "./manifest.ts";
import { type SourceFile, walkSource } from "./source-walk.ts";
import { TransferPool } from "./transfer-pool.ts";
import type { ImportJob, ImportReport, ImportRequest, ImportResult } from "./types.ts";

/** Dependencies of {@link Importer}. */
interface ImporterOptions extends ImportedAccountOptions {
  readonly db: Pick<Db, "changedElsewhere">;
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly favorites: Pick<FavoriteService, "set">;
  readonly blobs: Pick<BlobStore, "stat">;
  /** Undefined without a bucket. */
  readonly remoteStore: Pick<RemoteStoreService, "sendNow"> | undefined;
  readonly storeGuard: { check(): void };
  readonly reservations: { reserve(bytes: number): (bytes?: number) => void };
  readonly limitsOf: (user: User) => StorageLimits;
  /** The data directory. */
  readonly dataDir: string;
}

/** Limits of a batch, which one thread reads. */
const BATCH_FILES = 64;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Limits of a group, which is synced and gets its rows together. */
const GROUP_FILES = 4_000;
const GROUP_BYTES = 512 * 1024 * 1024;
const POLL_MS = 2;
const SLICE_MS_MAX = 20;

/** A file that is to be read. */
interface QueuedFile {
  readonly file: SourceFile;
  readonly how: ImportJob["how"];
  readonly isForced: boolean;
}

/** Imports folders. */
export class Importer {
  readonly #options: ImporterOptions;

  constructor(options: ImporterOptions) {
    this.#options = options;
  }

  /**
   * Imports a folder. Files that were imported before an error stay.
   * @throws AppError not_found if the folder is missing on disk; disk_full | storage_error | store_missing |
   *   database_busy | database_error
   */
  async run(user: User, request: ImportRequest): Promise<ImportReport> {
    if (fs.statSync(request.source, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new AppError("not_found", say`Folder ${request.source} does not exist. Specify the folder to import.`);
    }
    const { dataDir } = this.#options;
    const pool = request.isDryRun ? undefined : new TransferPool(dataDir, new Layout(dataDir).root);
    try {
      return await new ImportRun(this.#options, user, request, pool).run();
    } finally {
      pool?.close();
    }
  }
}

class ImportRun {
  readonly #options: ImporterOptions;
  readonly #user: User;
  readonly #request: ImportRequest;
  /** Undefined in a dry run. */
  readonly #pool: TransferPool | undefined;
  readonly #progress = new ImportProgress();
  readonly #plan: ImportPlan;
  readonly #rows: ImportRows;
  #pausedMs = performance.now();
  #batch: QueuedFile[] = [];
  #batchBytes = 0;
  #group: ImportGroup = newGroup();
  /** Number of files that threads are reading. */
  #reading = 0;
  /** The group that is being written. */
  #writing: Promise<void> | undefined;
  #failure: unknown;
  #account: ImportedAccount | undefined;
  /** Files whose blobs had no references when they were read: garbage collection may be about to remove them. */
  readonly #atRisk: ReadFile[] = [];

  constructor(options: ImporterOptions, user: User, request: ImportRequest, pool: TransferPool | undefined) {
    this.#options = options;
    this.#user = user;
    this.#request = request;
    this.#pool = pool;
    const parts = { ...options, user, request, limits: options.limitsOf(user), progress: this.#progress };
    this.#plan = new ImportPlan(parts);
    this.#rows = new ImportRows(parts);
  }

  async run(): Promise<ImportReport> {
    const { source, folder, isRenaming, signal, onProgress } = this.#request;
    const progress = this.#progress;
    const manifest = readManifest(source);
    const labelsOf = manifest && ((path: string) => manifest.labels.get(path));
    this.#account = new ImportedAccount({ ...this.#options, user: this.#user, source, account: manifest?.account });
    const sidecars = manifest?.sidecars ?? new Set<string>();
    const walk = walkSource({ source, folder, isRenaming, labelsOf, sidecars, leftOut: this.#options.dataDir });
    for (const entry of walk) {
      if (signal.aborted) progress.stopped ??= "interrupted";
      if (progress.stopped !== undefined || this.#failure !== undefined) break;
      this.#account.note(entry);
      const planned = this.#plan.next(entry);
      if (planned !== undefined) await this.#add(planned);
      onProgress(progress.counts);
      await this.#pause();
    }
    await this.#finish();
    if (this.#pool !== undefined && progress.stopped === undefined) await this.#account.write();
    onProgress(progress.counts);
    return progress.report();
  }

  /** Lets signals and replies of threads through: a walk past imported files never waits otherwise. */
  async #pause(): Promise<void> {
    if (performance.now() - this.#pausedMs < SLICE_MS_MAX) return;
    await new Promise(setImmediate);
    this.#pausedMs = performance.now();
  }

  async #add(planned: PlannedEntry): Promise<void> {
    if (planned.kind === "folder") {
      this.#group.folders.push(planned.folder);
      this.#writeFullGroup();
      return;
    }
    const { file, isTaken } = planned;
    const { onConflict, isLinking } = this.#request;
    const how = isTaken && onConflict === "skip" ? "hash" : isLinking ? "link" : "copy";
    this.#batch.push({ file, how, isForced: false });
    this.#batchBytes += file.sizeBytes;
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES) await this.#sendBatch();
  }

  /** Sends the batch to a thread, once one can accept it and earlier groups are nearly written. */
  async #sendBatch(): Promise<void> {
    const batch = this.#batch;
    const bytes = this.#batchBytes;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0 || this.#pool === undefined) return;
    while (!this.#pool.canAccept || this.#group.files.length >= 2 * GROUP_FILES) {
      if (this.#failure !== undefined || this.#progress.stopped !== undefined) return;
      await Bun.sleep(POLL_MS);
    }
    const release = await this.#reserve(bytes);
    if (release !== undefined) this.#startReading(batch, release);
  }

  /**
   * Reserves disk space. Files that are being written count twice for a moment, so it waits for them before it fails.
   */
  async #reserve(bytes: number): Promise<(() => void) | undefined> {
    // Hard links and shared blocks take no space.
    const neededBytes = this.#request.isLinking || this.#progress.counts.cloned > 0 ? 0 : bytes;
    for (;;) {
      const isAlone = this.#reading === 0;
      try {
        return this.#options.reservations.reserve(neededBytes);
      } catch (error) {
        if (isAlone) {
          this.#failure ??= explainFullDisk(error);
          return undefined;
        }
        await Bun.sleep(POLL_MS);
      }
    }
  }

  /** Starts reading files; {@link #addRead} gets the results. */
  #startReading(batch: readonly QueuedFile[], release: () => void): void {
    this.#reading += batch.length;
    void this.#read(batch).finally(() => {
      release();
      this.#reading -= batch.length;
      this.#writeFullGroup();
    });
  }

  async #read(batch: readonly QueuedFile[]): Promise<void> {
    try {
      const jobs = batch.map(({ file, how, isForced }) => toJob(file, how, isForced));
      const results = (await this.#pool?.importFiles(jobs)) ?? [];
      const digests = results.flatMap((result) => ("digest" in result ? result.digest : []));
      const unreferenced = this.#options.tree.findUnreferenced(this.#request.hasServer ? digests : []);
      for (const [index, result] of results.entries()) {
        const queued = batch[index];
        if (queued !== undefined) this.#addRead(queued, result, unreferenced);
      }
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #addRead({ file, isForced }: QueuedFile, result: ImportResult, unreferenced: ReadonlySet<string>): void {
    if ("reason" in result) {
      this.#progress.addProblem(file.path, result.reason, result.message);
      return;
    }
    const read = { file, blob: result, isRetry: isForced };
    if (unreferenced.has(result.digest)) this.#atRisk.push(read);
    this.#group.files.push(read);
    this.#group.bytes += result.method === "there" ? 0 : result.sizeBytes;
  }

  #writeFullGroup(): void {
    const { files, folders, bytes } = this.#group;
    if (files.length + folders.length < GROUP_FILES && bytes < GROUP_BYTES) return;
    if (this.#writing === undefined && this.#failure === undefined) void this.#writeGroup();
  }

  /** Makes the group durable and writes its rows. One group at a time. */
  #writeGroup(): Promise<void> {
    const group = this.#group;
    this.#group = newGroup();
    this.#writing = this.#write(group)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#writing = undefined;
        this.#writeFullGroup();
      });
    return this.#writing;
  }

  async #finish(): Promise<void> {
    if (this.#failure === undefined) await this.#sendBatch();
    for (;;) {
      while (this.#reading > 0 || this.#writing !== undefined) await Bun.sleep(POLL_MS);
      const { files, folders } = this.#group;
      if (files.length + folders.length === 0 || this.#pool === undefined) break;
      // Files that were read before a failure get their rows all the same: else they would only fill the disk.
      const hasFailed = this.#failure !== undefined;
      await this.#writeGroup();
      if (hasFailed) break;
    }
    if (this.#failure !== undefined) throw this.#failure;
    await this.#restoreLostBlobs();
  }

  async #write({ folders, files }: ImportGroup): Promise<void> {
    const progress = this.#progress;
    this.#options.storeGuard.check();
    const { trusted, doubtful } = this.#splitByTrust(files);
    this.#readAgain(doubtful);
    await this.#pool?.sync();
    const recordSent = await sendBlobs(trusted, this.#options.remoteStore);
    await this.#writeRows(
      folders,
      (tx, folder) => {
        const isNew = this.#rows.writeFolder(tx, folder);
        return () => {
          if (isNew) progress.counts.folders++;
        };
      },
      ({ path }, error) => progress.addRejection(path, error),
    );
    await this.#writeRows(
      trusted,
      (tx, read) => {
        const written = this.#rows.writeFile(tx, read);
        return () => this.#count(read, written);
      },
      ({ file }, error) => progress.addRejection(file.path, error),
    );
    await recordSent();
  }

  /**
   * Finds files whose blob must be written again: the store had it without a row, or with a row that says it is
   * damaged. A blob that another file of this import wrote is trusted.
   */
  #splitByTrust(files: readonly ReadFile[]): { trusted: readonly ReadFile[]; doubtful: readonly SourceFile[] } {
    const written = new Set(files.filter(({ blob }) => blob.method !== "there").map(({ blob }) => blob.digest));
    const [trusted, doubtful]: [ReadFile[], SourceFile[]] = [[], []];
    for (const read of files) {
      const { digest } = read.blob;
      const row = written.has(digest) ? undefined : this.#options.tree.findBlob(digest);
      const isTrusted = written.has(digest) || (row !== undefined && row.damagedAtMs === null);
      if (isTrusted) trusted.push(read);
      else doubtful.push(read.file);
    }
    return { trusted, doubtful };
  }

  #readAgain(files: readonly SourceFile[]): void {
    if (files.length === 0) return;
    this.#startReading(
      files.map((file) => ({ file, how: "copy", isForced: true })),
      () => {},
    );
  }

  #writeRows<T>(
    items: readonly T[],
    write: (tx: Transaction, item: T) => () => void,
    onRejected: (item: T, error: AppError) => void,
  ): Promise<void> {
    const { db, tree, writer } = this.#options;
    const { hasServer, onProgress } = this.#request;
    return writeInBatches(writer, items, {
      hasServer,
      write,
      onRejected,
      onBegin: () => {
        // Another process may have written since.
        if (db.changedElsewhere()) tree.dropCaches();
      },
      onCommitted: () => onProgress(this.#progress.counts),
      isStopped: () => this.#progress.stopped === "quota_exceeded",
    });
  }

  /** Counts a file after the commit. */
  #count(read: ReadFile, { outcome, node }: WrittenFile): void {
    const progress = this.#progress;
    const { counts } = progress;
    const { file, blob, isRetry } = read;
    if (outcome === "unchanged") counts.unchanged++;
    else if (outcome === "other_content") progress.addOtherContent(file);
    else if (outcome === "content_gone") {
      if (isRetry) progress.addProblem(file.path, "changed", "The file could not be stored. Import it again.");
      else this.#readAgain([file]);
    } else {
      counts.imported++;
      counts.importedBytes += blob.sizeBytes;
      if (outcome === "version") counts.versions++;
      if (outcome === "renamed") {
        counts.renamed++;
        if (node !== undefined) {
          progress.addRenaming(file.path, joinPath(node.folder, node.name));
          this.#account?.noteStored(file.path, node);
        }
      }
      if (blob.method === "copied" || blob.method === "cloned" || blob.method === "linked") counts[blob.method]++;
      // Garbage collection that decided just before the commit removes the blob after it.
      if (this.#request.hasServer && this.#options.blobs.stat(blob.digest) === undefined) this.#atRisk.push(read);
    }
  }

  /** Writes blobs again that garbage collection removed although they have rows now. */
  async #restoreLostBlobs(): Promise<void> {
    const lost = this.#atRisk.filter(({ blob }) => this.#options.blobs.stat(blob.digest) === undefined);
    const pool = this.#pool;
    if (lost.length === 0 || pool === undefined) return;
    const results = await pool.importFiles(lost.map(({ file }) => toJob(file, "copy", true)));
    await pool.sync();
    for (const [index, { file, blob }] of lost.entries()) {
      const result = results[index];
      const isRestored = result !== undefined && "digest" in result && result.digest === blob.digest;
      if (!isRestored)
        this.#progress.addProblem(
          file.path,
          "changed",
          "The stored copy was lost and the file has changed since. Import it again.",
        );
    }
  }
}

function toJob({ path, name, labels }: SourceFile, how: ImportJob["how"], isForced: boolean): ImportJob {
  return { path, name, declaredType: labels?.mediaType, how, isForced };
}
