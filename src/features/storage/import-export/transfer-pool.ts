import { availableParallelism } from "node:os";
import { translateDiskError } from "../../../blobs/disk.ts";
import { AppError } from "../../../errors.ts";
import { sayText } from "../../../translations/say.ts";
import type { TransferReply, TransferRequest } from "./transfer.worker.ts";
import type { ImportJob, ImportResult, WriteJob, WriteResult } from "./types.ts";

const THREADS_MIN = 2;
const THREADS_MAX = 4;
/**
 * Requests that may be queued for one thread, so that it is never idle, even while a transaction of some tenths of a
 * second blocks the main thread; and memory stays bounded. A request of 64 small files takes about 10 ms.
 */
const QUEUED_MAX = 32;

/** Threads that copy files into the store or out of it, and one that syncs. */
export class TransferPool {
  readonly #copiers: Thread[];
  readonly #syncer: Thread;

  /**
   * @param dataDir the data directory, with the store in `blobs/`
   * @param target the existing folder that is written to: its file system is synced
   */
  constructor(dataDir: string, target: string) {
    const count = Math.min(THREADS_MAX, Math.max(THREADS_MIN, availableParallelism()));
    this.#copiers = Array.from(
      { length: count },
      (_, index) => new Thread({ dataDir, target, label: `${process.pid}-${index}` }),
    );
    this.#syncer = new Thread({ dataDir, target, label: `${process.pid}-sync` });
  }

  /** Whether a thread would start another request soon. */
  get canAccept(): boolean {
    return this.#least().waiting < QUEUED_MAX;
  }

  /** Imports files. @returns a result for each, in order @throws AppError disk_full | storage_error */
  async importFiles(jobs: readonly ImportJob[]): Promise<readonly ImportResult[]> {
    const reply = await this.#least().request({ kind: "import", jobs });
    return reply.kind === "imported" ? reply.results : [];
  }

  /** Exports files. @returns a result for each, in order @throws AppError disk_full | storage_error */
  async exportFiles(jobs: readonly WriteJob[]): Promise<readonly WriteResult[]> {
    const reply = await this.#least().request({ kind: "export", jobs });
    return reply.kind === "exported" ? reply.results : [];
  }

  /** Makes all written files durable. @throws AppError storage_error | disk_full */
  async sync(): Promise<void> {
    await this.#syncer.request({ kind: "sync" });
  }

  close(): void {
    for (const thread of [...this.#copiers, this.#syncer]) thread.close();
  }

  #least(): Thread {
    return this.#copiers.reduce((least, thread) => (thread.waiting < least.waiting ? thread : least));
  }
}

interface PendingRequest {
  readonly resolve: (reply: TransferReply) => void;
  readonly reject: (error: AppError) => void;
}

/** One thread of `transfer.worker.ts`, which replies in order. */
class Thread {
  readonly #worker: Worker;
  readonly #pending: PendingRequest[] = [];
  #death: AppError | undefined;

  constructor(options: { dataDir: string; target: string; label: string }) {
    this.#worker = new Worker(new URL("./transfer.worker.ts", import.meta.url).href);
    this.#worker.onmessage = (event: MessageEvent<TransferReply>) => this.#onReply(event.data);
    this.#worker.onerror = (event) => this.#fail(new Error(`A transfer thread exited: ${event.message}`));
    // If this fails, every later request fails and reports the error.
    this.request({ kind: "open", ...options }).catch(() => {});
  }

  get waiting(): number {
    return this.#pending.length;
  }

  request(request: TransferRequest): Promise<TransferReply> {
    if (this.#death !== undefined) return Promise.reject(this.#death);
    return new Promise((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  close(): void {
    this.#worker.terminate();
  }

  #onReply(reply: TransferReply): void {
    const pending = this.#pending.shift();
    if (reply.kind !== "failed") pending?.resolve(reply);
    else pending?.reject(describeFailure(Object.assign(new Error(reply.message), { code: reply.code })));
  }

  #fail(error: Error): void {
    this.#death = describeFailure(error);
    for (const pending of this.#pending.splice(0)) pending.reject(this.#death);
  }
}

/** The error of a failure that is not the fault of one file. */
function describeFailure(error: Error): AppError {
  const { reason } = translateDiskError(error);
  const what =
    reason === "disk_full" ? "The disk is full. Free some space" : `The disk failed (${error.message}). Check the disk`;
  return new AppError(reason, sayText(`${what}, then run the command again to continue.`), {}, error);
}
