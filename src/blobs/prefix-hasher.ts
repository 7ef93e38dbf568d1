import { type Digest, toDigest } from "./digest.ts";
import type { PrefixReply, PrefixRequest } from "./prefix-hash.worker.ts";
import { canStartThread, requireDescriptors } from "../lib/descriptors.ts";

/** Hashes of a whole file. */
export interface FileHashes {
  readonly digest: Digest;
  /** CRC-32 (ISO 3309), unsigned. */
  readonly crc32: number;
}

interface PendingHash {
  readonly resolve: (hashes: FileHashes) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Hashes files as they grow, in a thread that starts when it is first needed. Each byte is read once, soon after it arrived,
 * so that little is left to read when the file is complete. After a restart a file is read again from its start.
 */
export class PrefixHasher {
  readonly #pending = new Map<number, PendingHash>();
  #worker: Worker | undefined;
  #lastId = 0;

  /**
   * Hashes the file up to `toBytes` in the background. The bytes before must not change any more under this key. Errors are
   * reported by {@link whole}.
   */
  ahead(key: string, path: string, toBytes: number): void {
    if (this.#worker === undefined && !canStartThread()) return;
    this.#thread().postMessage({ kind: "ahead", key, path, toBytes } satisfies PrefixRequest);
  }

  /**
   * Hashes the rest of a file, up to its end at `toBytes`.
   * @throws Error with the system's `code` if the file can't be read
   */
  whole(key: string, path: string, toBytes: number): Promise<FileHashes> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const thread = this.#thread();
      this.#pending.set(id, { resolve, reject });
      thread.postMessage({ id, kind: "whole", key, path, toBytes } satisfies PrefixRequest);
    });
  }

  /** Drops the hash state of a key. */
  forget(key: string): void {
    this.#worker?.postMessage({ kind: "forget", key } satisfies PrefixRequest);
  }

  /** Ends the thread and rejects pending requests. */
  close(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#failAll(new Error("The server is stopping."));
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    requireDescriptors();
    const worker = new Worker(new URL("./prefix-hash.worker.ts", import.meta.url).href, { smol: true });
    worker.onmessage = (event: MessageEvent<PrefixReply>) => this.#onReply(event.data);
    worker.onerror = (event) => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#failAll(new Error(`The thread that hashes uploads died: ${event.message}`));
    };
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #onReply(reply: PrefixReply): void {
    if (reply.kind === "ready") return;
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.kind === "done") pending?.resolve({ digest: toDigest(reply.digest), crc32: reply.crc32 });
    else pending?.reject(Object.assign(new Error(reply.error), { code: reply.code }));
  }

  #failAll(error: Error): void {
    for (const pending of this.#pending.values()) pending.reject(error);
    this.#pending.clear();
  }
}
