/**
 * The nightly reading of the store: every content within a set time, the one first that was read longest ago, slowly, and
 * out of the way of whoever uses the server. What was found damaged before is looked at first: it may have been healed.
 */
import { type Read, rows } from "../../../db/reader.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { FINDINGS_RETENTION_MS } from "./findings.ts";
import { HashReader } from "./hash-reader.ts";
import type { DueContent } from "./reading-rows.ts";
import type { Integrity } from "./service.ts";

/** What {@link Scrub} works with. */
export interface ScrubOptions {
  readonly integrity: Integrity;
  readonly clock: Clock;
  readonly log: Log;
  readonly databasePath: string;
  /** Bytes a second; 0: no scrub. */
  readonly rateBytes: number;
  /** How long one run goes on. */
  readonly maxTimeMs: number;
  /** Within which time every byte is to be read again; 0: all of them in each run. */
  readonly withinMs: number;
  /** Bytes of all contents. */
  readonly sumBytes: () => Promise<number>;
  /** Whether something arrives just now. */
  readonly isBusy: () => boolean;
}

/** What a run did. */
export interface Scrubbed {
  readonly contents: number;
  readonly bytes: number;
  /** Faults that were not known before. */
  readonly found: number;
  /** Problems of the database. */
  readonly problems: number;
  /** Whether all that was due was read. */
  readonly isDone: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A batch is read, then noted: a run that is cut off has lost no more than one. */
const BATCH_CONTENTS = 200;
const BATCH_BYTES = 64 * 1024 * 1024;
const LOOK_MS = 100;
/** A reading that lies further ahead was dated by a clock that was wrong. */
const AHEAD_MS = DAY_MS;
/** Above what is needed, because nights are missed and runs cut off. */
const MARGIN = 1.2;

/** See the head of this file. */
export class Scrub {
  readonly #options: ScrubOptions;

  constructor(options: ScrubOptions) {
    this.#options = options;
  }

  /**
   * One run. May be ended at any point.
   * @param isAsked somebody wants it now: all contents are due
   * @throws AppError store_missing; Error where nothing can be read at all
   */
  async run(signal: AbortSignal, isAsked = false): Promise<Scrubbed | undefined> {
    const { rateBytes, integrity, databasePath, isBusy, clock } = this.#options;
    if (rateBytes === 0) return undefined;
    const reader = new HashReader({ isSparing: true });
    const yielding = setInterval(() => reader.giveWay(isBusy()), LOOK_MS);
    const stop = () => reader.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const problems = await reader.lookThrough(databasePath);
      await integrity.noteDatabase(problems);
      reader.setRate(await this.#rate());
      const read = await this.#readDue(reader, signal, isAsked);
      await integrity.sweep(clock.nowMs() - FINDINGS_RETENTION_MS);
      await integrity.tell();
      return { ...read, problems: problems.length };
    } catch (error) {
      // The thread was ended in the middle: what was noted stays.
      if (signal.aborted) return { contents: 0, bytes: 0, found: 0, problems: 0, isDone: false };
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      clearInterval(yielding);
      reader.close();
    }
  }

  /** The configured rate, or a higher one where that would not come round in time. */
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

  async #readDue(reader: HashReader, signal: AbortSignal, isAsked: boolean): Promise<Omit<Scrubbed, "problems">> {
    const { integrity, clock, maxTimeMs, withinMs } = this.#options;
    const { readings } = integrity;
    const startedMs = clock.nowMs();
    const endMs = performance.now() + maxTimeMs;
    // Half of the time lies between two readings: nights are missed, and the store grows.
    // What this very run reads is not due again.
    const untilMs = startedMs - (isAsked ? 1 : Math.max(1, Math.floor(withinMs / 2)));
    const known = (limit: number, after?: DueContent) => readings.listDamaged(limit, after);
    const ahead = (limit: number, after?: DueContent) => readings.listAhead(startedMs + AHEAD_MS, limit, after);
    const due = (limit: number, after?: DueContent) => readings.listDue(untilMs, limit, after);
    const sum = { contents: 0, bytes: 0, found: 0 };
    for (const list of [known, ahead, due]) {
      let last: DueContent | undefined;
      for (;;) {
        const batch = takeBatch(list(BATCH_CONTENTS, last));
        last = batch.at(-1);
        if (last === undefined) break;
        sum.found += await integrity.note(await integrity.readAgain(reader, batch));
        sum.contents += batch.length;
        for (const { sizeBytes } of batch) sum.bytes += sizeBytes;
        if (signal.aborted || performance.now() > endMs) return { ...sum, isDone: false };
      }
    }
    return { ...sum, isDone: true };
  }
}

/** Bytes of all contents. A scan: for the reading thread. */
export function storedBytes(): Read<readonly { readonly bytes: number }[]> {
  return rows<{ bytes: number }>("SELECT coalesce(sum(size_bytes), 0) AS bytes FROM blobs");
}

/** As many as are read in a short while; a large one by itself. */
function takeBatch(contents: readonly DueContent[]): DueContent[] {
  let bytes = 0;
  const end = contents.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes;
    return bytes > BATCH_BYTES && index > 0;
  });
  return contents.slice(0, end < 0 ? contents.length : end);
}
