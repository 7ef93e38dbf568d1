import type { Digest } from "./digest.ts";
import type { Layout } from "./layout.ts";

/** Remembers which folders of blobs are durable: they exist, and their entry is on the device. */
export class BlobFolders {
  readonly #layout: Layout;
  /** By the first two bytes of digests. Numbers, because each upload looks its folder up. */
  readonly #leaves = new Uint8Array(0x10000);
  /** By the first byte of digests. */
  readonly #middles = new Uint8Array(0x100);

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** The folder of a blob, and those above it that may have an entry which is not yet on the device. Innermost first. */
  unsynced(digest: Digest): string[] {
    const folders = this.#layout.foldersOf(digest);
    const leaf = leafOf(digest);
    const count = this.#leaves[leaf] === 1 ? 1 : this.#middles[leaf >> 8] === 1 ? 2 : 3;
    return folders.slice(0, count);
  }

  /** Notes that the folders which {@link unsynced} returned were synced: each of them holds the entry of the one before it. */
  noteSynced(digest: Digest, { length }: readonly string[]): void {
    const leaf = leafOf(digest);
    if (length > 1) this.#leaves[leaf] = 1;
    if (length > 2) this.#middles[leaf >> 8] = 1;
  }

  /** Forgets what is known of the folders which {@link unsynced} returned, after a failed sync. */
  forget(digest: Digest, { length }: readonly string[]): void {
    const leaf = leafOf(digest);
    this.#leaves[leaf] = 0;
    if (length > 1) this.#middles[leaf >> 8] = 0;
  }
}

function leafOf(digest: Digest): number {
  return Number.parseInt(digest.slice(0, 4), 16);
}
