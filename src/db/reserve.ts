/**
 * Disk space reserved for the database. On a full disk reading still works, but deleting and signing in need a few
 * pages of log, and deleting is how users free space. So a file reserves a few megabytes. It is removed at the first
 * "disk full" error and created again once there is space.
 */
import * as fs from "node:fs";
import type { Log } from "../lib/log.ts";

const RESERVE_BYTES = 8 * 1024 * 1024;
/** The reserve is created again only if this much is free, so that it does not fill the disk itself. */
const FREE_BYTES_MIN = 4 * RESERVE_BYTES;

/** The reserve of one data directory. */
export class DiskReserve {
  readonly #path: string;
  readonly #log: Log;
  readonly #availableBytes: () => number;

  constructor(path: string, availableBytes: () => number, log: Log) {
    this.#path = path;
    this.#availableBytes = availableBytes;
    this.#log = log;
  }

  /** Creates the reserve if it is missing and there is space. Called at start and periodically. Never throws. */
  take(): void {
    try {
      if (fs.existsSync(this.#path) || this.#availableBytes() < FREE_BYTES_MIN) return;
      // Written in full: a sparse file would reserve nothing.
      fs.writeFileSync(this.#path, Buffer.alloc(RESERVE_BYTES), { mode: 0o600, flush: true });
    } catch (error) {
      this.#log.warn("Could not reserve disk space for the database.", { error });
    }
  }

  /** Removes the reserve. @returns whether there was one, so that a retry makes sense */
  release(): boolean {
    try {
      fs.unlinkSync(this.#path);
      this.#log.error("The disk is full; using the space reserved for the database. Free some disk space.");
      return true;
    } catch {
      return false; // removed before: the disk stays full
    }
  }
}
