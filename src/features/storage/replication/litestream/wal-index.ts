/** Reads from the index of SQLite's write-ahead log how far the database is (https://sqlite.org/walformat.html, 2.1). */
import { openSync, readSync } from "node:fs";

/** A state of the database: all commits up to a frame of a log. */
export interface WalPosition {
  /** Both salts, which every log has for itself. */
  readonly salt: string;
  /** The number of valid frames in the log. */
  readonly frames: number;
  /** Counts the commits of all connections, modulo 2^32, for as long as a connection is open. */
  readonly commits: number;
  readonly pageBytes: number;
}

const HEADER_BYTES = 48;
const SIZE_OF_64K_PAGES = 1;
/** Reads of a header that another process is changing at this moment. */
const ATTEMPTS = 1_000;

/**
 * The index file of an open database, `larder.db-shm`. It stays open as long as the process runs: closing any
 * descriptor of a file drops all POSIX locks that the process holds on it, also those of SQLite's own descriptor.
 */
export class WalIndex {
  readonly #file: number;
  readonly #bytes = Buffer.alloc(2 * HEADER_BYTES);

  /** @param database the path of the database, which must be open */
  constructor(database: string) {
    this.#file = openSync(`${database}-shm`, "r");
  }

  /** The last commit of any connection. Takes some microseconds. */
  read(): WalPosition {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
      // The header is there twice. While a process writes it, the copies differ.
      if (this.#bytes.subarray(0, HEADER_BYTES).equals(this.#bytes.subarray(HEADER_BYTES))) return this.#parse();
    }
    throw new Error("The index of the write-ahead log can't be read: its copies differ.");
  }

  /** Numbers have the byte order of the machine: x64 and arm64 are little-endian. Salts are copied from the log. */
  #parse(): WalPosition {
    const size = this.#bytes.readUInt16LE(14);
    return {
      commits: this.#bytes.readUInt32LE(8),
      pageBytes: size === SIZE_OF_64K_PAGES ? 65_536 : size,
      frames: this.#bytes.readUInt32LE(16),
      salt: this.#bytes.toString("hex", 32, 40),
    };
  }
}
