import { resolve } from "node:path";
import type { Command } from "commander";
import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { openReadOnly } from "../../db/open.ts";
import { AppError } from "../../errors.ts";
import type { FaultyContent, Verification, VerifyOptions } from "../../features/storage/integrity/verify.ts";
import { verify } from "../../features/storage/integrity/verify.ts";
import {
  type ContinuingSummary,
  summarizeContinuing,
} from "../../features/storage/store-journal/continuing-objects.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { readCopyStart } from "../../features/storage/store-journal/opened-copy.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { createLog } from "../../lib/log.ts";
import { type DataPaths, dataPaths } from "../../server/data/data-directory.ts";
import { type CommandServices, openForCommand } from "../../server/for-commands.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  DATA_SETTINGS,
  readConfig,
  runs,
  printWarnings,
} from "../shared/command.ts";
import { type Terminal, toJson } from "../shared/output.ts";
import { count } from "../shared/transfer.ts";
import { describeSeconds, progressLine } from "../shared/transfer-progress.ts";
import { addBucketOptions, type BucketReading, readBucket, wantsBucket } from "./verify-bucket.ts";
import { openVerifySource, type VerifySource } from "./verify-source.ts";

/** Faulty blobs that are printed one by one; the JSON output has all. */
const REPORTED_MAX = 50;
const BYTES_PER_MB = 1_000_000;
/** SQLite stores no checksums of its pages, so only a structural check finds damage. */
const ALTERED =
  "the database file changed after Larder closed it: the disk is faulty, or another program wrote to it. If you changed it on " +
  "purpose, start the server once to accept it";

/** `larder verify [DIR]`: reads every content and looks at every row. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("[dir]", "Backup or copy of a data directory to verify instead. Never written to.")
    .description(
      "Read every stored blob, compare it with its checksum, and check every row of the database. The server may run at the " +
        "same time. Findings are recorded in the data directory, like those of the nightly scrub: damaged files are no " +
        "longer served, and are repaired when the same file is uploaded again. Nothing is removed. To repair: larder heal",
    )
    .option("--quick", "Compare only file sizes, not checksums.")
    .option("--read-only", "Do not record findings in the data directory.")
    .option("--json", "Print the findings as JSON.");
  addBucketOptions(command);
  addSettings(command, DATA_SETTINGS);
  describeEnd(
    command,
    "larder verify --data /srv/larder\nlarder verify /mnt/usb/backup",
    "something is damaged or missing",
  );
  runs(command, async ([dir]) => {
    const loaded = readConfig(command, context);
    const isCopy = dir !== undefined;
    const mustReadBucket = wantsBucket(command, isCopy);
    if (!isCopy) printWarnings(loaded, context.terminal);
    const paths = dataPaths(isCopy ? resolve(context.directory, dir) : loaded.config.data);
    const source = openVerifySource(paths);
    try {
      // Opening an altered database would make it one that was closed in order.
      const isOpenable = !isCopy && source.isOwn && !source.isAltered;
      const mayNote = isOpenable && !hasOption(command, "readOnly") && !hasOption(command, "quick");
      const notes = mayNote ? await openNotes(loaded.config, context.terminal) : undefined;
      try {
        const bucket = mustReadBucket
          ? await readBucket(notes?.places, loaded.config, command, context.terminal)
          : undefined;
        const found = await verify({
          databasePath: source.databasePath,
          root: paths.root,
          isQuick: hasOption(command, "quick"),
          isModest: source.isServed,
          log: createLog("pretty", "error", (line) => context.terminal.error(line)),
          onProgress: showProgress(context.terminal),
          bucketFaults: bucket?.faults,
          ...(notes !== undefined && { onRead: notes.take }),
        });
        const problems = source.isAltered ? [...found.problems, ALTERED] : found.problems;
        const state = await readState(source, paths);
        return printVerification(
          { ...found, problems },
          source,
          { state, bucket, directory: paths.root },
          command,
          context.terminal,
        );
      } finally {
        await notes?.close();
      }
    } finally {
      source.close();
    }
  });
}

interface Notes {
  readonly take: NonNullable<VerifyOptions["onRead"]>;
  /** Undefined where no bucket is set up. */
  readonly places: CommandServices["remoteStore"];
  close(): Promise<void>;
}

/** Where findings are noted; undefined where that can't be, which keeps nobody from verifying. */
async function openNotes(config: Config, terminal: Terminal): Promise<Notes | undefined> {
  try {
    const services = await openForCommand(
      config,
      // Findings are printed at the end, with the names of files.
      createLog("pretty", "error", () => {}),
    );
    let isWorking = true;
    return {
      places: services.remoteStore,
      async take(read) {
        if (!isWorking) return;
        try {
          await services.integrity.note(read);
        } catch (error) {
          isWorking = false;
          complain(error, terminal);
        }
      },
      async close() {
        if (isWorking) await services.integrity.report();
        await services.close();
      },
    };
  } catch (error) {
    complain(error, terminal);
    return undefined;
  }
}

function complain(error: unknown, terminal: Terminal): void {
  if (!(error instanceof StartupError || error instanceof AppError)) throw error;
  terminal.error(`Cannot record findings in the database: ${error.message}\n`);
}

function showProgress(terminal: Terminal): VerifyOptions["onProgress"] {
  const show = progressLine(terminal, process.stderr.isTTY);
  return (progress) => show({ ...progress, newBytes: progress.bytes });
}

/** The state that a copy or a backup opens to. */
interface CopyState {
  readonly takenAtMs: number;
  /** What its store journal notes after it; undefined where the journal belongs to another state. */
  readonly later: ContinuingSummary | undefined;
}

async function readState(
  { databasePath, takenAtMs }: VerifySource,
  { blobs }: DataPaths,
): Promise<CopyState | undefined> {
  if (takenAtMs === undefined) return undefined;
  const db = openReadOnly(databasePath);
  try {
    const start = readCopyStart(db.sqlite, journalRoot(blobs));
    return { takenAtMs, later: start && (await summarizeContinuing(db.sqlite, journalRoot(blobs), start)) };
  } finally {
    db.close();
  }
}

function describeState({ takenAtMs, later }: CopyState): string[] {
  const untilMs = later?.untilMs;
  const lines = [`The snapshot was taken at ${toTimestamp(takenAtMs)}.`];
  if (later === undefined || untilMs === undefined) lines.push("The metadata journal has no newer changes.");
  else {
    const age = describeSeconds(Math.max(0, untilMs - takenAtMs) / 1000);
    lines.push(
      `The metadata journal has ${later.changes} newer changes, the last at ${toTimestamp(untilMs)} (${age} later). The ` +
        "server applies them when it starts.",
    );
  }
  if ((later?.faults ?? 0) > 0) {
    lines.push("Some journal entries are missing or damaged. Copy the directory again.");
  }
  return lines;
}

function presentState({ takenAtMs, later }: CopyState) {
  const { accounts = 0, changes = 0, untilMs, faults = 0 } = later ?? {};
  return {
    takenAt: toTimestamp(takenAtMs),
    newer: { accounts, changes, until: untilMs === undefined ? null : toTimestamp(untilMs), unusable: faults },
  };
}

/** A directory and, for a copy, its state. */
interface Verified {
  readonly directory: string;
  readonly state: CopyState | undefined;
  /** What was read of the bucket, with --bucket. */
  readonly bucket: BucketReading | undefined;
}

function printVerification(
  found: Verification,
  source: VerifySource,
  verified: Verified,
  command: Command,
  terminal: Terminal,
): ExitCode {
  const isWhole = found.faultsTotal === 0 && found.problems.length === 0;
  const isJson = hasOption(command, "json");
  terminal.out(isJson ? toJson(present(found, source, verified, isWhole)) : describe(found, source, verified, isWhole));
  return isWhole ? EXIT.fine : EXIT.wrong;
}

function present(found: Verification, source: VerifySource, { directory, state, bucket }: Verified, isWhole: boolean) {
  const { contents, bytes, elsewhere, unlisted, foreign, seconds, problems, faults } = found;
  const count = (kind: FaultyContent["kind"]) => faults.filter((fault) => fault.kind === kind).length;
  return {
    ok: isWhole,
    directory,
    database: source.described,
    snapshot: source.snapshot ?? null,
    state: state === undefined ? null : presentState(state),
    contents,
    bytes,
    damaged: count("damaged"),
    missing: count("missing"),
    unreadable: count("unreadable"),
    elsewhere,
    bucket: bucket === undefined ? null : { contents: bucket.contents, bytes: bucket.bytes },
    unlisted,
    foreign,
    findings: [
      ...problems.map((detail) => ({ kind: "database", checksum: null, size: null, detail, files: [] })),
      ...faults.map(({ kind, digest, sizeBytes, detail, files }) => ({
        kind,
        checksum: toChecksum(digest),
        size: sizeBytes,
        detail,
        files,
      })),
    ],
    findingsTotal: problems.length + found.faultsTotal,
    seconds: Math.round(seconds * 1_000) / 1_000,
    megabytesPerSecond: Math.round(bytes / Math.max(seconds, 0.001) / BYTES_PER_MB),
  };
}

function describe(
  found: Verification,
  source: VerifySource,
  { directory, state, bucket }: Verified,
  isWhole: boolean,
): string {
  const { contents, bytes, seconds, problems, faults, faultsTotal, unlisted, foreign, elsewhere } = found;
  const rate = `${describeSize(Math.round(bytes / Math.max(seconds, 0.001)))}/s`;
  const lines = [
    ...problems.map((problem) => `WRONG  database: ${problem}`),
    ...faults.slice(0, REPORTED_MAX).flatMap(describeFault),
    ...(faultsTotal > REPORTED_MAX ? [`WRONG  ${faultsTotal - REPORTED_MAX} more blobs; use --json to list them`] : []),
    `Verified ${count(contents, "blob")}, ${describeSize(bytes)}, against ${source.described} in ${describeSeconds(seconds)} (${rate}).`,
    ...describeBucket(bucket, elsewhere),
    ...(unlisted.contents > 0
      ? [`${count(unlisted.contents, "blob")}, ${describeSize(unlisted.bytes)}, ${describeOrphanedFiles(source)}.`]
      : []),
    ...(foreign > 0 ? [`${foreign} files in the store were not created by Larder.`] : []),
    ...(state === undefined ? [] : describeState(state)),
    isWhole ? `${directory} is intact.` : `${directory} is NOT intact: ${adviseOn(found)}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function describeBucket(bucket: BucketReading | undefined, elsewhere: number): string[] {
  if (bucket !== undefined)
    return [
      `${bucket.contents} of them, ${describeSize(bucket.bytes)}, are stored only in the bucket and were read from it.`,
    ];
  return elsewhere === 0
    ? []
    : [`${elsewhere} of them are in a bucket and were not read. To read them: larder verify --bucket`];
}

/** Blobs of a copy may belong to files that are newer than its snapshot. */
function describeOrphanedFiles({ snapshot }: VerifySource): string {
  return snapshot === undefined
    ? "not used by any file; removed by a later garbage collection"
    : "not used by this snapshot";
}

function describeFault({ kind, digest, sizeBytes, detail, files }: FaultyContent): string[] {
  const what = { damaged: "is damaged", missing: "is missing", unreadable: "cannot be read" }[kind];
  return [
    `WRONG  blob ${toChecksum(digest)} (${describeSize(sizeBytes)}) ${what}: ${detail}`,
    ...files.map(({ account, path, as }) => {
      const when = { present: "", earlier: " (earlier version)", trash: " (in trash)" }[as];
      return `         ${account}: ${path}${when}`;
    }),
  ];
}

function adviseOn({ faultsTotal, problems }: Verification): string {
  return [
    ...(faultsTotal > 0 ? ["repair the files from a backup: larder heal --from BACKUP"] : []),
    ...(problems.length > 0 ? ["restore an earlier snapshot of the database: larder restore"] : []),
  ].join("; ");
}
