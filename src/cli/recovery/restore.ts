import * as fs from "node:fs";
import { basename, join } from "node:path";
import { Layout } from "../../blobs/layout.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openReadOnly } from "../../db/open.ts";
import { isWhole, listSnapshots, type Snapshot } from "../../db/snapshot.ts";
import { findAbsent } from "../../features/storage/backup/contents.ts";
import { countDatabase } from "../../features/storage/backup/counts.ts";
import { backUp, isEmpty } from "../../features/storage/backup/service.ts";
import { readTar } from "../../features/storage/backup/tar.ts";
import { explainTarget } from "../../features/storage/backup/target-errors.ts";
import type { DatabaseCounts } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { findSnapshot, findDatabaseSource } from "../../server/data/database-source.ts";
import { type DataPaths, dataPaths, openDataDirectory, requireReadable } from "../../server/data/data-directory.ts";
import { restoreDatabase, type RestoreFrom } from "../../server/data/restoring.ts";
import { reduceTo, type ReducedDatabase } from "../../server/one-account.ts";
import {
  ALL_SETTINGS,
  DATA_SETTINGS,
  defineCommand,
  type ExitCode,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { toTable } from "../shared/output.ts";
import { blobProgress } from "../shared/progress.ts";
import { withLock } from "../shared/services.ts";
import { isWithoutData, restoreFromBucket } from "./restore-bucket.ts";
import { reportRestored } from "./restore-report.ts";

/** `larder restore`: lists snapshots, goes back to one, or makes a data directory from a backup. */
export const define = defineCommand({
  argument: ["[source]", "Backup, data directory, or copy of one; - to read a tar archive from standard input."],
  description:
    "Without a source: list the snapshots of the data directory. With --snapshot or --database, go back to one of them; " +
    "stop the server first. The current database is kept.\n\n" +
    "With a source: restore a backup to the empty directory given by --data. The checksum of every blob is verified.\n\n" +
    "With --database and an empty directory: restore a copy of the database (for example from Litestream), a copy of " +
    "secrets/, and the bucket of the s3.* settings, which has the blobs. The new directory then owns the bucket.\n\n" +
    "Sessions, keys, app passwords, and links that were revoked after the snapshot work again. To end all sessions, API " +
    "keys, app passwords, invitations, and links for a password, add --sign-out. Queued emails, notifications, and webhooks of a snapshot older than one hour are not sent again.",
  options: [
    ["--snapshot <name>", "Snapshot to restore, as listed, or newest."],
    ["--database <file>", "Restore the database from this file, after checking it."],
    ["--secrets <dir>", "With --database and an empty directory: copy of the old server's secrets/."],
    [
      "--without-secrets",
      "Continue without the old keys: sessions, links, and two-factor authentication stop working.",
    ],
    ["--no-claim", "Do not take ownership of the bucket; for a test while the old server still runs."],
    [
      "--user <email>",
      "Restore only this account, its files, and versions. It becomes an administrator. Keys and larder.toml are not restored, so public links get new addresses.",
    ],
    [
      "--sign-out",
      "End all sessions, API keys, app passwords, invitations, and links for a password; everyone must sign in again.",
    ],
    ["--json", "Print the result as JSON."],
  ],
  settings: [...DATA_SETTINGS, ...ALL_SETTINGS.filter((key) => key.startsWith("s3."))],
  examples:
    "larder restore --data /srv/larder\nlarder restore --snapshot newest --data /srv/larder\n" +
    "larder restore /mnt/usb/larder --data /srv/larder\n" +
    "larder restore --database /tmp/larder.db --secrets /mnt/usb/secrets --data /srv/larder",
  problems: "restored, but some blobs are missing or damaged",
  run(command, [source]) {
    const { data } = command.config;
    const snapshot = command.text("snapshot");
    const database = command.text("database");
    if (snapshot !== undefined && database !== undefined)
      throw new UsageError("Use either --snapshot or --database, not both.");
    if (source !== undefined || database === undefined) rejectBucketOptions(command);
    if (source === "-" && database === undefined) return restoreArchive(command);
    if (source !== undefined) return restoreFrom(source, command);
    if (command.text("user") !== undefined)
      throw new UsageError("--user requires a source: the backup that has the account.");
    if (snapshot === undefined && database === undefined) return listStates(command);
    if (database !== undefined && isWithoutData(data)) return restoreFromBucket(command, database);
    rejectBucketOptions(command);
    return goBack(command);
  },
});

/** @throws UsageError */
function rejectBucketOptions(command: RunningCommand): void {
  const isGiven = command.text("secrets") !== undefined || command.has("withoutSecrets");
  if (!isGiven && command.value("claim") !== false) return;
  throw new UsageError(
    "--secrets, --without-secrets, and --no-claim require --database and an empty directory (--data).",
  );
}

/** A snapshot that can be restored. */
interface RestorableSnapshot {
  readonly snapshot: Snapshot;
  readonly isWhole: boolean;
  readonly counts: DatabaseCounts | undefined;
  readonly missing: number | undefined;
}

function listStates(command: RunningCommand): void {
  const { root, snapshots } = requireDirectory(command);
  const states = listSnapshots(snapshots).map((snapshot) => examine(snapshot, root));
  const rows = states.map(({ snapshot, isWhole, counts, missing }) => [
    toTimestamp(snapshot.takenAtMs),
    snapshot.name,
    describeSize(snapshot.sizeBytes),
    isWhole ? "yes" : "NO",
    counts === undefined ? "-" : String(counts.users),
    counts === undefined ? "-" : String(counts.files),
    missing === undefined ? "-" : String(missing),
  ]);
  const table = toTable([["TAKEN", "NAME", "SIZE", "INTACT", "USERS", "FILES", "MISSING"], ...rows]);
  const text =
    states.length === 0
      ? `No snapshots found in ${snapshots}.\n`
      : `${table}\nTo restore one, stop the server and run: larder restore --snapshot NAME --data ${root}\n`;
  command.print({ data: root, snapshots: states.map(presentState) }, text);
}

function examine(snapshot: Snapshot, root: string): RestorableSnapshot {
  if (!isWhole(snapshot.path)) return { snapshot, isWhole: false, counts: undefined, missing: undefined };
  const db = openReadOnly(snapshot.path);
  try {
    const missing = findAbsent(db.sqlite, new Layout(root), 0).count;
    return { snapshot, isWhole: true, counts: countDatabase(db.sqlite), missing };
  } finally {
    db.close();
  }
}

function presentState({ snapshot, isWhole, counts, missing }: RestorableSnapshot) {
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

/** Replaces the database of a data directory by a snapshot or a file. */
async function goBack(command: RunningCommand): Promise<ExitCode> {
  const paths = requireDirectory(command);
  openDataDirectory(paths.root);
  return withLock(paths, () => {
    const from = chooseState(paths, command, command.text("snapshot"));
    return reportRestored(
      { restored: restoreDatabase(paths, from, restoreOptions(command), command.log()), paths },
      command,
    );
  });
}

function restoreOptions(command: RunningCommand, isIndependent = false) {
  return { signOut: command.has("signOut"), isIndependent, nowMs: Date.now() };
}

function chooseState(paths: DataPaths, command: RunningCommand, snapshot: string | undefined): RestoreFrom {
  const database = command.text("database");
  if (database !== undefined) {
    const path = command.path(database);
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

/** Makes a data directory from a backup, from a copy, or from the data directory of a running server. */
async function restoreFrom(directory: string, command: RunningCommand): Promise<ExitCode> {
  if (command.text("database") !== undefined) throw new UsageError("--database cannot be combined with a source.");
  const source = dataPaths(command.path(directory));
  if (fs.statSync(source.root, { throwIfNoEntry: false })?.isFile() === true) {
    throw new UsageError(
      `${source.root} is a file. Specify the directory of a backup, or send a tar archive to standard input: ` +
        `larder restore - --data DIR < ${basename(source.root)}`,
    );
  }
  requireReadable(source);
  if (!fs.existsSync(source.root)) throw new StartupError(`Directory ${source.root} does not exist.`);
  const paths = openDataDirectory(command.config.data);
  if (paths.root === source.root)
    throw new UsageError(
      `The source and --data are the same directory: ${paths.root}. Use another directory for --data.`,
    );
  requireNoData(paths);
  return withLock(paths, () => copyFrom(source, paths, command));
}

async function copyFrom(source: DataPaths, paths: DataPaths, command: RunningCommand): Promise<ExitCode> {
  const { loaded } = command;
  const email = command.text("user");
  const log = command.log();
  const origin = findDatabaseSource(source, 0, command.text("snapshot"));
  let reduced: ReducedDatabase | undefined;
  const summary = await backUp({
    source,
    target: paths,
    async takeSnapshot(folder) {
      const snapshot = origin.take(folder);
      if (email === undefined) return snapshot;
      reduced = await reduceTo(email, { snapshot, folder, source, loaded, log });
      return reduced.snapshot;
    },
    isLive: origin.isLive,
    // With hard links, the data and the backup would share one copy of each blob.
    mayLink: false,
    keep: Number.MAX_SAFE_INTEGER,
    prune: false,
    isOneAccount: email !== undefined,
    markBackup: () => {},
    onProgress: blobProgress(command.terminal),
    nowMs: Date.now(),
  });
  const path = join(paths.snapshots, summary.snapshot);
  const from = { path, name: summary.snapshot, takenAtMs: summary.takenAtMs, isUnknown: false };
  const isIndependent = summary.totals.elsewhere === 0;
  const restored = restoreDatabase(paths, from, restoreOptions(command, isIndependent), log);
  return reportRestored({ restored, paths, summary, reduced }, command);
}

/** Makes a data directory from a tar archive on standard input. */
async function restoreArchive(command: RunningCommand): Promise<ExitCode> {
  if (command.text("user") !== undefined) {
    throw new UsageError("--user requires a directory. Unpack the archive with tar -x -C DIR, then specify DIR.");
  }
  if (process.stdin.isTTY) throw new UsageError("Send the archive to standard input: larder restore - < larder.tar");
  const paths = openDataDirectory(command.config.data);
  if (!isEmpty(paths)) throw notEmpty(paths);
  return withLock(paths, async () => {
    try {
      await readTar(Bun.stdin.stream(), paths.root);
      const from = chooseState(paths, command, command.text("snapshot") ?? "newest");
      const restored = restoreDatabase(paths, from, restoreOptions(command, true), command.log());
      return reportRestored({ restored, paths }, command);
    } catch (error) {
      throw explainTarget(error, paths.root);
    }
  });
}

/** Rejects a directory that is not empty, except for the files of a restore that was interrupted. */
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

function requireDirectory({ config }: RunningCommand): DataPaths {
  const paths = dataPaths(config.data);
  requireReadable(paths);
  if (fs.existsSync(paths.root)) return paths;
  throw new StartupError(`Directory ${paths.root} does not exist. Set the data directory with --data (LARDER_DATA).`);
}
