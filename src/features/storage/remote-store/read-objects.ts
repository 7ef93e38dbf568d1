import { digestFromBytes } from "../../../blobs/digest.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import type { Reading } from "../integrity/types.ts";
import type { ObjectChecker } from "./object-checker.ts";
import { ALONE, DAMAGED_ALONE, UNREAD } from "./queries.ts";
import type { TierCounts, PlacedContent } from "./types.ts";

/** How much is to be read. */
export interface ObjectReadRequest {
  /** Bytes a second. */
  readonly rateBytes: number;
  /** What was read at this instant or later is passed over. Not later than now: what is read would be due again. */
  readonly untilMs: number;
  /** For how long, at most. */
  readonly maxTimeMs?: number;
  readonly onProgress?: (read: TierCounts) => void;
}

/** What was read, and what is wrong with it. */
export interface ObjectsRead extends TierCounts {
  readonly faults: readonly (PlacedContent & Pick<Reading, "fault">)[];
  /** Faults that were not known before. */
  readonly found: number;
  /** Whether all that was due was read. */
  readonly isDone: boolean;
}

interface Due extends PlacedContent {
  readonly readAtMs: number;
}

const BATCH = 100;
/** Small objects cost the round trip more than their bytes. */
const LANES = 4;

/** Reads again what lies in the bucket alone, at a bounded rate, and records what is wrong. */
export class ObjectReading {
  readonly #checker: ObjectChecker;
  readonly #reader: Reader;

  constructor({ checker, reader }: { readonly checker: ObjectChecker; readonly reader: Reader }) {
    this.#checker = checker;
    this.#reader = reader;
  }

  /** What lies in the bucket alone, in contents and bytes. */
  async countAlone(): Promise<TierCounts> {
    const [[found]] = await this.#reader.read([rowsOf<TierCounts>(ALONE)]);
    return found ?? { contents: 0, bytes: 0 };
  }

  /**
   * Reads what is due: first what is known to be damaged, since it may be good again, then what was read longest ago. What
   * was found is recorded after each batch. @throws S3Error where the service is away or refuses
   */
  async run(
    { rateBytes, untilMs, maxTimeMs, onProgress }: ObjectReadRequest,
    signal: AbortSignal,
  ): Promise<ObjectsRead> {
    const endMs = performance.now() + (maxTimeMs ?? Number.POSITIVE_INFINITY);
    const pace = pacer(rateBytes, signal);
    const read = { contents: 0, bytes: 0, found: 0, faults: [] as (PlacedContent & Pick<Reading, "fault">)[] };
    for (const isDamaged of [true, false]) {
      for (let after: Due | undefined; ; ) {
        const batch = await this.#list(isDamaged, after, untilMs);
        const last = batch.at(-1);
        if (last === undefined) break;
        after = last;
        const readings = await this.#readAll(batch, pace);
        read.found += await this.#checker.note(readings);
        read.contents += batch.length;
        for (const [index, content] of batch.entries()) {
          read.bytes += content.sizeBytes;
          const fault = readings[index]?.fault ?? null;
          if (fault !== null) read.faults.push({ ...content, fault });
        }
        onProgress?.(read);
        if (signal.aborted || performance.now() > endMs) return { ...read, isDone: false };
      }
    }
    return { ...read, isDone: true };
  }

  /** In the order of the batch. Where one can't be read the others of its batch are ended, too. */
  async #readAll(batch: readonly PlacedContent[], pace: Pace): Promise<Reading[]> {
    const readings: Reading[] = [];
    const waiting = batch.entries();
    let isFailed = false;
    const work = async () => {
      for (const [index, content] of waiting) {
        if (isFailed) return;
        try {
          readings[index] = { digest: content.digest, fault: await this.#checker.check(content, pace) };
        } catch (error) {
          isFailed = true;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, work));
    return readings;
  }

  async #list(isDamaged: boolean, after: Due | undefined, untilMs: number): Promise<Due[]> {
    const [found] = await this.#reader.read([
      rowsOf<{ digest: Uint8Array; sizeBytes: number; readAtMs: number }>(
        isDamaged ? DAMAGED_ALONE : UNREAD,
        isDamaged ? [after?.digest ?? "", BATCH] : [untilMs, after?.readAtMs ?? -1, after?.digest ?? "", BATCH],
      ),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }
}

type Pace = (bytes: number) => Promise<void>;

/** Waits until the bytes of all lanes together are within the rate. */
function pacer(rateBytes: number, signal: AbortSignal): Pace {
  const startedMs = performance.now();
  let sum = 0;
  return async (bytes) => {
    signal.throwIfAborted();
    sum += bytes;
    const aheadMs = (sum / rateBytes) * 1_000 - (performance.now() - startedMs);
    if (aheadMs > 1) await Bun.sleep(aheadMs);
    signal.throwIfAborted();
  };
}
