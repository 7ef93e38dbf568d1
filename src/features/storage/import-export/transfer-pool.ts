import { availableParallelism } from "node:os";
import { translateDiskError } from "../../../blobs/disk.ts";
import { AppError } from "../../../errors.ts";
import type { TransferReply, TransferRequest } from "./transfer.worker.ts";
import type { TakeJob, TakeResult, WriteJob, WriteResult } from "./types.ts";

const THREADS_MIN = 2;
const THREADS_MAX = 4;
/**
 * Requests that may wait at one thread, so that it never stands idle, not even while a deed of some tenths of a second
 * keeps the main thread; and memory stays bounded.
 */
const AHEAD = 8;

/** Threads that carry contents into the store or out of it, and one that syncs. */
export class TransferPool {
  readonly #carriers: Thread[];
  readonly #syncer: Thread;

  /**
   * @param dataDir the data directory; its `blobs/` holds the contents
   * @param target the folder that contents are written to, which exists: its file system is what is made durable
   */
  constructor(dataDir: string, target: string) {
    const count = Math.min(THREADS_MAX, Math.max(THREADS_MIN, availableParallelism()));
    this.#carriers = Array.from(
      { length: count },
      (_, index) => new Thread({ dataDir, target, label: `${process.pid}-${index}` }),
    );
    this.#syncer = new Thread({ dataDir, target, label: `${process.pid}-sync` });
  }

  /** Whether another request would find a thread soon. */
  get hasRoom(): boolean {
    return this.#least().waiting < AHEAD;
  }

  /** Brings contents in, each with a result in the order given. @throws AppError disk_full | storage_error */
  async take(jobs: readonly TakeJob[]): Promise<readonly TakeResult[]> {
    const reply = await this.#least().request({ kind: "take", jobs });
    return reply.kind === "taken" ? reply.results : [];
  }

  /** Writes contents out, each with a result in the order given. @throws AppError disk_full | storage_error */
  async write(jobs: readonly WriteJob[]): Promise<readonly WriteResult[]> {
    const reply = await this.#least().request({ kind: "write", jobs });
    return reply.kind === "written" ? reply.results : [];
  }

  /** Makes durable all that was written. @throws AppError storage_error | disk_full */
  async sync(): Promise<void> {
    await this.#syncer.request({ kind: "sync" });
  }

  close(): void {
    for (const thread of [...this.#carriers, this.#syncer]) thread.close();
  }

  #least(): Thread {
    return this.#carriers.reduce((least, thread) => (thread.waiting < least.waiting ? thread : least));
  }
}

interface Pending {
  readonly resolve: (reply: TransferReply) => void;
  readonly reject: (error: AppError) => void;
}

/** One thread of `transfer.worker.ts`; it answers in order. */
class Thread {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  #death: AppError | undefined;

  constructor(work: { dataDir: string; target: string; label: string }) {
    this.#worker = new Worker(new URL("./transfer.worker.ts", import.meta.url).href);
    this.#worker.onmessage = (event: MessageEvent<TransferReply>) => this.#settle(event.data);
    this.#worker.onerror = (event) => this.#fail(new Error(`A transfer thread exited: ${event.message}`));
    // Where this fails every later request does, and tells it.
    this.request({ kind: "open", ...work }).catch(() => {});
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

  #settle(reply: TransferReply): void {
    const pending = this.#pending.shift();
    if (reply.kind !== "failed") pending?.resolve(reply);
    else pending?.reject(describeFailure(Object.assign(new Error(reply.message), { code: reply.code })));
  }

  #fail(error: Error): void {
    this.#death = describeFailure(error);
    for (const pending of this.#pending.splice(0)) pending.reject(this.#death);
  }
}

/** What is said where neither a source nor a content is to blame. */
function describeFailure(error: Error): AppError {
  const { reason } = translateDiskError(error);
  const what =
    reason === "disk_full" ? "The disk is full. Free some space" : `The disk failed (${error.message}). Check the disk`;
  return new AppError(reason, `${what}, then run the command again to continue.`, {}, error);
}
