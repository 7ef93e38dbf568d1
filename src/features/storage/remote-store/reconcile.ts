/**
 * Compares the bucket with the database. A database that continues from a snapshot learns which objects were added
 * since. Objects that neither the database nor a stored snapshot names are deleted after a month. Objects that are
 * missing or have another length are recorded.
 */
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import type { S3Client, S3Object } from "../../../blobs/s3/client.ts";
import { type Reader, rows as rowsOf } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { BlobRows } from "../integrity/blob-rows.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import type { Reading } from "../integrity/types.ts";
import { digestFromKey } from "./adopt.ts";
import { LOST, type ObjectChecker, OTHER_BYTES, TOO_SHORT } from "./object-checker.ts";
import { EXPECTED, type RemoteRows } from "./queries.ts";
import type { RemoteContents } from "./remote-contents.ts";
import type { SizedBlob } from "./types.ts";

/** Dependencies of {@link BucketReconciliation}. */
interface BucketReconciliationOptions {
  readonly client: S3Client;
  readonly remote: RemoteContents;
  readonly rows: RemoteRows;
  readonly blobRows: Pick<BlobRows, "isDamaged">;
  readonly blobs: Pick<DiskBlobStore, "statLocal">;
  readonly checker: ObjectChecker;
  readonly writer: Writer;
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Log;
  /** Opens the references of the snapshots of the database. */
  readonly openSnapshotReferences: () => Promise<SnapshotReferences>;
}

/** The result of a comparison, in objects. */
interface ReconcileResult {
  /** Objects that had no row. */
  readonly unknown: number;
  /** Objects that are missing or have another length. */
  readonly faulty: number;
}

/** A range of digests in hex, and the start of the comparison. */
interface Range {
  readonly after: string;
  readonly until: string;
  readonly startedMs: number;
}

interface ExpectedObject extends SizedBlob {
  readonly storedAtMs: number;
}

/** An object without a row may belong to a database that is about to be restored. */
const ORPHAN_AGE_MS = 30 * 24 * 60 * 60 * 1000;
const BATCH = 1_000;
/** The bounds of the range of all digests. */
const [FIRST, LAST] = ["", "f".repeat(64)];

/** Compares the bucket with the database. */
export class BucketReconciliation {
  readonly #options: BucketReconciliationOptions;

  constructor(options: BucketReconciliationOptions) {
    this.#options = options;
  }

  /** Compares all objects. @throws S3Error */
  async run(signal: AbortSignal): Promise<ReconcileResult> {
    const { client, remote, checker, clock, log, openSnapshotReferences } = this.#options;
    const startedMs = clock.nowMs();
    const faults: Reading[] = [];
    let unknown = 0;
    const snapshots = await openSnapshotReferences();
    try {
      for (let [key, after] = ["", FIRST]; !signal.aborted; ) {
        const objects = await client.list(remote.folder, key);
        const last = objects.at(-1);
        unknown += await this.#registerUnknown(objects, snapshots);
        await this.#healFound(objects);
        const until = last === undefined ? LAST : (digestFromKey(last.key) ?? after);
        faults.push(...(await this.#findFaults(objects, { after, until, startedMs }, signal)));
        if (last === undefined) break;
        [key, after] = [last.key, until];
      }
    } finally {
      snapshots.close();
    }
    if (unknown > 0) log.info("Registered bucket objects that were missing from the database.", { objects: unknown });
    await checker.note(faults);
    return { unknown, faulty: faults.length };
  }

  /** Returns the objects in a range of digests that are missing or have another length. */
  async #findFaults(objects: readonly S3Object[], range: Range, signal: AbortSignal): Promise<Reading[]> {
    const sizes = new Map(objects.map((object) => [digestFromKey(object.key), object.sizeBytes]));
    const faults: Reading[] = [];
    for await (const { digest, sizeBytes, storedAtMs } of this.#listExpected(range)) {
      if (signal.aborted) break;
      // Objects that were stored during the listing may be missing in it.
      if (storedAtMs >= range.startedMs || sizes.get(digest) === sizeBytes) continue;
      const fault = await this.#findFault({ digest, sizeBytes });
      if (fault !== null) faults.push({ digest, fault });
    }
    return faults;
  }

  async *#listExpected({ after, until }: Range): AsyncGenerator<ExpectedObject, void, undefined> {
    const { reader } = this.#options;
    for (let from = after; from < until; ) {
      const [found] = await reader.read([
        rowsOf<{ digest: Uint8Array; sizeBytes: number; storedAtMs: number }>(EXPECTED, [from, until, BATCH]),
      ]);
      const expected = found.map((row) => ({ ...row, digest: digestFromBytes(row.digest) }));
      yield* expected;
      from = expected.length < BATCH ? until : (expected.at(-1)?.digest ?? until);
    }
  }

  /** Checks a single object, because the listings of some services lag. */
  async #findFault({ digest, sizeBytes }: SizedBlob): Promise<Reading["fault"]> {
    const { client, remote, rows } = this.#options;
    const found = await client.head(remote.keyOf(digest));
    // It was deleted after the listing.
    if (rows.find(digest) === undefined) return null;
    if (found === undefined) return LOST;
    if (found.sizeBytes === sizeBytes) return null;
    return found.sizeBytes < sizeBytes ? TOO_SHORT : OTHER_BYTES;
  }

  /**
   * Heals missing blobs whose objects are back and have a row again: a transfer that began before the loss was recorded
   * may have inserted it.
   */
  async #healFound(objects: readonly S3Object[]): Promise<void> {
    const { blobRows, blobs, rows, checker } = this.#options;
    const found: Digest[] = [];
    for (const { key, sizeBytes } of objects) {
      const digest = digestFromKey(key);
      if (digest === undefined || !blobRows.isDamaged(digest) || blobs.statLocal(digest) !== undefined) continue;
      const row = rows.find(digest);
      if (row?.sizeBytes === sizeBytes && row.damagedAtMs === null) found.push(digest);
    }
    await checker.noteFound(found);
  }

  /** Inserts rows for objects without one. @returns the number of rows */
  async #registerUnknown(objects: readonly S3Object[], snapshots: SnapshotReferences): Promise<number> {
    const { rows, blobs, checker, writer, clock } = this.#options;
    const isOld = ({ modifiedAtMs }: S3Object) => modifiedAtMs < clock.nowMs() - ORPHAN_AGE_MS;
    const found: { digest: Digest; sizeBytes: number }[] = [];
    for (const object of objects) {
      const digest = digestFromKey(object.key);
      if (digest === undefined || rows.isKnown(digest)) continue;
      const namedBytes = rows.blobBytes(digest);
      // An object with a wrong length does not count as stored.
      const isStored =
        namedBytes === undefined ? isOld(object) && !snapshots.has(digest) : namedBytes === object.sizeBytes;
      if (isStored) found.push({ digest, sizeBytes: object.sizeBytes });
    }
    if (found.length === 0) return 0;
    const nowMs = clock.nowMs();
    await writer.run(
      () => {
        for (const object of found) {
          const usedAtMs = blobs.statLocal(object.digest) === undefined ? null : nowMs;
          rows.add({ ...object, usedAtMs }, nowMs);
        }
      },
      { isQuiet: true },
    );
    await checker.noteFound(found.flatMap(({ digest }) => (blobs.statLocal(digest) === undefined ? [digest] : [])));
    return found.length;
  }
}
