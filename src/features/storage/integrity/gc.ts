/**
 * The collector: frees the bytes that nothing refers to any more. In two steps, days apart (D8): first a content loses
 * its row and its file is set aside, checked once more inside that very transaction; only a later pass unlinks it. An
 * upload of the same bytes in between finds no row and writes them anew, so it never waits for, or loses to, the collector.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { BlobRows, Unreferenced } from "./blob-rows.ts";

/** What {@link Collector} works with. */
export interface CollectorOptions {
  readonly rows: BlobRows;
  readonly blobs: BlobStore;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a content stays after the last reference to it is gone. */
  readonly graceMs: number;
  /** Opens what tells which contents are named by copies of the database that are kept; closed after each pass. */
  readonly openSnapshotReferences: () => Promise<SnapshotReferences>;
}

/** Whether a kept copy of the database names a content: going back to it must find the bytes (D8). */
export interface SnapshotReferences {
  has(digest: Digest): boolean;
  close(): void;
}

/** What a pass did. */
export interface Collected {
  /** Contents that wait for a later pass; what the same pass removed is not among them. */
  readonly setAside: number;
  readonly removed: number;
  readonly freedBytes: number;
}

/** How long a content stays aside before it is unlinked. */
const ASIDE_MS = 24 * 60 * 60 * 1000;
/** Few at a time: file systems slow down for everybody after large deletions. */
const BATCH = 20;
/** Kept snapshots are asked for so long before others have their turn: there may be forty of them. */
const ASKING_MS = 4;
/** A file without a row may belong to an upload that is about to get one. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

/** See the head of this file. Every pass is a row of small deeds and may be ended at any point. */
export class Collector {
  readonly #options: CollectorOptions;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** One pass. @param isNow ends the grace period and the time aside for all that waits (`larder gc --now`) */
  async run(signal: AbortSignal, isNow = false): Promise<Collected> {
    const { clock, graceMs, openSnapshotReferences } = this.#options;
    const nowMs = clock.nowMs();
    const kept = await openSnapshotReferences();
    try {
      const setAside = await this.#setAside(isNow ? nowMs : nowMs - graceMs, kept, signal);
      // What was set aside just now is of this very instant or later.
      const { removed, freedBytes } = await this.#unlink(
        isNow ? Number.MAX_SAFE_INTEGER : nowMs - ASIDE_MS,
        kept,
        signal,
      );
      // All that waits was removed with the rest, unless the pass was ended before.
      return { setAside: isNow && !signal.aborted ? 0 : setAside, removed, freedBytes };
    } finally {
      kept.close();
    }
  }

  /**
   * Sets aside files of the store without a row, under one first byte (`00` … `ff`): what uploads left that a crash ended
   * between disk and database.
   */
  async sweepLeftovers(firstByte: string, minimumAgeMs = LEFTOVER_AGE_MS): Promise<number> {
    const { blobs, rows, clock, log, openSnapshotReferences } = this.#options;
    const youngestMs = clock.nowMs() - minimumAgeMs;
    const alone = blobs
      .listFolder(firstByte)
      .filter(({ digest, modifiedAtMs }) => modifiedAtMs <= youngestMs && rows.find(digest) === undefined);
    if (alone.length === 0) return 0;
    const kept = await openSnapshotReferences();
    try {
      const found = await unkept(alone, kept);
      for (const { digest } of found) await this.#setLeftoverAside(digest);
      if (found.length > 0)
        log.info("Moved orphaned blobs to quarantine/; a later garbage collection removes them.", {
          count: found.length,
          firstByte,
        });
      return found.length;
    } finally {
      kept.close();
    }
  }

  async #setLeftoverAside(digest: Digest): Promise<void> {
    const { blobs, rows, writer, clock } = this.#options;
    await writer.run((tx) => {
      if (rows.find(digest) !== undefined || blobs.isLeased(digest)) return;
      rows.noteAside(digest, blobs.stat(digest)?.sizeBytes ?? 0, clock.nowMs());
      tx.afterCommit(() => {
        if (!blobs.isLeased(digest)) this.#moveAside(digest);
      });
    });
  }

  async #setAside(untilMs: number, kept: SnapshotReferences, signal: AbortSignal): Promise<number> {
    const { rows, blobs, writer, clock } = this.#options;
    let total = 0;
    let last: Unreferenced | undefined;
    while (!signal.aborted) {
      const batch = rows.listUnreferenced(untilMs, BATCH, last);
      last = batch.at(-1);
      if (last === undefined) break;
      const waiting = await unkept(batch, kept);
      if (waiting.length === 0) continue;
      total += await writer.run((tx) => {
        // What is just arriving is left: its new row counts on the old file. What was taken up again since is not let go.
        const taken = waiting.filter((blob) => !blobs.isLeased(blob.digest) && rows.setAside(blob, clock.nowMs()));
        // In the same breath as the commit, before any upload can bring these bytes again.
        tx.afterCommit(() => {
          for (const { digest } of taken) this.#moveAside(digest);
        });
        return taken.length;
      });
    }
    return total;
  }

  async #unlink(
    untilMs: number,
    kept: SnapshotReferences,
    signal: AbortSignal,
  ): Promise<{ removed: number; freedBytes: number }> {
    const { rows, blobs, writer } = this.#options;
    let removed = 0;
    let freedBytes = 0;
    let last: Digest | undefined;
    while (!signal.aborted) {
      const batch = rows.listSetAside(untilMs, BATCH, last);
      last = batch.at(-1)?.digest;
      if (last === undefined) break;
      const unnamed = new Set(await unkept(batch, kept));
      const gone = batch.filter((content) => unnamed.has(content) || this.#isThereAgain(content.digest));
      for (const { digest, sizeBytes } of gone) {
        // A crash may have come between the row's end and the move: then the file still lies at its old place.
        if (rows.find(digest) === undefined && !blobs.isLeased(digest)) blobs.quarantine(digest);
        blobs.unlinkQuarantined(digest);
        removed++;
        freedBytes += sizeBytes;
      }
      await writer.run(() => {
        for (const { digest } of gone) rows.forget(digest);
      });
    }
    return { removed, freedBytes };
  }

  /** Whether a content that was set aside has come anew since: what a snapshot names is there, and this is a second one. */
  #isThereAgain(digest: Digest): boolean {
    const { rows, blobs } = this.#options;
    const row = rows.find(digest);
    return row !== undefined && !row.isDamaged && blobs.stat(digest)?.sizeBytes === row.sizeBytes;
  }

  #moveAside(digest: Parameters<BlobStore["quarantine"]>[0]): void {
    try {
      this.#options.blobs.quarantine(digest);
    } catch (error) {
      this.#options.log.warn("Could not move an unreferenced blob to quarantine/; will retry.", { error });
    }
  }
}

/** Those that no kept snapshot names. */
async function unkept<T extends { readonly digest: Digest }>(
  contents: readonly T[],
  kept: SnapshotReferences,
): Promise<T[]> {
  const found: T[] = [];
  let begunMs = performance.now();
  for (const content of contents) {
    if (!kept.has(content.digest)) found.push(content);
    if (performance.now() - begunMs < ASKING_MS) continue;
    await new Promise(setImmediate);
    begunMs = performance.now();
  }
  return found;
}
