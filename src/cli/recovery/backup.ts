import * as fs from "node:fs";
import { join, relative } from "node:path";
import { Option } from "commander";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { listSnapshots } from "../../db/snapshot.ts";
import { AppError } from "../../errors.ts";
import { backUp, readMarker, requireOwnTarget } from "../../features/storage/backup/service.ts";
import { explainTarget } from "../../features/storage/backup/target-errors.ts";
import type { BackupSummary, Plan } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { findDatabaseSource } from "../../server/data/database-source.ts";
import { type DataPaths, dataPaths, openDataDirectory, requireReadable } from "../../server/data/data-directory.ts";
import { acquireServerLock, LockedError, type ServerLock } from "../../server/data/lock.ts";
import { markBackup } from "../../server/data/run-mark.ts";
import {
  DATA_SETTINGS,
  defineCommand,
  EXIT,
  type ExitCode,
  requireDatabase,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { describeLost } from "../shared/lost-blobs.ts";
import { count, type Terminal } from "../shared/output.ts";
import { blobProgress, describeSeconds } from "../shared/progress.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import { withServices } from "../shared/services.ts";
import { rejectOwnData } from "../shared/transfer.ts";
import { describeElsewhere, type FetchBlob, presentLost, writeArchive } from "./backup-archive.ts";
import { runDrill } from "./drill.ts";

/** `larder backup DIR|-`: makes a complete, incremental backup, also while the server runs. */
export const define = defineCommand({
  argument: ["[dir]", "Directory for backups of this server only, or - to write a tar archive to standard output."],
  description:
    "Create or update a backup of all files, accounts, settings, and keys of this server. The server may run at the same " +
    "time. Only new blobs are written, after a check for free space. They are independent copies: if a file on the server " +
    "is damaged, larder heal --from DIR repairs it from the backup. On the same disk, file systems with reflinks (Btrfs, " +
    "XFS) need no extra space for them. Keep a backup on another disk too. To restore: start a server with the backup as " +
    "its data directory, or see: larder restore --help\n\n" +
    "The backup contains the server's keys (secrets/). Anyone who can read it can sign in as any user; protect it.",
  options: [
    [
      "--link",
      "Use hard links if the backup and the data directory are on one file system. Needs no space, but a blob damaged in the " +
        "data directory is damaged in the backup too.",
    ],
    new Option("--copy", "Make independent copies, which is the default.").hideHelp(),
    new Option(
      "--keep <count>",
      "Number of snapshots to keep in the backup, at least 3; older ones are thinned out.",
    ).default("30", "30"),
    ["--prune", "Remove blobs that no kept snapshot needs."],
    [
      "--drill",
      "Test the backup: restore it to a temporary directory, start a server on it, and download files. Changes nothing.",
    ],
    new Option("--sample <count>", "With --drill: number of files to download.").default("50", "50"),
    ["--json", "Print the summary as JSON."],
  ],
  settings: DATA_SETTINGS,
  examples:
    "larder backup /mnt/usb/larder --data /srv/larder\nlarder backup --drill /mnt/usb/larder\n" +
    "larder backup - | ssh nas 'cat > larder.tar'",
  problems: "some blobs are missing or damaged (the rest was backed up), or the drill failed",
  async run(command, [dir = ""]) {
    const { config } = command;
    if (command.has("drill")) return runDrill(command, dir);
    const source = dataPaths(config.data);
    requireSource(source);
    // Opening the services of a standby would create a database, and its backup would be empty.
    if (config.replica.url !== null) requireDatabase(config);
    if (dir === "") throw new UsageError("Specify the directory for the backup, or - for a tar archive.");
    if (dir === "-") return withBucket(command, (fetchBlob) => writeArchive(command, source, fetchBlob));
    if (command.has("link") && command.has("copy")) throw new UsageError("Use either --link or --copy, not both.");
    const path = command.path(dir);
    rejectOwnData(config, path);
    const target = openTarget(path, source);
    requireOwnTarget(target, readMarker(source.storeMarker));
    const lock = tryLock(target, command.terminal);
    try {
      return await withBucket(command, (fetchBlob) => writeBackup(command, { source, target, fetchBlob }));
    } finally {
      lock?.release();
    }
  },
});

async function writeBackup(
  command: RunningCommand,
  { source, target, fetchBlob }: { source: DataPaths; target: DataPaths; fetchBlob: FetchBlob | undefined },
): Promise<ExitCode> {
  const { terminal } = command;
  const mayLink = command.has("link");
  // Later than all snapshots of the target, so that the newest name is the newest state.
  const origin = findDatabaseSource(source, listSnapshots(target.snapshots)[0]?.takenAtMs ?? 0);
  const summary = await backUp({
    source,
    target,
    takeSnapshot: (folder) => origin.take(folder),
    isLive: origin.isLive,
    mayLink,
    onPlan: command.isJson ? undefined : (plan) => terminal.out(describePlan(plan)),
    fetchContent: fetchBlob,
    keep: command.wholeNumber("keep", 3),
    prune: command.has("prune"),
    markBackup: () => markBackup(target),
    onProgress: blobProgress(terminal),
    nowMs: Date.now(),
  });
  const warnings = mayLink ? [...summary.warnings, describeLinks(source.root)] : summary.warnings;
  return printSummary({ ...summary, warnings }, command);
}

/** Runs `work` with a function that fetches blobs from the bucket, if one is configured. */
async function withBucket(
  command: RunningCommand,
  work: (fetchBlob: FetchBlob | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (command.config.s3.bucket === null) return work(undefined);
  const fetchFrom = ({ blobs }: Pick<CommandServices, "blobs">) =>
    work(async (digest) => {
      try {
        await blobs.fetchLocal(digest);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.reason === "content_missing") return false;
        throw error;
      }
    });
  return withServices(command, fetchFrom, { isReading: true });
}

function requireSource(source: DataPaths): void {
  requireReadable(source);
  if (!fs.existsSync(source.root)) {
    throw new StartupError(
      `Directory ${source.root} does not exist. Set the data directory with --data (LARDER_DATA).`,
    );
  }
}

function openTarget(dir: string, source: DataPaths): DataPaths {
  const inSource = relative(source.root, dir);
  const inTarget = relative(dir, source.root);
  if (!inSource.startsWith("..") || !inTarget.startsWith("..")) {
    throw new StartupError(
      `${dir} and the data directory ${source.root} must not contain each other. Use another directory.`,
    );
  }
  try {
    return openDataDirectory(dir);
  } catch (error) {
    throw explainTarget(error, dir);
  }
}

/** The lock that keeps other backups and servers away; undefined on a file system without locks. */
function tryLock(target: DataPaths, terminal: Terminal): ServerLock | undefined {
  try {
    return acquireServerLock(target.lock);
  } catch (error) {
    if (error instanceof LockedError) {
      throw new StartupError(`Another backup or a server is using ${target.root}. Wait until it has finished.`, error);
    }
    if (!(error instanceof StartupError) || !fs.existsSync(target.lock)) throw explainTarget(error, target.root);
    terminal.error(`Cannot lock ${target.root}. Make sure that no other backup writes there at the same time.\n`);
    return undefined;
  }
}

/** Describes the planned writes; empty if there are none. */
function describePlan({ how, contents, bytes, availableBytes }: Plan): string {
  if (contents === 0) return "";
  const what = `${count(contents, "blob")}, ${describeSize(bytes)}`;
  if (how === "link") return `To link: ${what}.\n`;
  if (how === "clone") return `To clone: ${what}. Clones need no space until the original or the clone changes.\n`;
  return `To copy: ${what}; ${describeSize(availableBytes)} free.\n`;
}

function describeLinks(source: string): string {
  return (
    `With --link, blobs are shared with ${source} if both are on one file system. A blob damaged there is damaged in this ` +
    "backup too, and larder heal finds no good copy here. For independent copies, run the command without --link."
  );
}

function printSummary(summary: BackupSummary, command: RunningCommand): ExitCode {
  const { isJson, terminal } = command;
  const { lost } = summary.totals;
  for (const warning of summary.warnings) terminal.error(`Warning: ${warning}\n`);
  command.print(present(summary), describe(summary));
  if (lost.length > 0 && !isJson) terminal.error(describeLost(lost));
  return lost.length === 0 ? EXIT.success : EXIT.problems;
}

function present({ totals, ...summary }: BackupSummary) {
  const { lost, newBytes, ...counts } = totals;
  return {
    ok: lost.length === 0,
    target: summary.target,
    snapshot: summary.snapshot,
    takenAt: toTimestamp(summary.takenAtMs),
    store: summary.store,
    ...counts,
    new: totals.linked + totals.cloned + totals.copied,
    newBytes,
    lost: lost.map(presentLost),
    snapshots: summary.snapshots,
    pruned: summary.pruned,
    seconds: Math.round(summary.durationMs) / 1000,
    secrets: join(summary.target, "secrets"),
    warnings: summary.warnings,
  };
}

function describe(summary: BackupSummary): string {
  const { totals, target, snapshot, snapshots, pruned } = summary;
  const added = totals.linked + totals.cloned + totals.copied;
  const how = [
    ...(totals.linked > 0 ? [`${totals.linked} linked`] : []),
    ...(totals.cloned > 0 ? [`${totals.cloned} cloned`] : []),
    ...(totals.copied > 0 ? [`${totals.copied} copied`] : []),
  ].join(", ");
  return (
    `${count(totals.contents, "blob")}, ${describeSize(totals.bytes)}: ${totals.already} already backed up, ${added} new` +
    `${added > 0 ? ` (${how}; ${describeSize(totals.newBytes)})` : ""}.\n` +
    (totals.unshared > 0
      ? `Replaced ${count(totals.unshared, "hard link")} to the data directory (--link) with independent copies.\n`
      : "") +
    describeElsewhere(totals) +
    (pruned > 0 ? `Removed ${count(pruned, "blob")} that no snapshot needs.\n` : "") +
    `Snapshot ${snapshot}, one of ${snapshots} in ${target}, in ${describeSeconds(summary.durationMs / 1000)}.\n` +
    `The backup contains this server's keys in ${join(target, "secrets")}: keep it where nobody else can read it.\n`
  );
}
