/** Opens the data directory and its database. */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { openSecrets, SECRET_LOSSES, type SecretName } from "../../config/secrets.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { StartupError } from "../../config/startup-error.ts";
import { ForeignDatabaseError, migrate, MigrationError, pendingMigrations, rejectForeign } from "../../db/migrate.ts";
import { assertSqliteVersion, type Db, openDatabase } from "../../db/open.ts";
import { Reader } from "../../db/reader.ts";
import { DiskReserve } from "../../db/reserve.ts";
import { type Snapshot, takeSnapshot } from "../../db/snapshot.ts";
import { isBusy, isDamage, Writer } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { Events } from "../../events/events.ts";
import { SettingsService } from "../../features/administration/settings/service.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { noteCopyStart, readCopyStart } from "../../features/storage/store-journal/opened-copy.ts";
import { AllowedTargets } from "../../lib/allowed-targets.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { Outbound } from "../../net/outbound.ts";
import { type DataPaths, makeWorkingFolders, openDataDirectory } from "../data/data-directory.ts";
import { availableBytes, rejectNetworkFileSystem } from "../data/filesystem.ts";
import { noteCopy, openFromSnapshot, prepareRestored } from "../data/open-copy.ts";
import { reportRestored } from "../data/restoring.ts";
import { isCopyOfClosed, markOpen, readCloseState } from "../data/run-mark.ts";
import { bindStore, checkStore, rejectOrphanedStore, StoreGuard } from "../data/store-identity.ts";

/** The database of a data directory, and the dependencies that all services share. */
export type Data = ReturnType<typeof openData>;

/** How long the start waits for another program's lock on the database. No client is waiting for a response yet. */
const START_BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the data directory, its secrets and its database, and upgrades the database. Opens a copy or a backup from its
 * newest snapshot; only the process that holds the directory's lock may do that.
 * @throws StartupError with what is wrong and what to do
 */
export function openData(loaded: LoadedConfig, log: Log, clock: Clock, busyTimeoutMs: number | undefined) {
  assertSqliteVersion();
  const given = loaded.config;
  const paths = openDataDirectory(given.data);
  const snapshot = openFromSnapshot(paths, readCloseState(paths), log)?.snapshot;
  rejectOrphanedStore(paths);
  const warning = rejectNetworkFileSystem(paths.root, given.allowNetworkFilesystem);
  if (warning !== undefined) log.warn(warning);
  const secrets = openSecrets(paths.secrets);
  const outbound = new Outbound({ allow: AllowedTargets.parse(given.outboundAllow) });
  const db = openOwnDatabase(paths, log, { busyTimeoutMs, snapshot: snapshot?.name, nowMs: clock.nowMs() });
  const { sqlite } = db;
  warnOfNewSecrets(sqlite, secrets.made, log);
  if (snapshot !== undefined) reportRestored(db, snapshot.takenAtMs, clock.nowMs(), log);
  const storeId = bindStore(sqlite, paths);
  makeWorkingFolders(paths);
  const reserve = new DiskReserve(join(paths.root, "larder.reserve"), () => availableBytes(paths.root), log);
  const writer = new Writer(sqlite, log, () => reserve.release());
  const settings = new SettingsService({ loaded, sqlite, writer, clock, log });
  return {
    settings,
    config: settings.config,
    log,
    clock,
    paths,
    secrets,
    outbound,
    db,
    sqlite,
    reserve,
    writer,
    reader: new Reader(paths.database, log),
    events: new Events(),
    storeId,
    storeGuard: new StoreGuard(paths, storeId),
  };
}

/**
 * Opens the database and upgrades it. Takes a snapshot before the upgrade, so that the administrator can undo it.
 * @throws StartupError if the file is not a database, is damaged, or belongs to a newer version or another store
 */
function openOwnDatabase(
  paths: DataPaths,
  log: Log,
  start: { busyTimeoutMs: number | undefined; snapshot: string | undefined; nowMs: number },
): Db {
  const { busyTimeoutMs, snapshot, nowMs } = start;
  try {
    rejectForeign(paths.database);
    const isCopy = snapshot === undefined && isCopyOfClosed(paths);
    const db = openDatabase(paths.database, Math.max(START_BUSY_TIMEOUT_MS, busyTimeoutMs ?? 0));
    checkStore(db.sqlite, paths);
    if (isCopy) noteCopy(db.sqlite);
    // A database restored from a snapshot is marked only once it is prepared: after an earlier crash it must be restored again.
    if (snapshot === undefined) markOpen(paths);
    const hasTables = db.sqlite.query("SELECT 1 FROM sqlite_schema LIMIT 1").get() !== null;
    if (hasTables && pendingMigrations(db.sqlite).length > 0) {
      logUndoCommands(takeSnapshot(db.sqlite, paths.snapshots, "before-migration"), paths, log);
    }
    migrate(db.sqlite, log);
    if (snapshot !== undefined) {
      const copyStart = readCopyStart(db.sqlite, journalRoot(paths.blobs));
      prepareRestored(db.sqlite, snapshot, nowMs);
      if (copyStart !== undefined) noteCopyStart(db.sqlite, copyStart);
      markOpen(paths);
    }
    db.setBusyTimeout(busyTimeoutMs);
    return db;
  } catch (error) {
    throw explainOpening(error, paths);
  }
}

/** Finds the rows that become useless when a secret is replaced. */
const SECRET_USES: Readonly<Record<SecretName, string>> = {
  jwt: "SELECT 1 FROM sessions LIMIT 1",
  link: "SELECT 1 FROM shares WHERE kind <> 'account' UNION ALL SELECT 1 FROM webhooks LIMIT 1",
  vapid: "SELECT 1 FROM push_targets WHERE token LIKE 'https:%' OR token LIKE '{%' LIMIT 1",
  factors: "SELECT 1 FROM two_factors LIMIT 1",
};

/** Warns if the database needs the old keys, for example because it was copied without `secrets/`. */
function warnOfNewSecrets(sqlite: Database, made: readonly SecretName[], log: Log): void {
  const lost = made.filter((name) => sqlite.query(SECRET_USES[name]).get() !== null);
  if (lost.length === 0) return;
  log.warn(
    "Keys were missing in secrets/; created new ones. To undo this, stop the server and restore the original files.",
    Object.fromEntries(lost.map((name) => [name, SECRET_LOSSES[name]])),
  );
}

/** Logs how to return to the state before the upgrade, and how to return to the earlier program. */
function logUndoCommands({ path, name }: Snapshot, paths: DataPaths, log: Log): void {
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

/** Returns an error that explains how to fix an unusable database. Returns other errors unchanged. */
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
