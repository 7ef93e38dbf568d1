/** State in memory of chunked uploads in progress: which chunks are stored, and which are being received. */
import type { ChunkSet } from "./chunk-plan.ts";

/** A chunk that a request is sending. Its counterpart for tus is `IncomingRequest`. */
export interface IncomingChunk {
  /** Another request for the same chunk has taken over, so nothing more may be written. */
  isSuperseded: boolean;
  /** All bytes are received and are being made durable. No other request can take over. */
  isCommitting: boolean;
  /** Resolves when it has ended, successfully or not. */
  readonly ended: Promise<void>;
}

/** One upload in progress. */
export interface ActiveUpload {
  readonly chunks: ChunkSet;
  readonly incoming: Map<number, IncomingChunk>;
  /** Chunks whose replacement bytes are durable, but not yet copied into the file, because of a crash or a disk error. */
  readonly unfinished: Set<number>;
  /** Resolves when those replacements are copied. */
  recovering: Promise<void> | undefined;
  /** The completion in progress. */
  completing: Promise<unknown> | undefined;
}

/** How many idle uploads stay in memory for their next chunk. */
const IDLE_MAX = 256;

/** Active uploads by row id. */
export class ActiveUploads {
  readonly #uploads = new Map<number, ActiveUpload>();

  find(id: number): ActiveUpload | undefined {
    return this.#uploads.get(id);
  }

  /** Returns the entry, or adds `make()`. */
  get(id: number, make: () => ActiveUpload): ActiveUpload {
    const found = this.#uploads.get(id) ?? make();
    // The map is in order of use: the first entry is the least recently used.
    this.#uploads.delete(id);
    this.#uploads.set(id, found);
    if (this.#uploads.size > IDLE_MAX) this.#evict();
    return found;
  }

  /** Removes an upload that has ended, and rejects the chunks that are still being received for it. */
  drop(id: number): void {
    for (const incoming of this.#uploads.get(id)?.incoming.values() ?? []) incoming.isSuperseded = true;
    this.#uploads.delete(id);
  }

  #evict(): void {
    for (const [id, upload] of this.#uploads) {
      if (upload.incoming.size > 0 || upload.recovering !== undefined || upload.completing !== undefined) continue;
      this.#uploads.delete(id);
      return;
    }
  }
}
