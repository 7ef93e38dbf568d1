/** The right of a server to write to a store that has a replica. */
import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { S3Error } from "../blobs/s3/error.ts";
import { acquireForServe, type AcquireOptions, readOwner } from "../features/storage/replication/acquire.ts";
import { holderOf, identifyDatabase, identifyDirectory } from "../features/storage/replication/directory-identity.ts";
import { parseHeartbeat } from "../features/storage/replication/lease-record.ts";
import type { OwnedLease } from "../features/storage/replication/lease.ts";
import type { SeenLease } from "../features/storage/replication/lease-rules.ts";
import { nameOwner, rejection } from "../features/storage/replication/owner-text.ts";
import { probeConditions } from "../features/storage/replication/probe.ts";
import { openReplicaBucket, type ReplicaBucket } from "../features/storage/replication/replica-bucket.ts";
import type { Owner } from "../features/storage/remote-store/owner.ts";
import type { Log } from "../lib/log.ts";
import { openServices } from "./composition/services.ts";
import { type DataPaths, dataPaths } from "./data/data-directory.ts";
import { readEpoch } from "./data/open-copy.ts";
import { isCopyOfClosed, readCloseState } from "./data/run-mark.ts";
import { readStoreId, readStoreMarker } from "./data/store-identity.ts";

/**
 * Takes the lease for this data directory, before its database is opened for writing; returns undefined if no replica is
 * configured. The caller has the lock of the directory.
 * @throws StartupError if another server owns the store, or the service can't make sure that only one does
 */
export async function acquireLease(
  loaded: LoadedConfig,
  log: Log,
  signal: AbortSignal,
): Promise<OwnedLease | undefined> {
  const { config } = loaded;
  const bucket = openReplicaBucket(config);
  if (bucket === undefined) return undefined;
  const paths = dataPaths(config.data);
  await translateOutage(async () => {
    await probeConditions(bucket.objects, bucket.prefix);
    rejectOtherOwner(await readOwner(bucket), paths);
  });
  await prepareDatabase(loaded, paths, log);
  const store = readStoreMarker(paths);
  if (store === undefined) throw new StartupError(`${paths.storeMarker} is missing.`);
  const lease = await acquireForServe(acquireOptions({ config, bucket, paths, log, signal }), {
    store,
    databaseEpoch: identifyDatabase(paths.database),
  });
  log.info("This server owns the store.", { epoch: lease.epoch, replica: lease.path });
  return lease;
}

/**
 * Rejects a command that would change the database if another directory owns the store. Does nothing without a replica.
 * @throws StartupError with the name of the owner
 */
export async function requireOwnStore(config: Config): Promise<void> {
  const bucket = openReplicaBucket(config);
  if (bucket === undefined) return;
  await translateOutage(async () => rejectOtherOwner(await readOwner(bucket), dataPaths(config.data)));
}

/** Whether a lease belongs to this data directory. */
export function isOwnLease({ lease }: SeenLease, paths: Pick<DataPaths, "root" | "storeMarker">): boolean {
  return (
    readStoreMarker(paths) === lease.store && holderOf(lease.store, identifyDirectory(paths.root)) === lease.holder
  );
}

/** Who owns the store of the configured replica; undefined without a replica. @throws StartupError */
export async function findStoreOwner(config: Config): Promise<{ isOther: boolean; text: string } | undefined> {
  const bucket = openReplicaBucket(config);
  if (bucket === undefined) return undefined;
  let seen: SeenLease | undefined;
  await translateOutage(async () => {
    seen = await readOwner(bucket);
  });
  if (seen === undefined) return { isOther: false, text: "nobody yet; larder serve takes it" };
  const isReleased = parseHeartbeat(seen.heartbeat)?.isReleased === true;
  const state = isReleased ? "which is stopped" : "which has not released it";
  if (isOwnLease(seen, dataPaths(config.data))) {
    return { isOther: false, text: `this data directory, epoch ${seen.lease.epoch}, ${state}` };
  }
  return {
    isOther: true,
    text: `${nameOwner(seen.lease)}, ${state}`,
  };
}

/** What this directory writes into the marker of the bucket; undefined if it has no store yet. */
export function readBucketOwner(sqlite: Database, paths: Pick<DataPaths, "root">): Owner | undefined {
  const store = readStoreId(sqlite);
  if (store === undefined) return undefined;
  return { store, epoch: readEpoch(sqlite), directory: holderOf(store, identifyDirectory(paths.root, false)) };
}

/** What {@link acquireForServe} needs. */
function acquireOptions({
  config,
  bucket,
  paths,
  log,
  signal,
}: {
  config: Config;
  bucket: ReplicaBucket;
  paths: DataPaths;
  log: Log;
  signal: AbortSignal;
}): AcquireOptions {
  let isReported = false;
  return {
    bucket,
    root: paths.root,
    markPath: paths.lease,
    ttlMs: config.replica.leaseMs,
    url: config.publicUrl,
    log,
    signal,
    onProgress({ owner, neededMs }) {
      if (isReported) return;
      isReported = true;
      log.info("The last owner has not released the store; waiting until it is certain that it has stopped.", {
        owner: nameOwner(owner),
        waitMs: neededMs,
      });
    },
  };
}

function rejectOtherOwner(seen: SeenLease | undefined, paths: DataPaths): void {
  if (seen === undefined || isOwnLease(seen, paths)) return;
  const store = readStoreMarker(paths);
  // Perhaps the disk with the blobs is not mounted: opening the database reports that.
  if (store === undefined && existsSync(paths.database)) return;
  const isOther = store !== undefined && store !== seen.lease.store;
  throw rejection({ step: "rejected", reason: isOther ? "other-store" : "other-holder", seen });
}

/**
 * Creates a new database, or the one of a copy or a backup, before the lease names it: only then it is certain which
 * database it is. Nothing is replicated or confirmed before the lease is there.
 */
async function prepareDatabase(loaded: LoadedConfig, paths: DataPaths, log: Log): Promise<void> {
  if (readCloseState(paths) === "whole" && !isCopyOfClosed(paths) && readStoreMarker(paths) !== undefined) return;
  const services = await openServices(loaded, log);
  await services.close();
}

async function translateOutage(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StartupError(`Cannot use the bucket of the replica. ${error.message} Check: larder config`, error);
  }
}
