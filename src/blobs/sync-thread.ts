import * as fs from "node:fs";
import type { SyncReply, SyncRequest, SystemError } from "./sync.worker.ts";
import { syncsWhole } from "./syncfs.ts";

interface PendingRequest {
  readonly id: number;
  readonly resolve: (failed: SyncedBatch) => void;
  readonly reject: (error: unknown) => void;
}

/** The new files of a batch that could not be written, by index. */
type SyncedBatch = readonly (readonly [index: number, error: SystemError])[];

/** The thread of `sync.worker.ts`, one request at a time. */
export class SyncThread {
  readonly fileSystemFd: number;
  readonly canSyncFileSystem: boolean;
  readonly #worker: Worker;
  #pending: PendingRequest | undefined;
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

  /** Writes the new files and syncs the batch. Moves the buffers of the files to the thread. @throws if the sync failed */
  request(batch: Omit<SyncRequest, "id">): Promise<SyncedBatch> {
    const id = ++this.#lastId;
    const buffers = batch.newFiles.flatMap((file) => file.buffers.map(({ buffer }) => buffer));
    return new Promise((resolve, reject) => {
      this.#pending = { id, resolve, reject };
      this.#worker.postMessage({ id, ...batch } satisfies SyncRequest, buffers);
    });
  }

  close(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#worker.terminate();
    fs.closeSync(this.fileSystemFd);
  }

  #onReply(reply: SyncReply): void {
    const pending = this.#pending;
    if (reply.kind !== "done" || pending?.id !== reply.id) return;
    this.#pending = undefined;
    if (reply.error === undefined) pending.resolve(reply.failed);
    else pending.reject(fromSystemError(reply.error));
  }

  #fail(error: Error): void {
    this.close();
    this.#pending?.reject(error);
    this.#pending = undefined;
  }
}

/** The error of a call in the thread. */
export function fromSystemError({ message, code }: SystemError): Error {
  return Object.assign(new Error(message), { code });
}
