import type { Digest } from "./digest.ts";
import type { Layout } from "./layout.ts";

/** Remembers which folders of blobs are durable. */
export class BlobFolders {
  readonly #layout: Layout;
  /** Folders that exist and whose entry is on the device. Bounded by the fan-out: 65,536. */
  readonly #durable = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** The folder of a blob, and those above it that may have an entry which is not yet on the device. Innermost first. */
  unsynced(digest: Digest): string[] {
    const [leaf, middle, top] = this.#layout.foldersOf(digest);
    if (this.#durable.has(leaf)) return [leaf];
    return this.#durable.has(middle) ? [leaf, middle] : [leaf, middle, top];
  }

  /** Notes that the folders which {@link unsynced} returned were synced: each of them holds the entry of the one before it. */
  noteSynced(folders: readonly string[]): void {
    for (const folder of folders.slice(0, -1)) this.#durable.add(folder);
  }

  /** Forgets what is known of folders after a failed sync. */
  forget(folders: readonly string[]): void {
    for (const folder of folders) this.#durable.delete(folder);
  }
}
