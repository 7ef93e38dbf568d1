import type { Digest } from "./digest.ts";
import { type Disk } from "./disk.ts";
import type { Layout } from "./layout.ts";
import { errorCode } from "../lib/error.ts";

/** Makes the folders of blobs, and remembers which of them are durable. */
export class BlobFolders {
  readonly #layout: Layout;
  readonly #disk: Disk;
  /** Folders that exist and whose entry is on the device. Bounded by the fan-out: 65,536. */
  readonly #durable = new Set<string>();

  constructor(layout: Layout, disk: Disk) {
    this.#layout = layout;
    this.#disk = disk;
  }

  /** Makes the folder of a blob. @returns the folder, and those above it whose new entry is not yet on the device */
  make(digest: Digest): string[] {
    const [leaf, middle, top] = this.#layout.foldersOf(digest);
    if (this.#durable.has(leaf)) return [leaf];
    if (!this.#makeFolder(leaf)) {
      this.#makeFolder(middle);
      this.#makeFolder(leaf);
    }
    return this.#durable.has(middle) ? [leaf, middle] : [leaf, middle, top];
  }

  /** Notes that the folders which {@link make} returned were synced: each of them holds the entry of the one before it. */
  noteSynced(folders: readonly string[]): void {
    for (const folder of folders.slice(0, -1)) this.#durable.add(folder);
  }

  /** Forgets what is known of folders after a failed sync. */
  forget(folders: readonly string[]): void {
    for (const folder of folders) this.#durable.delete(folder);
  }

  /** @returns false if the folder above is missing */
  #makeFolder(folder: string): boolean {
    try {
      this.#disk.makeFolder(folder);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return false;
      if (errorCode(error) !== "EEXIST") throw error;
    }
    return true;
  }
}
