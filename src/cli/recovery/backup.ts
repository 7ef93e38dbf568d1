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
import type { BackupSummary, LostContent, Plan, Tally } from "../../features/storage/backup/types.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { createLog } from "../../lib/log.ts";
import { originOf } from "../../server/data/backup-origin.ts";
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
  PLACE_SETTINGS,
  readConfig,
  runs,
  tellWarnings,
  UsageError,
} from "../shared/command.ts";
import { runDrill } from "./drill.ts";
import { describeLost } from "../shared/lost-contents.ts";
import { type Terminal, toJson } from "../shared/output.ts";
import { refuseOwnData } from "../shared/transfer.ts";
import { describeSeconds, progressLine } from "../shared/transfer-progress.ts";

const KEEP = 30;
const SAMPLE = 50;
const ARCHIVE_PREFIX = ".archive-";
const ARCHIVE_MS_MAX = 7 * 24 * 60 * 60 * 1000;

/** `larder backup DIR|-`: an exact, incremental backup, while the server runs or not. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("[dir]", "a directory for backups of this one server, or - for a tar archive on standard output")
    .description(
      "Make a backup, or bring one up to date: every file as of now, all accounts and settings, and the keys of this " +
        "server. The server may run. Only contents that the directory lacks are written, as independent files: damage to a " +
        "content of the server does not reach them, and larder heal --from DIR repairs it. The command first prints the size " +
        "and checks the free space. File systems with reflinks (Btrfs, XFS) store contents without extra space on the same " +
        "disk. Keep a backup on another disk too, since a disk may fail. To restore: use the directory as the data " +
        "directory and start the server, or see: larder restore --help\n\n" +
        "The backup holds the server's keys (secrets/): whoever can read it can sign in as anybody. Keep it like a key.",
    )
    .option(
      "--link",
      "share contents with the data directory by hard links if both are on one file system: needs no space, but damage to a " +
        "content there damages it here too",
    )
    .addOption(new Option("--copy", "as without it: contents are independent").hideHelp())
    .option("--keep <count>", "how many states the directory keeps, 3 or more; the older, the fewer", String(KEEP))
    .option("--prune", "remove the contents that none of the kept states needs any more")
    .option(
      "--drill",
      "restore the backup aside, start a server on it, fetch files from it, and report; changes nothing",
    )
    .option("--sample <count>", "how many files a drill fetches", String(SAMPLE))
    .option("--json", "print the summary as JSON");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(
    command,
    "larder backup /mnt/usb/larder --data /srv/larder\nlarder backup --drill /mnt/usb/larder\n" +
      "larder backup - | ssh nas 'cat > larder.tar'",
    "contents are missing or damaged (the rest was backed up), or the drill failed",
  );
  runs(command, async ([dir = ""]) => {
    const loaded = readConfig(command, context);
    tellWarnings(loaded, context.terminal);
    const source = dataPaths(loaded.config.data);
    if (hasOption(command, "drill")) return runDrill(command, loaded.config, dir, context);
    requireSource(source);
    if (dir === "") throw new UsageError("Give the directory that takes the backup, or - for a tar archive.");
    const isJson = hasOption(command, "json");
    if (dir === "-")
      return withRemote(loaded.config, context.terminal, (fetchContent) =>
        writeArchive(source, isJson, context.terminal, fetchContent),
      );
    const mayLink = hasOption(command, "link");
    if (mayLink && hasOption(command, "copy")) throw new UsageError("Give --link or --copy, not both.");
    refuseOwnData(loaded.config, resolve(context.directory, dir));
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
      return tell({ ...summary, warnings }, isJson, context.terminal);
    } finally {
      lock?.release();
    }
  });
}

/** The whole backup as a tar archive on standard output; what there is to tell goes to standard error. */
async function writeArchive(
  source: DataPaths,
  isJson: boolean,
  terminal: Terminal,
  fetchContent: FetchContent | undefined,
): Promise<ExitCode> {
  if (process.stdout.isTTY) {
    throw new UsageError("A tar archive is nothing for a terminal. Send it on: larder backup - > larder.tar");
  }
  const startedMs = performance.now();
  const folder = makeFolder(source);
  try {
    const origin = originOf(source, 0);
    const { snapshot, tally } = await writeTar({
      source,
      takeSnapshot: () => origin.take(folder),
      isLive: origin.isLive,
      fetchContent,
      write: writeOut,
      onProgress: progressLine(terminal, process.stderr.isTTY),
    });
    const seconds = Math.round(performance.now() - startedMs) / 1000;
    const { contents, bytes, lost } = tally;
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
        : `${contents} contents, ${describeSize(bytes)}, in ${describeSeconds(seconds)}. State ${snapshot.name}.\n` +
            describeElsewhere(tally) +
            "The archive holds this server's keys: keep it where nobody else can read it.\n",
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
  return new StartupError("Whoever reads the archive ended early: it is no whole backup. Run it again.", error);
}

type FetchContent = (digest: Digest) => Promise<boolean>;

/** Does `work` with what brings contents from the bucket, where one is set up. */
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
  const origin = originOf(source, listSnapshots(target.snapshots)[0]?.takenAtMs ?? 0);
  return { takeSnapshot: (folder: string) => origin.take(folder), isLive: origin.isLive };
}

function requireSource(source: DataPaths): void {
  requireReadable(source);
  if (!fs.existsSync(source.root)) {
    throw new StartupError(`There is no directory ${source.root}. Give the data directory by --data (LARDER_DATA).`);
  }
}

function openTarget(dir: string, source: DataPaths): DataPaths {
  const inSource = relative(source.root, dir);
  const inTarget = relative(dir, source.root);
  if (!inSource.startsWith("..") || !inTarget.startsWith("..")) {
    throw new StartupError(
      `${dir} and the data directory ${source.root} lie one in the other. Give another directory.`,
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
      throw new StartupError(`Another backup or a server is at work on ${target.root}. Wait for its end.`, error);
    }
    if (!(error instanceof StartupError) || !fs.existsSync(target.lock)) throw explainTarget(error, target.root);
    terminal.error(`${target.root} can't be locked. Make sure that no other backup writes there at the same time.\n`);
    return undefined;
  }
}

function readKeep(command: Command): number {
  const text = optionText(command, "keep") ?? "";
  const keep = Number(text);
  // Three are kept whatever is said: see features/snapshots/thinning.ts.
  if (!Number.isInteger(keep) || keep < 3) throw new UsageError(`--keep must be a number from 3 on; not "${text}".`);
  return keep;
}

/** Describes the planned writes; empty if there are none. */
function describePlan({ how, contents, bytes, availableBytes }: Plan): string {
  if (contents === 0) return "";
  const what = `${contents} contents, ${describeSize(bytes)}`;
  if (how === "link") return `To be linked: ${what}.\n`;
  if (how === "clone") return `To be cloned: ${what}. They need no space until the original or the clone changes.\n`;
  return `To be copied: ${what}; ${describeSize(availableBytes)} are free.\n`;
}

function describeLinks(source: string): string {
  return (
    `With --link, contents are shared with ${source} if both are on one file system. Damage to a content there also damages ` +
    "this backup, and larder heal finds no good copy here. For independent contents, run it without --link."
  );
}

function tell(summary: BackupSummary, isJson: boolean, terminal: Terminal): ExitCode {
  for (const warning of summary.warnings) terminal.error(`Warning: ${warning}\n`);
  const { tally } = summary;
  if (isJson) terminal.out(toJson(present(summary)));
  else terminal.out(describe(summary));
  if (tally.lost.length === 0) return EXIT.fine;
  if (!isJson) terminal.error(describeLost(tally.lost));
  return EXIT.wrong;
}

function present({ tally, ...summary }: BackupSummary) {
  const { lost, newBytes, ...counts } = tally;
  return {
    ok: lost.length === 0,
    target: summary.target,
    snapshot: summary.snapshot,
    takenAt: toTimestamp(summary.takenAtMs),
    store: summary.store,
    ...counts,
    new: tally.linked + tally.cloned + tally.copied,
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
  const { tally, target, snapshot, snapshots, pruned } = summary;
  const fresh = tally.linked + tally.cloned + tally.copied;
  const how = [
    ...(tally.linked > 0 ? [`${tally.linked} linked`] : []),
    ...(tally.cloned > 0 ? [`${tally.cloned} cloned`] : []),
    ...(tally.copied > 0 ? [`${tally.copied} copied`] : []),
  ].join(", ");
  return (
    `${tally.contents} contents, ${describeSize(tally.bytes)}: ${tally.already} were there, ${fresh} are new` +
    `${fresh > 0 ? ` (${how}; ${describeSize(tally.newBytes)})` : ""}.\n` +
    (tally.unshared > 0
      ? `Shared with the data directory before (--link), independent now: ${tally.unshared}.\n`
      : "") +
    describeElsewhere(tally) +
    (pruned > 0 ? `${pruned} contents that no state needs any more were removed.\n` : "") +
    `State ${snapshot}, one of ${snapshots} in ${target}, in ${describeSeconds(summary.durationMs / 1000)}.\n` +
    `It holds this server's keys in ${join(target, "secrets")}: keep it where nobody else can read it.\n`
  );
}

function describeElsewhere({ elsewhere }: Tally): string {
  if (elsewhere === 0) return "";
  return `${elsewhere} lie in the bucket (s3.bucket) alone and are not in it: keep that, too. See: larder blobs status\n`;
}
