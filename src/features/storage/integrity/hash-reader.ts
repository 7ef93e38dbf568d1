import { CONTROL, type WantedContent } from "./hash-file.ts";
import type { FoundFault, HashReply, HashRequest } from "./hash.worker.ts";
import type { OrphanedFiles } from "./orphaned-files.ts";
import { requireDescriptors } from "../../../lib/descriptors.ts";

/** How {@link HashReader} reads. */
export interface HashReaderOptions {
  /** Compares only sizes. */
  readonly isQuick?: boolean;
  /** Lets the system's cache go of what was read. */
  readonly isSparing?: boolean;
  /** Lets other programs go first where there are too few processors for all. */
  readonly isModest?: boolean;
}

/** What a row of contents gave: only what is wrong is told. */
export interface ReadContents {
  readonly faults: readonly FoundFault[];
  readonly bytes: number;
}

interface Waiting {
  readonly resolve: (reply: HashReply) => void;
  readonly reject: (error: Error) => void;
}

const MS_PER_SECOND = 1_000;

/** Reads contents again in a thread of its own, which starts at the first need and ends with {@link close}. */
export class HashReader {
  readonly #options: HashReaderOptions;
  readonly #control = new SharedArrayBuffer(CONTROL.length * Int32Array.BYTES_PER_ELEMENT);
  readonly #shared = new Int32Array(this.#control);
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;

  constructor(options: HashReaderOptions = {}) {
    this.#options = options;
  }

  /** At most so many bytes a second; 0: as many as can be. Takes effect within a piece of 1 MiB. */
  setRate(bytesPerSecond: number): void {
    const bytesPerMs = bytesPerSecond === 0 ? 0 : Math.max(1, Math.floor(bytesPerSecond / MS_PER_SECOND));
    Atomics.store(this.#shared, CONTROL.bytesPerMs, Math.min(bytesPerMs, 2 ** 31 - 1));
  }

  /** Whether to give way to others, until told otherwise; some progress is made all the same. */
  giveWay(isWanted: boolean): void {
    Atomics.store(this.#shared, CONTROL.isWaiting, isWanted ? 1 : 0);
    if (!isWanted) Atomics.notify(this.#shared, CONTROL.isWaiting);
  }

  /**
   * Reads contents in their order.
   * @throws Error where this process can't read anything (no descriptors left), or the thread was closed
   */
  async read(contents: readonly WantedContent[]): Promise<ReadContents> {
    const { isQuick = false, isSparing = false } = this.#options;
    return this.#ask({ kind: "contents", contents, isQuick, isSparing, control: this.#control }, "contents");
  }

  /** Looks through the whole structure of a database. @returns what is wrong, in words */
  async lookThrough(path: string): Promise<readonly string[]> {
    return (await this.#ask({ kind: "structure", path }, "database")).problems;
  }

  /** Checks the rules of a database that no constraint keeps. @returns what is wrong, in words */
  async checkRules(path: string): Promise<readonly string[]> {
    return (await this.#ask({ kind: "rules", path }, "database")).problems;
  }

  /** Counts what lies in folders of the store, `firsts` below `top`, and has no row in the database. */
  async countOrphanedFiles(path: string, top: string, firsts: readonly string[]): Promise<OrphanedFiles> {
    return this.#ask({ kind: "unlisted", path, top, firsts }, "unlisted");
  }

  /** Ends the thread, also in the middle of a content; who waits is told. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#failAll("The reading was ended.");
  }

  async #ask<Kind extends HashReply["kind"]>(
    request: HashRequest,
    kind: Kind,
  ): Promise<Extract<HashReply, { kind: Kind }>> {
    const worker = (this.#worker ??= this.#start());
    // An idle thread must not keep a command from ending.
    worker.ref();
    const reply = await new Promise<HashReply>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.postMessage(request);
    });
    if (this.#waiting.length === 0) worker.unref();
    if (isOf(reply, kind)) return reply;
    if (reply.kind !== "failed") throw new Error("The thread that reads contents answered something else.");
    const { name, message, code } = reply;
    throw Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
  }

  #start(): Worker {
    requireDescriptors();
    const worker = new Worker(new URL("./hash.worker.ts", import.meta.url).href, { smol: true });
    if (this.#options.isModest === true) worker.postMessage({ kind: "modest" } satisfies HashRequest);
    worker.onmessage = (event: MessageEvent<HashReply>) => this.#waiting.shift()?.resolve(event.data);
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
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(why));
  }
}

function isOf<Kind extends HashReply["kind"]>(
  reply: HashReply,
  kind: Kind,
): reply is Extract<HashReply, { kind: Kind }> {
  return reply.kind === kind;
}
