/** Opens the data directory, the database, the blob store, and the tree. Every other service is built on them. */
import type { Database } from "bun:sqlite";
import { DerivedStore } from "../../blobs/derived.ts";
import { DiskBlobStore } from "../../blobs/disk-blob-store.ts";
import { Layout } from "../../blobs/layout.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/settings.ts";
import { PLANS } from "../../config/settings/plans.ts";
import { Trials } from "../../db/trial.ts";
import { Idempotency } from "../../features/library/idempotency/service.ts";
import { BlobRows } from "../../features/storage/integrity/blob-rows.ts";
import { Collector } from "../../features/storage/integrity/gc.ts";
import { Scrub, storedBytes } from "../../features/storage/integrity/scrub.ts";
import { Integrity } from "../../features/storage/integrity/service.ts";
import { openBucket, openRemoteStore } from "../../features/storage/remote-store/open.ts";
import { RemovalGuard } from "../../features/storage/remote-store/removal-guard.ts";
import { holderOf, identifyDirectory } from "../../features/storage/replication/directory-identity.ts";
import { Snapshots } from "../../features/storage/snapshots/service.ts";
import { mergeReferences, NewerReferences } from "../../features/storage/store-journal/newer-objects.ts";
import { journalRoot, openEndedShares } from "../../features/storage/store-journal/open.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { oncePerTurn } from "../../lib/once-per-turn.ts";
import { NameSearches } from "../../tree/tables/name-searches.ts";
import { openTree } from "../../tree/tree.ts";
import { TreeTrials } from "../../tree/trial.ts";
import { availableBytes, DiskReservations, totalBytes } from "../data/filesystem.ts";
import { readClientEpoch, readEpoch } from "../data/open-copy.ts";
import { type Data, openData } from "./open-data.ts";

/** The services of {@link openStorage}. */
export type Storage = ReturnType<typeof openStorage>;

/**
 * While less than this multiple of the minimum free space is left, cached copies of blobs in the bucket are evicted.
 */
const SPARE_FLOORS = 4;
/** With more accounts only their number is compared. The comparison runs each second while something changes. */
const COMPARED_USERS_MAX = 2_000;

/** Counts the uploads in progress, so that work in the background can wait for them. */
class UploadsInProgress {
  #count = 0;

  /** Whether an upload is in progress. */
  get isAny(): boolean {
    return this.#count > 0;
  }

  /** Counts an upload. @returns ends it; further calls do nothing */
  begin(): () => void {
    this.#count++;
    let isEnded = false;
    return () => {
      if (!isEnded) this.#count--;
      isEnded = true;
    };
  }
}

/**
 * Opens the data directory and builds the services that store files.
 * @throws StartupError with what is wrong and what to do
 */
export function openStorage(loaded: LoadedConfig, log: Log, clock: Clock, busyTimeoutMs: number | undefined) {
  const data = openData(loaded, log, clock, busyTimeoutMs);
  const { config, paths, sqlite, writer, reader, events, storeGuard } = data;
  const checkStore = () => storeGuard.check();
  const store = openBlobs(data, checkStore);
  const { blobs, blobRows, integrity, uploadsInProgress, openSnapshotReferences } = store;
  const epoch = readClientEpoch(sqlite);
  const treeOptions = { reader, writer, clock, log, epoch, maxNodesOf: maxNodesOf(sqlite, config.plans) };
  const nameSearches = new NameSearches({ path: paths.database, log });
  const { reader: tree, writer: treeWriter, naturalKeys } = openTree({ ...treeOptions, sqlite, events, nameSearches });
  return {
    ...data,
    ...store,
    nameSearches,
    tree,
    treeWriter,
    naturalKeys,
    trials: new TreeTrials(new Trials(paths.database, writer), treeOptions),
    derived: new DerivedStore(paths.thumbs),
    idempotency: new Idempotency(sqlite, clock),
    scrub: new Scrub({
      ...config.scrub,
      integrity,
      clock,
      log,
      databasePath: paths.database,
      sumBytes: async () => (await reader.read([storedBytes()]))[0][0]?.bytes ?? 0,
      isBusy: () => uploadsInProgress.isAny,
    }),
    collector: new Collector({ ...data, rows: blobRows, blobs, graceMs: config.gcGraceMs, openSnapshotReferences }),
    endedShares: openEndedShares({ sqlite, writer, blobs: paths.blobs, log, checkStore }),
    /** Wakes the job that deletes the nodes of deleted folders. The server sets it when its scheduler starts. */
    onDetached: { wake: () => {} },
  };
}

/**
 * Opens the blob store with its integrity checks, the snapshots that pin blobs, and the bucket if one is configured.
 */
function openBlobs(data: Data, checkStore: () => void) {
  const { config, log, clock, paths, sqlite, writer, storeId } = data;
  const blobRows = new BlobRows(sqlite);
  const uploadsInProgress = new UploadsInProgress();
  const freeBytes = oncePerTurn(() => availableBytes(paths.blobs));
  const reservations = new DiskReservations(paths.blobs, config.minFreeSpaceBytes, {
    availableBytes: freeBytes,
    totalBytes,
  });
  const bucket = openBucket(data);
  const blobs = new DiskBlobStore({
    layout: new Layout(paths.root),
    index: blobRows,
    log,
    checkStore,
    verifyAfterWrite: config.verifyAfterWrite,
    remote: bucket?.contents,
    // Cached copies of blobs in the bucket leave room for uploads.
    reserveCopy: (bytes) => reservations.reserve(bytes + reservations.floorBytes),
    onFailure: (digest) => {
      integrity.suspect(digest);
      remoteStore?.suspect(digest);
    },
  });
  const integrity = new Integrity({ ...data, rows: blobRows, blobs, checkStore });
  blobs.makeFolders();
  const { snapshots, openSnapshotReferences } = openSnapshots(data);
  const removals = new RemovalGuard(config.replica.url !== null);
  const directory = holderOf(storeId, identifyDirectory(paths.root));
  const remoteStore =
    bucket &&
    openRemoteStore(bucket, {
      ...data,
      blobs,
      blobRows,
      integrity,
      owner: () => ({ store: storeId, epoch: readEpoch(sqlite), directory }),
      isBusy: () => uploadsInProgress.isAny,
      openSnapshotReferences,
      removals,
      shortageBytes: () => Math.max(0, SPARE_FLOORS * reservations.floorBytes - availableBytes(paths.blobs)),
      snapshotAtMs: () => snapshots.list()[0]?.takenAtMs ?? 0,
      onWhole: (digest) => writer.run(() => blobRows.markVerified(digest, clock.nowMs())),
    });
  return {
    blobRows,
    uploadsInProgress,
    reservations,
    blobs,
    integrity,
    snapshots,
    openSnapshotReferences,
    /** Decides when objects may be deleted from the bucket. The server enables it once it owns the store. */
    removals,
    /** Moves blobs between this disk and the bucket; undefined if no bucket is configured. */
    remoteStore,
  };
}

/** Opens the snapshots of the database, and the blobs that they and newer objects of the metadata journal pin. */
function openSnapshots(data: Data) {
  const { config, log, paths, sqlite } = data;
  const snapshots = new Snapshots({
    ...data,
    databasePath: paths.database,
    folder: paths.snapshots,
    everyMs: config.snapshots.everyMs,
    keepMs: config.snapshots.keepMs,
    availableBytes: () => availableBytes(paths.root),
    urgentMark: credentialsMark(sqlite),
  });
  const epoch = () => readEpoch(sqlite);
  const newerReferences = new NewerReferences({ sqlite, root: journalRoot(paths.blobs), epoch, log });
  const openSnapshotReferences = async () =>
    mergeReferences(await snapshots.openSnapshotReferencesSoon(), await newerReferences.openSnapshotReferences());
  return { snapshots, openSnapshotReferences };
}

/** Returns a value that changes when accounts are added or passwords change, in this process or by a command. */
function credentialsMark(sqlite: Database): () => string {
  const count = sqlite.prepare<{ users: number }, []>("SELECT count(*) AS users FROM users");
  const hashes = sqlite.prepare<{ hashes: string }, []>(
    "SELECT coalesce(group_concat(id || password_hash), '') AS hashes FROM users",
  );
  return () => {
    const users = count.get()?.users ?? 0;
    return users > COMPARED_USERS_MAX ? String(users) : Bun.hash(hashes.get()?.hashes ?? "").toString();
  };
}

/** How many files and folders an account may have, by its plan. Runs for every file that is added. */
function maxNodesOf(sqlite: Database, plans: Config["plans"]): (accountId: number) => number | null {
  const planOf = sqlite.prepare<{ plan: string }, [number]>("SELECT plan FROM users WHERE id = ?1");
  return (accountId) => {
    const name = planOf.get(accountId)?.plan;
    const plan = PLANS.find((known) => known === name);
    return plan === undefined ? null : plans[plan].maxNodes;
  };
}
