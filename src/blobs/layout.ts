import { join } from "node:path";
import { type Digest, isDigest } from "./digest.ts";

/** The folder of the store, and the marker that names its identity. */
export const STORE_MARKER = ".larder-store";

/** Where things of the blob store lie below the data directory. Only digests become names here (D48). */
export class Layout {
  /** `blobs/` */
  readonly root: string;
  /**
   * `blobs/incoming/`: contents on their way in; anything found there at start is a leftover. Inside the store, so that
   * it is on the store's own file system wherever that is mounted.
   */
  readonly staging: string;
  readonly #sha256: string;
  /** `blobs/quarantine/`: what the collector has set aside. */
  readonly quarantine: string;

  constructor(dataDir: string) {
    this.root = join(dataDir, "blobs");
    this.staging = join(this.root, "incoming");
    this.#sha256 = join(this.root, "sha256");
    this.quarantine = join(this.root, "quarantine");
  }

  /** `blobs/sha256/ab/cd/<hex>` */
  blob(digest: Digest): string {
    return `${this.#sha256}/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
  }

  /** The folder of a blob, and the folders above it that a first blob may have to make, innermost first. */
  foldersOf(digest: Digest): [leaf: string, middle: string, top: string] {
    const middle = `${this.#sha256}/${digest.slice(0, 2)}`;
    return [`${middle}/${digest.slice(2, 4)}`, middle, this.#sha256];
  }

  /** `blobs/sha256/ab` */
  firstByteFolder(firstByte: string): string {
    return join(this.#sha256, firstByte);
  }

  /** `blobs/quarantine/<hex>` */
  quarantined(digest: Digest): string {
    return join(this.quarantine, digest);
  }

  /** `blobs/quarantine/damaged-<hex>`: bytes that were not what their name says, after good ones took their place. */
  damaged(digest: Digest): string {
    return join(this.quarantine, `damaged-${digest}`);
  }

  /** All folders that must exist before the first blob. */
  folders(): string[] {
    return [this.root, this.#sha256, this.quarantine, this.staging];
  }

  /** The digest that a file name in the store stands for; undefined for anything foreign. */
  static digestOf(fileName: string): Digest | undefined {
    return isDigest(fileName) ? fileName : undefined;
  }
}
