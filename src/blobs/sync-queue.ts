/**
 * Group commit for files. While one batch is being synced, the next one collects, so that many concurrent small uploads share
 * one sync. A batch of three or more files takes one syncfs(2). A smaller batch is synced file by file with its folders, and
 * so is any batch for a second after a slow syncfs: it waits for the unwritten pages of all programs.
 */
import * as fs from "node:fs";
import type { Log } from "../lib/log.ts";
import type { SyncReply, SyncRequest } from "./sync.worker.ts";
import { syncsWhole } from "./syncfs.ts";

/** A file whose bytes and folder entries are not yet on the device. */
interface UnsyncedFile {
  readonly fd: number;
  /** The file's folder, and every folder above it that got a new entry. */
  readonly folders: readonly string[];
}

interface QueuedFile extends UnsyncedFile {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type SyncBody =
  | { kind: "fileSystem"; fileSystemFd: number }
  | { kind: "each"; fds: readonly number[]; folders: readonly string[] };

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
  #queued: QueuedFile[] = [];
  #isRunning = false;
  #groupPauseUntilMs = 0;
  #worker: SyncThread | undefined;
  #largeUploads = 0;

  constructor(root: string, log: Log) {
    this.#root = root;
    this.#log = log;
  }

  /** Resolves once the file's bytes and its folder entries are on the device. The caller closes the descriptor. */
  sync(file: UnsyncedFile): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ ...file, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // After this turn of the event loop, so that all files of the turn share the first batch.
      setImmediate(() => void this.#run());
    });
  }

  /** Counts a large upload that begins (+1) or ends (-1). No syncfs is made while there is one, because it would wait for its pages. */
  countLargeUpload(change: 1 | -1): void {
    this.#largeUploads += change;
  }

  /** Ends the thread. No file may be queued. */
  close(): void {
    this.#worker?.close();
    this.#worker = undefined;
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
        if (this.#worker?.isDead) this.#worker = undefined;
        this.#worker ??= await SyncThread.start(this.#root);
        await this.#syncBatch(this.#worker, batch);
        for (const file of batch) file.resolve();
      } catch (error) {
        this.#log.error("Could not sync files to the disk; rejecting their uploads.", { files: batch.length, error });
        for (const file of batch) file.reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #syncBatch(worker: SyncThread, batch: readonly QueuedFile[]): Promise<void> {
    const startedMs = performance.now();
    const isGroup =
      worker.canSyncFileSystem &&
      batch.length >= GROUP_FILES_MIN &&
      this.#largeUploads === 0 &&
      startedMs >= this.#groupPauseUntilMs;
    if (!isGroup) {
      const folders = new Set(batch.flatMap((file) => file.folders));
      await worker.request({ kind: "each", fds: batch.map((file) => file.fd), folders: [...folders] });
      return;
    }
    await worker.request({ kind: "fileSystem", fileSystemFd: worker.fileSystemFd });
    const finishedMs = performance.now();
    if (finishedMs - startedMs > SLOW_SYNC_MS) this.#groupPauseUntilMs = finishedMs + SLOW_SYNC_PAUSE_MS;
  }
}

/** The thread of `sync.worker.ts`, one request at a time. */
class SyncThread {
  readonly fileSystemFd: number;
  readonly canSyncFileSystem: boolean;
  readonly #worker: Worker;
  #pending: { id: number; resolve: () => void; reject: (error: unknown) => void } | undefined;
  #lastId = 0;
  isDead = false;

  private constructor(worker: Worker, fileSystemFd: number, canSyncFileSystem: boolean) {
    this.#worker = worker;
    this.fileSystemFd = fileSystemFd;
    this.canSyncFileSystem = canSyncFileSystem;
    worker.onmessage = (event: MessageEvent<SyncReply>) => this.#onReply(event.data);
    worker.onerror = (event) => this.#fail(new Error(`The thread that syncs the disk died: ${event.message}`));
  }

  static async start(root: string): Promise<SyncThread> {
    const worker = new Worker(new URL("./sync.worker.ts", import.meta.url).href);
    const ready = await new Promise<SyncReply>((resolve, reject) => {
      worker.onmessage = (event: MessageEvent<SyncReply>) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(`The thread that syncs the disk did not start: ${event.message}`));
    });
    worker.unref();
    const canSyncFileSystem = ready.kind === "ready" && ready.canSyncFileSystem && syncsWhole(root);
    return new SyncThread(
      worker,
      fs.openSync(root, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY),
      canSyncFileSystem,
    );
  }

  request(body: SyncBody): Promise<void> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      this.#worker.postMessage({ id, ...body } satisfies SyncRequest);
    });
  }

  close(): void {
    this.isDead = true;
    this.#worker.terminate();
    fs.closeSync(this.fileSystemFd);
  }

  #onReply(reply: SyncReply): void {
    const pending = this.#pending;
    if (reply.kind !== "done" || pending?.id !== reply.id) return;
    this.#pending = undefined;
    if (reply.error === undefined) pending.resolve();
    else pending.reject(Object.assign(new Error(reply.error), { code: reply.code }));
  }

  #fail(error: Error): void {
    this.isDead = true;
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}
