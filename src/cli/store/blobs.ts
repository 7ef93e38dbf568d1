import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openDatabase } from "../../db/open.ts";
import { Reader } from "../../db/reader.ts";
import { REMOTE_STORE_JOB, type MoveRequest, readStatus } from "../../features/storage/remote-store/service.ts";
import type { TierCounts } from "../../features/storage/remote-store/types.ts";
import type { JobOutcome } from "../../jobs/job-requests.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import {
  DATA_SETTINGS,
  defineCommand,
  EXIT,
  type ExitCode,
  requireDatabase,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { BUSY_TIMEOUT_MS, runJob } from "../shared/jobs.ts";
import { toTable } from "../shared/output.ts";

const PROGRESS_MS = 1_000;
/** The keys of the bucket come from the configuration file or the environment. */
const SETTINGS = [...DATA_SETTINGS, "blobs.store"];

const status = defineCommand({
  description: "Show how many blobs are on this disk and in the bucket.",
  options: [["--json", "Print the status as JSON."]],
  settings: SETTINGS,
  examples: "larder blobs status",
  needsDatabase: true,
  async run(command) {
    const { blobs, s3 } = command.config;
    const counts = await countTiers(command);
    const { all, remote, away, cached, lastRun } = counts;
    const rows = [
      ["", "Blobs", "Size"],
      row("In use by files", all),
      row("In the bucket", remote),
      row("Only in the bucket", away),
      row("In the bucket, cached on this disk", cached),
      row("Only on this disk", minus(all, remote)),
    ];
    command.print(
      { store: blobs.store, bucket: s3.bucket, ...counts },
      toTable(rows) + (lastRun === null ? "" : `Last run: ${lastRun}\n`),
    );
  },
});

const move = defineCommand({
  description:
    "Move all blobs to the bucket (--to s3, with blobs.store = s3) or back to this disk (--to disk, with " +
    "blobs.store = disk). Each checksum is verified. If interrupted, run the command again to continue.",
  options: [
    ["--to <place>", "Where to move the blobs: s3 or disk."],
    ["--empty", "With --to disk: then remove the moved blobs from the bucket."],
    ["--json", "Print the result as JSON."],
  ],
  settings: SETTINGS,
  examples: "larder blobs move --to disk --empty",
  problems: "some blobs could not be moved",
  async run(command) {
    const to = command.text("to");
    if (to !== "s3" && to !== "disk") throw new UsageError("Specify the target: --to s3 or --to disk.");
    const empty = command.has("empty");
    if (empty && to === "s3") throw new UsageError("--empty requires --to disk.");
    requireDatabase(command.config);
    return printMoved(await runMove(command, { to, empty }), command);
  },
});

const claim = defineCommand({
  description:
    "Make this data directory the owner of the bucket after you restored it from a backup or a copy. Only the owner removes " +
    "blobs from the bucket. Never use the same bucket with two running servers.",
  settings: SETTINGS,
  examples: "larder blobs claim",
  needsDatabase: true,
  async run(command) {
    const { isOk, text } = await runMove(command, { claim: true });
    if (isOk) command.terminal.out("This data directory now owns the bucket.\n");
    else command.terminal.error(`${text}\n`);
    return isOk ? EXIT.success : EXIT.problems;
  },
});

/** `larder blobs status|move|claim`: where blobs are stored, on this disk and in a bucket. */
export const define = defineCommand({
  description:
    "Show and move blobs, the stored bytes of files: on this disk, or in an S3 bucket if one is configured (s3.*, blobs.store).",
  examples: "larder blobs status\nlarder blobs move --to s3",
  subcommands: [
    ["status", "Show how many blobs are on this disk and in the bucket.", status],
    ["move", "Move all blobs to the bucket, or back to this disk.", move],
    ["claim", "Make this data directory the owner of the bucket.", claim],
  ],
});

function row(name: string, { contents, bytes }: TierCounts): string[] {
  return [name, String(contents), describeSize(bytes)];
}

function minus(all: TierCounts, part: TierCounts): TierCounts {
  return { contents: all.contents - part.contents, bytes: all.bytes - part.bytes };
}

/** Counts the blobs on disk and in the bucket, and reads the last message of the job. */
async function countTiers(command: RunningCommand) {
  const { database } = openDataDirectory(command.config.data);
  const reader = new Reader(database, command.log());
  const db = openDatabase(database, BUSY_TIMEOUT_MS);
  try {
    const job = db.sqlite
      .query<{ result: string | null; error: string | null }, [string]>(
        "SELECT last_result AS result, last_error AS error FROM jobs WHERE name = ?1",
      )
      .get(REMOTE_STORE_JOB);
    return { ...(await readStatus(reader)), lastRun: job?.error ?? job?.result ?? null };
  } finally {
    reader.close();
    db.close();
  }
}

async function runMove(command: RunningCommand, request: MoveRequest): Promise<JobOutcome> {
  requireBucket(command.config);
  const timer = setInterval(() => void printProgress(command, request), PROGRESS_MS);
  try {
    return await runJob(command, {
      name: REMOTE_STORE_JOB,
      arguments: request,
      unfinished: "all blobs were moved",
      returnsErrors: true,
    });
  } finally {
    clearInterval(timer);
  }
}

function requireBucket({ s3 }: Config): void {
  if (s3.bucket === null)
    throw new StartupError("No bucket is configured. Set s3.endpoint, s3.bucket, and the access keys.");
}

async function printProgress(command: RunningCommand, { to }: MoveRequest): Promise<void> {
  if (!process.stderr.isTTY || to === undefined) return;
  const { all, remote, away } = await countTiers(command);
  const { contents, bytes } = to === "disk" ? away : minus(all, remote);
  command.terminal.error(`${contents} blobs left to move, ${describeSize(bytes)} …\n`);
}

function printMoved({ isOk, text }: JobOutcome, command: RunningCommand): ExitCode {
  const result = isOk ? parse(text) : undefined;
  const numberOf = (name: string) => Number(result?.get(name) ?? 0);
  const parts = [
    `Moved ${numberOf("moved")} blobs, ${describeSize(numberOf("movedBytes"))}`,
    ...(numberOf("failed") > 0 ? [`${numberOf("failed")} failed; see the log`] : []),
    ...(numberOf("letGo") > 0 ? [`removed ${numberOf("letGo")} copies from this disk`] : []),
    ...(numberOf("removed") > 0 ? [`removed ${numberOf("removed")} from the bucket`] : []),
  ];
  const json = { ok: isOk, error: isOk ? null : text, result: result && Object.fromEntries(result) };
  if (isOk || command.isJson) command.print(json, `${parts.join("; ")}.\n`);
  else command.terminal.error(`${text}\n`);
  return isOk && numberOf("failed") === 0 ? EXIT.success : EXIT.problems;
}

function parse(text: string): Map<string, unknown> {
  const value: unknown = JSON.parse(text);
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}
