/**
 * Imports what a source offers into an account. The steps for each file:
 * 1. Plan: a file that an earlier import stored is not read again.
 * 2. Read: several files at a time are read into the store; those that end together share a sync.
 * 3. Write: files whose bytes are durable get their rows, many in one transaction. Each row names its item of the
 *    source in the same transaction, so that the next run continues there after a crash.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/transaction.ts";
import { AppError } from "../../../errors.ts";
import type { User } from "../../accounts/users/types.ts";
import type { StorageLimits } from "../../library/files/storage-limits.ts";
import { writeInBatches } from "../import-export/batch-writes.ts";
import { ContentReceiver, isAboutOneFile } from "./content-receiver.ts";
import { ItemWriter, type ItemWriterOptions, type StoredFile, type WrittenItem } from "./item-writer.ts";
import { itemKey } from "./items.ts";
import { Pace } from "./pace.ts";
import type { ImportProgress } from "./progress.ts";
import { type ImportSource, SourceError, type SourceFile } from "./source.ts";
import { targetPath } from "./target-path.ts";
import { say } from "../../../translations/say.ts";

/** Dependencies of {@link SourceImporter}. */
export interface SourceImporterOptions extends ItemWriterOptions {
  readonly db: Pick<Db, "changedElsewhere">;
  readonly writer: Writer;
  readonly blobs: BlobStore;
  readonly reserveSpace: (bytes: number) => () => void;
  readonly limitsOf: (user: User) => StorageLimits;
  /** Called for each file whose content is new in the account. */
  readonly onStored: (accountId: number, stored: StoredFile) => void;
}

/** Options of an import. */
export interface SourceImportRequest {
  readonly user: User;
  readonly source: ImportSource;
  /** Normalized path of the target folder. */
  readonly folder: string;
  readonly restoresDeleted: boolean;
  /** Reports what would be done, and changes nothing. */
  readonly isDryRun: boolean;
  /**
   * Whether another process, a server, uses the same database: its garbage collection may remove blobs that have no row
   * yet.
   */
  readonly hasOtherServer: boolean;
  /** Whether requests are served at the same time, so that transactions must be short. */
  readonly isGentle: boolean;
  /** Ends the import early; complete files stay. */
  readonly signal: AbortSignal;
  /** Called in each transaction. @throws if the account may not import any more */
  readonly confirm?: () => void;
  readonly progress: ImportProgress;
}

/** Files that are read at a time, by where they come from: archives on a disk, and servers. */
const LOCAL_FILES = 4;
const REMOTE_FILES = 6;
/** Next to requests, fewer. */
const GENTLE_FILES = 2;
/** Files that were read, and wait for the sync that they share: the more, the fewer syncs. */
const SYNCING_MAX = 192;
const GENTLE_SYNCING_MAX = 32;
/** Files that wait for their rows; more are not read until then. */
const WAITING_MAX = 512;
const YIELD_MS = 20;
/** Rows that are written together, and how long fewer wait for more: each transaction costs a sync. */
const WRITTEN_TOGETHER = 64;
const GATHER_MS = 100;

/** Imports sources. */
export class SourceImporter {
  readonly #options: SourceImporterOptions;

  constructor(options: SourceImporterOptions) {
    this.#options = options;
  }

  /**
   * Imports everything that the source offers. Files that were imported before an error stay.
   * @throws the reason of the signal; SourceError; AppError quota_exceeded | disk_full | storage_error | store_missing |
   *   database_error
   */
  async run(request: SourceImportRequest): Promise<void> {
    await new SourceImport(this.#options, request).run();
  }
}

class SourceImport {
  readonly #options: SourceImporterOptions;
  readonly #request: SourceImportRequest;
  readonly #receiver: ContentReceiver;
  readonly #itemWriter: ItemWriter;
  readonly #descriptions = new Map<string, string>();
  /** Files whose bytes are being read, and all files whose bytes are not durable yet. */
  readonly #reading = new Set<Promise<void>>();
  readonly #open = new Set<Promise<void>>();
  /** Keys of files that are read now: a source may name one twice. */
  readonly #busyKeys = new Set<string>();
  #stored: StoredFile[] = [];
  #writing: Promise<void> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #yieldedMs = performance.now();

  constructor(options: SourceImporterOptions, request: SourceImportRequest) {
    this.#options = options;
    this.#request = request;
    const { user, source } = request;
    const limits = options.limitsOf(user);
    const pace = new Pace();
    const rest = request.isGentle && isLocal(source) ? () => pace.rest() : async () => {};
    this.#receiver = new ContentReceiver({ ...options, limits, rest });
    this.#itemWriter = new ItemWriter({
      ...options,
      ...request,
      limits,
      hasServer: request.hasOtherServer,
      mergesCopies: source.mergesCopies,
      descriptions: this.#descriptions,
    });
  }

  async run(): Promise<void> {
    const { source, signal, progress } = this.#request;
    try {
      for await (const entry of source.entries(signal)) {
        if (signal.aborted || this.#failure !== undefined) break;
        if (entry.type === "total") progress.setTotal(entry.files, entry.sizeBytes);
        else if (entry.type === "album") this.#descriptions.set(entry.album.name, entry.album.description ?? "");
        else if (entry.type === "leftOut") progress.addLeftOut(entry.leftOut);
        else await this.#take(entry.file);
        await this.#yield();
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    await this.#finish();
    signal.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Waits until all files that were begun are read and written. */
  async #finish(): Promise<void> {
    do {
      await Promise.all(this.#open);
      this.#startWriting();
      await this.#writing;
      // The end of one transaction begins the next one.
    } while (this.#open.size > 0 || this.#stored.length > 0 || this.#writing !== undefined);
  }

  /** Lets requests and signals through: known files never wait otherwise. */
  async #yield(): Promise<void> {
    if (performance.now() - this.#yieldedMs < YIELD_MS) return;
    await new Promise(setImmediate);
    this.#yieldedMs = performance.now();
  }

  /** Begins to read a file, unless it is known, once there is room for it. */
  async #take(file: SourceFile): Promise<void> {
    const { source, progress, isDryRun, user, isGentle } = this.#request;
    const key = itemKey(source.identity, file.key);
    if (this.#busyKeys.has(keyTextOf(key))) return;
    progress.addFound(file);
    if (this.#isDone(file, key)) return;
    if (isDryRun) {
      const { maxFileSizeBytes } = this.#options.limitsOf(user);
      const isTooLarge = maxFileSizeBytes !== null && (file.sizeBytes ?? 0) > maxFileSizeBytes;
      if (isTooLarge) progress.addProblem(file.path, "file_too_large", say`The file is larger than the plan allows.`);
      else progress.addImported(file.sizeBytes ?? 0);
      return;
    }
    const filesMax = isLocal(source) ? (isGentle ? GENTLE_FILES : LOCAL_FILES) : REMOTE_FILES;
    const syncingMax = isGentle ? GENTLE_SYNCING_MAX : SYNCING_MAX;
    while (this.#reading.size >= filesMax) await Promise.race(this.#reading);
    while (this.#open.size >= syncingMax) await Promise.race(this.#open);
    while (this.#stored.length >= WAITING_MAX && this.#writing !== undefined) await this.#writing;
    if (this.#failure !== undefined) return;
    const isRead = this.#begin(file, key, false);
    if (source.isSequential === true) await isRead;
  }

  /** Begins to read a file. @returns resolves when its last byte was read, or it failed */
  #begin(file: SourceFile, key: Uint8Array, isRetry: boolean): Promise<void> {
    const keyText = keyTextOf(key);
    this.#busyKeys.add(keyText);
    const { promise: isRead, resolve: onRead } = Promise.withResolvers<void>();
    const reading = isRead.finally(() => this.#reading.delete(reading));
    const open = this.#read(file, key, isRetry, onRead).finally(() => {
      onRead();
      this.#open.delete(open);
      this.#busyKeys.delete(keyText);
    });
    this.#reading.add(reading);
    this.#open.add(open);
    return isRead;
  }

  /** Whether an earlier import has stored this version of a file. */
  #isDone(file: SourceFile, key: Uint8Array): boolean {
    const { items, tree } = this.#options;
    const { user, progress, restoresDeleted } = this.#request;
    const known = items.find(user.id, key);
    if (known?.version !== file.version) return false;
    if (tree.findById(known.nodeId) !== undefined) progress.addUnchanged();
    else if (restoresDeleted) return false;
    else progress.counts.deleted++;
    return true;
  }

  /** Reads a file into the store. Never throws. */
  async #read(file: SourceFile, key: Uint8Array, isRetry: boolean, onRead: () => void): Promise<void> {
    const { folder, signal, progress } = this.#request;
    try {
      const target = targetPath(folder, file.path);
      const received = await this.#receiver.receive(file, target.name, signal, onRead);
      this.#stored.push({ file, key, target, isRetry, ...received });
      if (this.#stored.length >= WRITTEN_TOGETHER) this.#startWriting();
      else this.#gathering ??= setTimeout(() => this.#startWriting(), GATHER_MS);
    } catch (error) {
      const isOneFile = isAboutOneFile(error) || (error instanceof SourceError && !error.isTemporary);
      if (isOneFile && !signal.aborted) {
        if (error instanceof AppError) progress.addRejection(file.path, error);
        else progress.addProblem(file.path, "unreadable", error.text);
      } else this.#failure ??= { error };
    }
  }

  #startWriting(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#writing !== undefined || this.#stored.length === 0) return;
    const files = this.#stored;
    this.#stored = [];
    this.#writing = this.#write(files)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#writing = undefined;
        if (this.#stored.length > 0) this.#startWriting();
      });
  }

  /** Writes the rows of files. */
  async #write(files: readonly StoredFile[]): Promise<void> {
    const { db, writer, tree } = this.#options;
    const { isGentle, progress, hasOtherServer, confirm } = this.#request;
    const open = new Set(files);
    const release = (stored: StoredFile, isNamed: boolean) => {
      // A blob without a row would be deleted here, but the other server may be about to write one for the same bytes.
      if (open.delete(stored) && (isNamed || !hasOtherServer)) stored.lease.release(isNamed);
    };
    try {
      await writeInBatches(writer, files, {
        hasServer: isGentle || hasOtherServer,
        write: (tx, stored) => {
          const item = this.#itemWriter.write(tx, stored);
          return () => {
            release(stored, item.outcome === "imported" || item.outcome === "updated");
            this.#count(stored, item);
          };
        },
        onRejected: (stored, error) => {
          release(stored, false);
          if (error.reason === "quota_exceeded") this.#failure ??= { error };
          progress.addRejection(stored.file.path, error);
        },
        onBegin: () => {
          confirm?.();
          if (db.changedElsewhere()) tree.dropCaches();
        },
        onCommitted: () => progress.report(),
        isStopped: () => this.#failure !== undefined,
      });
    } finally {
      for (const stored of open) release(stored, false);
    }
  }

  /** Counts a file after the commit. */
  #count(stored: StoredFile, { outcome, incomplete }: WrittenItem): void {
    const { progress, hasOtherServer, user } = this.#request;
    const { counts } = progress;
    const { file, lease, key, isRetry } = stored;
    for (const message of incomplete) progress.addProblem(file.path, "incomplete", message);
    if (outcome === "gone" || (hasOtherServer && this.#options.blobs.stat(lease.digest) === undefined)) {
      this.#readAgain(file, key, isRetry);
      return;
    }
    if (outcome === "imported") progress.addImported(lease.sizeBytes);
    else if (outcome === "changed_here") {
      const message = say`The file changed in the other system and here. The file here stays as it is.`;
      progress.addProblem(file.path, "changed_here", message);
    } else if (outcome === "unchanged") progress.addUnchanged();
    else counts[outcome]++;
    if (outcome === "imported" || outcome === "updated") this.#options.onStored(user.id, stored);
  }

  /** Reads a file whose blob another process has removed. A stream can't go back: the next run reads the file then. */
  #readAgain(file: SourceFile, key: Uint8Array, isRetry: boolean): void {
    const { source, progress } = this.#request;
    if (isRetry || source.isSequential === true) {
      progress.addProblem(file.path, "unreadable", say`The file could not be stored. Run the import again.`);
      return;
    }
    void this.#begin(file, key, true);
  }
}

/** Whether a source is as fast as the disk, and not as slow as a network. */
function isLocal({ kind }: ImportSource): boolean {
  return kind === "takeout";
}

function keyTextOf(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
