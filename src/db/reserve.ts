/**
 * Room for the database on a full disk. When somebody else fills the disk, reading needs nothing, but deleting and
 * signing in need a few pages of log, and deleting is the way out. So a few megabytes are kept in a file of their own,
 * given up at the first "disk full" and taken again when there is room (D13).
 */
import * as fs from "node:fs";
import type { Log } from "../lib/log.ts";

const RESERVE_BYTES = 8 * 1024 * 1024;
/** The reserve is taken again only when so much more is free, lest it be the next to fill the disk. */
const FREE_BYTES_MIN = 4 * RESERVE_BYTES;

/** See the head of this file. */
export class DiskReserve {
  readonly #path: string;
  readonly #log: Log;
  readonly #availableBytes: () => number;

  constructor(path: string, availableBytes: () => number, log: Log) {
    this.#path = path;
    this.#availableBytes = availableBytes;
    this.#log = log;
  }

  /** Takes the reserve where it is not held and there is room; at start and now and then. Never throws. */
  take(): void {
    try {
      if (fs.existsSync(this.#path) || this.#availableBytes() < FREE_BYTES_MIN) return;
      // Written, not only sized: a hole would hold no room.
      fs.writeFileSync(this.#path, Buffer.alloc(RESERVE_BYTES), { mode: 0o600, flush: true });
    } catch (error) {
      this.#log.warn("Could not reserve disk space for the database.", { error });
    }
  }

  /** Gives the reserve up. @returns whether there was one, so that trying again makes sense */
  release(): boolean {
    try {
      fs.unlinkSync(this.#path);
      this.#log.error("The disk is full; using the space reserved for the database. Free some disk space.");
      return true;
    } catch {
      return false; // given up already: the disk stays full
    }
  }
}
