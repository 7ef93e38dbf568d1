/**
 * Decides which commits are in the bucket, from the log lines of Litestream 0.3.13.
 *
 * What Litestream does (db.go and replica.go of that version):
 *
 * 1. `DB.Sync` copies whole commits of SQLite's log, with their checksums verified, to a shadow log, and syncs that to
 *    the disk. Each restart of SQLite's log begins the shadow log with the next index. A shadow log has the header of its
 *    original, and therefore its salts; frame n of one is frame n of the other.
 * 2. `Replica.syncWAL` sends what follows the last position in one PUT. It writes the line "wal segment written" with the
 *    position and the number of bytes only after the service confirmed the PUT. A segment begins where the previous one
 *    ended, or at offset 0 of the next index. After an error or a start, it continues where the bucket ends.
 * 3. A generation begins with a snapshot of the database. Its segments are sent only once the snapshot is in the bucket.
 *
 * So a commit that ends at frame n of the log with salts S is in the bucket if a line reports frame n of the shadow log
 * with salts S, or a line reports a later shadow log of the generation and the one with salts S had frame n. A commit
 * before the first frame of a generation is in its snapshot.
 *
 * This holds if no shadow log lacks anything at its end. Litestream has two races where it does:
 *
 * - `DB.checkpoint` copies the rest of the old log only after the restart, when new commits may have overwritten it.
 * - `DB.ShadowWALReader` may continue with the next index although the previous one grew after it was read.
 *
 * Neither is reported, and a restored database would be damaged. Therefore two things are checked. Each shadow log must
 * have been sent to its end when the next one begins. And SQLite counts the commits of all connections in the index of the
 * log: between two positions, the shadow logs must have as many. If either is wrong, a new generation has to begin, and
 * nothing is confirmed until it has.
 */
import { ShadowWal, toFrames } from "./shadow-wal.ts";
import type { WalPosition } from "./wal-index.ts";

/** What a line of Litestream says to be in the bucket. */
export interface WrittenSegment {
  readonly generation: string;
  readonly index: number;
  readonly offset: number;
  readonly bytes: number;
}

/** Whether a position is in the bucket. `unknown`: its log is not among the last ones; look at a later position. */
export type CoverageResult = "covered" | "pending" | "unknown" | "gap";

/** One shadow log. */
interface ShadowLog {
  readonly index: number;
  readonly salt: string;
  /** How many frames are in the bucket. */
  frames: number;
  /** The last frames of the commits that were counted, ascending. */
  readonly commits: number[];
  /** The number of commits counted in the logs before. */
  readonly commitsBefore: number;
}

/** Logs that are remembered. Litestream itself retains the last two. */
const LOGS_MAX = 4;

/** Follows what Litestream writes to the bucket. */
export class Coverage {
  readonly #shadow: ShadowWal;
  #pageBytes = 0;
  #generation: string | undefined;
  #logs: ShadowLog[] = [];
  /** The last position that was found to be covered, in SQLite's count of commits and in ours. */
  #checked: { readonly commits: number; readonly counted: number } | undefined;

  constructor(shadow: ShadowWal) {
    this.#shadow = shadow;
  }

  /** The generation of the last segment; undefined if there was none yet. */
  get generation(): string | undefined {
    return this.#generation;
  }

  /** What is in the bucket, for people: `generation/index:frame`; undefined if that is not known yet. */
  get position(): string | undefined {
    const last = this.#logs.at(-1);
    if (last === undefined) return undefined;
    return `${this.#generation}/${last.index.toString(16).padStart(8, "0")}:${last.frames}`;
  }

  /** About how many bytes of logs are not in the bucket yet. */
  pendingBytes({ salt, frames, pageBytes }: WalPosition): number {
    const last = this.#logs.at(-1);
    return pageBytes * (last?.salt === salt ? frames - last.frames : frames);
  }

  /**
   * Notes a segment that is in the bucket.
   * @returns whether anything is missing before it
   */
  note(segment: WrittenSegment, pageBytes: number): "complete" | "gap" {
    this.#pageBytes = pageBytes;
    if (segment.generation !== this.#generation) this.reset();
    this.#generation = segment.generation;
    try {
      const log = this.#openLog(segment);
      if (log === undefined) return "gap";
      const to = toFrames(segment.offset + segment.bytes, pageBytes);
      this.#count(log, to);
      return "complete";
    } catch {
      // The shadow log is missing, or shorter than what was sent: this can't be checked.
      return "gap";
    }
  }

  /** Whether all commits up to a position are in the bucket. */
  check(target: WalPosition): CoverageResult {
    const at = this.#logs.findLastIndex((log) => log.salt === target.salt);
    const log = this.#logs[at];
    if (log === undefined) return "unknown";
    const isLast = at === this.#logs.length - 1;
    if (log.frames < target.frames) return isLast ? "pending" : "gap";
    const counted = log.commitsBefore + countUpTo(log.commits, target.frames);
    const checked = this.#checked;
    // Modulo 2^32, as SQLite counts.
    if (checked !== undefined && ((target.commits - checked.commits) | 0) !== counted - checked.counted) return "gap";
    this.#checked = { commits: target.commits, counted };
    return "covered";
  }

  /** Forgets everything, because a new generation begins. */
  reset(): void {
    this.#generation = undefined;
    this.#logs = [];
    this.#checked = undefined;
  }

  /** The log of a segment; undefined if the one before it was not sent to its end, or if that can't be checked. */
  #openLog({ generation, index, offset }: WrittenSegment): ShadowLog | undefined {
    const last = this.#logs.at(-1);
    if (last?.index === index) return last;
    const isNext = last !== undefined && index === last.index + 1 && offset === 0;
    if (last !== undefined && !isNext) return undefined;
    if (last !== undefined && this.#shadow.countFrames(generation, last.index, this.#pageBytes) !== last.frames) {
      return undefined;
    }
    const log: ShadowLog = {
      index,
      salt: this.#shadow.readSalt(generation, index),
      frames: toFrames(offset, this.#pageBytes),
      commits: [],
      commitsBefore: last === undefined ? 0 : last.commitsBefore + last.commits.length,
    };
    this.#logs = [...this.#logs, log].slice(-LOGS_MAX);
    return log;
  }

  /** Counts the commits up to a frame. A line may be lost with its process: then they include those of that segment. */
  #count(log: ShadowLog, to: number): void {
    const at = { generation: this.#generation ?? "", index: log.index, pageBytes: this.#pageBytes };
    log.commits.push(...this.#shadow.listCommits(at, log.frames, to));
    log.frames = Math.max(log.frames, to);
  }
}

function countUpTo(frames: readonly number[], last: number): number {
  let count = frames.length;
  while (count > 0 && (frames[count - 1] ?? 0) > last) count--;
  return count;
}
