import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { LOST, type ObjectChecker, type ObjectFault, OTHER_BYTES, TOO_SHORT } from "./object-checker.ts";
import { CACHED, type RemoteRows, type UnusedCopy } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import { DamagedCopyError, etagOfFile } from "./send-content.ts";
import type { BlobSender } from "./sender.ts";
import type { SizedBlob, TierCounts } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link LocalCache}. */
export interface LocalCacheOptions {
  readonly client: S3Client;
  readonly sender: BlobSender;
  readonly checker: ObjectChecker;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobs: BlobStore & Pick<DiskBlobStore, "dropCopy">;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: Clock;
  /** Largest size of the cache. */
  readonly cacheBytes: number;
  /** Bytes by which free disk space is below its minimum: so much of the cache is deleted in any case. */
  readonly shortageBytes: () => number;
  /**
   * Time of the newest snapshot; 0 without one. Only blobs that the snapshot knows to be in the bucket are deleted
   * here, because a copy of the data directory begins with that snapshot.
   */
  readonly snapshotAtMs: () => number;
}

/** A copy that was used within this time stays. */
const IN_USE_MS = 10 * 60 * 1000;
const BATCH = 200;

/** The local cache: copies on this disk of blobs that the bucket has as well. */
export class LocalCache {
  readonly #options: LocalCacheOptions;

  constructor(options: LocalCacheOptions) {
    this.#options = options;
  }

  /**
   * Deletes the least recently used copies on this disk until the rest fit into the cache. Each object is checked
   * before: a blob that the bucket does not have whole is sent again instead.
   */
  async trim(signal: AbortSignal): Promise<TierCounts> {
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
        if (!(await this.#evict(unused, signal))) continue;
        isStuck = false;
        surplus -= unused.sizeBytes;
        bytes += unused.sizeBytes;
        contents++;
      }
      if (isStuck) break;
    }
    return { contents, bytes };
  }

  async #evict(unused: UnusedCopy, signal: AbortSignal): Promise<boolean> {
    const { sender, remote, rows, blobs, writer, clock, checker } = this.#options;
    const { digest, sizeBytes, usedAtMs } = unused;
    const fault = await this.#findObjectFault(unused);
    if (fault !== null) {
      await checker.note([{ digest, fault }]);
      await sender.send({ digest, sizeBytes }, signal, true);
      return false;
    }
    return writer.run(
      (tx) => {
        if (clock.nowMs() - remote.lastUseMs(digest) < IN_USE_MS || blobs.isLeased(digest)) return false;
        if (!rows.dropCopy(digest, usedAtMs)) return false;
        tx.afterCommit(() => blobs.dropCopy(digest));
        return true;
      },
      { isQuiet: true },
    );
  }

  /**
   * Checks the object of a copy that is about to be deleted. An object with its recorded ETag, or with the ETag that
   * most services give these bytes, is the one that was sent; any other object is read.
   */
  async #findObjectFault(copy: UnusedCopy): Promise<ObjectFault> {
    const { client, remote, rows, blobs, writer, checker } = this.#options;
    const { digest, sizeBytes } = copy;
    const object = await client.head(remote.keyOf(digest));
    if (object === undefined) return LOST;
    if (object.sizeBytes < sizeBytes) return TOO_SHORT;
    if (object.sizeBytes > sizeBytes) return OTHER_BYTES;
    if (object.etag === copy.etag) return null;
    const isExpected = (await findExpectedEtag(blobs.pathOf(digest), copy)) === object.etag;
    const fault = isExpected ? null : await checker.check(copy, () => {});
    if (fault === null) await writer.run(() => rows.setEtag(digest, object.etag), { isQuiet: true });
    return fault;
  }
}

/** The ETag that the object of a local copy should have; undefined if the copy is damaged or deleted. */
async function findExpectedEtag(path: string, copy: SizedBlob): Promise<string | undefined> {
  try {
    return await etagOfFile(path, copy);
  } catch (error) {
    if (error instanceof DamagedCopyError || errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
