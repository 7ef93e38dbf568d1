/** Opens the remote store from the settings. */
import type { Database } from "bun:sqlite";
import type { BlobStore } from "../../../blobs/blob-store.ts";
import type { DiskBlobStore } from "../../../blobs/disk-blob-store.ts";
import type { Digest } from "../../../blobs/digest.ts";
import { S3Client } from "../../../blobs/s3/client.ts";
import { SmallObjects } from "../../../blobs/s3/small-objects.ts";
import type { Config } from "../../../config/settings.ts";
import { StartupError } from "../../../config/startup-error.ts";
import type { Reader } from "../../../db/reader.ts";
import type { Writer } from "../../../db/transaction.ts";
import type { Events } from "../../../events/events.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Log } from "../../../lib/log.ts";
import type { SnapshotReferences } from "../integrity/gc.ts";
import type { BlobRows } from "../integrity/blob-rows.ts";
import type { Integrity } from "../integrity/service.ts";
import type { Reading } from "../integrity/types.ts";
import { ImmediateSender } from "./immediate-sender.ts";
import { OutageWatch } from "./outage-watch.ts";
import { BlobMover } from "./mover.ts";
import { ObjectChecker } from "./object-checker.ts";
import type { Owner } from "./owner.ts";
import { RemoteRows } from "./queries.ts";
import { RemoteContents } from "./remote-contents.ts";
import { BlobSender } from "./sender.ts";
import { SendQueue } from "./send-queue.ts";
import { ObjectReading } from "./read-objects.ts";
import { BucketReconciliation } from "./reconcile.ts";
import type { RemovalGuard } from "./removal-guard.ts";
import { readS3Options } from "./s3-options.ts";
import { RemoteStoreService } from "./service.ts";

/** How long a request for the marker of the owner may take. */
const MARKER_MS_MAX = 20_000;
/** How often an outage is checked for its end while uploads wait for the bucket. */
const RECOVERY_MS = 2_000;

/** Dependencies of {@link openBucket}. */
interface BucketOptions {
  readonly config: Pick<Config, "blobs" | "s3">;
  readonly sqlite: Database;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
}

/** The configured bucket: the parts that the store and {@link openRemoteStore} need. */
export interface Bucket {
  readonly client: S3Client;
  readonly objects: SmallObjects;
  readonly name: string;
  readonly prefix: string;
  readonly rows: RemoteRows;
  readonly contents: RemoteContents;
}

/**
 * Opens the configured bucket; returns undefined if none is set.
 * @throws StartupError if settings contradict each other, or the database has blobs in a bucket that is not configured
 */
export function openBucket(options: BucketOptions): Bucket | undefined {
  const { config, sqlite, writer, clock, log } = options;
  const rows = new RemoteRows(sqlite);
  const opened = openClient(config.s3);
  if (opened === undefined) {
    rejectWithoutBucket(config, rows);
    return undefined;
  }
  const contents = new RemoteContents({ ...opened, rows, writer, clock, log });
  return { ...opened, rows, contents };
}

/**
 * A client for the configured bucket; undefined if none is set.
 * @throws StartupError if settings contradict each other
 */
export function openClient(s3: Config["s3"]): Omit<Bucket, "rows" | "contents"> | undefined {
  const options = readS3Options(s3);
  if (options === undefined) return undefined;
  const objects = new SmallObjects(options, MARKER_MS_MAX);
  return { client: new S3Client(options), objects, name: options.bucket, prefix: s3.prefix };
}

/** Dependencies of {@link openRemoteStore}. */
interface RemoteStoreParts extends BucketOptions {
  readonly blobs: BlobStore & Pick<DiskBlobStore, "statLocal" | "dropCopy" | "replaceFromRemote">;
  readonly reader: Reader;
  /** This store, and this database of it. */
  readonly owner: () => Owner;
  readonly isBusy: () => boolean;
  readonly shortageBytes: () => number;
  readonly snapshotAtMs: () => number;
  readonly openSnapshotReferences: () => Promise<SnapshotReferences>;
  readonly events: Events;
  readonly blobRows: BlobRows;
  readonly integrity: Pick<Integrity, "note" | "noteSpare">;
  readonly onWhole: (digest: Digest) => Promise<void>;
  readonly removals: RemovalGuard;
}

/** Opens the service that moves blobs between this disk and the bucket. */
export function openRemoteStore(bucket: Bucket, options: RemoteStoreParts): RemoteStoreService {
  const { client, objects, name, prefix, rows, contents: remote } = bucket;
  const { config, reader, log } = options;
  const noteFaults = (readings: readonly Reading[]) => options.integrity.note(readings);
  const isStore = config.blobs.store === "s3";
  const sender = new BlobSender({ ...options, client, objects, rows, remote, isStore, noteFaults });
  const checker = new ObjectChecker({ ...options, client, prefix, rows, remote });
  const mover = new BlobMover({
    ...options,
    client,
    objects,
    sender,
    checker,
    noteFaults,
    bucket: name,
    prefix,
    rows,
    remote,
    cacheBytes: config.s3.cacheBytes,
  });
  const immediate =
    config.blobs.acknowledge === "bucket" ? openImmediate({ sender, mover, rows, remote, log }) : undefined;
  const queue = new SendQueue({
    sizeOf: (digest) => rows.blobBytes(digest),
    async send(digest, isForced, signal) {
      await mover.mustBeUsable();
      await sender.sendNew(digest, isForced, signal);
    },
    log,
  });
  const watch = new OutageWatch({
    check: () => mover.checkBucket(),
    outage: () => remote.outage,
    recoveryMs: immediate === undefined ? undefined : RECOVERY_MS,
    silentMs: () => remote.silentMs,
    async notify({ problem }) {
      const contents = isStore ? await mover.countWaiting() : 0;
      await options.writer.run((tx) => {
        for (const accountId of rows.listAdministrators())
          options.events.emit(tx, "server.bucket_away", { accountId, problem, contents });
      });
    },
    log,
  });
  return new RemoteStoreService({
    watch,
    reading: new ObjectReading({ checker, reader }),
    mover,
    reconciliation: new BucketReconciliation({ ...options, client, rows, remote, checker }),
    checker,
    queue,
    sender,
    immediate,
    remote,
    reader,
    rows,
    log,
    isStore,
  });
}

/** Lets the blob store send each blob before its row is written. */
function openImmediate(
  options: ConstructorParameters<typeof ImmediateSender>[0] & { readonly remote: RemoteContents },
) {
  const immediate = new ImmediateSender(options);
  options.remote.sendNow = (blob) => immediate.send(blob);
  return immediate;
}

function rejectWithoutBucket({ blobs }: Pick<Config, "blobs">, rows: RemoteRows): void {
  if (blobs.store === "s3") {
    throw new StartupError(
      "blobs.store is s3, but no bucket is configured. Set s3.endpoint, s3.bucket, and the access keys, or set blobs.store to disk.",
    );
  }
  const away = rows.countRemoteOnly();
  if (away === 0) return;
  throw new StartupError(
    `${away} blobs of this store are only in a bucket, but no bucket is configured. Set s3.* as before. ` +
      "To fetch them to this disk, then run: larder blobs move --to disk",
  );
}
