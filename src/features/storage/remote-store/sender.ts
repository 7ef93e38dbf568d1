import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Reading } from "../integrity/types.ts";
import type { RemoteRows } from "./queries.ts";
import type { RemovalGuard } from "./removal-guard.ts";
import type { RemoteContents } from "./remote-contents.ts";
import { DamagedCopyError, sendContent } from "./send-content.ts";
import type { SentBlob, SizedBlob } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";

/** Dependencies of {@link BlobSender}. */
interface BlobSenderOptions {
  readonly client: S3Client;
  readonly objects: Pick<SmallObjects, "prepareRemoval">;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobs: Pick<BlobStore, "pathOf" | "isLeased">;
  /** Whether the bucket must have every blob that has a row, so that no object of such a blob is deleted. */
  readonly isStore: boolean;
  readonly writer: Writer;
  readonly clock: Clock;
  /** Whether an upload is in progress: uploads come first. */
  readonly isBusy: () => boolean;
  readonly removals: RemovalGuard;
  /** Records damaged and missing blobs. */
  readonly noteFaults: (readings: readonly Reading[]) => Promise<unknown>;
}

/**
 * The result of sending a blob. `there`: the bucket had it already; a reading: neither this disk nor the bucket has it.
 */
export type SendResult = "sent" | "there" | Reading;

const BUSY_REST_MS = 20;

/**
 * Sends blobs of this disk to the bucket, and records what the bucket has. Handles one request for a blob at a time.
 */
export class BlobSender {
  readonly #options: BlobSenderOptions;
  readonly #locks = new KeyedMutex<Digest>();

  constructor(options: BlobSenderOptions) {
    this.#options = options;
  }

  /**
   * Sends a blob that was just committed. Does nothing if it was deleted, or the bucket has it already.
   * @param isForced sends it even if the bucket should have it
   * @throws as {@link send}
   */
  async sendNew(digest: Digest, isForced: boolean, signal: AbortSignal): Promise<void> {
    const sizeBytes = this.#options.rows.blobBytes(digest);
    if (sizeBytes === undefined) return;
    const result = await this.send({ digest, sizeBytes }, signal, isForced);
    if (typeof result !== "string") await this.#options.noteFaults([result]);
  }

  /**
   * Sends a blob, unless the bucket turns out to have it.
   * @param isForced sends it even if the bucket should have it
   * @throws S3Error; the error of a disk that can't be read
   */
  async send(content: SizedBlob, signal: AbortSignal, isForced = false): Promise<SendResult> {
    if (this.#options.isBusy()) await Bun.sleep(BUSY_REST_MS);
    return this.#locks.run(content.digest, async () => {
      const row = this.#options.rows.find(content.digest);
      const isThere = row !== undefined && row.damagedAtMs === null;
      return isThere && !isForced ? "there" : this.#send(content, signal);
    });
  }

  /**
   * Sends a leased blob before a row names it. This does not wait for the row that records the object: that one is in the
   * same commit as the row that names the blob, or in an earlier one.
   * @throws as {@link send}; DamagedCopyError
   */
  async sendLeased(content: SizedBlob, signal: AbortSignal): Promise<void> {
    await this.#locks.run(content.digest, async () => {
      const sent = await this.#put(content, signal);
      // Without the row, the bucket's job sends the blob again.
      this.record([sent]).catch(() => {});
    });
  }

  /**
   * Sends a blob without recording its object, which no other process takes for that of a deleted blob then.
   * @throws as {@link sendLeased}
   */
  sendUnrecorded(content: SizedBlob, signal: AbortSignal): Promise<SentBlob> {
    return this.#locks.run(content.digest, () => this.#put(content, signal));
  }

  /** Records that the bucket has blobs whose copies on this disk were just used. */
  record(sent: readonly SentBlob[]): Promise<void> {
    const { rows, writer, clock } = this.#options;
    return writer.run(() => {
      for (const blob of sent) rows.add({ ...blob, usedAtMs: clock.nowMs() }, clock.nowMs());
    });
  }

  /** Deletes an object that is marked for deletion. @returns false if it is needed by now @throws S3Error */
  async remove(digest: Digest): Promise<boolean> {
    const { rows, writer, removals } = this.#options;
    return this.#locks.run(digest, async () => {
      const sendRemoval = this.#prepareRemoval(digest);
      // It may have been uploaded and sent again since it was listed, or be about to get its row.
      if (!this.#isRemovable(digest) || !(await removals.confirm())) return false;
      // The confirmation took some time.
      if (!this.#isRemovable(digest)) return false;
      await sendRemoval();
      await writer.run(
        () => {
          rows.remove(digest);
          // The object was recorded while it was being deleted, by a command for example. It must be sent again.
          rows.markLost(digest);
        },
        { isQuiet: true },
      );
      return true;
    });
  }

  /** Must be called before the deletion is confirmed: the time in which it may arrive begins. */
  #prepareRemoval(digest: Digest): () => Promise<void> {
    const { client, objects, remote, removals } = this.#options;
    const key = remote.keyOf(digest);
    const { validSeconds } = removals;
    return validSeconds === undefined ? () => client.remove(key) : objects.prepareRemoval(key, validSeconds);
  }

  /** Whether an object is marked for deletion, for long enough, and no upload is about to name it. */
  #isRemovable(digest: Digest): boolean {
    const { rows, blobs, isStore, clock, removals } = this.#options;
    const beforeMs = removals.markedBeforeMs(clock.nowMs());
    if (!rows.isMarkedForDeletion(digest, beforeMs) || blobs.isLeased(digest)) return false;
    return !isStore || !rows.isNamed(digest);
  }

  async #send(content: SizedBlob, signal: AbortSignal): Promise<SendResult> {
    const { rows } = this.#options;
    const { digest } = content;
    let sent: SentBlob;
    try {
      sent = await this.#put(content, signal);
    } catch (error) {
      const isDamaged = error instanceof DamagedCopyError;
      if (!isDamaged && errorCode(error) !== "ENOENT") throw error;
      // The bucket may have the blob although an older, restored database does not know it.
      if (await this.#isThere(content)) {
        if (isDamaged) await this.#options.noteFaults([{ digest, fault: DAMAGED_HERE }]);
        return "there";
      }
      const isKnown = rows.find(digest) !== undefined;
      return { digest, fault: isDamaged ? DAMAGED_HERE : isKnown ? DAMAGED_THERE : LOST };
    }
    // A blob that was deleted since still gets its row, so that its object is deleted.
    await this.record([sent]);
    return "sent";
  }

  /** Sends the copy on this disk. */
  async #put({ digest, sizeBytes }: SizedBlob, signal: AbortSignal): Promise<SentBlob> {
    const { client, remote, blobs } = this.#options;
    try {
      const path = blobs.pathOf(digest);
      const etag = await sendContent(client, remote.keyOf(digest), { path, digest, sizeBytes, signal });
      remote.noteHealth(undefined);
      return { digest, sizeBytes, etag };
    } catch (error) {
      if (error instanceof S3Error) remote.noteHealth(error.message);
      throw error;
    }
  }

  /** Whether the bucket has a blob that this disk does not have. A damaged object does not count. */
  async #isThere({ digest, sizeBytes }: SizedBlob): Promise<boolean> {
    const { client, remote, rows, writer, clock } = this.#options;
    const row = rows.find(digest);
    if (row !== undefined && row.damagedAtMs !== null) return false;
    const there = await client.head(remote.keyOf(digest));
    if (there?.sizeBytes !== sizeBytes) return false;
    await writer.run(() => rows.add({ digest, sizeBytes, etag: there.etag, usedAtMs: null }, clock.nowMs()));
    return true;
  }
}

const DAMAGED_HERE: Reading["fault"] = { kind: "damaged", detail: "found before it was sent to the bucket" };
const DAMAGED_THERE: Reading["fault"] = {
  kind: "damaged",
  detail: "its bucket object is damaged, and this disk has no copy",
};
const LOST: Reading["fault"] = { kind: "missing", detail: "missing on this disk and in the bucket" };
