import { digestFromBytes } from "../../../blobs/digest.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import type { Reading } from "../integrity/types.ts";
import type { ObjectChecker } from "./object-checker.ts";
import { REMOTE_ONLY_TOTALS, DAMAGED_REMOTE_ONLY, UNREAD_REMOTE_ONLY } from "./queries.ts";
import type { TierCounts, SizedBlob } from "./types.ts";

/** Options of {@link ObjectReading.run}. */
export interface ObjectReadRequest {
  /** Bytes per second. */
  readonly rateBytes: number;
  /** Skips objects that were read at this time or later. Must not be in the future: objects would be due again. */
  readonly untilMs: number;
  /** Longest duration. */
  readonly maxTimeMs?: number;
  readonly onProgress?: (read: TierCounts) => void;
}

/** The result of {@link ObjectReading.run}. */
export interface ObjectsRead extends TierCounts {
  readonly faults: readonly (SizedBlob & Pick<Reading, "fault">)[];
  /** New faults. */
  readonly found: number;
  /** Whether all due objects were read. */
  readonly isDone: boolean;
}

interface DueObject extends SizedBlob {
  readonly readAtMs: number;
}

const BATCH = 100;
/** Concurrent reads: the round trips of small objects take longer than their bytes. */
const WORKERS = 4;

/** Reads the blobs that only the bucket has, at a limited rate, and records their faults. */
export class ObjectReading {
  readonly #checker: ObjectChecker;
  readonly #reader: Reader;

  constructor({ checker, reader }: { readonly checker: ObjectChecker; readonly reader: Reader }) {
    this.#checker = checker;
    this.#reader = reader;
  }

  /** Blobs and bytes that only the bucket has. */
  async countRemoteOnly(): Promise<TierCounts> {
    const [[found]] = await this.#reader.read([rowsOf<TierCounts>(REMOTE_ONLY_TOTALS)]);
    return found ?? { contents: 0, bytes: 0 };
  }

  /**
   * Reads objects that are due: damaged ones first, which may be whole again, then the least recently read. Results are
   * recorded after each batch. @throws S3Error if the service is unreachable or rejects a request
   */
  async run(
    { rateBytes, untilMs, maxTimeMs, onProgress }: ObjectReadRequest,
    signal: AbortSignal,
  ): Promise<ObjectsRead> {
    const endMs = performance.now() + (maxTimeMs ?? Number.POSITIVE_INFINITY);
    const pace = pacer(rateBytes, signal);
    const read = { contents: 0, bytes: 0, found: 0, faults: [] as (SizedBlob & Pick<Reading, "fault">)[] };
    for (const isDamaged of [true, false]) {
      for (let after: DueObject | undefined; ; ) {
        const batch = await this.#list(isDamaged, after, untilMs);
        const last = batch.at(-1);
        if (last === undefined) break;
        after = last;
        const readings = await this.#readAll(batch, pace);
        read.found += await this.#checker.note(readings);
        read.contents += batch.length;
        read.bytes += batch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
        const faults = batch.map((content, index) => ({ ...content, fault: readings[index]?.fault ?? null }));
        read.faults.push(...faults.filter(({ fault }) => fault !== null));
        onProgress?.(read);
        if (signal.aborted || performance.now() > endMs) return { ...read, isDone: false };
      }
    }
    return { ...read, isDone: true };
  }

  /** Reads a batch. @returns the results in its order. An error ends the whole batch */
  async #readAll(batch: readonly SizedBlob[], pace: Pace): Promise<Reading[]> {
    const readings: Reading[] = [];
    const pending = batch.entries();
    let isFailed = false;
    const work = async () => {
      for (const [index, content] of pending) {
        if (isFailed) return;
        try {
          readings[index] = { digest: content.digest, fault: await this.#checker.check(content, pace) };
        } catch (error) {
          isFailed = true;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    return readings;
  }

  async #list(isDamaged: boolean, after: DueObject | undefined, untilMs: number): Promise<DueObject[]> {
    const [found] = await this.#reader.read([
      rowsOf<{ digest: Uint8Array; sizeBytes: number; readAtMs: number }>(
        isDamaged ? DAMAGED_REMOTE_ONLY : UNREAD_REMOTE_ONLY,
        isDamaged ? [after?.digest ?? "", BATCH] : [untilMs, after?.readAtMs ?? -1, after?.digest ?? "", BATCH],
      ),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }
}

type Pace = (bytes: number) => Promise<void>;

/** Waits until the bytes of all workers together are within the rate. */
function pacer(rateBytes: number, signal: AbortSignal): Pace {
  const startedMs = performance.now();
  let readBytes = 0;
  return async (bytes) => {
    signal.throwIfAborted();
    readBytes += bytes;
    const aheadMs = (readBytes / rateBytes) * 1_000 - (performance.now() - startedMs);
    if (aheadMs > 1) await Bun.sleep(aheadMs);
    signal.throwIfAborted();
  };
}
