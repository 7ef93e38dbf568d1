import type { Command } from "commander";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openDatabase } from "../../db/open.ts";
import { Reader } from "../../db/reader.ts";
import { Writer } from "../../db/transaction.ts";
import { REMOTE_STORE_JOB, type MoveRequest, readStatus } from "../../features/storage/remote-store/service.ts";
import type { TierCounts } from "../../features/storage/remote-store/types.ts";
import { findJobResult, type JobOutcome, requestJob } from "../../jobs/scheduler.ts";
import { createLog } from "../../lib/log.ts";
import { type DataPaths, dataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { openForCommand } from "../../server/for-commands.ts";
import { acquireServerLock, findRunningServer } from "../../server/data/lock.ts";
import {
  addSettings,
  BUSY_TIMEOUT_MS,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  optionText,
  DATA_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  printWarnings,
  UsageError,
} from "../shared/command.ts";
import { type Terminal, toJson, toTable } from "../shared/output.ts";

const POLL_MS = 200;
const PROGRESS_MS = 1_000;
/** What a command beside the server reads of the settings; the keys themselves come from file or environment. */
const SETTINGS = [...DATA_SETTINGS, "blobs.store"];

/** `larder blobs status|move|claim`: where contents lie, on this disk and in a bucket. */
export function define(command: Command, context: CommandContext): void {
  command.description(
    "Show and move blobs, the stored bytes of files: on this disk, or in an S3 bucket if one is configured (s3.*, blobs.store).",
  );
  describeEnd(command, "larder blobs status\nlarder blobs move --to s3");
  defineStatus(command.command("status").summary("Show how many blobs are on this disk and in the bucket."), context);
  defineMove(command.command("move").summary("Move all blobs to the bucket, or back to this disk."), context);
  defineClaim(command.command("claim").summary("Make this data directory the owner of the bucket."), context);
}

function defineStatus(command: Command, context: CommandContext): void {
  command
    .description("Show how many blobs are on this disk and in the bucket.")
    .option("--json", "Print the status as JSON.");
  addSettings(command, SETTINGS);
  describeEnd(command, "larder blobs status");
  runs(command, async () => {
    const { config } = open(command, context);
    const paths = openDataDirectory(config.data);
    const status = await readTiers(paths, context.terminal);
    const { terminal } = context;
    if (hasOption(command, "json"))
      terminal.out(toJson({ store: config.blobs.store, bucket: config.s3.bucket, ...status }));
    else {
      const { all, remote, away, cached } = status;
      terminal.out(
        toTable([
          ["", "Blobs", "Size"],
          row("In use by files", all),
          row("In the bucket", remote),
          row("Only in the bucket", away),
          row("In the bucket, cached on this disk", cached),
          row("Only on this disk", minus(all, remote)),
        ]),
      );
      if (status.lastRun !== null) terminal.out(`Last run: ${status.lastRun}\n`);
    }
    return EXIT.fine;
  });
}

function defineMove(command: Command, context: CommandContext): void {
  command
    .description(
      "Move all blobs to the bucket (--to s3, with blobs.store = s3) or back to this disk (--to disk, with " +
        "blobs.store = disk). Each checksum is verified. If interrupted, run the command again to continue.",
    )
    .option("--to <place>", "Where to move the blobs: s3 or disk.")
    .option("--empty", "With --to disk: then remove the moved blobs from the bucket.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, SETTINGS);
  describeEnd(command, "larder blobs move --to disk --empty", "some blobs could not be moved");
  runs(command, async () => {
    const to = optionText(command, "to");
    if (to !== "s3" && to !== "disk") throw new UsageError("Specify the target: --to s3 or --to disk.");
    const isEmptied = hasOption(command, "empty");
    if (isEmptied && to === "s3") throw new UsageError("--empty requires --to disk.");
    const { config } = open(command, context);
    requireBucket(config);
    const outcome = await carryOut(config, { to, empty: isEmptied }, context.terminal);
    return printMoved(outcome, hasOption(command, "json"), context.terminal);
  });
}

function defineClaim(command: Command, context: CommandContext): void {
  command.description(
    "Make this data directory the owner of the bucket after you restored it from a backup or a copy. Only the owner removes " +
      "blobs from the bucket. Never use the same bucket with two running servers.",
  );
  addSettings(command, SETTINGS);
  describeEnd(command, "larder blobs claim");
  runs(command, async () => {
    const { config } = open(command, context);
    requireBucket(config);
    const { isOk, text } = await carryOut(config, { claim: true }, context.terminal);
    if (isOk) context.terminal.out("This data directory now owns the bucket.\n");
    else context.terminal.error(`${text}\n`);
    return isOk ? EXIT.fine : EXIT.wrong;
  });
}

function row(name: string, { contents, bytes }: TierCounts): string[] {
  return [name, String(contents), describeSize(bytes)];
}

function open(command: Command, context: CommandContext): { config: Config } {
  const loaded = readConfig(command, context);
  printWarnings(loaded, context.terminal);
  requireDatabase(loaded.config);
  return loaded;
}

function requireBucket({ s3 }: Config): void {
  if (s3.bucket === null)
    throw new StartupError("No bucket is configured. Set s3.endpoint, s3.bucket, and the access keys.");
}

function minus(all: TierCounts, part: TierCounts): TierCounts {
  return { contents: all.contents - part.contents, bytes: all.bytes - part.bytes };
}

/** How contents are spread, and what the job last said. */
async function readTiers(paths: DataPaths, terminal: Terminal) {
  const reader = new Reader(paths.database, commandLog(terminal));
  const db = openDatabase(paths.database, BUSY_TIMEOUT_MS);
  try {
    const row = db.sqlite
      .query<{ result: string | null; error: string | null }, [string]>(
        "SELECT last_result AS result, last_error AS error FROM jobs WHERE name = ?1",
      )
      .get(REMOTE_STORE_JOB);
    return { ...(await readStatus(reader)), lastRun: row?.error ?? row?.result ?? null };
  } finally {
    reader.close();
    db.close();
  }
}

function commandLog(terminal: Terminal) {
  return createLog("pretty", "warn", (line) => terminal.error(line));
}

/** In the running server where there is one, else here. */
async function carryOut(config: Config, request: MoveRequest, terminal: Terminal): Promise<JobOutcome> {
  const paths = openDataDirectory(config.data);
  const progress = new Progress(paths, request, terminal);
  if (findRunningServer(paths.lock) !== undefined) return askServer(paths, request, progress);
  const lock = acquireServerLock(dataPaths(config.data).lock);
  try {
    const services = await openForCommand(config, commandLog(terminal), true);
    const looking = setInterval(() => void progress.print(), PROGRESS_MS);
    try {
      return { isOk: true, text: await services.runJob(REMOTE_STORE_JOB, request) };
    } catch (error) {
      return { isOk: false, text: error instanceof Error ? error.message : String(error) };
    } finally {
      clearInterval(looking);
      await services.close();
    }
  } finally {
    lock.release();
  }
}

async function askServer(paths: DataPaths, request: MoveRequest, progress: Progress): Promise<JobOutcome> {
  const db = openDatabase(paths.database, BUSY_TIMEOUT_MS);
  try {
    const writer = new Writer(db.sqlite, progress.log);
    const requestedAt = requestJob(writer, db, REMOTE_STORE_JOB, request, Date.now());
    for (;;) {
      const outcome = findJobResult(db, REMOTE_STORE_JOB, requestedAt);
      if (outcome !== undefined) return outcome;
      if (findRunningServer(paths.lock) === undefined) {
        throw new StartupError("The server stopped before all blobs were moved. Run the command again to continue.");
      }
      await progress.print();
      await Bun.sleep(POLL_MS);
    }
  } finally {
    db.close();
  }
}

/** A line a second on a terminal: what is still to be moved. */
class Progress {
  readonly log: ReturnType<typeof createLog>;
  readonly #paths: DataPaths;
  readonly #request: MoveRequest;
  readonly #terminal: Terminal;
  #nextMs = performance.now() + PROGRESS_MS;

  constructor(paths: DataPaths, request: MoveRequest, terminal: Terminal) {
    this.#paths = paths;
    this.#request = request;
    this.#terminal = terminal;
    this.log = commandLog(terminal);
  }

  async print(): Promise<void> {
    const { to } = this.#request;
    if (!process.stderr.isTTY || to === undefined || performance.now() < this.#nextMs) return;
    this.#nextMs = performance.now() + PROGRESS_MS;
    const { all, remote, away } = await readTiers(this.#paths, this.#terminal);
    const { contents, bytes } = to === "disk" ? away : minus(all, remote);
    this.#terminal.error(`${contents} blobs left to move, ${describeSize(bytes)} …\n`);
  }
}

function printMoved({ isOk, text }: JobOutcome, isJson: boolean, terminal: Terminal): ExitCode {
  const result = isOk ? parse(text) : undefined;
  const count = (name: string) => Number(result?.get(name) ?? 0);
  if (isJson)
    terminal.out(toJson({ ok: isOk, error: isOk ? null : text, result: result && Object.fromEntries(result) }));
  else if (!isOk) terminal.error(`${text}\n`);
  else {
    const words = [
      `Moved ${count("moved")} blobs, ${describeSize(count("movedBytes"))}`,
      ...(count("failed") > 0 ? [`${count("failed")} failed; see the log`] : []),
      ...(count("letGo") > 0 ? [`removed ${count("letGo")} copies from this disk`] : []),
      ...(count("removed") > 0 ? [`removed ${count("removed")} from the bucket`] : []),
    ];
    terminal.out(`${words.join("; ")}.\n`);
  }
  return isOk && count("failed") === 0 ? EXIT.fine : EXIT.wrong;
}

function parse(text: string): Map<string, unknown> {
  const value: unknown = JSON.parse(text);
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}
