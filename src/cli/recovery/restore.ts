import * as fs from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Command } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import { describeSize } from "../../config/quantities.ts";
import { type Config, SETTINGS_BY_KEY } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openReadOnly } from "../../db/open.ts";
import { isWhole, listSnapshots, type Snapshot } from "../../db/snapshot.ts";
import { Layout } from "../../blobs/layout.ts";
import { findAbsent } from "../../features/storage/backup/contents.ts";
import { countDatabase } from "../../features/storage/backup/counts.ts";
import { backUp, isEmpty } from "../../features/storage/backup/service.ts";
import { readTar } from "../../features/storage/backup/tar.ts";
import { explainTarget } from "../../features/storage/backup/target-errors.ts";
import type { DatabaseCounts } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { createLog, type Log } from "../../lib/log.ts";
import { findSnapshot, findDatabaseSource } from "../../server/data/database-source.ts";
import { type DataPaths, dataPaths, openDataDirectory, requireReadable } from "../../server/data/data-directory.ts";
import { acquireServerLock } from "../../server/data/lock.ts";
import { reduceTo, type Reduced } from "../../server/one-account.ts";
import { restoreDatabase, type RestoreFrom } from "../../server/data/restoring.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  optionText,
  DATA_SETTINGS,
  readConfig,
  runs,
  printWarnings,
  UsageError,
} from "../shared/command.ts";
import { isWithoutData, restoreFromBucket } from "./restore-bucket.ts";
import { reportRestored } from "./restore-report.ts";
import { toJson, toTable, type Terminal } from "../shared/output.ts";
import { progressLine } from "../shared/transfer-progress.ts";

/** `larder restore`: lists the states that a directory can go back to, goes back to one, or makes a directory from a backup. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("[source]", "Backup, data directory, or copy of one; - to read a tar archive from standard input.")
    .description(
      "Without a source: list the snapshots of the data directory. With --snapshot or --database, go back to one of them; " +
        "stop the server first. The current database is kept.\n\n" +
        "With a source: restore a backup to the empty directory given by --data. The checksum of every blob is verified.\n\n" +
        "With --database and an empty directory: restore a copy of the database (for example from Litestream), a copy of " +
        "secrets/, and the bucket of the s3.* settings, which has the blobs. The new directory then owns the bucket.\n\n" +
        "Sessions, keys, and links that were revoked after the snapshot work again. To end all sessions, add --sign-out. " +
        "Queued emails, notifications, and webhooks of a snapshot older than one hour are not sent again.",
    )
    .option("--snapshot <name>", "Snapshot to restore, as listed, or newest.")
    .option("--database <file>", "Restore the database from this file, after checking it.")
    .option("--secrets <dir>", "With --database and an empty directory: copy of the old server's secrets/.")
    .option(
      "--without-secrets",
      "Continue without the old keys: sessions, links, and two-factor authentication stop working.",
    )
    .option("--no-claim", "Do not take ownership of the bucket; for a test while the old server still runs.")
    .option(
      "--user <email>",
      "Restore only this account, its files, and versions. It becomes an administrator. Keys and larder.toml are not restored, so public links get new addresses.",
    )
    .option("--sign-out", "End all sessions; everyone must sign in again.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, SETTINGS);
  describeEnd(
    command,
    "larder restore --data /srv/larder\nlarder restore --snapshot newest --data /srv/larder\n" +
      "larder restore /mnt/usb/larder --data /srv/larder\n" +
      "larder restore --database /tmp/larder.db --secrets /mnt/usb/secrets --data /srv/larder",
    "restored, but some blobs are missing or damaged",
  );
  runs(command, async ([source]) => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    const given = {
      snapshot: optionText(command, "snapshot"),
      database: optionText(command, "database"),
      secrets: optionText(command, "secrets"),
      withoutSecrets: hasOption(command, "withoutSecrets"),
      noClaim: command.getOptionValue("claim") === false,
      user: optionText(command, "user"),
      signOut: hasOption(command, "signOut"),
      isJson: hasOption(command, "json"),
    };
    if (given.snapshot !== undefined && given.database !== undefined)
      throw new UsageError("Use either --snapshot or --database, not both.");
    if (source !== undefined || given.database === undefined) rejectBucketOptions(given);
    if (source !== undefined) return restoreFrom(source, loaded, given, context);
    if (given.user !== undefined) throw new UsageError("--user requires a source: the backup that has the account.");
    if (given.snapshot === undefined && given.database === undefined)
      return listStates(loaded.config, given.isJson, context.terminal);
    if (given.database !== undefined && isWithoutData(loaded.config.data)) {
      return restoreFromBucket(loaded.config, { ...given, database: given.database }, logTo(context), context);
    }
    rejectBucketOptions(given);
    return goBack(loaded.config, given, context);
  });
}

interface Given {
  readonly snapshot: string | undefined;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly secrets: string | undefined;
  readonly withoutSecrets: boolean;
  readonly noClaim: boolean;
  readonly signOut: boolean;
  readonly isJson: boolean;
}

/** Settings that the command takes: where the data is, and the bucket. */
const SETTINGS = [...DATA_SETTINGS, ...[...SETTINGS_BY_KEY.keys()].filter((key) => key.startsWith("s3."))];

/** @throws UsageError */
function rejectBucketOptions({ secrets, withoutSecrets, noClaim }: Given): void {
  if (secrets === undefined && !withoutSecrets && !noClaim) return;
  throw new UsageError(
    "--secrets, --without-secrets, and --no-claim require --database and an empty directory (--data).",
  );
}

/** A state that can be gone back to. */
interface State {
  readonly snapshot: Snapshot;
  readonly isWhole: boolean;
  readonly counts: DatabaseCounts | undefined;
  readonly missing: number | undefined;
}

function listStates(config: Config, isJson: boolean, terminal: Terminal): ExitCode {
  const paths = requireDirectory(config);
  const layout = new Layout(paths.root);
  const states = listSnapshots(paths.snapshots).map((snapshot): State => {
    if (!isWhole(snapshot.path)) return { snapshot, isWhole: false, counts: undefined, missing: undefined };
    const db = openReadOnly(snapshot.path);
    try {
      const missing = findAbsent(db.sqlite, layout, 0).count;
      return { snapshot, isWhole: true, counts: countDatabase(db.sqlite), missing };
    } finally {
      db.close();
    }
  });
  if (isJson) {
    terminal.out(toJson({ data: paths.root, snapshots: states.map(presentState) }));
    return EXIT.fine;
  }
  if (states.length === 0) {
    terminal.out(`No snapshots found in ${paths.snapshots}.\n`);
    return EXIT.fine;
  }
  const rows = states.map(({ snapshot, isWhole, counts, missing }) => [
    toTimestamp(snapshot.takenAtMs),
    snapshot.name,
    describeSize(snapshot.sizeBytes),
    isWhole ? "yes" : "NO",
    counts === undefined ? "-" : String(counts.users),
    counts === undefined ? "-" : String(counts.files),
    missing === undefined ? "-" : String(missing),
  ]);
  terminal.out(toTable([["TAKEN", "NAME", "SIZE", "INTACT", "USERS", "FILES", "MISSING"], ...rows]));
  terminal.out(`\nTo restore one, stop the server and run: larder restore --snapshot NAME --data ${paths.root}\n`);
  return EXIT.fine;
}

function presentState({ snapshot, isWhole, counts, missing }: State) {
  return {
    name: snapshot.name,
    takenAt: toTimestamp(snapshot.takenAtMs),
    label: snapshot.label,
    size: snapshot.sizeBytes,
    whole: isWhole,
    users: counts?.users ?? null,
    files: counts?.files ?? null,
    folders: counts?.folders ?? null,
    bytes: counts?.bytes ?? null,
    missing: missing ?? null,
  };
}

/** Goes back to a state within a data directory. */
function goBack(config: Config, given: Given, context: CommandContext): ExitCode {
  const paths = requireDirectory(config);
  openDataDirectory(paths.root);
  const lock = acquireServerLock(paths.lock);
  try {
    const from = chooseState(paths, given, context);
    const restored = restoreDatabase(
      paths,
      from,
      { signOut: given.signOut, isIndependent: false, nowMs: Date.now() },
      logTo(context),
    );
    return reportRestored({ restored, paths }, given.isJson, context.terminal);
  } finally {
    lock.release();
  }
}

function chooseState(paths: DataPaths, { snapshot, database }: Given, context: CommandContext): RestoreFrom {
  if (database !== undefined) {
    const path = resolve(context.directory, database);
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw new StartupError(`File ${path} does not exist.`);
    return { path, name: basename(path), takenAtMs: stats.mtimeMs, isUnknown: true };
  }
  const chosen =
    snapshot === "newest"
      ? listSnapshots(paths.snapshots).find(({ path }) => isWhole(path))
      : findSnapshot(paths, snapshot ?? "");
  if (chosen === undefined) throw new StartupError(`No intact snapshot found in ${paths.snapshots}.`);
  if (!isWhole(chosen.path)) {
    throw new StartupError(
      `${chosen.path} is damaged: its checksum does not match. To list other snapshots: larder restore --data ${paths.root}`,
    );
  }
  return { ...chosen, isUnknown: false };
}

/** Makes a data directory from a backup, a copy or a live directory. */
async function restoreFrom(
  given: string,
  loaded: LoadedConfig,
  options: Given,
  context: CommandContext,
): Promise<ExitCode> {
  if (options.database !== undefined) throw new UsageError("--database cannot be combined with a source.");
  if (given === "-") return restoreArchive(loaded.config, options, context);
  const source = dataPaths(resolve(context.directory, given));
  if (fs.statSync(source.root, { throwIfNoEntry: false })?.isFile() === true) {
    throw new UsageError(
      `${source.root} is a file. Specify the directory of a backup, or send a tar archive to standard input: ` +
        `larder restore - --data DIR < ${basename(source.root)}`,
    );
  }
  requireReadable(source);
  if (!fs.existsSync(source.root)) throw new StartupError(`Directory ${source.root} does not exist.`);
  const paths = openDataDirectory(loaded.config.data);
  if (paths.root === source.root)
    throw new UsageError(
      `The source and --data are the same directory: ${paths.root}. Use another directory for --data.`,
    );
  requireNoData(paths);
  const lock = acquireServerLock(paths.lock);
  try {
    const log = logTo(context);
    const origin = findDatabaseSource(source, 0, options.snapshot);
    let reduced: Reduced | undefined;
    const summary = await backUp({
      source,
      target: paths,
      async takeSnapshot(folder) {
        const snapshot = origin.take(folder);
        if (options.user === undefined) return snapshot;
        reduced = await reduceTo(options.user, { snapshot, folder, source, config: loaded.config, log });
        return reduced.snapshot;
      },
      isLive: origin.isLive,
      // A second name for the backup's own bytes would be one copy less.
      mayLink: false,
      keep: Number.MAX_SAFE_INTEGER,
      prune: false,
      isOneAccount: options.user !== undefined,
      markBackup: () => {},
      onProgress: progressLine(context.terminal, process.stderr.isTTY),
      nowMs: Date.now(),
    });
    const path = join(paths.snapshots, summary.snapshot);
    const from = { path, name: summary.snapshot, takenAtMs: summary.takenAtMs, isUnknown: false };
    const restored = restoreDatabase(
      paths,
      from,
      { signOut: options.signOut, isIndependent: summary.totals.elsewhere === 0, nowMs: Date.now() },
      log,
    );
    return reportRestored({ restored, paths, summary, reduced }, options.isJson, context.terminal);
  } finally {
    lock.release();
  }
}

/** Makes a data directory from a tar archive on standard input. */
async function restoreArchive(config: Config, options: Given, context: CommandContext): Promise<ExitCode> {
  if (options.user !== undefined) {
    throw new UsageError("--user requires a directory. Unpack the archive with tar -x -C DIR, then specify DIR.");
  }
  if (process.stdin.isTTY) throw new UsageError("Send the archive to standard input: larder restore - < larder.tar");
  const paths = openDataDirectory(config.data);
  if (!isEmpty(paths)) throw notEmpty(paths);
  const lock = acquireServerLock(paths.lock);
  try {
    await readTar(Bun.stdin.stream(), paths.root);
    const from = chooseState(paths, { ...options, snapshot: options.snapshot ?? "newest" }, context);
    const restored = restoreDatabase(
      paths,
      from,
      { signOut: options.signOut, isIndependent: true, nowMs: Date.now() },
      logTo(context),
    );
    return reportRestored({ restored, paths }, options.isJson, context.terminal);
  } catch (error) {
    throw explainTarget(error, paths.root);
  } finally {
    lock.release();
  }
}

/** Rejects a directory in which there is something already; what a restore left that was ended is none. */
function requireNoData(paths: DataPaths): void {
  const isUnfinished = !fs.existsSync(paths.database) && !fs.existsSync(paths.state);
  if (isEmpty(paths) || (isUnfinished && fs.existsSync(paths.storeMarker))) return;
  throw notEmpty(paths);
}

function notEmpty({ root }: DataPaths): StartupError {
  return new StartupError(
    `${root} is not empty. Nothing was changed. Specify an empty or new directory with --data. ` +
      `To go back to a snapshot of the directory itself: larder restore --data ${root}`,
  );
}

function requireDirectory(config: Config): DataPaths {
  const paths = dataPaths(config.data);
  requireReadable(paths);
  if (fs.existsSync(paths.root)) return paths;
  throw new StartupError(`Directory ${paths.root} does not exist. Set the data directory with --data (LARDER_DATA).`);
}

function logTo({ terminal }: CommandContext): Log {
  return createLog("pretty", "warn", (line) => terminal.error(line));
}
