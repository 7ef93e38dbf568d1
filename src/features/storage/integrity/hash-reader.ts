import { CONTROL, type StoredFile } from "./hash-file.ts";
import type { IndexedFault, HashReply, HashRequest } from "./hash.worker.ts";
import type { OrphanedFiles } from "./orphaned-files.ts";
import { requireDescriptors } from "../../../lib/descriptors.ts";

/** Options of {@link HashReader}. */
interface HashReaderOptions {
  /** Compares only sizes. */
  readonly isQuick?: boolean;
  /** Removes the bytes from the page cache after reading. */
  readonly isSparing?: boolean;
  /** Runs at low priority. */
  readonly isModest?: boolean;
}

/** The faults of a batch of blobs. */
interface ReadResult {
  readonly faults: readonly IndexedFault[];
  readonly bytes: number;
}

interface PendingRequest {
  readonly resolve: (reply: HashReply) => void;
  readonly reject: (error: Error) => void;
}

const MS_PER_SECOND = 1_000;

/** Reads blobs in a thread, which starts when it is first needed and ends with {@link close}. */
export class HashReader {
  readonly #options: HashReaderOptions;
  readonly #control = new SharedArrayBuffer(CONTROL.length * Int32Array.BYTES_PER_ELEMENT);
  readonly #shared = new Int32Array(this.#control);
  readonly #pending: PendingRequest[] = [];
  #worker: Worker | undefined;

  constructor(options: HashReaderOptions = {}) {
    this.#options = options;
  }

  /** Sets the highest rate in bytes per second; 0 for no limit. Takes effect within 1 MiB. */
  setRate(bytesPerSecond: number): void {
    const bytesPerMs = bytesPerSecond === 0 ? 0 : Math.max(1, Math.floor(bytesPerSecond / MS_PER_SECOND));
    Atomics.store(this.#shared, CONTROL.bytesPerMs, Math.min(bytesPerMs, 2 ** 31 - 1));
  }

  /** Slows reading down almost to a stop while requests need the disk. */
  setPaused(isPaused: boolean): void {
    Atomics.store(this.#shared, CONTROL.isWaiting, isPaused ? 1 : 0);
    if (!isPaused) Atomics.notify(this.#shared, CONTROL.isWaiting);
  }

  /**
   * Reads blobs in order.
   * @throws Error if this process can't read anything (no descriptors left), or the thread was closed
   */
  async read(contents: readonly StoredFile[]): Promise<ReadResult> {
    const { isQuick = false, isSparing = false } = this.#options;
    return this.#request({ kind: "contents", contents, isQuick, isSparing, control: this.#control }, "contents");
  }

  /** Checks the whole structure of a database. @returns descriptions of its problems */
  async checkStructure(path: string): Promise<readonly string[]> {
    return (await this.#request({ kind: "structure", path }, "database")).problems;
  }

  /** Checks rules of a database that no constraint enforces. @returns descriptions of problems */
  async checkRules(path: string): Promise<readonly string[]> {
    return (await this.#request({ kind: "rules", path }, "database")).problems;
  }

  /** Counts files without a row in folders of the store: `firsts` below `top`. */
  async countOrphanedFiles(path: string, top: string, firsts: readonly string[]): Promise<OrphanedFiles> {
    return this.#request({ kind: "unlisted", path, top, firsts }, "unlisted");
  }

  /** Ends the thread, even during a read, and rejects pending requests. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#failAll("The reading was ended.");
  }

  async #request<Kind extends HashReply["kind"]>(
    request: HashRequest,
    kind: Kind,
  ): Promise<Extract<HashReply, { kind: Kind }>> {
    const worker = (this.#worker ??= this.#start());
    // An idle thread must not keep a command from ending.
    worker.ref();
    const reply = await new Promise<HashReply>((resolve, reject) => {
      this.#pending.push({ resolve, reject });
      worker.postMessage(request);
    });
    if (this.#pending.length === 0) worker.unref();
    if (isReplyOf(reply, kind)) return reply;
    if (reply.kind !== "failed") throw new Error("The thread that reads contents answered something else.");
    const { name, message, code } = reply;
    throw Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
  }

  #start(): Worker {
    requireDescriptors();
    const worker = new Worker(new URL("./hash.worker.ts", import.meta.url).href, { smol: true });
    if (this.#options.isModest === true) worker.postMessage({ kind: "modest" } satisfies HashRequest);
    worker.onmessage = (event: MessageEvent<HashReply>) => this.#pending.shift()?.resolve(event.data);
    const died = (why: string) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#failAll(`The thread that reads contents died: ${why}`);
    };
    worker.onerror = (event) => died(event.message);
    worker.addEventListener("close", () => died("closed"));
    return worker;
  }

  #failAll(why: string): void {
    for (const { reject } of this.#pending.splice(0)) reject(new Error(why));
  }
}

function isReplyOf<Kind extends HashReply["kind"]>(
  reply: HashReply,
  kind: Kind,
): reply is Extract<HashReply, { kind: Kind }> {
  return reply.kind === kind;
}
