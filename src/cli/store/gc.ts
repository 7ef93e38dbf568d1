import type { Command } from "commander";
import { type Db, openDatabase } from "../../db/open.ts";
import { createLog } from "../../lib/log.ts";
import { dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { acquireServerLock, findRunningServer } from "../../server/data/lock.ts";
import { openForCommand } from "../../server/for-commands.ts";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import {
  addSettings,
  BUSY_TIMEOUT_MS,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  DATA_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  printWarnings,
} from "../shared/command.ts";
import { type Terminal, toJson } from "../shared/output.ts";

/** Name of the job in the table `jobs`. */
const JOB = "gc";
const POLL_MS = 100;
const PROGRESS_MS = 5_000;

/** `larder gc [--now]`: removes contents without a file; in the running server where there is one, else here. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Garbage collection: free the disk space of deleted files whose grace period (gcGrace) has passed. " +
        "The server does this automatically once a day. If a server is running, it does the work.",
    )
    .option(
      "--now",
      "Skip the grace period and remove older snapshots. Deleted files can no longer be recovered. " +
        "Do not use while you copy the data directory.",
    )
    .option("--json", "Print the result as JSON.");
  addSettings(command, [...DATA_SETTINGS, "gcGrace"]);
  describeEnd(command, "larder gc --now", "garbage collection failed");
  runs(command, async () => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    requireDatabase(loaded.config);
    const request = { now: hasOption(command, "now") };
    const paths = openDataDirectory(loaded.config.data);
    const outcome =
      findRunningServer(paths.lock) === undefined
        ? await runHere(loaded.config, request, context.terminal)
        : await askServer(loaded.config, request, context.terminal);
    return printResult(outcome, hasOption(command, "json"), context.terminal);
  });
}

/** How the job ended: its result as the server keeps it, or its error. */
interface Outcome {
  readonly result: string | null;
  readonly error: string | null;
}

async function runHere(config: Config, request: { now: boolean }, terminal: Terminal): Promise<Outcome> {
  // While contents go, no server may start that would be taking new ones in.
  const lock = acquireServerLock(dataPaths(config.data).lock);
  try {
    const services = await openForCommand(
      config,
      createLog("pretty", "warn", (line) => terminal.error(line)),
      true,
    );
    try {
      return { result: await services.runJob(JOB, request), error: null };
    } finally {
      await services.close();
    }
  } finally {
    lock.release();
  }
}

async function askServer(config: Config, request: { now: boolean }, terminal: Terminal): Promise<Outcome> {
  const paths = dataPaths(config.data);
  const db = openDatabase(paths.database, BUSY_TIMEOUT_MS);
  try {
    const requestedAt = Date.now();
    db.sqlite.run(
      `INSERT INTO jobs (name, requested_at, request_arguments) VALUES (?1, ?2, ?3)
       ON CONFLICT (name) DO UPDATE SET requested_at = ?2, request_arguments = ?3`,
      [JOB, requestedAt, JSON.stringify(request)],
    );
    let nextWordMs = performance.now() + PROGRESS_MS;
    for (;;) {
      const outcome = findOutcome(db, requestedAt);
      if (outcome !== undefined) return outcome;
      if (findRunningServer(paths.lock) === undefined) {
        throw new StartupError(
          "The server stopped before garbage collection finished. Run the command again to continue.",
        );
      }
      if (performance.now() >= nextWordMs) {
        terminal.error("Garbage collection is running on the server …\n");
        nextWordMs += PROGRESS_MS;
      }
      await Bun.sleep(POLL_MS);
    }
  } finally {
    db.close();
  }
}

/** The end of the run that answered the request, or undefined while it is still to come. */
function findOutcome(db: Db, requestedAt: number): Outcome | undefined {
  const row = db.sqlite
    .query<
      { requestedAt: number | null; finishedAt: number | null; result: string | null; error: string | null },
      [string]
    >(
      `SELECT requested_at AS requestedAt, last_finished_at AS finishedAt, last_result AS result, last_error AS error
       FROM jobs WHERE name = ?`,
    )
    .get(JOB);
  if (row === null || row.requestedAt === requestedAt || (row.finishedAt ?? 0) < requestedAt) return undefined;
  return { result: row.result, error: row.error };
}

function printResult({ result, error }: Outcome, isJson: boolean, terminal: Terminal): ExitCode {
  if (isJson) terminal.out(toJson({ ok: error === null, error, result: parseResult(result) }));
  else if (error === null) terminal.out(`${describe(parseResult(result))}\n`);
  else terminal.error(`Garbage collection failed: ${error}\n`);
  return error === null ? EXIT.fine : EXIT.wrong;
}

function describe(result: unknown): string {
  const numbers =
    typeof result === "object" && result !== null ? new Map(Object.entries(result)) : new Map<string, unknown>();
  const count = (name: string) => Number(numbers.get(name) ?? 0);
  const [removed, setAside, dropped] = [count("removed"), count("setAside"), count("snapshotsRemoved")];
  const done = [
    ...(removed > 0 ? [`removed ${blobs(removed)}, ${describeSize(count("freedBytes"))}`] : []),
    ...(setAside > 0 ? [`marked ${blobs(setAside)} for removal by a later run`] : []),
  ].join("; ");
  const first = done === "" ? "Nothing to remove." : `${done.charAt(0).toUpperCase()}${done.slice(1)}.`;
  const snapshots = dropped === 1 ? "1 older snapshot" : `${dropped} older snapshots`;
  return dropped > 0 ? `${first}\nRemoved ${snapshots}; kept the newest.` : first;
}

function blobs(count: number): string {
  return count === 1 ? "1 blob" : `${count} blobs`;
}

/** What jobs leave is JSON, or plain words. */
function parseResult(result: string | null): unknown {
  try {
    return result === null ? null : JSON.parse(result);
  } catch (error) {
    if (error instanceof SyntaxError) return result;
    throw error;
  }
}
