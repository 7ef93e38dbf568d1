/**
 * Moves contents between this disk and the bucket. Uploads always end on this disk first, and are acknowledged there; what
 * the bucket has not yet goes to it in the background, and only what it has for certain may be let go here.
 *
 * Everything goes on where it was left: what is done is a row, and each content is a small piece of work by itself.
 */
import type { BlobStore } from "../../blobs/blob-store.ts";
import type { DiskBlobStore } from "../../blobs/disk-blob-store.ts";
import { type Digest, digestFromBytes, isDigest, toChecksum } from "../../blobs/digest.ts";
import { errorCode } from "../../blobs/disk.ts";
import { type S3Client, S3Error, type S3Object } from "../../blobs/s3/client.ts";
import { type Reader, rows as rowsOf } from "../../db/reader.ts";
import type { Writer } from "../../db/transaction.ts";
import type { KeptContents } from "../integrity/gc.ts";
import { AppError } from "../../errors.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { claim, claimIfFree, foreignBucket, type Owner, type Ownership } from "./owner.ts";
import { AWAY, CACHED, DAMAGED, REMOTE, type RemoteRows, UNMOVED, UNMOVED_COUNT, UNNAMED } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import { DamagedHereError, sendContent } from "./send-content.ts";
import type { PlaceCounts, PlacedContent } from "./types.ts";

/** What {@link BlobMover} works with. */
export interface BlobMoverOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly prefix: string;
  readonly owner: () => Owner;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobs: BlobStore & Pick<DiskBlobStore, "statHere" | "dropCopy" | "replaceFromRemote">;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Log;
  /** Copies here that the bucket has too may take so much. */
  readonly cacheBytes: number;
  /** How much less than wanted is free on this disk: so much of the copies goes in any case. */
  readonly shortageBytes: () => number;
  readonly isBusy: () => boolean;
  /** Opens what tells which contents are named by copies of the database that are kept. */
  readonly openKept: () => Promise<KeptContents>;
  /**
   * When the newest copy of the database was taken: only what it knows to be in the bucket is let go here, so that a copy of
   * the data directory, which begins from it, finds everything. 0 where there is none.
   */
  readonly snapshotAtMs: () => number;
  /** Notes that a content on this disk was found damaged. */
  readonly onDamaged: (digest: Digest) => Promise<void>;
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
/** An object that nothing names may be of a database that is about to be put back. */
const UNNAMED_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** Small contents cost the way there and back more than their bytes. */
const SIDE_BY_SIDE = 4;
const SMALL_BYTES_MAX = 1024 * 1024;
const BUSY_REST_MS = 20;
/** How often all contents are looked through for some that were passed over; in between only new ones are. */
const LOOK_AGAIN_MS = 60 * 60 * 1000;

/** See the head of this file. Runs one thing at a time: its caller sees to that. */
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
          "The bucket belongs to another copy of this data directory: contents are read and added there, and nothing is " +
            "removed. If that one is gone for good, run: larder blobs claim",
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

  /** Makes this database the bucket's owner. @throws S3Error */
  async claim(): Promise<void> {
    const { client, prefix, bucket, owner } = this.#options;
    if ((await claimIfFree(client, prefix, owner())) === "foreign") throw foreignBucket(bucket, prefix);
    await claim(client, prefix, owner());
    this.#ownership = "ours";
  }

  /** Sends contents to the bucket that it has not. Ends early where the service can't be used. @throws S3Error */
  async moveToBucket(signal: AbortSignal): Promise<Moved> {
    const { clock } = this.#options;
    if (clock.nowMs() - this.#lookedAtMs >= LOOK_AGAIN_MS) {
      this.#afterId = 0;
      this.#lookedAtMs = clock.nowMs();
    }
    const tally = new Tally();
    while (!signal.aborted) {
      const batch = await this.#listUnmoved();
      if (batch.length === 0) break;
      await this.#sendAll(batch, tally, signal);
      if (!signal.aborted) this.#afterId = batch.at(-1)?.id ?? this.#afterId;
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

  /** Brings contents to this disk that are in the bucket alone. @throws AppError provider_unavailable | disk_full */
  async moveToDisk(signal: AbortSignal): Promise<Moved> {
    const { blobs, log, remote } = this.#options;
    const tally = new Tally();
    for await (const { digest, sizeBytes } of this.#walk(AWAY, signal)) {
      try {
        await blobs.bring(digest);
        tally.add(sizeBytes);
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        log.error("A content can't be brought back.", { checksum: toChecksum(digest), error });
        tally.failed++;
      }
    }
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
      const here = batch.filter(({ digest, sizeBytes }) => blobs.statHere(digest)?.sizeBytes === sizeBytes);
      await writer.run(() => {
        for (const { digest } of here) rows.leave(digest, clock.nowMs());
      });
      removed += await this.#removeLeaving(signal);
    }
    return removed;
  }

  /**
   * Compares the bucket with what is known of it. A database that went on from a snapshot learns what came there since;
   * objects that neither it nor a kept snapshot names are removed after a month.
   * @returns how many objects were not known
   * @throws S3Error
   */
  async takeStock(signal: AbortSignal): Promise<number> {
    const { client, remote, log } = this.#options;
    const folder = remote.folder;
    let unknown = 0;
    const kept = await this.#options.openKept();
    try {
      for (let after = ""; !signal.aborted; ) {
        const objects = await client.list(folder, after);
        after = objects.at(-1)?.key ?? "";
        if (after === "") break;
        for (const object of objects) if (await this.#noteUnknown(object, kept)) unknown++;
      }
    } finally {
      kept.close();
    }
    if (unknown > 0) log.info("Objects in the bucket were not known; they are now.", { objects: unknown });
    return unknown;
  }

  async #noteUnknown({ key, sizeBytes, modifiedAtMs }: S3Object, kept: KeptContents) {
    const { rows, blobs, writer, clock, log } = this.#options;
    const digest = key.slice(key.lastIndexOf("/") + 1);
    if (!isDigest(digest) || rows.isKnown(digest)) return false;
    const isNamed = rows.isNamed(digest);
    const isOld = modifiedAtMs < clock.nowMs() - UNNAMED_AGE_MS;
    if (!isNamed && (!isOld || kept.has(digest))) return false;
    if (isNamed && rows.blobBytes(digest) !== sizeBytes) {
      log.error("An object in the bucket has another length than its content.", { checksum: toChecksum(digest) });
      return false;
    }
    const isHere = blobs.statHere(digest) !== undefined;
    await writer.run(() => rows.add(digest, sizeBytes, clock.nowMs(), isHere ? clock.nowMs() : null), {
      isQuiet: true,
    });
    return true;
  }

  /** Removes objects whose contents the collector has let go for good. @returns how many @throws S3Error */
  async collect(signal: AbortSignal): Promise<number> {
    if (this.#ownership !== "ours" && (await this.checkBucket()) !== "ours") return 0;
    const { rows, writer, clock } = this.#options;
    for await (const { digest } of this.#walk(UNNAMED, signal)) {
      // An upload may have brought it again since it was listed.
      await writer.run(() => (rows.isNamed(digest) ? undefined : rows.leave(digest, clock.nowMs())), { isQuiet: true });
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
    if (clock.nowMs() - this.#repairedAtMs >= LOOK_AGAIN_MS) {
      this.#hopeless.clear();
      this.#repairedAtMs = clock.nowMs();
    }
    let repaired = 0;
    for await (const { digest } of this.#walk(DAMAGED, signal)) {
      if (this.#hopeless.has(digest)) continue;
      try {
        await blobs.replaceFromRemote(digest);
        await onWhole(digest);
        log.info("A damaged content was replaced by the good bytes of the bucket.", { checksum: toChecksum(digest) });
        repaired++;
      } catch (error) {
        if (!(error instanceof AppError) || !["content_missing", "content_damaged"].includes(error.reason)) throw error;
        log.error("A damaged content is not whole in the bucket either.", { checksum: toChecksum(digest), error });
        this.#hopeless.add(digest);
      }
    }
    return repaired;
  }

  /**
   * Lets copies on this disk go until the others fit into the cache, those unused for longest first. Each is asked for in
   * the bucket once more: what is not there, in its length, is sent again instead.
   */
  async trimCache(signal: AbortSignal): Promise<PlaceCounts> {
    const { remote, reader, rows, cacheBytes, clock, snapshotAtMs, shortageBytes } = this.#options;
    await remote.flush();
    const [[cached]] = await reader.read([rowsOf<PlaceCounts>(CACHED)]);
    let surplus = Math.max((cached?.bytes ?? 0) - cacheBytes, shortageBytes());
    let [contents, bytes] = [0, 0];
    while (surplus > 0 && !signal.aborted) {
      const batch = rows.listUnused(clock.nowMs() - IN_USE_MS, snapshotAtMs(), BATCH);
      let isStuck = true;
      for (const unused of batch) {
        if (surplus <= 0 || signal.aborted) break;
        if (!(await this.#letGo(unused))) continue;
        isStuck = false;
        surplus -= unused.sizeBytes;
        bytes += unused.sizeBytes;
        contents++;
      }
      if (isStuck) break;
    }
    return { contents, bytes };
  }

  async #letGo(unused: PlacedContent & { readonly usedAtMs: number }): Promise<boolean> {
    const { client, remote, rows, blobs, writer, clock } = this.#options;
    const { digest, sizeBytes, usedAtMs } = unused;
    const there = await client.head(remote.keyOf(digest));
    if (there?.sizeBytes !== sizeBytes) {
      await this.#sendAgain(unused);
      return false;
    }
    return writer.run(
      (tx) => {
        if (clock.nowMs() - remote.lastUseMs(digest) < IN_USE_MS || blobs.isArriving(digest)) return false;
        if (!rows.drop(digest, usedAtMs)) return false;
        tx.afterCommit(() => blobs.dropCopy(digest));
        return true;
      },
      { isQuiet: true },
    );
  }

  async #sendAgain({ digest, sizeBytes }: PlacedContent): Promise<void> {
    this.#options.log.error("A content is not in the bucket as it should be; it is sent again from this disk.", {
      checksum: toChecksum(digest),
    });
    await this.#send({ digest, sizeBytes }, new Tally());
  }

  async #sendAll(batch: readonly PlacedContent[], tally: Tally, signal: AbortSignal): Promise<void> {
    const waiting = batch[Symbol.iterator]();
    const lanes = batch.some(({ sizeBytes }) => sizeBytes > SMALL_BYTES_MAX) ? 1 : SIDE_BY_SIDE;
    const failures: unknown[] = [];
    const work = async () => {
      for (const content of waiting) {
        if (signal.aborted || failures.length > 0) return;
        if (this.#options.isBusy()) await Bun.sleep(BUSY_REST_MS);
        try {
          await this.#send(content, tally);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
    if (failures.length > 0) throw failures[0];
  }

  async #send({ digest, sizeBytes }: PlacedContent, tally: Tally): Promise<void> {
    const { client, remote, rows, blobs, writer, clock, log, onDamaged } = this.#options;
    try {
      await sendContent(client, remote.keyOf(digest), { path: blobs.pathOf(digest), digest, sizeBytes });
    } catch (error) {
      if (error instanceof DamagedHereError) await onDamaged(digest);
      else if (errorCode(error) !== "ENOENT") {
        if (error instanceof S3Error) remote.noteHealth(error.message);
        throw error;
      }
      // Only the bucket may have what is not on this disk: a database of before it was moved doesn't know.
      if (await this.#isThere({ digest, sizeBytes })) return;
      log.error("A content can't be moved to the bucket: it is missing or damaged here.", {
        checksum: toChecksum(digest),
        error,
      });
      tally.failed++;
      return;
    }
    remote.noteHealth(undefined);
    // What was deleted meanwhile has its row here all the same: its object is to be removed.
    await writer.run(() => rows.add(digest, sizeBytes, clock.nowMs(), clock.nowMs()));
    tally.add(sizeBytes);
  }

  async #isThere({ digest, sizeBytes }: PlacedContent): Promise<boolean> {
    const { client, remote, rows, writer, clock } = this.#options;
    const there = await client.head(remote.keyOf(digest));
    if (there?.sizeBytes !== sizeBytes) return false;
    await writer.run(() => rows.add(digest, sizeBytes, clock.nowMs(), null));
    return true;
  }

  async #removeLeaving(signal: AbortSignal): Promise<number> {
    const { client, remote, rows, writer } = this.#options;
    let removed = 0;
    for (let batch = rows.listLeaving(BATCH); batch.length > 0 && !signal.aborted; batch = rows.listLeaving(BATCH)) {
      for (const { digest } of batch) {
        await client.remove(remote.keyOf(digest));
        await writer.run(() => rows.forget(digest), { isQuiet: true });
        removed++;
      }
    }
    return removed;
  }

  async #demandOwnership(): Promise<void> {
    if ((await this.checkBucket()) === "ours") return;
    throw new AppError(
      "invalid_request",
      "The bucket belongs to another copy of this data directory, so nothing is removed from it. If that one is gone for good, run: larder blobs claim",
    );
  }

  async #listUnmoved(): Promise<(PlacedContent & { readonly id: number })[]> {
    const [found] = await this.#options.reader.read([
      rowsOf<{ id: number; digest: Uint8Array; sizeBytes: number }>(UNMOVED, [this.#afterId, BATCH]),
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

  add(bytes: number): void {
    this.moved++;
    this.movedBytes += bytes;
  }
}
