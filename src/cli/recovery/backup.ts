import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Digest, toChecksum } from "../../blobs/digest.ts";
import { errorCode } from "../../blobs/disk.ts";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { listSnapshots } from "../../db/snapshot.ts";
import { AppError } from "../../errors.ts";
import { backUp, readMarker, requireOwnTarget } from "../../features/storage/backup/service.ts";
import { writeTar } from "../../features/storage/backup/tar.ts";
import { explainTarget } from "../../features/storage/backup/target-errors.ts";
import type { BackupSummary, LostContent, Plan, CopyTotals } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { createLog } from "../../lib/log.ts";
import { findDatabaseSource } from "../../server/data/database-source.ts";
import { type DataPaths, dataPaths, openDataDirectory, requireReadable } from "../../server/data/data-directory.ts";
import { openForCommand } from "../../server/for-commands.ts";
import { acquireServerLock, LockedError, type ServerLock } from "../../server/data/lock.ts";
import { markBackup } from "../../server/data/run-mark.ts";
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
import { runDrill } from "./drill.ts";
import { describeLost } from "../shared/lost-contents.ts";
import { type Terminal, toJson } from "../shared/output.ts";
import { count, rejectOwnData } from "../shared/transfer.ts";
import { describeSeconds, progressLine } from "../shared/transfer-progress.ts";

const KEEP = 30;
const SAMPLE = 50;
const ARCHIVE_PREFIX = ".archive-";
const ARCHIVE_MS_MAX = 7 * 24 * 60 * 60 * 1000;

/** `larder backup DIR|-`: an exact, incremental backup, while the server runs or not. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("[dir]", "Directory for backups of this server only, or - to write a tar archive to standard output.")
    .description(
      "Create or update a backup of all files, accounts, settings, and keys of this server. The server may run at the same " +
        "time. Only new blobs are written, after a check for free space. They are independent copies: if a file on the server " +
        "is damaged, larder heal --from DIR repairs it from the backup. On the same disk, file systems with reflinks (Btrfs, " +
        "XFS) need no extra space for them. Keep a backup on another disk too. To restore: start a server with the backup as " +
        "its data directory, or see: larder restore --help\n\n" +
        "The backup contains the server's keys (secrets/). Anyone who can read it can sign in as any user; protect it.",
    )
    .option(
      "--link",
      "Use hard links if the backup and the data directory are on one file system. Needs no space, but a blob damaged in the " +
        "data directory is damaged in the backup too.",
    )
    .addOption(new Option("--copy", "Make independent copies, which is the default.").hideHelp())
    .addOption(
      new Option(
        "--keep <count>",
        "Number of snapshots to keep in the backup, at least 3; older ones are thinned out.",
      ).default(String(KEEP), String(KEEP)),
    )
    .option("--prune", "Remove blobs that no kept snapshot needs.")
    .option(
      "--drill",
      "Test the backup: restore it to a temporary directory, start a server on it, and download files. Changes nothing.",
    )
    .addOption(
      new Option("--sample <count>", "With --drill: number of files to download.").default(
        String(SAMPLE),
        String(SAMPLE),
      ),
    )
    .option("--json", "Print the summary as JSON.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(
    command,
    "larder backup /mnt/usb/larder --data /srv/larder\nlarder backup --drill /mnt/usb/larder\n" +
      "larder backup - | ssh nas 'cat > larder.tar'",
    "some blobs are missing or damaged (the rest was backed up), or the drill failed",
  );
  runs(command, async ([dir = ""]) => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    const source = dataPaths(loaded.config.data);
    if (hasOption(command, "drill")) return runDrill(command, loaded.config, dir, context);
    requireSource(source);
    if (dir === "") throw new UsageError("Specify the directory for the backup, or - for a tar archive.");
    const isJson = hasOption(command, "json");
    if (dir === "-")
      return withRemote(loaded.config, context.terminal, (fetchContent) =>
        writeArchive(source, isJson, context.terminal, fetchContent),
      );
    const mayLink = hasOption(command, "link");
    if (mayLink && hasOption(command, "copy")) throw new UsageError("Use either --link or --copy, not both.");
    rejectOwnData(loaded.config, resolve(context.directory, dir));
    const target = openTarget(resolve(context.directory, dir), source);
    requireOwnTarget(target, readMarker(source.storeMarker));
    const lock = tryLock(target, context.terminal);
    try {
      const summary = await withRemote(loaded.config, context.terminal, (fetchContent) =>
        backUp({
          source,
          target,
          ...takeFrom(source, target),
          mayLink,
          onPlan: isJson ? undefined : (plan) => context.terminal.out(describePlan(plan)),
          fetchContent,
          keep: readKeep(command),
          prune: hasOption(command, "prune"),
          markBackup: () => markBackup(target),
          onProgress: progressLine(context.terminal, process.stderr.isTTY),
          nowMs: Date.now(),
        }),
      );
      const warnings = mayLink ? [...summary.warnings, describeLinks(source.root)] : summary.warnings;
      return printSummary({ ...summary, warnings }, isJson, context.terminal);
    } finally {
      lock?.release();
    }
  });
}

/** The whole backup as a tar archive on standard output; messages go to standard error. */
async function writeArchive(
  source: DataPaths,
  isJson: boolean,
  terminal: Terminal,
  fetchContent: FetchContent | undefined,
): Promise<ExitCode> {
  if (process.stdout.isTTY) {
    throw new UsageError("Cannot write a tar archive to a terminal. Redirect it: larder backup - > larder.tar");
  }
  const startedMs = performance.now();
  const folder = makeFolder(source);
  try {
    const origin = findDatabaseSource(source, 0);
    const { snapshot, totals } = await writeTar({
      source,
      takeSnapshot: () => origin.take(folder),
      isLive: origin.isLive,
      fetchContent,
      write: writeOut,
      onProgress: progressLine(terminal, process.stderr.isTTY),
    });
    const seconds = Math.round(performance.now() - startedMs) / 1000;
    const { contents, bytes, lost } = totals;
    terminal.error(
      isJson
        ? toJson({
            ok: lost.length === 0,
            snapshot: snapshot.name,
            contents,
            bytes,
            lost: lost.map(presentLost),
            seconds,
          })
        : `Archived ${count(contents, "blob")}, ${describeSize(bytes)}, in ${describeSeconds(seconds)}. Snapshot ${snapshot.name}.\n` +
            describeElsewhere(totals) +
            "The archive contains this server's keys: keep it where nobody else can read it.\n",
    );
    if (lost.length === 0) return EXIT.fine;
    if (!isJson) terminal.error(describeLost(lost));
    return EXIT.wrong;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the copy of the database lies until it is written: on the disk of the data, which has room for it. */
function makeFolder({ snapshots }: DataPaths): string {
  try {
    fs.mkdirSync(snapshots, { recursive: true, mode: 0o700 });
    sweepFolders(snapshots);
    return fs.mkdtempSync(join(snapshots, ARCHIVE_PREFIX));
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    // A directory that may only be read.
    return fs.mkdtempSync(join(tmpdir(), "larder-archive-"));
  }
}

/** Removes what archives left that were killed. No archive takes so long. */
function sweepFolders(snapshots: string): void {
  for (const name of fs.readdirSync(snapshots)) {
    const path = join(snapshots, name);
    const isOld = name.startsWith(ARCHIVE_PREFIX) && fs.statSync(path).mtimeMs < Date.now() - ARCHIVE_MS_MAX;
    if (isOld) fs.rmSync(path, { recursive: true, force: true });
  }
}

const RETRY_MS = 2;

/** Writes all of it to standard output, waiting where its reader is slow. @throws StartupError where the reader is gone */
function writeOut(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.byteLength; ) {
    try {
      written += fs.writeSync(1, bytes, written);
    } catch (error) {
      const code = errorCode(error);
      if (code !== "EAGAIN") throw code === "EPIPE" ? readerGone(error) : explainTarget(error, "standard output");
      Bun.sleepSync(RETRY_MS);
    }
  }
}

function readerGone(error: unknown): StartupError {
  return new StartupError(
    "The program that reads the archive stopped early; the backup is incomplete. Run the command again.",
    error,
  );
}

type FetchContent = (digest: Digest) => Promise<boolean>;

/** Runs `work` with a function that fetches blobs from the bucket, where one is configured. */
async function withRemote<T>(
  config: Config,
  terminal: Terminal,
  work: (fetchContent: FetchContent | undefined) => Promise<T>,
): Promise<T> {
  if (config.s3.bucket === null) return work(undefined);
  const services = await openForCommand(
    config,
    createLog("pretty", "warn", (line) => terminal.error(line)),
  );
  try {
    return await work(async (digest) => {
      try {
        await services.blobs.fetchLocal(digest);
        return true;
      } catch (error) {
        if (error instanceof AppError && error.reason === "content_missing") return false;
        throw error;
      }
    });
  } finally {
    await services.close();
  }
}

/** Where the database comes from: named later than what the target has, so that the newest name is the newest state. */
function takeFrom(source: DataPaths, target: DataPaths) {
  const origin = findDatabaseSource(source, listSnapshots(target.snapshots)[0]?.takenAtMs ?? 0);
  return { takeSnapshot: (folder: string) => origin.take(folder), isLive: origin.isLive };
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

/** Keeps other backups and servers away from the target. Without it on a file system that knows no locks. */
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

function readKeep(command: Command): number {
  const text = optionText(command, "keep") ?? "";
  const keep = Number(text);
  // At least three are always retained: see chooseSuperfluous.
  if (!Number.isInteger(keep) || keep < 3)
    throw new UsageError(`--keep must be a whole number of at least 3, not "${text}".`);
  return keep;
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

function printSummary(summary: BackupSummary, isJson: boolean, terminal: Terminal): ExitCode {
  for (const warning of summary.warnings) terminal.error(`Warning: ${warning}\n`);
  const { totals } = summary;
  if (isJson) terminal.out(toJson(present(summary)));
  else terminal.out(describe(summary));
  if (totals.lost.length === 0) return EXIT.fine;
  if (!isJson) terminal.error(describeLost(totals.lost));
  return EXIT.wrong;
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

function presentLost({ digest, sizeBytes, why, names }: LostContent) {
  return { checksum: toChecksum(digest), size: sizeBytes, why, names };
}

function describe(summary: BackupSummary): string {
  const { totals, target, snapshot, snapshots, pruned } = summary;
  const fresh = totals.linked + totals.cloned + totals.copied;
  const how = [
    ...(totals.linked > 0 ? [`${totals.linked} linked`] : []),
    ...(totals.cloned > 0 ? [`${totals.cloned} cloned`] : []),
    ...(totals.copied > 0 ? [`${totals.copied} copied`] : []),
  ].join(", ");
  return (
    `${count(totals.contents, "blob")}, ${describeSize(totals.bytes)}: ${totals.already} already backed up, ${fresh} new` +
    `${fresh > 0 ? ` (${how}; ${describeSize(totals.newBytes)})` : ""}.\n` +
    (totals.unshared > 0
      ? `Replaced ${count(totals.unshared, "hard link")} to the data directory (--link) with independent copies.\n`
      : "") +
    describeElsewhere(totals) +
    (pruned > 0 ? `Removed ${count(pruned, "blob")} that no snapshot needs.\n` : "") +
    `Snapshot ${snapshot}, one of ${snapshots} in ${target}, in ${describeSeconds(summary.durationMs / 1000)}.\n` +
    `The backup contains this server's keys in ${join(target, "secrets")}: keep it where nobody else can read it.\n`
  );
}

function describeElsewhere({ elsewhere }: CopyTotals): string {
  if (elsewhere === 0) return "";
  return `${count(elsewhere, "blob")} stored only in the bucket (s3.bucket) are not in the backup: keep the bucket too. See: larder blobs status\n`;
}
