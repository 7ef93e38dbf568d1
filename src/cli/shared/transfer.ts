/** What import and export share: how they are opened, watched and ended. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { AppError } from "../../errors.ts";
import type { DatabaseCounts } from "../../features/storage/backup/types.ts";
import type { TransferProblem } from "../../features/storage/import-export/types.ts";
import type { User } from "../../features/accounts/users/types.ts";
import { createLog } from "../../lib/log.ts";
import { dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { type CommandServices, openForCommand } from "../../server/for-commands.ts";
import { acquireServerLock, findRunningServer, LockedError, type ServerLock } from "../../server/data/lock.ts";
import { optionText, UsageError } from "./command.ts";
import type { Terminal } from "./output.ts";

const PROGRESS_MS = 1_000;
const PROBLEMS_SHOWN = 50;

/**
 * Opens the services for a command that works for long. Where no server runs, none can start meanwhile.
 * @param use is told whether a server works beside it
 */
export async function withTransfer<T>(
  config: Config,
  terminal: Terminal,
  use: (services: CommandServices, hasServer: boolean) => Promise<T>,
): Promise<T> {
  const paths = openDataDirectory(config.data);
  rejectOtherUser(paths.root);
  const lock = lockAlone(dataPaths(config.data).lock);
  try {
    const log = createLog("pretty", "warn", (line) => terminal.error(line));
    const services = await openForCommand(config, log, lock !== undefined);
    try {
      return await use(services, lock === undefined);
    } finally {
      await services.close();
    }
  } finally {
    lock?.release();
  }
}

/** @throws StartupError where what this command writes could not be read by the server */
function rejectOtherUser(dataDir: string): void {
  const owner = statSync(dataDir).uid;
  if (process.getuid?.() !== 0 || owner === 0) return;
  throw new StartupError(
    `${dataDir} belongs to user ${owner}. The server could not read files written by root. ` +
      `Run the command as that user: setpriv --reuid=${owner} --clear-groups larder …, or sudo -u '#${owner}' larder …`,
  );
}

/** Keeps servers away; undefined where one runs already. */
function lockAlone(path: string): ServerLock | undefined {
  if (findRunningServer(path) !== undefined) return undefined;
  try {
    return acquireServerLock(path);
  } catch (error) {
    if (error instanceof LockedError) return undefined;
    throw error;
  }
}

/** @throws UsageError where a folder is the data directory or lies in it */
export function rejectOwnData(config: Config, folder: string): void {
  const own = statSync(config.data, { throwIfNoEntry: false });
  for (let path = folder; ; path = dirname(path)) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && found.ino === own?.ino && found.dev === own.dev) {
      throw new UsageError(`${folder} is in Larder's data directory. Use another folder.`);
    }
    if (path === dirname(path)) return;
  }
}

/** The text of an option that must be given. @throws UsageError */
export function requiredText(command: Command, name: string, what: string): string {
  const text = optionText(command, name);
  if (text === undefined) throw new UsageError(`Specify ${what}. See: larder ${command.name()} --help`);
  return text;
}

/** @throws AppError not_found */
export function requireUser(users: CommandServices["users"], email: string): User {
  const user = users.findByEmail(email);
  if (user === undefined)
    throw new AppError("not_found", `No account found for ${email}. To list accounts: larder user list`);
  return user;
}

/** Ends work early at the first SIGINT or SIGTERM; a second one ends the program as usual. */
export async function untilSignal<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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

/** A line on the terminal that tells how far something is, once a second; nothing where nobody watches. */
export class Progress<T> {
  readonly #terminal: Terminal;
  readonly #describe: (soFar: T) => string;
  #nextMs = performance.now() + PROGRESS_MS;
  #isShown = false;

  constructor(terminal: Terminal, describe: (soFar: T) => string) {
    this.#terminal = terminal;
    this.#describe = describe;
  }

  show(soFar: T): void {
    if (!process.stderr.isTTY || performance.now() < this.#nextMs) return;
    this.#nextMs = performance.now() + PROGRESS_MS;
    this.#isShown = true;
    this.#terminal.error(`\r\u001b[K${this.#describe(soFar)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#isShown) this.#terminal.error("\r\u001b[K");
  }
}

/** Names what was not carried over, the first of it. */
export function printProblems(problems: readonly TransferProblem[], total: number, terminal: Terminal): void {
  for (const { path, message } of problems.slice(0, PROBLEMS_SHOWN)) {
    // A name may hold anything, line ends and what terminals obey included.
    terminal.error(`${JSON.stringify(path).slice(1, -1)}: ${message}\n`);
  }
  const more = total - Math.min(problems.length, PROBLEMS_SHOWN);
  if (more > 0) terminal.error(`… and ${more} more; use --json to list them.\n`);
}

/** What a database holds: "2 users, 1 file, 0 folders, 48.8 KB". */
export function describeCounts({ users, files, folders, bytes }: DatabaseCounts): string {
  return `${count(users, "user")}, ${count(files, "file")}, ${count(folders, "folder")}, ${describeSize(bytes)}`;
}

/** `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
