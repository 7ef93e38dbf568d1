/**
 * Group commit for files. While one batch is being synced, the next one collects, so that many concurrent small uploads share
 * one sync. A batch of three or more files takes one syncfs(2). A smaller batch is synced file by file with its folders, and
 * so is any batch for a second after a slow syncfs: it waits for the unwritten pages of all programs.
 *
 * Small blobs of such batches are written by the same thread: creating a file waits while the file system commits its
 * journal, which is most of the time during syncs. One or two are written in the main thread.
 */
import { outsideRequests } from "../lib/async-context.ts";
import type { Log } from "../lib/log.ts";
import { type Disk, realDisk } from "./disk.ts";
import { type NewFile, writeNewFile } from "./new-file.ts";
import { fromSystemError, SyncThread } from "./sync-thread.ts";

/** A file whose bytes and folder entries are not yet on the device. */
interface UnsyncedFile {
  readonly fd: number;
  /** The file's folder, and every folder above it that got a new entry. */
  readonly folders: readonly string[];
}

interface QueuedFile {
  readonly file: UnsyncedFile | NewFile;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Dependencies of {@link SyncQueue}. */
interface SyncQueueOptions {
  readonly disk?: Disk;
  /** Throws if the disk is not the expected one. Called before each batch that has new files. */
  readonly checkDisk?: () => void;
}

/** From so many files on, one syncfs is cheaper than one sync for each. */
const GROUP_FILES_MIN = 3;
/** How long a batch waits for more files, if the batch before it had several. A single file does not wait. */
const GATHER_MS = 1;
/** A syncfs that took longer than this wrote other programs' pages; none is made for the pause after it. */
const SLOW_SYNC_MS = 25;
const SLOW_SYNC_PAUSE_MS = 1_000;

/** Makes files durable in batches, in a thread that starts when it is first needed. */
export class SyncQueue {
  readonly #root: string;
  readonly #log: Log;
  readonly #disk: Disk;
  readonly #checkDisk: () => void;
  #queued: QueuedFile[] = [];
  #isRunning = false;
  #groupPauseUntilMs = 0;
  #thread: SyncThread | undefined;
  #largeUploads = 0;
  #alwaysGroups = false;

  constructor(root: string, log: Log, { disk = realDisk, checkDisk = () => {} }: SyncQueueOptions = {}) {
    this.#root = root;
    this.#log = log;
    this.#disk = disk;
    this.#checkDisk = checkDisk;
  }

  /** Resolves once the file's bytes and its folder entries are on the device. The caller closes the descriptor. */
  sync(file: UnsyncedFile): Promise<void> {
    return this.#enqueue(file);
  }

  /**
   * Writes a small blob, and resolves once it is on the device. Its buffers must not be used afterward.
   * @throws the system's error. The file may remain if the sync failed
   */
  write(file: NewFile): Promise<void> {
    return this.#enqueue(file);
  }

  #enqueue(file: UnsyncedFile | NewFile): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ file, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // After this turn of the event loop, so that all files of the turn share the first batch.
      outsideRequests(() => setImmediate(() => void this.#run()));
    });
  }

  /** Counts a large upload that begins (+1) or ends (-1). No syncfs is made while there is one, because it would wait for its pages. */
  countLargeUpload(change: 1 | -1): void {
    this.#largeUploads += change;
  }

  /** Makes one syncfs for each batch, however long it takes: for long work on which nobody waits. */
  alwaysGroup(): void {
    this.#alwaysGroups = true;
  }

  /** Ends the thread. No file may be queued. */
  close(): void {
    this.#thread?.close();
    this.#thread = undefined;
  }

  async #run(): Promise<void> {
    let lastFiles = 0;
    while (this.#queued.length > 0) {
      // Clients that just got their response are about to send the next file, which then shares this batch.
      if (lastFiles >= GROUP_FILES_MIN && this.#queued.length < lastFiles) await Bun.sleep(GATHER_MS);
      const batch = this.#queued;
      lastFiles = batch.length;
      this.#queued = [];
      try {
        if (this.#thread?.isDead) this.#thread = undefined;
        this.#thread ??= await SyncThread.start(this.#root);
        await this.#storeBatch(this.#thread, batch);
      } catch (error) {
        this.#log.error("Could not sync files to the disk; rejecting their uploads.", { files: batch.length, error });
        for (const file of batch) file.reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Writes and syncs the files of a batch, and settles their promises. @throws if all of it failed */
  async #storeBatch(thread: SyncThread, batch: readonly QueuedFile[]): Promise<void> {
    const created = batch.flatMap((queued) => (isNew(queued.file) ? [{ ...queued, file: queued.file }] : []));
    if (created.length > 0) this.#checkDisk();
    // Passing the bytes of one or two files to the thread takes longer than writing them.
    const isSmall = batch.length < GROUP_FILES_MIN;
    const written = isSmall ? this.#writeHere(created) : [];
    const inThread = isSmall ? [] : created;
    const moved = batch.flatMap(({ file }) => (isNew(file) ? [] : [file]));
    const opened = [...moved, ...written];
    if (opened.length === 0 && inThread.length === 0) return;
    try {
      const isGroup = !isSmall && this.#canGroup(thread);
      const startedMs = performance.now();
      const failed = await thread.request({
        newFiles: inThread.map(({ file }) => file),
        sync: isGroup
          ? { kind: "fileSystem", fileSystemFd: thread.fileSystemFd }
          : { kind: "each", fds: opened.map(({ fd }) => fd), folders: opened.flatMap(({ folders }) => folders) },
      });
      const finishedMs = performance.now();
      if (isGroup && finishedMs - startedMs > SLOW_SYNC_MS) this.#groupPauseUntilMs = finishedMs + SLOW_SYNC_PAUSE_MS;
      for (const [index, error] of failed) inThread[index]?.reject(fromSystemError(error));
      for (const file of batch) file.resolve();
    } finally {
      for (const { fd } of written) this.#disk.close(fd);
    }
  }

  /** Writes new files; one that fails is rejected. @returns the others */
  #writeHere(created: readonly (QueuedFile & { readonly file: NewFile })[]): UnsyncedFile[] {
    return created.flatMap(({ file, reject }) => {
      try {
        return [{ fd: writeNewFile(this.#disk, file), folders: file.folders }];
      } catch (error) {
        reject(error);
        return [];
      }
    });
  }

  #canGroup(thread: SyncThread): boolean {
    if (!thread.canSyncFileSystem || this.#alwaysGroups) return thread.canSyncFileSystem;
    return this.#largeUploads === 0 && performance.now() >= this.#groupPauseUntilMs;
  }
}

function isNew(file: UnsyncedFile | NewFile): file is NewFile {
  return "buffers" in file;
}
