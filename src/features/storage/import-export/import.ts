/**
 * Takes a folder of the machine into an account, beside a running server or without one. The way of a file: threads read
 * it and place its content in the store; some hundred of them together become durable by one sync; only then do they get
 * their rows, in deeds that keep nobody waiting. So a crash at any point leaves complete files and nothing else, and the
 * next run goes on from there: what is there already is known by path, size and time.
 */
import * as fs from "node:fs";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Db } from "../../../db/open.ts";
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { joinPath, ROOT_PATH } from "../../../lib/path.ts";
import type { StorageLimits } from "../../library/files/service.ts";
import { numberedName } from "../../../tree/tables/names.ts";
import type { TreeReader } from "../../../tree/reader.ts";
import type { FileNode } from "../../../tree/model/types.ts";
import type { TreeWriter } from "../../../tree/writer.ts";
import type { User } from "../../accounts/users/types.ts";
import { carryOut } from "./batch-writes.ts";
import { type Labels, readManifest } from "./manifest.ts";
import { type Found, type FoundFile, type FoundFolder, walkSource } from "./source-walk.ts";
import { Layout } from "../../../blobs/layout.ts";
import { TransferPool } from "./transfer-pool.ts";
import type { ImportReport, ImportRequest, TakeJob, TakeResult, TransferProblem, TransferReason } from "./types.ts";

/** What {@link Importer} works with. */
export interface ImporterOptions {
  readonly db: Pick<Db, "changedElsewhere">;
  readonly writer: Writer;
  readonly tree: TreeReader;
  readonly treeWriter: TreeWriter;
  readonly blobs: Pick<BlobStore, "stat">;
  readonly storeGuard: { check(): void };
  readonly reservations: { reserve(bytes: number): (bytes?: number) => void };
  readonly limitsOf: (user: User) => StorageLimits;
  /** The data directory. */
  readonly dataDir: string;
}

/** Read by one thread at a time. */
const BATCH_FILES = 64;
const BATCH_BYTES = 8 * 1024 * 1024;
/** Made durable, and given rows, together. */
const GROUP_FILES = 4_000;
const GROUP_BYTES = 512 * 1024 * 1024;
/** Problems that are told one by one. */
const PROBLEMS_MAX = 10_000;
const POLL_MS = 2;
const SLICE_MS_MAX = 20;

/** A file whose content lies in the store. */
interface Arrival {
  readonly file: FoundFile;
  readonly taken: Extract<TakeResult, { digest: unknown }>;
  /** Written again, because the first was taken away in between. */
  readonly isAgain: boolean;
}

/** A file that is to be read. */
interface Wanted {
  readonly file: FoundFile;
  readonly how: TakeJob["how"];
  readonly isForced: boolean;
}

/** What is to get rows together. */
interface Group {
  readonly folders: FoundFolder[];
  readonly arrivals: Arrival[];
  bytes: number;
}

/** What a deed did with a file. */
type Outcome = "new" | "version" | "renamed" | "unchanged" | "other_content" | "name_taken" | "content_gone";

/** See the head of this file. */
export class Importer {
  readonly #options: ImporterOptions;

  constructor(options: ImporterOptions) {
    this.#options = options;
  }

  /**
   * Brings a folder in. What it did before an error is kept.
   * @throws AppError not_found where there is no such folder on disk; disk_full | storage_error | store_missing |
   *   database_busy | database_error
   */
  async run(user: User, request: ImportRequest): Promise<ImportReport> {
    if (fs.statSync(request.source, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new AppError("not_found", `Folder ${request.source} does not exist. Specify the folder to import.`);
    }
    const { dataDir } = this.#options;
    const pool = request.isDryRun ? undefined : new TransferPool(dataDir, new Layout(dataDir).root);
    try {
      return await new Run(this.#options, user, request, pool).all();
    } finally {
      pool?.close();
    }
  }
}

class Run {
  readonly #options: ImporterOptions;
  readonly #user: User;
  readonly #request: ImportRequest;
  readonly #pool: TransferPool | undefined;
  readonly #limits: StorageLimits;
  readonly #labels: Labels | undefined;
  readonly #startedMs = performance.now();
  #restedMs = performance.now();
  readonly #counts = {
    seen: 0,
    imported: 0,
    importedBytes: 0,
    versions: 0,
    renamed: 0,
    unchanged: 0,
    folders: 0,
    copied: 0,
    cloned: 0,
    linked: 0,
    problems: 0,
    leftOut: 0,
  };
  readonly #problems: TransferProblem[] = [];
  readonly #renamings: { path: string; storedAs: string }[] = [];
  #batch: Wanted[] = [];
  #batchBytes = 0;
  #group: Group = newGroup();
  /** Files that threads are reading. */
  #reading = 0;
  #keeping: Promise<void> | undefined;
  #failure: unknown;
  #stopped: ImportReport["stopped"];
  /** The folder that the walk is in, and its row id where it is there already. */
  #place: { readonly path: string; readonly id: number | undefined } = { path: "", id: undefined };
  /** Paths below which nothing can be stored: a file stands there. */
  #blocked: string | undefined;
  /** Contents that nothing referred to when they were met: a collector may be about to take them. */
  readonly #atRisk: Arrival[] = [];
  /** Bytes that a dry run would add. */
  #plannedBytes = 0;
  #plannedNodes = 0;

  constructor(options: ImporterOptions, user: User, request: ImportRequest, pool: TransferPool | undefined) {
    this.#options = options;
    this.#user = user;
    this.#request = request;
    this.#pool = pool;
    this.#limits = options.limitsOf(user);
    this.#labels = readManifest(request.source);
  }

  async all(): Promise<ImportReport> {
    const { source, folder, isRenaming, signal, onProgress } = this.#request;
    const labels = this.#labels;
    const labelsOf = labels === undefined ? undefined : (path: string) => labels.get(path);
    const walk = walkSource({ source, folder, isRenaming, labelsOf, leftOut: this.#options.dataDir });
    for (const found of walk) {
      if (signal.aborted) this.#stopped ??= "interrupted";
      if (this.#stopped !== undefined || this.#failure !== undefined) break;
      await this.#meet(found);
      onProgress(this.#counts);
      await this.#rest();
    }
    await this.#finish();
    onProgress(this.#counts);
    return {
      ...this.#counts,
      problemList: this.#problems,
      renamings: this.#renamings,
      stopped: this.#stopped,
      durationMs: Math.round(performance.now() - this.#startedMs),
    };
  }

  /** Lets signals and answers of threads through: a walk past what is there already waits for nothing. */
  async #rest(): Promise<void> {
    if (performance.now() - this.#restedMs < SLICE_MS_MAX) return;
    await new Promise(setImmediate);
    this.#restedMs = performance.now();
  }

  async #meet(found: Found): Promise<void> {
    if (found.kind === "problem") this.#tell(found.path, found.reason, found.message);
    else if (found.kind === "renamed") this.#reportRenamed(found.path, found.storedAs);
    else if (found.kind === "folder") this.#enter(found);
    else if (!isBelow(found.folder, this.#blocked)) await this.#consider(found);
  }

  #enter(folder: FoundFolder): void {
    const { treePath: path, path: onDisk } = folder;
    if (isBelow(path, this.#blocked)) return;
    this.#blocked = undefined;
    const { tree } = this.#options;
    const id = tree.findFolderByPath(this.#user.id, path)?.id;
    this.#place = { path, id };
    if (id !== undefined) return;
    const parent = path.slice(0, path.lastIndexOf("/")) || ROOT_PATH;
    if (tree.findFileNamed(this.#user.id, parent, path.slice(path.lastIndexOf("/") + 1)) !== undefined) {
      this.#blocked = path;
      this.#tell(onDisk, "name_taken", `"${path}" is a file in the account. Rename one of the two.`);
      return;
    }
    if (this.#request.isDryRun) {
      this.#counts.folders++;
      this.#planNodes(onDisk, 1);
    } else {
      this.#group.folders.push(folder);
      this.#keepIfMany();
    }
  }

  async #consider(file: FoundFile): Promise<void> {
    this.#counts.seen++;
    const { maxFileSizeBytes, plan } = this.#limits;
    if (maxFileSizeBytes !== null && file.sizeBytes > maxFileSizeBytes) {
      const message = `The file is larger than the plan "${plan}" allows (${maxFileSizeBytes} bytes). To change the plan: larder user set EMAIL --plan PLAN`;
      this.#tell(file.path, "file_too_large", message);
      return;
    }
    const there = this.#find(file);
    if (there !== undefined && there.kind === "file" && !this.#request.isRereading && isSameAs(there, file)) {
      this.#counts.unchanged++;
      return;
    }
    if (there?.kind === "folder" && this.#request.onConflict !== "rename") {
      this.#tell(file.path, "name_taken", `"${joinPath(file.folder, file.name)}" is a folder in the account.`);
      return;
    }
    // What has another size has another content: no need to read it.
    const isOther = there?.kind === "file" && there.sizeBytes !== file.sizeBytes;
    if (isOther && this.#request.onConflict === "skip") {
      this.#reportOther(file);
      return;
    }
    if (this.#request.isDryRun) this.#plan(file, there !== undefined);
    else await this.#enqueue(file, there !== undefined);
  }

  #find(file: FoundFile) {
    const { id } = this.#place;
    return id === undefined ? undefined : this.#options.tree.findNodeIn(id, file.name);
  }

  #plan(file: FoundFile, isTaken: boolean): void {
    this.#counts.imported++;
    this.#counts.importedBytes += file.sizeBytes;
    this.#plannedBytes += file.sizeBytes;
    if (isTaken && this.#request.onConflict === "version") this.#counts.versions++;
    if (isTaken && this.#request.onConflict === "rename") this.#counts.renamed++;
    const { quotaBytes } = this.#limits;
    const used = this.#options.tree.usage(this.#user.id).usedBytes;
    if (quotaBytes !== null && used + this.#plannedBytes > quotaBytes) this.#stopForQuota(file);
    if (!isTaken) this.#planNodes(file.path, 1);
  }

  #planNodes(path: string, nodes: number): void {
    this.#plannedNodes += nodes;
    try {
      this.#options.tree.rejectNodes(this.#user.id, this.#plannedNodes);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#refused(path, error);
    }
  }

  async #enqueue(file: FoundFile, isTaken: boolean): Promise<void> {
    const { onConflict, isLinking } = this.#request;
    const how = isTaken && onConflict === "skip" ? "hash" : isLinking ? "link" : "copy";
    this.#batch.push({ file, how, isForced: false });
    this.#batchBytes += file.sizeBytes;
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES) await this.#send();
  }

  /** Hands the batch to a thread, as soon as one has room and what came before has nearly been kept. */
  async #send(): Promise<void> {
    const batch = this.#batch;
    const bytes = this.#batchBytes;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0 || this.#pool === undefined) return;
    while (!this.#pool.hasRoom || this.#group.arrivals.length >= 2 * GROUP_FILES) {
      if (this.#failure !== undefined || this.#stopped !== undefined) return;
      await Bun.sleep(POLL_MS);
    }
    const release = await this.#reserve(bytes);
    if (release !== undefined) this.#begin(batch, release);
  }

  /** Room on the disk; what is being written counts twice for a moment, so it is waited for before giving up. */
  async #reserve(bytes: number): Promise<(() => void) | undefined> {
    // Contents that are shared with the source, or have their second name, take none.
    const neededBytes = this.#request.isLinking || this.#counts.cloned > 0 ? 0 : bytes;
    for (;;) {
      const isAlone = this.#reading === 0;
      try {
        return this.#options.reservations.reserve(neededBytes);
      } catch (error) {
        if (isAlone) {
          this.#failure ??= error;
          return undefined;
        }
        await Bun.sleep(POLL_MS);
      }
    }
  }

  /** Has files read; what they hold comes to {@link #arrived}. */
  #begin(batch: readonly Wanted[], release: () => void): void {
    this.#reading += batch.length;
    void this.#take(batch).finally(() => {
      release();
      this.#reading -= batch.length;
      this.#keepIfMany();
    });
  }

  async #take(batch: readonly Wanted[]): Promise<void> {
    try {
      const jobs = batch.map(({ file: { path, name }, how, isForced }) => ({ path, name, how, isForced }));
      const results = (await this.#pool?.take(jobs)) ?? [];
      const digests = results.map((result) => ("digest" in result ? result.digest : undefined));
      const unreferenced = this.#options.tree.findUnreferenced(digests.filter((digest) => digest !== undefined));
      for (const [index, result] of results.entries()) {
        const wanted = batch[index];
        if (wanted !== undefined) this.#arrived(wanted, result, unreferenced);
      }
    } catch (error) {
      this.#failure ??= error;
    }
  }

  #arrived({ file, isForced }: Wanted, result: TakeResult, unreferenced: ReadonlySet<string>): void {
    if ("reason" in result) {
      this.#tell(file.path, result.reason, result.message);
      return;
    }
    const arrival = { file, taken: result, isAgain: isForced };
    if (unreferenced.has(result.digest)) this.#atRisk.push(arrival);
    this.#group.arrivals.push(arrival);
    this.#group.bytes += result.placed === "there" ? 0 : result.sizeBytes;
  }

  #keepIfMany(): void {
    const { arrivals, folders, bytes } = this.#group;
    if (arrivals.length + folders.length < GROUP_FILES && bytes < GROUP_BYTES) return;
    if (this.#keeping === undefined && this.#failure === undefined) void this.#keepGroup();
  }

  /** Makes what has arrived durable and gives it its rows. One group at a time. */
  #keepGroup(): Promise<void> {
    const group = this.#group;
    this.#group = newGroup();
    this.#keeping = this.#keep(group)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#keeping = undefined;
        this.#keepIfMany();
      });
    return this.#keeping;
  }

  async #finish(): Promise<void> {
    if (this.#failure === undefined) await this.#send();
    for (;;) {
      while (this.#reading > 0 || this.#keeping !== undefined) await Bun.sleep(POLL_MS);
      const { arrivals, folders } = this.#group;
      if (arrivals.length + folders.length === 0 || this.#pool === undefined) break;
      // What was complete before a failure is kept all the same: else it would only fill the disk.
      const hasFailed = this.#failure !== undefined;
      await this.#keepGroup();
      if (hasFailed) break;
    }
    if (this.#failure !== undefined) throw this.#failure;
    await this.#recheck();
  }

  async #keep({ folders, arrivals }: Group): Promise<void> {
    this.#options.storeGuard.check();
    const trusted = this.#sortOut(arrivals);
    await this.#pool?.sync();
    await this.#inBatches(
      folders,
      (tx, folder) => this.#keepFolder(tx, folder),
      ({ path }, error) => this.#refused(path, error),
    );
    await this.#inBatches(
      trusted,
      (tx, arrival) => this.#keepFile(tx, arrival),
      ({ file }, error) => this.#refused(file.path, error),
    );
  }

  /**
   * Takes out what must be written again: a content that lies there without a row, or with one that calls it damaged, is
   * no content. What came with another file of this import is.
   */
  #sortOut(arrivals: readonly Arrival[]): readonly Arrival[] {
    const fresh = new Set(arrivals.filter(({ taken }) => taken.placed !== "there").map(({ taken }) => taken.digest));
    const [trusted, doubtful]: [Arrival[], FoundFile[]] = [[], []];
    for (const arrival of arrivals) {
      const { digest, placed } = arrival.taken;
      const row = placed === "there" && !fresh.has(digest) ? this.#options.tree.findBlob(digest) : undefined;
      const isTrusted = placed !== "there" || fresh.has(digest) || (row !== undefined && row.damagedAtMs === null);
      if (isTrusted) trusted.push(arrival);
      else doubtful.push(arrival.file);
    }
    this.#takeAgain(doubtful);
    return trusted;
  }

  #takeAgain(files: readonly FoundFile[]): void {
    if (files.length === 0) return;
    this.#begin(
      files.map((file) => ({ file, how: "copy", isForced: true })),
      () => {},
    );
  }

  /** A deed for each, many in one commit; see `deeds.ts`. */
  #inBatches<T>(
    items: readonly T[],
    deed: (tx: Transaction, item: T) => () => void,
    onRejected: (item: T, error: AppError) => void,
  ): Promise<void> {
    const { hasServer, onProgress } = this.#request;
    return carryOut(this.#options.writer, items, {
      hasServer,
      deed,
      onRejected,
      onBegin: () => this.#noticeOthers(),
      onCommitted: () => onProgress(this.#counts),
      isStopped: () => this.#stopped === "quota_exceeded",
    });
  }

  /** Another process may have written since: what is remembered of the tree is void then. */
  #noticeOthers(): void {
    if (this.#options.db.changedElsewhere()) this.#options.tree.dropCaches();
  }

  #keepFolder(tx: Transaction, { treePath: path, labels }: FoundFolder): () => void {
    const { treeWriter, tree } = this.#options;
    const isThere = tree.findFolderByPath(this.#user.id, path) !== undefined;
    const folder = treeWriter.ensureFolder(tx, this.#user.id, path);
    if (!isThere && labels?.metadata !== undefined) treeWriter.updateFolder(tx, folder, { metadata: labels.metadata });
    return () => {
      if (!isThere) this.#counts.folders++;
    };
  }

  #keepFile(tx: Transaction, arrival: Arrival): () => void {
    const { outcome, storedAs } = this.#name(tx, arrival);
    return () => this.#kept(arrival, outcome, storedAs);
  }

  /** Gives a content its row. Inside a deed. */
  #name(tx: Transaction, { file, taken }: Arrival): { outcome: Outcome; storedAs?: FileNode } {
    const { tree, treeWriter, blobs } = this.#options;
    const { onConflict } = this.#request;
    const there = tree.findFileNamed(this.#user.id, file.folder, file.name);
    if (there?.digest === taken.digest) return { outcome: "unchanged" };
    if (there !== undefined && onConflict === "skip") return { outcome: "other_content" };
    if (taken.placed === "hashed") return { outcome: "content_gone" };
    if (there !== undefined && onConflict === "rename" && this.#hasNumbered(file, taken.digest)) {
      return { outcome: "unchanged" };
    }
    // A collector may have taken it since; then it is brought in once more.
    if (blobs.stat(taken.digest)?.sizeBytes !== taken.sizeBytes) return { outcome: "content_gone" };
    const { labels } = file;
    const { file: made, isNew } = treeWriter.createFile(tx, {
      accountId: this.#user.id,
      createdBy: this.#user.id,
      folderPath: file.folder,
      name: file.name,
      blob: { digest: taken.digest, sizeBytes: taken.sizeBytes, crc32: taken.crc32, isNew: taken.placed !== "there" },
      mediaType: taken.mediaType,
      tags: labels?.tags ?? [],
      metadata: labels?.metadata ?? {},
      fileModifiedAt: instantOf(taken.modifiedAtMs),
      capturedAt: labels?.capturedAt,
      isPublic: false,
      onConflict: onConflict === "skip" ? "error" : onConflict,
      quotaBytes: this.#limits.quotaBytes,
    });
    return { outcome: isNew ? (made.name === file.name ? "new" : "renamed") : "version", storedAs: made };
  }

  /** Whether an earlier run has stored this content beside the file of that name. */
  #hasNumbered(file: FoundFile, digest: string): boolean {
    const { tree } = this.#options;
    for (let number = 1; ; number++) {
      const other = tree.findFileNamed(this.#user.id, file.folder, numberedName(file.name, number));
      if (other === undefined) return false;
      if (other.digest === digest) return true;
    }
  }

  /** Counts what was committed. */
  #kept(arrival: Arrival, outcome: Outcome, storedAs: FileNode | undefined): void {
    const { file, taken, isAgain } = arrival;
    if (outcome === "unchanged") this.#counts.unchanged++;
    else if (outcome === "other_content") this.#reportOther(file);
    else if (outcome === "content_gone") {
      if (isAgain) this.#tell(file.path, "changed", "The file could not be stored. Import it again.");
      else this.#takeAgain([file]);
    } else {
      this.#counts.imported++;
      this.#counts.importedBytes += taken.sizeBytes;
      if (outcome === "version") this.#counts.versions++;
      if (outcome === "renamed") {
        this.#counts.renamed++;
        if (storedAs !== undefined) this.#reportRenamed(file.path, joinPath(storedAs.folder, storedAs.name));
      }
      if (taken.placed === "copied" || taken.placed === "cloned" || taken.placed === "linked")
        this.#counts[taken.placed]++;
      // A collector that decided just before the commit takes it after: it is looked at once more at the end.
      if (this.#options.blobs.stat(taken.digest) === undefined) this.#atRisk.push(arrival);
    }
  }

  /** Writes contents again that a collector took although they have their rows by now. */
  async #recheck(): Promise<void> {
    const gone = this.#atRisk.filter(({ taken }) => this.#options.blobs.stat(taken.digest) === undefined);
    const pool = this.#pool;
    if (gone.length === 0 || pool === undefined) return;
    const results = await pool.take(
      gone.map(({ file }) => ({ path: file.path, name: file.name, how: "copy", isForced: true })),
    );
    await pool.sync();
    for (const [index, arrival] of gone.entries()) {
      const result = results[index];
      const isBack = result !== undefined && "digest" in result && result.digest === arrival.taken.digest;
      if (!isBack)
        this.#tell(
          arrival.file.path,
          "changed",
          "The stored copy was lost and the file has changed since. Import it again.",
        );
    }
  }

  #refused(path: string, error: AppError): void {
    if (error.reason === "quota_exceeded") {
      this.#tell(path, "quota_exceeded", error.message);
      this.#stopped ??= "quota_exceeded";
    } else {
      const reason = error.reason === "name_taken" || error.reason === "not_a_folder" ? "name_taken" : "bad_name";
      this.#tell(path, reason, error.message);
    }
  }

  #stopForQuota({ path }: FoundFile): void {
    this.#tell(
      path,
      "quota_exceeded",
      `The account has reached its quota of ${this.#limits.quotaBytes} bytes. To raise it: larder user set EMAIL --quota SIZE`,
    );
    this.#stopped ??= "quota_exceeded";
  }

  #reportOther({ path, folder, name }: FoundFile): void {
    const place = joinPath(folder, name);
    const message = `"${place}" exists with different content and was skipped. See --on-conflict.`;
    this.#tell(path, "other_content", message);
  }

  #reportRenamed(path: string, storedAs: string): void {
    if (this.#renamings.length < PROBLEMS_MAX) this.#renamings.push({ path, storedAs });
  }

  #tell(path: string, reason: TransferReason, message: string): void {
    if (reason === "not_a_file") this.#counts.leftOut++;
    else this.#counts.problems++;
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push({ path, reason, message });
  }
}

function newGroup(): Group {
  return { folders: [], arrivals: [], bytes: 0 };
}

function isBelow(path: string, top: string | undefined): boolean {
  return top !== undefined && (path === top || path.startsWith(`${top}/`));
}

/** Whether a file is by all signs the one on disk: size and time. */
function isSameAs(there: FileNode, { sizeBytes, modifiedAtMs }: FoundFile): boolean {
  return (
    there.sizeBytes === sizeBytes && there.fileModifiedAt !== null && Date.parse(there.fileModifiedAt) === modifiedAtMs
  );
}

/** A time as the API writes it; undefined where a file system gives one beyond all calendars. */
function instantOf(ms: number): string | undefined {
  return Math.abs(ms) <= 8.64e15 ? toTimestamp(ms) : undefined;
}
