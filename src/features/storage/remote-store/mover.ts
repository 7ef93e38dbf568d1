/**
 * Moves contents between this disk and the bucket. Uploads always end on this disk first, and are acknowledged there; what
 * the bucket has not yet goes to it in the background, and only what it has for certain may be let go here.
 *
 * Everything goes on where it was left: what is done is a row, and each content is a small piece of work by itself.
 */
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import { type Digest, digestFromBytes, toChecksum } from "../../../blobs/digest.ts";
import { errorCode } from "../../../blobs/disk.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Reading } from "../integrity/types.ts";
import { AppError } from "../../../errors.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import { claim, claimIfFree, foreignBucket, type Owner, type Ownership } from "./owner.ts";
import { LOST, type ObjectChecker, type ObjectFault, OTHER_BYTES, TOO_SHORT } from "./object-checker.ts";
import {
  AWAY,
  CACHED,
  DAMAGED,
  REMOTE,
  type RemoteRows,
  RESENT,
  UNMOVED,
  UNMOVED_COUNT,
  ORPHANS,
  type UnusedCopy,
} from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import { DamagedHereError, tagOfFile } from "./send-content.ts";
import type { BlobSender, SendResult } from "./sender.ts";
import type { TierCounts, PlacedContent } from "./types.ts";

/** What {@link BlobMover} works with. */
export interface BlobMoverOptions {
  readonly client: S3Client;
  readonly sender: BlobSender;
  readonly checker: ObjectChecker;
  /** Records that contents are damaged or missing. */
  readonly noteFaults: (readings: readonly Reading[]) => Promise<unknown>;
  readonly bucket: string;
  readonly prefix: string;
  readonly owner: () => Owner;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobs: BlobStore & Pick<DiskBlobStore, "statLocal" | "dropCopy" | "replaceFromRemote">;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Log;
  /** Copies here that the bucket has too may take so much. */
  readonly cacheBytes: number;
  /** How much less than wanted is free on this disk: so much of the copies goes in any case. */
  readonly shortageBytes: () => number;
  /**
   * When the newest copy of the database was taken: only what it knows to be in the bucket is let go here, so that a copy of
   * the data directory, which begins from it, finds everything. 0 where there is none.
   */
  readonly snapshotAtMs: () => number;
  /** Notes that a content on this disk is whole again. */
  readonly onWhole: (digest: Digest) => Promise<void>;
}

/** What a run did, in contents. */
export interface Moved {
  readonly moved: number;
  readonly movedBytes: number;
  /** That could not be moved; the log says why. */
  readonly failed: number;
}

/** Of copies that were used within so long none is let go. */
const IN_USE_MS = 10 * 60 * 1000;
const BATCH = 200;
const COUNTED_MAX = 100_000;
/** Small contents cost the way there and back more than their bytes. */
const SIDE_BY_SIDE = 4;
const SMALL_BYTES_MAX = 1024 * 1024;
/** How often all contents are looked through for some that were passed over; in between only new ones are. */
const POLL_MS = 60 * 60 * 1000;

/** Moves contents. The caller runs one method at a time. */
export class BlobMover {
  readonly #options: BlobMoverOptions;
  #afterId = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #ownership: Ownership | undefined;
  /** Contents that are damaged in both places: not tried again for a while. */
  readonly #hopeless = new Set<Digest>();
  #repairedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: BlobMoverOptions) {
    this.#options = options;
  }

  /** Whose the bucket is. @throws S3Error where it can't be used, or is another store's */
  async checkBucket(): Promise<Ownership> {
    const { client, bucket, prefix, owner, remote, log } = this.#options;
    try {
      const ownership = await claimIfFree(client, prefix, owner());
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

  /** Makes sure that the bucket may be written: it was found not to be another store's. @throws as {@link checkBucket} */
  async mustBeUsable(): Promise<void> {
    if (this.#ownership === undefined) await this.checkBucket();
  }

  /** Makes this database the bucket's owner. @throws S3Error */
  async claim(): Promise<void> {
    const { client, prefix, bucket, owner } = this.#options;
    if ((await claimIfFree(client, prefix, owner())) === "foreign") throw foreignBucket(bucket, prefix);
    await claim(client, prefix, owner());
    this.#ownership = "ours";
  }

  /** Sends contents to the bucket that it does not have. Ends early where the service can't be used. @throws S3Error */
  async moveToBucket(signal: AbortSignal): Promise<Moved> {
    const { clock, noteFaults } = this.#options;
    if (clock.nowMs() - this.#lookedAtMs >= POLL_MS) {
      this.#afterId = 0;
      this.#lookedAtMs = clock.nowMs();
    }
    const tally = new Tally();
    try {
      await this.#sendAll(await this.#listById(RESENT), tally, signal);
      while (!signal.aborted) {
        const batch = await this.#listById(UNMOVED);
        if (batch.length === 0) break;
        await this.#sendAll(batch, tally, signal);
        if (!signal.aborted) this.#afterId = batch.at(-1)?.id ?? this.#afterId;
      }
    } finally {
      await noteFaults(tally.faults);
    }
    return tally;
  }

  /** How many contents wait for the bucket; counted to a hundred thousand. Looks at those only that were not gone through. */
  async countWaiting(): Promise<number> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ contents: number }>(UNMOVED_COUNT, [this.#afterId, COUNTED_MAX]),
    ]);
    return found[0]?.contents ?? 0;
  }

  /** Fetches contents that are in the bucket alone to this disk. @throws AppError provider_unavailable | disk_full */
  async moveToDisk(signal: AbortSignal): Promise<Moved> {
    const { blobs, log, remote } = this.#options;
    let lost: { checksum: string; error: unknown } | undefined;
    const tally = new Tally();
    for await (const { digest, sizeBytes } of this.#walk(AWAY, signal)) {
      try {
        await blobs.fetchLocal(digest);
        tally.add(sizeBytes);
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        lost ??= { checksum: toChecksum(digest), error };
        tally.failed++;
      }
    }
    if (lost !== undefined)
      log.error("Could not fetch blobs from the bucket.", { contents: tally.failed, first: lost });
    await remote.flush();
    return tally;
  }

  /**
   * Empties the bucket of what lies on this disk as well. @returns how many objects were removed
   * @throws S3Error; AppError invalid_request where the bucket is not ours alone
   */
  async emptyBucket(signal: AbortSignal): Promise<number> {
    await this.#demandOwnership();
    const { rows, blobs, writer, clock } = this.#options;
    let removed = 0;
    for (let after: Digest | undefined; !signal.aborted; ) {
      const batch = await this.#list(REMOTE, after);
      after = batch.at(-1)?.digest;
      if (after === undefined) break;
      const here = batch.filter(({ digest, sizeBytes }) => blobs.statLocal(digest)?.sizeBytes === sizeBytes);
      await writer.run(() => {
        for (const { digest } of here) rows.leave(digest, clock.nowMs());
      });
      removed += await this.#removeLeaving(signal);
    }
    return removed;
  }

  /** Makes the next {@link moveToBucket} look through all contents, not only through those that are new. */
  lookAtAll(): void {
    this.#lookedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Removes objects whose contents the collector has let go for good. @returns how many @throws S3Error */
  async collect(signal: AbortSignal): Promise<number> {
    if (this.#ownership !== "ours" && (await this.checkBucket()) !== "ours") return 0;
    const { rows, writer, clock } = this.#options;
    for await (const { digest } of this.#walk(ORPHANS, signal)) {
      // An upload may have stored it again since it was listed.
      await writer.run(() => (rows.isNamed(digest) ? undefined : rows.leave(digest, clock.nowMs())), { isQuiet: true });
      // A new content may have the id of the removed one, which was gone through.
      this.lookAtAll();
    }
    return this.#removeLeaving(signal);
  }

  /**
   * Puts good bytes of the bucket in the place of copies on this disk that were found damaged (D9).
   * @returns how many were whole there
   * @throws AppError provider_unavailable | disk_full
   */
  async repair(signal: AbortSignal): Promise<number> {
    const { blobs, log, onWhole, clock } = this.#options;
    if (clock.nowMs() - this.#repairedAtMs >= POLL_MS) {
      this.#hopeless.clear();
      this.#repairedAtMs = clock.nowMs();
    }
    let repaired = 0;
    for await (const { digest } of this.#walk(DAMAGED, signal)) {
      if (this.#hopeless.has(digest)) continue;
      try {
        await blobs.replaceFromRemote(digest);
        await onWhole(digest);
        log.info("Replaced a damaged blob with the copy from the bucket.", { checksum: toChecksum(digest) });
        repaired++;
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        log.error("A damaged blob is damaged in the bucket too.", { checksum: toChecksum(digest), error });
        this.#hopeless.add(digest);
      }
    }
    return repaired;
  }

  /**
   * Lets copies on this disk go until the others fit into the cache, those unused for longest first. Each is asked for in
   * the bucket once more: what is not there, in its length, is sent again instead.
   */
  async trimCache(signal: AbortSignal): Promise<TierCounts> {
    const { remote, reader, rows, cacheBytes, clock, snapshotAtMs, shortageBytes } = this.#options;
    await remote.flush();
    const [[cached]] = await reader.read([rowsOf<TierCounts>(CACHED)]);
    let surplus = Math.max((cached?.bytes ?? 0) - cacheBytes, shortageBytes());
    let [contents, bytes] = [0, 0];
    while (surplus > 0 && !signal.aborted) {
      const batch = rows.listUnused(clock.nowMs() - IN_USE_MS, snapshotAtMs(), BATCH);
      let isStuck = true;
      for (const unused of batch) {
        if (surplus <= 0 || signal.aborted) break;
        if (!(await this.#letGo(unused, signal))) continue;
        isStuck = false;
        surplus -= unused.sizeBytes;
        bytes += unused.sizeBytes;
        contents++;
      }
      if (isStuck) break;
    }
    return { contents, bytes };
  }

  async #letGo(unused: UnusedCopy, signal: AbortSignal): Promise<boolean> {
    const { sender, remote, rows, blobs, writer, clock, checker } = this.#options;
    const { digest, sizeBytes, usedAtMs } = unused;
    const fault = await this.#findFault(unused);
    if (fault !== null) {
      await checker.note([{ digest, fault }]);
      await sender.send({ digest, sizeBytes }, signal, true);
      return false;
    }
    return writer.run(
      (tx) => {
        if (clock.nowMs() - remote.lastUseMs(digest) < IN_USE_MS || blobs.isLeased(digest)) return false;
        if (!rows.drop(digest, usedAtMs)) return false;
        tx.afterCommit(() => blobs.dropCopy(digest));
        return true;
      },
      { isQuiet: true },
    );
  }

  /**
   * What is wrong with the object of a copy that is about to go. One that has the ETag of when it was stored, or the one that
   * its bytes have with most services, is the one that was sent; any other is read.
   */
  async #findFault(copy: UnusedCopy): Promise<ObjectFault> {
    const { client, remote, rows, blobs, writer, checker } = this.#options;
    const { digest, sizeBytes } = copy;
    const there = await client.head(remote.keyOf(digest));
    if (there === undefined) return LOST;
    if (there.sizeBytes < sizeBytes) return TOO_SHORT;
    if (there.sizeBytes > sizeBytes) return OTHER_BYTES;
    if (there.etag === copy.etag) return null;
    const isExpected = (await findTag(blobs.pathOf(digest), copy)) === there.etag;
    const fault = isExpected ? null : await checker.check(copy, () => {});
    if (fault === null) await writer.run(() => rows.setEtag(digest, there.etag), { isQuiet: true });
    return fault;
  }

  async #sendAll(batch: readonly PlacedContent[], tally: Tally, signal: AbortSignal): Promise<void> {
    const waiting = batch[Symbol.iterator]();
    const lanes = batch.some(({ sizeBytes }) => sizeBytes > SMALL_BYTES_MAX) ? 1 : SIDE_BY_SIDE;
    const failures: unknown[] = [];
    const work = async () => {
      for (const content of waiting) {
        if (signal.aborted || failures.length > 0) return;
        try {
          tally.note(await this.#options.sender.send(content, signal), content.sizeBytes);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
    if (failures.length > 0) throw failures[0];
  }

  async #removeLeaving(signal: AbortSignal): Promise<number> {
    const { rows, sender } = this.#options;
    let removed = 0;
    for (let batch = rows.listLeaving(BATCH); batch.length > 0 && !signal.aborted; batch = rows.listLeaving(BATCH)) {
      for (const { digest } of batch) if (await sender.remove(digest)) removed++;
    }
    return removed;
  }

  async #demandOwnership(): Promise<void> {
    if ((await this.checkBucket()) === "ours") return;
    throw new AppError(
      "invalid_request",
      "Another copy of this data directory uses the bucket, so nothing " +
        "was removed. If that copy is gone, run: larder blobs claim",
    );
  }

  async #listById(sql: string): Promise<(PlacedContent & { readonly id: number })[]> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ id: number; digest: Uint8Array; sizeBytes: number }>(sql, [this.#afterId, BATCH]),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }

  /** What a query gives, a batch at a time. */
  async *#walk(sql: string, signal: AbortSignal): AsyncGenerator<PlacedContent, void, undefined> {
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

  async #list(sql: string, after: Digest | undefined): Promise<PlacedContent[]> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ digest: Uint8Array; sizeBytes: number }>(sql, [after ?? "", BATCH]),
    ]);
    return found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
  }
}

class Tally implements Moved {
  moved = 0;
  movedBytes = 0;
  failed = 0;
  /** Contents that neither this disk nor the bucket has. */
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

/** The ETag that the object of a copy on this disk should have; undefined where the copy is damaged or gone. */
async function findTag(path: string, copy: PlacedContent): Promise<string | undefined> {
  try {
    return await tagOfFile(path, copy);
  } catch (error) {
    if (error instanceof DamagedHereError || errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
