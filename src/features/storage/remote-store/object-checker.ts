/**
 * Reads objects of the bucket and records their faults. A faulty object is read twice before the fault counts, because
 * the connection may have been at fault. A damaged or lost object is sent again if this disk has its blob, now or
 * after a later upload; no object is deleted for it.
 */
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import type { S3Client } from "../../../blobs/s3/client.ts";
import { S3Error } from "../../../blobs/s3/error.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { BlobRows } from "../integrity/blob-rows.ts";
import type { Integrity } from "../integrity/service.ts";
import type { Reading } from "../integrity/types.ts";
import { MARKER } from "./owner.ts";
import type { RemoteRows } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import type { SizedBlob } from "./types.ts";

/** Dependencies of {@link ObjectChecker}. */
interface ObjectCheckerOptions {
  readonly client: S3Client;
  readonly prefix: string;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobRows: Pick<BlobRows, "find" | "markDamaged">;
  readonly blobs: Pick<DiskBlobStore, "statLocal">;
  readonly integrity: Pick<Integrity, "note" | "noteSpare">;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  /** Pause before a suspect object is read again; default 2 s. */
  readonly restMs?: number;
}

/** The fault of an object; null if it is whole. */
export type ObjectFault = Reading["fault"];

const REST_MS = 2_000;
const SUSPECTS_MAX = 1_000;
const RANGE_BYTES = 8 * 1024 * 1024;
/** Rows of one transaction. */
const NOTE_BATCH = 500;
/** Shortest interval between two such reads of an object. */
const RETRY_MS = 10 * 60 * 1000;

/** Reads objects, and records damaged and missing ones. */
export class ObjectChecker {
  readonly #options: ObjectCheckerOptions;
  readonly #stop = new AbortController();
  /** When each was last queued, by the monotonic clock. */
  readonly #suspects = new Map<Digest, number>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ObjectCheckerOptions) {
    this.#options = options;
  }

  /** Queues a damaged or missing object to be read again in some seconds. Never throws. */
  suspect(digest: Digest): void {
    const nowMs = performance.now();
    const lastMs = this.#suspects.get(digest);
    if (this.#stop.signal.aborted || this.#options.rows.find(digest) === undefined) return;
    if (lastMs !== undefined && nowMs - lastMs < RETRY_MS) return;
    if (this.#suspects.size >= SUSPECTS_MAX) this.#forgetSome(nowMs);
    if (this.#suspects.size >= SUSPECTS_MAX) return;
    this.#suspects.set(digest, nowMs);
    const timer = setTimeout(() => {
      this.#working = this.#working.then(() => this.#readSuspect(digest));
    }, this.#options.restMs ?? REST_MS);
    timer.unref();
  }

  /**
   * Reads a whole object; a faulty one twice.
   * @param pace called with the bytes of each range; slows the reading down, or ends it by an error
   * @throws S3Error if the service is unreachable or rejects the request
   */
  async check(content: SizedBlob, pace: (bytes: number) => Promise<void> | void): Promise<ObjectFault> {
    return (await this.#read(content, pace)) === null ? null : this.#read(content, pace);
  }

  /** Records the results of reading objects. Durable on return. @returns the number of new faults */
  async note(readings: readonly Reading[]): Promise<number> {
    const { blobRows, blobs, integrity } = this.#options;
    for (let at = 0; at < readings.length; at += NOTE_BATCH) await this.#noteRows(readings.slice(at, at + NOTE_BATCH));
    const isLocal = ({ digest }: Reading) => blobs.statLocal(digest)?.sizeBytes === blobRows.find(digest)?.sizeBytes;
    const spare = readings.filter((reading) => reading.fault !== null && isLocal(reading));
    const only = readings.filter((reading) => !isLocal(reading));
    return (await integrity.noteSpare(spare)) + (await integrity.note(only));
  }

  /** Records that missing blobs are in the bucket again. They are verified when they are read. */
  async noteFound(digests: readonly Digest[]): Promise<void> {
    const { blobRows, writer } = this.#options;
    const healed = digests.filter((digest) => blobRows.find(digest)?.isDamaged === true);
    if (healed.length === 0) return;
    await writer.run(() => {
      for (const digest of healed) blobRows.markDamaged(digest, null);
    });
  }

  /** Ends the read in progress. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #noteRows(readings: readonly Reading[]): Promise<void> {
    const { rows, writer, clock } = this.#options;
    const nowMs = clock.nowMs();
    await writer.run(
      () => {
        for (const { digest, fault } of readings) {
          const sizeBytes = rows.find(digest)?.sizeBytes;
          if (fault === null && sizeBytes !== undefined) rows.noteWhole(digest, sizeBytes, nowMs);
          else if (fault?.kind === "missing") rows.markLost(digest);
          else if (fault !== null) rows.markDamaged(digest, nowMs);
        }
      },
      { isQuiet: readings.every(({ fault }) => fault === null) },
    );
  }

  async #readSuspect(digest: Digest): Promise<void> {
    const { rows, blobRows, remote, log } = this.#options;
    const { signal } = this.#stop;
    const row = rows.find(digest);
    if (signal.aborted || row === undefined || blobRows.find(digest) === undefined) return;
    try {
      const content = { digest, sizeBytes: row.sizeBytes };
      const fault = await this.#read(content, () => signal.throwIfAborted());
      await this.note([{ digest, fault }]);
    } catch (error) {
      if (signal.aborted) return;
      // The next request for the content starts the check again.
      this.#suspects.delete(digest);
      if (error instanceof S3Error) remote.noteHealth(error.message);
      else log.warn("Could not read a bucket object again that appeared damaged.", { error });
    }
  }

  async #read({ digest, sizeBytes }: SizedBlob, pace: (bytes: number) => Promise<void> | void): Promise<ObjectFault> {
    const { client, remote } = this.#options;
    try {
      // An empty object has nothing to read, so its existence is checked separately.
      if (sizeBytes === 0 && (await client.head(remote.keyOf(digest))) === undefined) return LOST;
      const hasher = new Bun.CryptoHasher("sha256");
      // In ranges: a transfer that is read more slowly than it arrives would fill the memory.
      for (let offset = 0; offset < sizeBytes; offset += RANGE_BYTES) {
        const lengthBytes = Math.min(RANGE_BYTES, sizeBytes - offset);
        for await (const buffer of await client.get(remote.keyOf(digest), offset, lengthBytes)) hasher.update(buffer);
        await pace(lengthBytes);
      }
      return toDigest(hasher.digest("hex")) === digest ? null : OTHER_BYTES;
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (error.problem === "absent") return LOST;
      if (error.problem === "damaged") return TOO_SHORT;
      if (error.problem !== "cut") throw error;
      await this.#mustDeliver();
      return TOO_SHORT;
    }
  }

  /** Makes sure that the service sends another object whole; otherwise the connection is at fault. @throws S3Error */
  async #mustDeliver(): Promise<void> {
    const { client, prefix } = this.#options;
    await client.getSmall(prefix + MARKER);
  }

  #forgetSome(nowMs: number): void {
    for (const [digest, lastMs] of this.#suspects) if (nowMs - lastMs >= RETRY_MS) this.#suspects.delete(digest);
  }
}

/** The bucket has no such object. */
export const LOST: ObjectFault = { kind: "missing", detail: "its bucket object is missing" };
/** The object ends too early. */
export const TOO_SHORT: ObjectFault = { kind: "damaged", detail: "its bucket object is too short" };
/** The object has the right length, and other bytes. */
export const OTHER_BYTES: ObjectFault = { kind: "damaged", detail: "its bucket object has a different checksum" };
