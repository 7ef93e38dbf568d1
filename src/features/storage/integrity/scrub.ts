/**
 * The nightly scrub: reads every blob within a configured time, the least recently read ones first, slowly and while no
 * uploads are in progress. Damaged blobs come first, because they may have been healed.
 */
import { type Read, rows } from "../../../db/reader.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { FINDINGS_RETENTION_MS } from "./findings.ts";
import { HashReader } from "./hash-reader.ts";
import type { DueContent } from "./reading-rows.ts";
import type { Integrity } from "./service.ts";

/** Dependencies of {@link Scrub}. */
interface ScrubOptions {
  readonly integrity: Integrity;
  readonly clock: Clock;
  readonly log: Log;
  readonly databasePath: string;
  /** Bytes per second; 0: no scrub. */
  readonly rateBytes: number;
  /** Longest duration of a run. */
  readonly maxTimeMs: number;
  /** Time within which every byte is read again; 0: each run reads all bytes. */
  readonly withinMs: number;
  /** Bytes of all blobs. */
  readonly sumBytes: () => Promise<number>;
  /** Whether an upload is in progress. */
  readonly isBusy: () => boolean;
}

/** The result of a run. */
interface ScrubResult {
  readonly contents: number;
  readonly bytes: number;
  /** New faults. */
  readonly found: number;
  /** Problems of the database. */
  readonly problems: number;
  /** Whether all that was due was read. */
  readonly isDone: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A batch is read, then recorded: an interrupted run loses at most one. */
const BATCH_CONTENTS = 200;
const BATCH_BYTES = 64 * 1024 * 1024;
const POLL_MS = 100;
/** A reading that is dated further in the future was recorded with a wrong clock. */
const AHEAD_MS = DAY_MS;
/** Factor above the needed rate, for missed nights and interrupted runs. */
const MARGIN = 1.2;

/** Reads the store at a limited rate. */
export class Scrub {
  readonly #options: ScrubOptions;

  constructor(options: ScrubOptions) {
    this.#options = options;
  }

  /**
   * One run, which may be interrupted at any point.
   * @param isAll whether all blobs are due, because the run was requested
   * @throws AppError store_missing; Error if nothing can be read at all
   */
  async run(signal: AbortSignal, isAll = false): Promise<ScrubResult | undefined> {
    const { rateBytes, integrity, databasePath, isBusy, clock } = this.#options;
    if (rateBytes === 0) return undefined;
    const reader = new HashReader({ isSparing: true });
    const yielding = setInterval(() => reader.setPaused(isBusy()), POLL_MS);
    const stop = () => reader.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const problems = await reader.checkStructure(databasePath);
      await integrity.noteDatabase(problems);
      reader.setRate(await this.#rate());
      const read = await this.#readDue(reader, signal, isAll);
      await integrity.sweep(clock.nowMs() - FINDINGS_RETENTION_MS);
      await integrity.report();
      return { ...read, problems: problems.length };
    } catch (error) {
      // The thread was ended during a read: recorded results stay.
      if (signal.aborted) return { contents: 0, bytes: 0, found: 0, problems: 0, isDone: false };
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      clearInterval(yielding);
      reader.close();
    }
  }

  /** The configured rate, or a higher one if that would not read all blobs in time. */
  async #rate(): Promise<number> {
    const { rateBytes, maxTimeMs, withinMs, sumBytes, log } = this.#options;
    const nights = Math.max(1, Math.floor(withinMs / DAY_MS));
    const needed = Math.ceil(((await sumBytes()) / nights / (maxTimeMs / 1_000)) * MARGIN);
    if (needed <= rateBytes) return rateBytes;
    log.info("Scrubbing faster than scrub.rate to finish within scrub.within.", {
      bytesPerSecond: needed,
    });
    return needed;
  }

  async #readDue(reader: HashReader, signal: AbortSignal, isAll: boolean): Promise<Omit<ScrubResult, "problems">> {
    const { integrity, clock, maxTimeMs, withinMs } = this.#options;
    const { readings } = integrity;
    const startedMs = clock.nowMs();
    const endMs = performance.now() + maxTimeMs;
    // A blob is due after half of the time, because nights are missed and the store grows.
    // Blobs that this run has read are not due again.
    const untilMs = startedMs - (isAll ? 1 : Math.max(1, Math.floor(withinMs / 2)));
    const known = (limit: number, after?: DueContent) => readings.listDamaged(limit, after);
    const ahead = (limit: number, after?: DueContent) => readings.listAhead(startedMs + AHEAD_MS, limit, after);
    const due = (limit: number, after?: DueContent) => readings.listDue(untilMs, limit, after);
    const totals = { contents: 0, bytes: 0, found: 0 };
    for (const list of [known, ahead, due]) {
      let last: DueContent | undefined;
      for (;;) {
        const batch = takeBatch(list(BATCH_CONTENTS, last));
        last = batch.at(-1);
        if (last === undefined) break;
        totals.found += await integrity.note(await integrity.readTwice(reader, batch));
        totals.contents += batch.length;
        for (const { sizeBytes } of batch) totals.bytes += sizeBytes;
        if (signal.aborted || performance.now() > endMs) return { ...totals, isDone: false };
      }
    }
    return { ...totals, isDone: true };
  }
}

/** Bytes of all contents. A scan: for the reading thread. */
export function storedBytes(): Read<readonly { readonly bytes: number }[]> {
  return rows<{ bytes: number }>("SELECT coalesce(sum(size_bytes), 0) AS bytes FROM blobs");
}

/** The first blobs, up to the bytes of a batch; a larger blob is a batch of its own. */
function takeBatch(contents: readonly DueContent[]): DueContent[] {
  let bytes = 0;
  const end = contents.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes;
    return bytes > BATCH_BYTES && index > 0;
  });
  return contents.slice(0, end < 0 ? contents.length : end);
}
