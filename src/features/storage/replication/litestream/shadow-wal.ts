/** Reads the copies of the write-ahead log that Litestream makes before it sends them. */
import { closeSync, openSync, readFileSync, readSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Frames that are read at a time. */
const FRAMES_AT_A_TIME = 64;

/** The folder of Litestream next to a database. */
export class ShadowWal {
  readonly #folder: string;

  constructor(database: string) {
    this.#folder = join(dirname(database), `.${basename(database)}-litestream`);
  }

  /** The salts of a log. @throws if it is missing */
  readSalt(generation: string, index: number): string {
    const header = this.#read(generation, index, 0, LOG_HEADER_BYTES);
    return header.toString("hex", 16, 24);
  }

  /** The number of frames in a log. @throws if it is missing */
  countFrames(generation: string, index: number, pageBytes: number): number {
    return toFrames(statSync(this.#pathOf(generation, index)).size, pageBytes);
  }

  /** The numbers, from 1, of the frames that end a commit, after frame `from` up to frame `to`. @throws if they are missing */
  listCommits(log: { generation: string; index: number; pageBytes: number }, from: number, to: number): number[] {
    const frameBytes = log.pageBytes + FRAME_HEADER_BYTES;
    const commits: number[] = [];
    for (let first = from; first < to; first += FRAMES_AT_A_TIME) {
      const count = Math.min(FRAMES_AT_A_TIME, to - first);
      const offset = LOG_HEADER_BYTES + first * frameBytes;
      const bytes = this.#read(log.generation, log.index, offset, count * frameBytes);
      for (let frame = 0; frame < count; frame++) {
        // The size of the database after the commit; 0 in all frames but its last.
        if (bytes.readUInt32BE(frame * frameBytes + 4) !== 0) commits.push(first + frame + 1);
      }
    }
    return commits;
  }

  /** Makes Litestream begin with a new copy of the whole database at its next start. */
  forgetGeneration(): void {
    rmSync(join(this.#folder, "generation"), { force: true });
  }

  /** The name of the current generation; undefined if there is none. */
  findGeneration(): string | undefined {
    try {
      return readFileSync(join(this.#folder, "generation"), "utf8").trim();
    } catch {
      return undefined;
    }
  }

  #read(generation: string, index: number, offset: number, lengthBytes: number): Buffer {
    const file = openSync(this.#pathOf(generation, index), "r");
    try {
      const bytes = Buffer.alloc(lengthBytes);
      const count = readSync(file, bytes, 0, lengthBytes, offset);
      if (count !== lengthBytes) throw new Error(`A log of Litestream ends at ${offset + count}.`);
      return bytes;
    } finally {
      closeSync(file);
    }
  }

  #pathOf(generation: string, index: number): string {
    const name = `${index.toString(16).padStart(8, "0")}.wal`;
    return join(this.#folder, "generations", generation, "wal", name);
  }
}

/** The number of whole frames up to an offset of a log. */
export function toFrames(offset: number, pageBytes: number): number {
  return Math.max(0, Math.floor((offset - LOG_HEADER_BYTES) / (pageBytes + FRAME_HEADER_BYTES)));
}
