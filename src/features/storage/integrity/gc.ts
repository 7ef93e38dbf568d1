/**
 * Garbage collection: deletes blobs without references, in two steps at least a day apart. First a transaction checks
 * the blob again and deletes its row, and the file is moved to quarantine. A later pass deletes the file. An upload of
 * the same bytes in between finds no row and writes the blob again, so it never waits for garbage collection or loses
 * its blob to it.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { BlobRows, UnreferencedBlob } from "./blob-rows.ts";

/** Dependencies of {@link Collector}. */
interface CollectorOptions {
  readonly rows: BlobRows;
  readonly blobs: BlobStore;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a blob stays after its last reference was deleted. */
  readonly graceMs: number;
  /** Opens the references of stored snapshots; closed after each pass. */
  readonly openSnapshotReferences: () => Promise<SnapshotReferences>;
}

/** The blobs that stored snapshots of the database name: restoring a snapshot must find them. */
export interface SnapshotReferences {
  has(digest: Digest): boolean;
  close(): void;
}

/** The result of a pass. */
interface CollectionResult {
  /** Blobs in quarantine, without those that the same pass deleted. */
  readonly setAside: number;
  readonly removed: number;
  readonly freedBytes: number;
}

/** How long a blob stays in quarantine. */
const QUARANTINE_MS = 24 * 60 * 60 * 1000;
/** Small, because file systems are slow for all users after large deletions. */
const BATCH = 20;
/** Time for searching snapshots before requests get their turn: there may be forty snapshots. */
const SLICE_MS = 4;
/** A file without a row may belong to an upload that is about to get one. */
const LEFTOVER_AGE_MS = 60 * 60 * 1000;

/** Collects garbage. A pass consists of small transactions and may be interrupted at any point. */
export class Collector {
  readonly #options: CollectorOptions;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** Runs one pass. @param isNow skips the grace period and the time in quarantine (`larder gc --now`) */
  async run(signal: AbortSignal, isNow = false): Promise<CollectionResult> {
    const { clock, graceMs, openSnapshotReferences } = this.#options;
    const nowMs = clock.nowMs();
    const references = await openSnapshotReferences();
    try {
      const setAside = await this.#setAside(isNow ? nowMs : nowMs - graceMs, references, signal);
      // Blobs that were just moved to quarantine have this very time or a later one.
      const { removed, freedBytes } = await this.#unlink(
        isNow ? Number.MAX_SAFE_INTEGER : nowMs - QUARANTINE_MS,
        references,
        signal,
      );
      // The pass also deleted what it moved to quarantine, unless it was interrupted.
      return { setAside: isNow && !signal.aborted ? 0 : setAside, removed, freedBytes };
    } finally {
      references.close();
    }
  }

  /**
   * Moves files without a row, under one first byte (`00` … `ff`), to quarantine: those of uploads that a crash ended
   * between the rename and the row.
   */
  async sweepLeftovers(firstByte: string, minimumAgeMs = LEFTOVER_AGE_MS): Promise<number> {
    const { blobs, rows, clock, log, openSnapshotReferences } = this.#options;
    const youngestMs = clock.nowMs() - minimumAgeMs;
    const orphans = blobs
      .listFolder(firstByte)
      .filter(({ digest, modifiedAtMs }) => modifiedAtMs <= youngestMs && rows.find(digest) === undefined);
    if (orphans.length === 0) return 0;
    const references = await openSnapshotReferences();
    try {
      const found = await withoutReferences(orphans, references);
      for (const { digest } of found) await this.#quarantineOrphan(digest);
      if (found.length > 0)
        log.info("Moved orphaned blobs to quarantine/; a later garbage collection removes them.", {
          count: found.length,
          firstByte,
        });
      return found.length;
    } finally {
      references.close();
    }
  }

  async #quarantineOrphan(digest: Digest): Promise<void> {
    const { blobs, rows, writer, clock } = this.#options;
    await writer.run((tx) => {
      if (rows.find(digest) !== undefined || blobs.isLeased(digest)) return;
      rows.noteAside(digest, blobs.stat(digest)?.sizeBytes ?? 0, clock.nowMs());
      tx.afterCommit(() => {
        if (!blobs.isLeased(digest)) this.#moveToQuarantine(digest);
      });
    });
  }

  async #setAside(untilMs: number, references: SnapshotReferences, signal: AbortSignal): Promise<number> {
    const { rows, blobs, writer, clock } = this.#options;
    let total = 0;
    let last: UnreferencedBlob | undefined;
    while (!signal.aborted) {
      const batch = rows.listUnreferenced(untilMs, BATCH, last);
      last = batch.at(-1);
      if (last === undefined) break;
      const candidates = await withoutReferences(batch, references);
      if (candidates.length === 0) continue;
      total += await writer.run((tx) => {
        // Skips a leased blob, whose new row needs the file, and one that got a reference since.
        const taken = candidates.filter((blob) => !blobs.isLeased(blob.digest) && rows.setAside(blob, clock.nowMs()));
        // Synchronously with the commit, before any upload can store the same bytes again.
        tx.afterCommit(() => {
          for (const { digest } of taken) this.#moveToQuarantine(digest);
        });
        return taken.length;
      });
    }
    return total;
  }

  async #unlink(
    untilMs: number,
    references: SnapshotReferences,
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
      const unreferenced = new Set(await withoutReferences(batch, references));
      const gone = batch.filter((content) => unreferenced.has(content) || this.#isStoredAgain(content.digest));
      for (const { digest, sizeBytes } of gone) {
        // After a crash between the deletion of the row and the move, the file is still in the store.
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

  /** Whether a blob in quarantine was stored again since: a snapshot that names it has the new one then. */
  #isStoredAgain(digest: Digest): boolean {
    const { rows, blobs } = this.#options;
    const row = rows.find(digest);
    return row !== undefined && !row.isDamaged && blobs.stat(digest)?.sizeBytes === row.sizeBytes;
  }

  #moveToQuarantine(digest: Parameters<BlobStore["quarantine"]>[0]): void {
    try {
      this.#options.blobs.quarantine(digest);
    } catch (error) {
      this.#options.log.warn("Could not move an unreferenced blob to quarantine/; will retry.", { error });
    }
  }
}

/** The blobs that no stored snapshot names. */
async function withoutReferences<T extends { readonly digest: Digest }>(
  blobs: readonly T[],
  references: SnapshotReferences,
): Promise<T[]> {
  const found: T[] = [];
  let startedMs = performance.now();
  for (const blob of blobs) {
    if (!references.has(blob.digest)) found.push(blob);
    if (performance.now() - startedMs < SLICE_MS) continue;
    await new Promise(setImmediate);
    startedMs = performance.now();
  }
  return found;
}
