/** Code that import and export share. */
import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import type { TransferProblem } from "../../features/storage/import-export/types.ts";
import { errorCode, messageOf } from "../../lib/error.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { acquireServerLock, findRunningServer, LockedError, type ServerLock } from "../../server/data/lock.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import { type RunningCommand, UsageError } from "./command.ts";
import type { Terminal } from "./output.ts";
import { withServices } from "./services.ts";

const PRINTED_MAX = 50;

/**
 * Opens the services for long work. If no server is running, none can start during the work.
 * @param isReading whether the work changes nothing
 */
export async function withTransfer<Result>(
  command: RunningCommand,
  use: (services: CommandServices, hasServer: boolean) => Promise<Result>,
  isReading = false,
): Promise<Result> {
  const paths = openDataDirectory(command.config.data);
  rejectOtherUser(paths.root);
  const lock = tryLock(paths.lock);
  try {
    const holdsLock = lock !== undefined;
    return await withServices(command, (services) => use(services, !holdsLock), { holdsLock, isReading });
  } finally {
    lock?.release();
  }
}

/** @throws StartupError if the server could not read what this command writes */
function rejectOtherUser(dataDir: string): void {
  const owner = statSync(dataDir).uid;
  if (process.getuid?.() !== 0 || owner === 0) return;
  throw new StartupError(
    `${dataDir} belongs to user ${owner}. The server could not read files written by root. ` +
      `Run the command as that user: setpriv --reuid=${owner} --clear-groups larder …, or sudo -u '#${owner}' larder …`,
  );
}

/** The lock that keeps servers away; undefined if one is running. */
function tryLock(path: string): ServerLock | undefined {
  if (findRunningServer(path) !== undefined) return undefined;
  try {
    return acquireServerLock(path);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}

/** @throws UsageError if a folder is the data directory or is in it, or can't be opened by this user */
export function rejectOwnData(config: Config, folder: string): void {
  const own = statSync(config.data, { throwIfNoEntry: false });
  for (let path = folder; ; path = dirname(path)) {
    const found = statFolder(path, folder);
    if (found !== undefined && found.ino === own?.ino && found.dev === own.dev) {
      throw new UsageError(`${folder} is in Larder's data directory. Use another folder.`);
    }
    if (path === dirname(path)) return;
  }
}

/** A folder of a path, if it exists. The user of a service often can't enter home directories and mounted disks. */
function statFolder(path: string, folder: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new UsageError(
      `${folder} can't be opened (${errorCode(error) ?? messageOf(error)}). Use a folder that the user who runs this command can open.`,
    );
  }
}

/** Aborts the work at the first SIGINT or SIGTERM; a second one kills the process as usual. */
export async function untilSignal<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const onSignal = () => controller.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    return await work(controller.signal);
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** Prints the first files that were not transferred. @param total how many there are */
export function printProblems(
  problems: readonly Pick<TransferProblem, "path" | "message">[],
  total: number,
  terminal: Terminal,
): void {
  for (const { path, message } of problems.slice(0, PRINTED_MAX)) {
    // A name can contain anything, including line breaks and escape sequences of terminals.
    terminal.error(`${JSON.stringify(path).slice(1, -1)}: ${message}\n`);
  }
  const more = total - Math.min(problems.length, PRINTED_MAX);
  if (more > 0) terminal.error(`… and ${more} more; use --json to list them.\n`);
}
