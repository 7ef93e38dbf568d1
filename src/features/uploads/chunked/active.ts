/**
 * What is kept in memory of uploads that are being worked on: which chunks are there, and what is arriving just now.
 */
import type { ChunkSet } from "./chunk-plan.ts";

/** A chunk on its way in. */
export interface IncomingChunk {
  /** Set once another request for the same chunk has taken over; nothing more may be written then. */
  isSuperseded: boolean;
  /** All its bytes are there; it is being made durable and will not give way any more. */
  isSettling: boolean;
  /** Resolves when it has ended, in whatever way. */
  readonly ended: Promise<void>;
}

/** One upload that somebody is working on. */
export interface ActiveUpload {
  readonly chunks: ChunkSet;
  readonly incoming: Map<number, IncomingChunk>;
  /** Chunks whose other bytes a crash, or a failing disk, kept from being put in place. */
  readonly unfinished: Set<number>;
  /** Puts them in place. */
  recovering: Promise<void> | undefined;
  /** The completion that is in progress. */
  completing: Promise<unknown> | undefined;
}

/** Those on which nothing happens just now are kept up to this number, so that the next chunk finds them. */
const IDLE_MAX = 256;

/** Active uploads by row id. */
export class ActiveUploads {
  readonly #uploads = new Map<number, ActiveUpload>();

  find(id: number): ActiveUpload | undefined {
    return this.#uploads.get(id);
  }

  /** The one that is there, or `make()`, which is kept. */
  get(id: number, make: () => ActiveUpload): ActiveUpload {
    const found = this.#uploads.get(id) ?? make();
    // Whoever is used goes to the end; those at the front go first.
    this.#uploads.delete(id);
    this.#uploads.set(id, found);
    if (this.#uploads.size > IDLE_MAX) this.#evict();
    return found;
  }

  /** Forgets an upload that has ended; what is arriving for it is refused from now on. */
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
