/**
 * Moves blobs between this disk and the bucket. Uploads are stored on this disk first, and acknowledged then. Blobs
 * that the bucket does not have are sent in the background. A copy on this disk is deleted only when the bucket has the
 * blob for certain.
 *
 * Each blob is moved on its own and its result is a row, so an interrupted run continues where it ended.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import { type Digest, digestFromBytes, toChecksum } from "../../../blobs/digest.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import { rows as rowsOf } from "../../../db/reader.ts";
import type { Reading } from "../integrity/types.ts";
import { AppError } from "../../../errors.ts";
import type { Log } from "../../../lib/log.ts";
import { say } from "../../../translations/say.ts";
import { claim, claimIfFree, foreignBucket, type Owner, type Ownership } from "./owner.ts";
import { LocalCache, type LocalCacheOptions } from "./local-cache.ts";
import { REMOTE_ONLY, DAMAGED_LOCAL, MARKED, REMOTE, TO_RESEND, UNSENT, UNSENT_COUNT, ORPHANS } from "./queries.ts";
import type { RemovalGuard } from "./removal-guard.ts";
import type { SendResult } from "./sender.ts";
import type { TierCounts, SizedBlob } from "./types.ts";

/** Dependencies of {@link BlobMover}. */
interface BlobMoverOptions extends LocalCacheOptions {
  /** Records damaged and missing blobs. */
  readonly noteFaults: (readings: readonly Reading[]) => Promise<unknown>;
  readonly removals: RemovalGuard;
  readonly objects: Pick<SmallObjects, "createOnce">;
  readonly bucket: string;
  readonly prefix: string;
  readonly owner: () => Owner;
  readonly blobs: BlobStore & Pick<DiskBlobStore, "statLocal" | "dropCopy" | "replaceFromRemote">;
  readonly log: Log;
  /** Records that a blob on this disk is whole again. */
  readonly onWhole: (digest: Digest) => Promise<void>;
}

/** The result of a run, in blobs. */
export interface MoveResult {
  readonly moved: number;
  readonly movedBytes: number;
  /** Blobs that could not be moved; the log has the reason. */
  readonly failed: number;
}

const BATCH = 200;
const COUNTED_MAX = 100_000;
/** Concurrent transfers of small blobs, whose round trips take longer than their bytes. */
const SMALL_TRANSFERS = 4;
const SMALL_BYTES_MAX = 1024 * 1024;
/** How often all blobs are listed again, for some that were skipped; in between, only new ones are listed. */
const POLL_MS = 60 * 60 * 1000;

/** Moves blobs. The caller runs one method at a time. */
export class BlobMover {
  readonly #options: BlobMoverOptions;
  readonly #cache: LocalCache;
  #afterId = 0;
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #ownership: Ownership | undefined;
  /** Blobs that are damaged on this disk and in the bucket: not tried again for an hour. */
  readonly #unrepairable = new Set<Digest>();
  #repairedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BlobMoverOptions) {
    this.#options = options;
    this.#cache = new LocalCache(options);
  }

  /** Finds the owner of the bucket. @throws S3Error if it can't be used, or is another store's */
  async checkBucket(): Promise<Ownership> {
    const { bucket, prefix, owner, remote, log } = this.#options;
    try {
      const ownership = await claimIfFree(this.#options, prefix, owner());
      if (ownership === "foreign") throw foreignBucket(bucket, prefix);
      if (ownership === "copy" && this.#ownership !== "copy") {
        log.warn(
          "Another copy of this data directory owns the bucket; blobs are read and added, but nothing is removed. " +
            "If that copy is no longer in use, run: larder blobs claim",
        );
      }
      this.#ownership = ownership;
      remote.noteHealth(undefined);
      return ownership;
    } catch (error) {
      if (error instanceof S3Error) remote.noteHealth(error.message);
      throw error;
    }
  }

  /** Makes sure that the bucket does not belong to another store. @throws as {@link checkBucket} */
  async mustBeUsable(): Promise<void> {
    if (this.#ownership === undefined) await this.checkBucket();
  }

  /** Makes this database the bucket's owner. @throws S3Error */
  async claim(): Promise<void> {
    const { client, prefix, bucket, owner } = this.#options;
    if ((await claimIfFree(this.#options, prefix, owner())) === "foreign") throw foreignBucket(bucket, prefix);
    await claim(client, prefix, owner());
    this.#ownership = "ours";
  }

  /** Sends blobs that the bucket does not have. Ends early if the service can't be used. @throws S3Error */
  async moveToBucket(signal: AbortSignal): Promise<MoveResult> {
    const { clock, noteFaults } = this.#options;
    if (clock.nowMs() - this.#listedAtMs >= POLL_MS) {
      this.#afterId = 0;
      this.#listedAtMs = clock.nowMs();
    }
    const result = new MoveCounts();
    try {
      await this.#sendAll(await this.#listById(TO_RESEND), result, signal);
      while (!signal.aborted) {
        const batch = await this.#listById(UNSENT);
        if (batch.length === 0) break;
        await this.#sendAll(batch, result, signal);
        if (!signal.aborted) this.#afterId = batch.at(-1)?.id ?? this.#afterId;
      }
    } finally {
      await noteFaults(result.faults);
    }
    return result;
  }

  /** Counts blobs that are still to be sent, up to a hundred thousand, without those that were listed already. */
  async countWaiting(): Promise<number> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ contents: number }>(UNSENT_COUNT, [this.#afterId, COUNTED_MAX]),
    ]);
    return found[0]?.contents ?? 0;
  }

  /** Fetches blobs that only the bucket has to this disk. @throws AppError provider_unavailable | disk_full */
  async moveToDisk(signal: AbortSignal): Promise<MoveResult> {
    const { blobs, log, remote } = this.#options;
    let lost: { checksum: string; error: unknown } | undefined;
    const result = new MoveCounts();
    for await (const { digest, sizeBytes } of this.#walk(REMOTE_ONLY, signal)) {
      try {
        await blobs.fetchLocal(digest);
        result.add(sizeBytes);
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        lost ??= { checksum: toChecksum(digest), error };
        result.failed++;
      }
    }
    if (lost !== undefined)
      log.error("Could not fetch blobs from the bucket.", { contents: result.failed, first: lost });
    await remote.flush();
    return result;
  }

  /**
   * Deletes all objects whose blobs are on this disk as well. @returns how many
   * @throws S3Error; AppError invalid_request if this database does not own the bucket
   */
  async emptyBucket(signal: AbortSignal): Promise<number> {
    await this.#requireOwnership();
    const { rows, blobs, writer, clock } = this.#options;
    let removed = 0;
    for (let after: Digest | undefined; !signal.aborted; ) {
      const batch = await this.#list(REMOTE, after);
      after = batch.at(-1)?.digest;
      if (after === undefined) break;
      const here = batch.filter(({ digest, sizeBytes }) => blobs.statLocal(digest)?.sizeBytes === sizeBytes);
      await writer.run(() => {
        for (const { digest } of here) rows.markForDeletion(digest, clock.nowMs());
      });
      removed += await this.#deleteMarked(signal);
    }
    return removed;
  }

  /** Makes the next {@link moveToBucket} list all blobs, not only new ones. */
  listAll(): void {
    this.#listedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Deletes objects whose blobs garbage collection has deleted. @returns how many @throws S3Error */
  async collect(signal: AbortSignal): Promise<number> {
    if (this.#ownership !== "ours" && (await this.checkBucket()) !== "ours") return 0;
    const { rows, writer, blobs, clock } = this.#options;
    for await (const { digest } of this.#walk(ORPHANS, signal)) {
      // An upload may have stored it again since it was listed, or have sent it and be about to write its row.
      const isNeeded = () => rows.isNamed(digest) || blobs.isLeased(digest);
      await writer.run(() => (isNeeded() ? undefined : rows.markForDeletion(digest, clock.nowMs())), {
        isQuiet: true,
      });
      // A new blob may get the id of the deleted one, which was listed already.
      this.listAll();
    }
    return this.#deleteMarked(signal);
  }

  /**
   * Replaces damaged copies on this disk by the good bytes of the bucket.
   * @returns how many were replaced
   * @throws AppError provider_unavailable | disk_full
   */
  async repair(signal: AbortSignal): Promise<number> {
    const { blobs, log, onWhole, clock } = this.#options;
    if (clock.nowMs() - this.#repairedAtMs >= POLL_MS) {
      this.#unrepairable.clear();
      this.#repairedAtMs = clock.nowMs();
    }
    let repaired = 0;
    for await (const { digest } of this.#walk(DAMAGED_LOCAL, signal)) {
      if (this.#unrepairable.has(digest)) continue;
      try {
        await blobs.replaceFromRemote(digest);
        await onWhole(digest);
        log.info("Replaced a damaged blob with the copy from the bucket.", { checksum: toChecksum(digest) });
        repaired++;
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        log.error("A damaged blob is damaged in the bucket too.", { checksum: toChecksum(digest), error });
        this.#unrepairable.add(digest);
      }
    }
    return repaired;
  }

  /** Deletes copies on this disk that do not fit into the cache. @throws S3Error */
  trimCache(signal: AbortSignal): Promise<TierCounts> {
    return this.#cache.trim(signal);
  }

  async #sendAll(batch: readonly SizedBlob[], result: MoveCounts, signal: AbortSignal): Promise<void> {
    const pending = batch[Symbol.iterator]();
    const workers = batch.some(({ sizeBytes }) => sizeBytes > SMALL_BYTES_MAX) ? 1 : SMALL_TRANSFERS;
    const failures: unknown[] = [];
    const work = async () => {
      for (const content of pending) {
        if (signal.aborted || failures.length > 0) return;
        try {
          result.note(await this.#options.sender.send(content, signal), content.sizeBytes);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
    if (failures.length > 0) throw failures[0];
  }

  async #deleteMarked(signal: AbortSignal): Promise<number> {
    let removed = 0;
    if (!(await this.#options.removals.begin())) return removed;
    for await (const { digest } of this.#walk(MARKED, signal)) if (await this.#options.sender.remove(digest)) removed++;
    return removed;
  }

  async #requireOwnership(): Promise<void> {
    if ((await this.checkBucket()) === "ours") return;
    throw new AppError(
      "invalid_request",
      say`Another copy of this data directory uses the bucket, so nothing was removed. If that copy is gone, run: larder blobs claim`,
    );
  }

  async #listById(sql: string): Promise<(SizedBlob & { readonly id: number })[]> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ id: number; digest: Uint8Array; sizeBytes: number }>(sql, [this.#afterId, BATCH]),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** Yields the results of a query, read in batches. */
  async *#walk(sql: string, signal: AbortSignal): AsyncGenerator<SizedBlob, void, undefined> {
    for (let after: Digest | undefined; !signal.aborted; ) {
      const batch = await this.#list(sql, after);
      after = batch.at(-1)?.digest;
      if (after === undefined) return;
      for (const content of batch) {
        if (signal.aborted) return;
        yield content;
      }
    }
  }

  async #list(sql: string, after: Digest | undefined): Promise<SizedBlob[]> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ digest: Uint8Array; sizeBytes: number }>(sql, [after ?? "", BATCH]),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }
}

class MoveCounts implements MoveResult {
  moved = 0;
  movedBytes = 0;
  failed = 0;
  /** Blobs that neither this disk nor the bucket has. */
  readonly faults: Reading[] = [];

  add(bytes: number): void {
    this.moved++;
    this.movedBytes += bytes;
  }

  note(result: SendResult, bytes: number): void {
    if (result === "sent") this.add(bytes);
    else if (result !== "there") {
      this.failed++;
      this.faults.push(result);
    }
  }
}
