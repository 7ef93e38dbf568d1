import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
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
import { silentLog } from "../../lib/log.ts";
import { type DataPaths, dataPaths } from "../../server/data/data-directory.ts";
import { type CommandServices, openForCommand } from "../../server/for-commands.ts";
import { DATA_SETTINGS, defineCommand, EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { count, type Terminal, toLines } from "../shared/output.ts";
import { blobProgress, describeSeconds } from "../shared/progress.ts";
import { BUCKET_OPTIONS, type BucketReading, readBucket, wantsBucket } from "./verify-bucket.ts";
import { openVerifySource, type VerifySource } from "./verify-source.ts";

/** Faulty blobs that are printed one by one; the JSON output has all. */
const REPORTED_MAX = 50;
const BYTES_PER_MB = 1_000_000;
/** SQLite stores no checksums of its pages, so only a structural check finds damage. */
const ALTERED =
  "the database file changed after Larder closed it: the disk is faulty, or another program wrote to it. If you changed it on " +
  "purpose, start the server once to accept it";

/** `larder verify [DIR]`: reads every blob and checks every row. */
export const define = defineCommand({
  argument: ["[dir]", "Backup or copy of a data directory to verify instead. Never written to."],
  description:
    "Read every stored blob, compare it with its checksum, and check every row of the database. The server may run at the " +
    "same time. Findings are recorded in the data directory, like those of the nightly scrub: damaged files are no " +
    "longer served, and are repaired when the same file is uploaded again. Nothing is removed. To repair: larder heal",
  options: [
    ["--quick", "Compare only file sizes, not checksums."],
    ["--read-only", "Do not record findings in the data directory."],
    ["--json", "Print the findings as JSON."],
    ...BUCKET_OPTIONS,
  ],
  settings: DATA_SETTINGS,
  examples: "larder verify --data /srv/larder\nlarder verify /mnt/usb/backup",
  problems: "something is damaged or missing",
  handlesWarnings: true,
  async run(command, [dir]) {
    const { config } = command;
    const isCopy = dir !== undefined;
    const mustReadBucket = wantsBucket(command, isCopy);
    if (!isCopy) command.printWarnings();
    const paths = dataPaths(isCopy ? command.path(dir) : config.data);
    const source = openVerifySource(paths);
    try {
      // Opening an altered database would mark it as closed properly.
      const isOpenable = !isCopy && source.isOwn && !source.isAltered;
      const mayRecord = isOpenable && !command.has("readOnly") && !command.has("quick");
      const recorder = mayRecord ? await openRecorder(command) : undefined;
      try {
        return await verifySource(command, { source, paths, recorder, mustReadBucket });
      } finally {
        await recorder?.close();
      }
    } finally {
      source.close();
    }
  },
});

interface VerifyRun {
  readonly source: VerifySource;
  readonly paths: DataPaths;
  readonly recorder: FindingRecorder | undefined;
  readonly mustReadBucket: boolean;
}

async function verifySource(
  command: RunningCommand,
  { source, paths, recorder, mustReadBucket }: VerifyRun,
): Promise<ExitCode> {
  const bucket = mustReadBucket ? await readBucket(recorder?.remoteStore, command) : undefined;
  const show = blobProgress(command.terminal);
  const result = await verify({
    databasePath: source.databasePath,
    root: paths.root,
    isQuick: command.has("quick"),
    isModest: source.isServed,
    log: command.log("error"),
    onProgress: (progress) => show({ ...progress, newBytes: progress.bytes }),
    bucketFaults: bucket?.faults,
    ...(recorder !== undefined && { onRead: recorder.record }),
  });
  const problems = source.isAltered ? [...result.problems, ALTERED] : result.problems;
  const verified = { result: { ...result, problems }, source, state: await readState(source, paths), bucket, paths };
  const isIntact = result.faultsTotal === 0 && problems.length === 0;
  command.print(present(verified, isIntact), toLines(describe(verified, isIntact)));
  return isIntact ? EXIT.success : EXIT.problems;
}

/** Records findings in the database. */
interface FindingRecorder {
  readonly record: NonNullable<VerifyOptions["onRead"]>;
  /** Undefined if no bucket is configured. */
  readonly remoteStore: CommandServices["remoteStore"];
  close(): Promise<void>;
}

/** Opens the database for findings; undefined if that fails: the directory can be verified without it. */
async function openRecorder({ loaded, terminal }: RunningCommand): Promise<FindingRecorder | undefined> {
  try {
    // The services log nothing: findings are printed at the end, with the names of files.
    const services = await openForCommand(loaded, silentLog);
    let isWorking = true;
    return {
      remoteStore: services.remoteStore,
      async record(read) {
        if (!isWorking) return;
        try {
          await services.integrity.note(read);
        } catch (error) {
          isWorking = false;
          printFailure(error, terminal);
        }
      },
      async close() {
        if (isWorking) await services.integrity.report();
        await services.close();
      },
    };
  } catch (error) {
    printFailure(error, terminal);
    return undefined;
  }
}

function printFailure(error: unknown, terminal: Terminal): void {
  if (!(error instanceof StartupError || error instanceof AppError)) throw error;
  terminal.error(`Cannot record findings in the database: ${error.message}\n`);
}

/** The state of the database when a server opens a copy or a backup. */
interface CopyState {
  readonly takenAtMs: number;
  /** Newer changes in the journal; undefined if the journal belongs to another state. */
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

/** A verified directory. */
interface VerifiedDirectory {
  readonly result: Verification;
  readonly source: VerifySource;
  readonly paths: DataPaths;
  /** Only of a copy or a backup. */
  readonly state: CopyState | undefined;
  /** Only with --bucket. */
  readonly bucket: BucketReading | undefined;
}

function present({ result, source, paths, state, bucket }: VerifiedDirectory, isIntact: boolean) {
  const { contents, bytes, elsewhere, unlisted, foreign, seconds, problems, faults } = result;
  const count = (kind: FaultyContent["kind"]) => faults.filter((fault) => fault.kind === kind).length;
  return {
    ok: isIntact,
    directory: paths.root,
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
    findingsTotal: problems.length + result.faultsTotal,
    seconds: Math.round(seconds * 1_000) / 1_000,
    megabytesPerSecond: Math.round(bytes / Math.max(seconds, 0.001) / BYTES_PER_MB),
  };
}

function describe({ result, source, paths, state, bucket }: VerifiedDirectory, isIntact: boolean): string[] {
  const { contents, bytes, seconds, problems, faults, faultsTotal, unlisted, foreign, elsewhere } = result;
  const rate = `${describeSize(Math.round(bytes / Math.max(seconds, 0.001)))}/s`;
  return [
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
    isIntact ? `${paths.root} is intact.` : `${paths.root} is NOT intact: ${adviceOn(result)}`,
  ];
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

function adviceOn({ faultsTotal, problems }: Verification): string {
  return [
    ...(faultsTotal > 0 ? ["repair the files from a backup: larder heal --from BACKUP"] : []),
    ...(problems.length > 0 ? ["restore an earlier snapshot of the database: larder restore"] : []),
  ].join("; ");
}
