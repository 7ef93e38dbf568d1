/**
 * Group commit for files. What waits to become durable is taken together: while one batch is being synced the next one
 * gathers, so that many small uploads at once cost one sync among them. Three or more files take one syncfs; fewer, or
 * when a syncfs was slow a moment ago (it waits for everybody's unwritten pages), are synced one by one with their folders.
 */
import * as fs from "node:fs";
import type { Log } from "../lib/log.ts";
import type { SyncReply, SyncRequest } from "./sync.worker.ts";
import { syncsWhole } from "./syncfs.ts";

/** A file whose content and folder entries are to reach the device. */
export interface UnsyncedFile {
  readonly fd: number;
  /** The file's folder, and every folder that got a new entry on its way. */
  readonly folders: readonly string[];
}

interface QueuedFile extends UnsyncedFile {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type SyncBody =
  | { kind: "fileSystem"; fileSystemFd: number }
  | { kind: "each"; fds: readonly number[]; folders: readonly string[] };

/** From so many files on, one syncfs is cheaper than a sync each. */
const GROUP_FILES_MIN = 3;
/** How long a batch waits for others where the one before it had several files; a file that comes alone waits for nobody. */
const GATHER_MS = 1;
/** A syncfs that took longer than this met somebody else's pages; the next ones are left out for a while. */
const SLOW_SYNC_MS = 25;
const SLOW_SYNC_PAUSE_MS = 1_000;

/** Makes files durable in batches, in a thread of its own that is started at the first need. */
export class SyncQueue {
  readonly #root: string;
  readonly #log: Log;
  #waiting: QueuedFile[] = [];
  #isRunning = false;
  #groupAgainAtMs = 0;
  #worker: SyncThread | undefined;
  #largeUploads = 0;

  constructor(root: string, log: Log) {
    this.#root = root;
    this.#log = log;
  }

  /** Resolves once the file's content and its folder entries are on the device. The caller closes the descriptor. */
  sync(file: UnsyncedFile): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...file, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // After this round of the event loop, so that all that arrived in it shares the first batch.
      setImmediate(() => void this.#run());
    });
  }

  /** Tells that a large upload is being written (+1) or ended (-1): its pages would be waited for by a syncfs. */
  countLargeUpload(change: 1 | -1): void {
    this.#largeUploads += change;
  }

  /** Ends the thread. Nothing may be waiting any more. */
  close(): void {
    this.#worker?.close();
    this.#worker = undefined;
  }

  async #run(): Promise<void> {
    let lastFiles = 0;
    while (this.#waiting.length > 0) {
      // Those who have just been answered are about to send again: a moment later they share this batch, too.
      if (lastFiles >= GROUP_FILES_MIN && this.#waiting.length < lastFiles) await Bun.sleep(GATHER_MS);
      const batch = this.#waiting;
      lastFiles = batch.length;
      this.#waiting = [];
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
      startedMs >= this.#groupAgainAtMs;
    if (!isGroup) {
      const folders = new Set(batch.flatMap((file) => file.folders));
      await worker.request({ kind: "each", fds: batch.map((file) => file.fd), folders: [...folders] });
      return;
    }
    await worker.request({ kind: "fileSystem", fileSystemFd: worker.fileSystemFd });
    const finishedMs = performance.now();
    if (finishedMs - startedMs > SLOW_SYNC_MS) this.#groupAgainAtMs = finishedMs + SLOW_SYNC_PAUSE_MS;
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
    worker.onmessage = (event: MessageEvent<SyncReply>) => this.#settle(event.data);
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

  #settle(reply: SyncReply): void {
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
