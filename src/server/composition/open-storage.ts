/** The ground that everything stands on: data directory, secrets, database, store, tree and events. */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { DerivedStore } from "../../blobs/derived.ts";
import { DiskBlobStore } from "../../blobs/disk-blob-store.ts";
import { Layout } from "../../blobs/layout.ts";
import { openSecrets, SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { ForeignDatabaseError, migrate, MigrationError, pendingMigrations, rejectForeign } from "../../db/migrate.ts";
import { assertSqliteVersion, type Db, openDatabase } from "../../db/open.ts";
import { Reader } from "../../db/reader.ts";
import { DiskReserve } from "../../db/reserve.ts";
import { type Snapshot, takeSnapshot } from "../../db/snapshot.ts";
import { isBusy, isDamage, Writer } from "../../db/transaction.ts";
import { Trials } from "../../db/trial.ts";
import { AppError } from "../../errors.ts";
import { Events } from "../../events/events.ts";
import { openRemoteStore, openBucket } from "../../features/storage/remote-store/open.ts";
import { Idempotency } from "../../features/library/idempotency/service.ts";
import { BlobRows } from "../../features/storage/integrity/blob-rows.ts";
import { Collector } from "../../features/storage/integrity/gc.ts";
import { Scrub, storedBytes } from "../../features/storage/integrity/scrub.ts";
import { Integrity } from "../../features/storage/integrity/service.ts";
import { Snapshots } from "../../features/storage/snapshots/service.ts";
import { mergeReferences, NewerReferences } from "../../features/storage/store-journal/newer-objects.ts";
import { journalRoot, openEndedShares } from "../../features/storage/store-journal/open.ts";
import { noteCopyStart, readCopyStart } from "../../features/storage/store-journal/opened-copy.ts";
import { openTree } from "../../tree/tree.ts";
import { TreeTrials } from "../../tree/trial.ts";
import { AllowedTargets } from "../../lib/allowed-targets.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { Outbound } from "../../net/outbound.ts";
import { type DataPaths, makeWorkingFolders, openDataDirectory } from "../data/data-directory.ts";
import { availableBytes, DiskReservations, rejectNetworkFileSystem } from "../data/filesystem.ts";
import { openFromSnapshot, readEpoch, settleRestored } from "../data/open-copy.ts";
import { beginFrom } from "../data/restoring.ts";
import { howLeft, markOpen } from "../data/run-mark.ts";
import { bindStore, checkStore, rejectOrphanedStore, StoreGuard } from "../data/store-identity.ts";

/** See the head of the file. */
export type Storage = ReturnType<typeof openStorage>;

/** How long the opening waits for another program's lock: nobody is waiting for an answer yet. */
const OPENING_BUSY_MS = 5_000;

/** Copies of what the bucket has too are let go while less than so many times the floor is free. */
const SPARE_FLOORS = 4;

/** How many files and folders an account may hold, by its plan; every file that is made asks. */
function maxNodesOf(sqlite: Database, plans: Config["plans"]): (accountId: number) => number | null {
  const planOf = sqlite.prepare<{ plan: string }, [number]>("SELECT plan FROM users WHERE id = ?1");
  const limits = new Map<string, number | null>(Object.entries(plans).map(([name, plan]) => [name, plan.maxNodes]));
  return (accountId) => limits.get(planOf.get(accountId)?.plan ?? "") ?? null;
}

/** What arrives just now: work that can wait gives way to it. */
export class UploadsInProgress {
  #count = 0;

  /** Whether anything arrives. */
  get isAny(): boolean {
    return this.#count > 0;
  }

  /** Something begins to arrive. @returns what ends it, once */
  note(): () => void {
    this.#count++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#count--;
      isHeld = false;
    };
  }
}

/**
 * Opens the data directory and brings its database up to date. A copy or a backup begins from a snapshot: only the process
 * that holds the directory's lock may open one.
 * @throws StartupError with what is wrong and what to do
 */
export function openStorage(config: Config, log: Log, clock: Clock, busyTimeoutMs: number | undefined) {
  assertSqliteVersion();
  const paths = openDataDirectory(config.data);
  const chosen = openFromSnapshot(paths, howLeft(paths), log);
  rejectOrphanedStore(paths);
  const warning = rejectNetworkFileSystem(paths.root, config.allowNetworkFilesystem);
  if (warning !== undefined) log.warn(warning);
  const secrets = openSecrets(paths.secrets);
  const outbound = new Outbound({ allow: AllowedTargets.parse(config.outboundAllow) });
  const db = openOwnDatabase(paths, log, { busyTimeoutMs, snapshot: chosen?.snapshot.name, nowMs: clock.nowMs() });
  warnOfNewSecrets(db.sqlite, secrets.made, log);
  if (chosen !== undefined) beginFrom(db, chosen.snapshot.takenAtMs, clock.nowMs(), log);
  const storeId = bindStore(db.sqlite, paths);
  makeWorkingFolders(paths);

  const reserve = new DiskReserve(join(paths.root, "larder.reserve"), () => availableBytes(paths.root), log);
  const writer = new Writer(db.sqlite, log, () => reserve.release());
  const storeGuard = new StoreGuard(paths, storeId);
  const blobRows = new BlobRows(db.sqlite);
  const events = new Events();
  const layout = new Layout(paths.root);
  const reservations = new DiskReservations(paths.blobs, config.minFreeSpaceBytes);
  const bucketOptions = { config, sqlite: db.sqlite, writer, clock, log };
  const bucket = openBucket(bucketOptions);
  const blobs = new DiskBlobStore({
    layout,
    index: blobRows,
    log,
    checkStore: () => storeGuard.check(),
    verifyAfterWrite: config.verifyAfterWrite,
    remote: bucket?.contents,
    // Uploads come first: copies of what lies in the bucket leave them room.
    reserveCopy: (bytes) => reservations.reserve(bytes + reservations.floorBytes),
    onFailure: (digest) => {
      integrity.suspect(digest);
      remoteStore?.suspect(digest);
    },
  });
  const integrity = new Integrity({
    sqlite: db.sqlite,
    rows: blobRows,
    blobs,
    writer,
    events,
    clock,
    log,
    checkStore: () => storeGuard.check(),
  });
  blobs.makeFolders();

  const snapshots = new Snapshots({
    sqlite: db.sqlite,
    databasePath: paths.database,
    folder: paths.snapshots,
    writer,
    clock,
    log,
    everyMs: config.snapshots.everyMs,
    keepMs: config.snapshots.keepMs,
    availableBytes: () => availableBytes(paths.root),
    urgentMark: credentialsMark(db.sqlite),
  });
  const newerContents = new NewerReferences({
    sqlite: db.sqlite,
    root: journalRoot(paths.blobs),
    epoch: () => readEpoch(db.sqlite),
    log,
  });
  const openSnapshotReferences = async () =>
    mergeReferences(await snapshots.openSnapshotReferencesSoon(), await newerContents.openSnapshotReferences());
  const reader = new Reader(paths.database, log);
  const arrivals = new UploadsInProgress();
  const remoteStore =
    bucket &&
    openRemoteStore(bucket, {
      ...bucketOptions,
      blobs,
      reader,
      owner: () => ({ store: storeId, epoch: readEpoch(db.sqlite) }),
      isBusy: () => arrivals.isAny,
      openSnapshotReferences,
      shortageBytes: () => Math.max(0, SPARE_FLOORS * reservations.floorBytes - availableBytes(paths.blobs)),
      snapshotAtMs: () => snapshots.list()[0]?.takenAtMs ?? 0,
      events,
      blobRows,
      integrity,
      onWhole: (digest) => writer.run(() => blobRows.markVerified(digest, clock.nowMs())),
    });
  const treeOptions = { reader, clock, log, maxNodesOf: maxNodesOf(db.sqlite, config.plans) };
  const { reader: tree, writer: treeWriter } = openTree({ ...treeOptions, sqlite: db.sqlite, events });
  return {
    config,
    log,
    clock,
    paths,
    secrets,
    outbound,
    db,
    sqlite: db.sqlite,
    reserve,
    writer,
    reader,
    storeGuard,
    blobRows,
    events,
    blobs,
    tree,
    treeWriter,
    trials: new TreeTrials(new Trials(paths.database, writer), treeOptions),
    derived: new DerivedStore(paths.thumbs),
    idempotency: new Idempotency(db.sqlite, clock),
    snapshots,
    integrity,
    scrub: new Scrub({
      ...config.scrub,
      integrity,
      clock,
      log,
      databasePath: paths.database,
      sumBytes: async () => (await reader.read([storedBytes()]))[0][0]?.bytes ?? 0,
      isBusy: () => arrivals.isAny,
    }),
    collector: new Collector({
      rows: blobRows,
      blobs,
      writer,
      clock,
      log,
      graceMs: config.gcGraceMs,
      openSnapshotReferences,
    }),
    reservations,
    arrivals,
    endedShares: openEndedShares({
      sqlite: db.sqlite,
      writer,
      blobs: paths.blobs,
      log,
      checkStore: () => storeGuard.check(),
    }),
    /** Moves contents between this disk and a bucket; undefined where none is set up. */
    remoteStore,
    /** Set by the lifecycle: wakes the job that takes deleted folders apart. */
    onDetached: { wake: () => {} },
  };
}

/** Of more accounts only the number is compared: it is asked each second while something changes. */
const COMPARED_USERS_MAX = 2_000;

/** Reports whether accounts were added or passwords changed, by this process or by a command. */
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

/**
 * Opens the database and brings it up to date; a snapshot first where there is something to lose, so that there is a way
 * back.
 * @throws StartupError where the file is no database, damaged, of a newer version, or of another store
 */
function openOwnDatabase(
  paths: DataPaths,
  log: Log,
  {
    busyTimeoutMs,
    snapshot,
    nowMs,
  }: { busyTimeoutMs: number | undefined; snapshot: string | undefined; nowMs: number },
): Db {
  try {
    rejectForeign(paths.database);
    const db = openDatabase(paths.database, Math.max(OPENING_BUSY_MS, busyTimeoutMs ?? 0));
    checkStore(db.sqlite, paths);
    // One that was just taken from a snapshot is marked once it is settled: until then it would be taken again.
    if (snapshot === undefined) markOpen(paths);
    const hasTables = db.sqlite.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null;
    if (hasTables && pendingMigrations(db.sqlite).length > 0) {
      logWayBack(takeSnapshot(db.sqlite, paths.snapshots, "before-migration"), paths, log);
    }
    migrate(db.sqlite, log);
    if (snapshot !== undefined) {
      const start = readCopyStart(db.sqlite, journalRoot(paths.blobs));
      settleRestored(db.sqlite, snapshot, nowMs);
      if (start !== undefined) noteCopyStart(db.sqlite, start);
      markOpen(paths);
    }
    db.setBusyTimeout(busyTimeoutMs);
    return db;
  } catch (error) {
    throw explainOpening(error, paths);
  }
}

/** What depends on each secret, so that a new one in its place ends it. */
const SECRET_USES: Readonly<Record<SecretName, string>> = {
  jwt: "SELECT 1 FROM sessions LIMIT 1",
  link: "SELECT 1 FROM shares WHERE kind <> 'account' UNION ALL SELECT 1 FROM webhooks LIMIT 1",
  vapid: "SELECT 1 FROM push_targets WHERE token LIKE 'https:%' OR token LIKE '{%' LIMIT 1",
  factors: "SELECT 1 FROM two_factors LIMIT 1",
};

/** Logs that keys are new, but the database needs the old ones: a copy was made without `secrets/`, for instance. */
function warnOfNewSecrets(sqlite: Database, made: readonly SecretName[], log: Log): void {
  const lost = made.filter((name) => sqlite.query(SECRET_USES[name]).get() !== null);
  if (lost.length === 0) return;
  log.warn(
    "Keys were missing in secrets/; created new ones. To undo this, stop the server and restore the original files.",
    Object.fromEntries(lost.map((name) => [name, SECRET_LOSSES[name]])),
  );
}

/** An upgrade is told with both ways back: to the state of before, and to the program of before. */
function logWayBack({ path, name }: Snapshot, paths: DataPaths, log: Log): void {
  const { database, state } = paths;
  const aside = join(paths.setAside, name);
  log.info("Upgrading the database for this version; a snapshot was taken first.", {
    path,
    toThatState: `larder restore --snapshot ${name} --data ${paths.root}`,
    toTheEarlierProgram:
      `stop this one, then: mkdir -p ${aside} && mv ${database}* ${state} ${aside}/ && cp ${path} ${database} ` +
      "and start the earlier version",
  });
}

/** What keeps a database from being used, in words that help; any other error as it is. */
export function explainOpening(error: unknown, paths: DataPaths): unknown {
  if (error instanceof MigrationError && !isDamage(error.cause)) {
    return new StartupError(
      `Could not upgrade ${paths.database}. ${error.message}. The database is unchanged and works with the earlier version ` +
        `of Larder. A snapshot is in ${paths.snapshots}. Please report this.`,
      error,
    );
  }
  if (error instanceof ForeignDatabaseError) return new StartupError(`${paths.database}: ${error.message}`);
  const cause = error instanceof AppError ? error.cause : error;
  if (isDamage(cause)) {
    return new StartupError(
      `${paths.database} is not a database or is damaged (${String(cause)}). Nothing was removed. ` +
        "Restore the newest snapshot, which moves the damaged database to set-aside/: larder restore --snapshot newest",
    );
  }
  if (isBusy(cause)) {
    return new StartupError(
      `${paths.database} is locked by another program, such as a database browser or a copy tool. ` +
        "Close that program, then start again. Nothing was changed.",
    );
  }
  return error;
}
