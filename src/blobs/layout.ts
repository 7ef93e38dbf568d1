import { join } from "node:path";
import { type Digest, isDigest } from "./digest.ts";

/** The file in the store's folder that holds its identity. */
export const STORE_MARKER = ".larder-store";

/** Paths of the blob store below the data directory. Only digests become file names here, never input of a user. */
export class Layout {
  /** `blobs/` */
  readonly root: string;
  /**
   * `blobs/incoming/`: staged blobs; files found there at start are leftovers. It is inside the store, so that it is on the
   * store's own file system, wherever that is mounted.
   */
  readonly staging: string;
  readonly #sha256: string;
  /** `blobs/quarantine/`: blobs that garbage collection removed from the store. */
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

  /** The folder of a blob and those above it, innermost first. */
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

  /** `blobs/quarantine/damaged-<hex>`: bytes that did not match their digest, after good ones replaced them. */
  damaged(digest: Digest): string {
    return join(this.quarantine, `damaged-${digest}`);
  }

  /** All folders that must exist before the first blob. */
  folders(): string[] {
    return [this.root, this.#sha256, this.quarantine, this.staging];
  }

  /** The digest in a file name of the store; undefined for any other name. */
  static digestOf(fileName: string): Digest | undefined {
    return isDigest(fileName) ? fileName : undefined;
  }
}
