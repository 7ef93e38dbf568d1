import type { Log } from "../lib/log.ts";
import type { Digest } from "./digest.ts";
import { type Disk, translateDiskError } from "./disk.ts";
import type { Layout } from "./layout.ts";
import { errorCode } from "../lib/error.ts";

/** `blobs/quarantine/`: blobs that garbage collection removed from the store, and damaged bytes that were replaced. */
export class Quarantine {
  readonly #layout: Layout;
  readonly #disk: Disk;
  readonly #log: Log;

  constructor(layout: Layout, disk: Disk, log: Log) {
    this.#layout = layout;
    this.#disk = disk;
    this.#log = log;
  }

  /** Moves a blob out of the store. Does nothing if it is missing. @throws AppError storage_error */
  moveIn(digest: Digest): void {
    ignoreMissing(() => this.#disk.rename(this.#layout.blob(digest), this.#layout.quarantined(digest)));
  }

  /** Deletes a blob for good. Does nothing if it is missing. @throws AppError storage_error */
  unlink(digest: Digest): void {
    ignoreMissing(() => this.#disk.unlink(this.#layout.quarantined(digest)));
  }

  /** Gives damaged bytes a second name here before good ones replace them: they may be all that is left of a file. */
  preserveDamaged(digest: Digest): void {
    try {
      this.#disk.link(this.#layout.blob(digest), this.#layout.damaged(digest));
    } catch (error) {
      // There are no bytes, or they were preserved before.
      if (["ENOENT", "EEXIST", "ENOTDIR"].includes(errorCode(error) ?? "")) return;
      // A file system without hard links must not keep the good bytes out.
      this.#log.warn("Could not move a damaged blob to quarantine/; replacing it with a good copy.", { error });
    }
  }
}

function ignoreMissing(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw translateDiskError(error);
  }
}
