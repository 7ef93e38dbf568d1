import { resolve } from "node:path";
import type { Command } from "commander";
import { toChecksum } from "../blobs/digest.ts";
import { describeSize } from "../config/quantities.ts";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { AppError } from "../errors.ts";
import type { FaultyContent, Verification, VerifyOptions } from "../features/integrity/verify.ts";
import { verify } from "../features/integrity/verify.ts";
import { createLog } from "../lib/log.ts";
import { dataPaths } from "../server/data-directory.ts";
import { openForCommand } from "../server/for-commands.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  PLACE_SETTINGS,
  readConfig,
  runs,
  tellWarnings,
} from "./command.ts";
import { type Terminal, toJson } from "./output.ts";
import { describeSeconds, progressLine } from "./transfer-progress.ts";
import { openVerifySource, type VerifySource } from "./verify-source.ts";

/** Faulty contents that are told one by one to people; scripts get them all. */
const TOLD_MAX = 50;
const BYTES_PER_MB = 1_000_000;
/** SQLite keeps no sums of its pages: of what it holds, nothing else would tell. */
const ALTERED =
  "its file is not what it was when it was closed: its disk, or a program other than larder, has changed it since. If that " +
  "was you, start the server once, and it counts as it is";

/** `larder verify [DIR]`: reads every content and looks at every row. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("[dir]", "a backup, or any copy of a data directory, to verify instead; it is never written to")
    .description(
      "Read every stored content again and compare it with its digest, and check every row of the database. A server may " +
        "run meanwhile. What is found in the data directory itself is noted there, as by the nightly reading: damaged " +
        "contents are not sent any more, and taken anew when the same file is uploaded. Nothing is removed or replaced; " +
        "larder heal does that.",
    )
    .option("--quick", "compare only the sizes of contents")
    .option("--read-only", "note nothing in the data directory either")
    .option("--json", "print the findings as JSON");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(
    command,
    "larder verify --data /srv/larder\nlarder verify /mnt/usb/backup",
    "something is damaged or missing: each finding is named",
  );
  runs(command, async ([dir]) => {
    const loaded = readConfig(command, context);
    const isCopy = dir !== undefined;
    if (!isCopy) tellWarnings(loaded, context.terminal);
    const paths = dataPaths(isCopy ? resolve(context.directory, dir) : loaded.config.data);
    const source = openVerifySource(paths);
    try {
      // Opening an altered database would make it one that was closed in order.
      const isOpenable = !isCopy && source.isOwn && !source.isAltered;
      const mayNote = isOpenable && !hasOption(command, "readOnly") && !hasOption(command, "quick");
      const notes = mayNote ? await openNotes(loaded.config, context.terminal) : undefined;
      try {
        const found = await verify({
          databasePath: source.databasePath,
          root: paths.root,
          isQuick: hasOption(command, "quick"),
          isModest: source.isServed,
          log: createLog("pretty", "error", (line) => context.terminal.error(line)),
          onProgress: showProgress(context.terminal),
          ...(notes !== undefined && { onRead: notes.take }),
        });
        const problems = source.isAltered ? [...found.problems, ALTERED] : found.problems;
        return tell({ ...found, problems }, source, paths.root, hasOption(command, "json"), context.terminal);
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
  close(): Promise<void>;
}

/** Where findings are noted; undefined where that can't be, which keeps nobody from verifying. */
async function openNotes(config: Config, terminal: Terminal): Promise<Notes | undefined> {
  try {
    const services = await openForCommand(
      config,
      // Findings are told at the end, by name.
      createLog("pretty", "error", () => {}),
    );
    let isWorking = true;
    return {
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
        if (isWorking) await services.integrity.tell();
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
  terminal.error(`What is found can't be noted in the database: ${error.message}\n`);
}

function showProgress(terminal: Terminal): VerifyOptions["onProgress"] {
  const show = progressLine(terminal, process.stderr.isTTY);
  return (progress) => show({ ...progress, newBytes: progress.bytes });
}

function tell(
  found: Verification,
  source: VerifySource,
  directory: string,
  isJson: boolean,
  terminal: Terminal,
): ExitCode {
  const isWhole = found.faultsTotal === 0 && found.problems.length === 0;
  terminal.out(
    isJson ? toJson(present(found, source, directory, isWhole)) : describe(found, source, directory, isWhole),
  );
  return isWhole ? EXIT.fine : EXIT.wrong;
}

function present(found: Verification, source: VerifySource, directory: string, isWhole: boolean) {
  const { contents, bytes, elsewhere, unlisted, foreign, seconds, problems, faults } = found;
  const count = (kind: FaultyContent["kind"]) => faults.filter((fault) => fault.kind === kind).length;
  return {
    ok: isWhole,
    directory,
    database: source.described,
    snapshot: source.snapshot ?? null,
    contents,
    bytes,
    damaged: count("damaged"),
    missing: count("missing"),
    unreadable: count("unreadable"),
    elsewhere,
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

function describe(found: Verification, source: VerifySource, directory: string, isWhole: boolean): string {
  const { contents, bytes, seconds, problems, faults, faultsTotal, unlisted, foreign, elsewhere } = found;
  const rate = `${describeSize(Math.round(bytes / Math.max(seconds, 0.001)))}/s`;
  const lines = [
    ...problems.map((problem) => `WRONG  database: ${problem}`),
    ...faults.slice(0, TOLD_MAX).flatMap(describeFault),
    ...(faultsTotal > TOLD_MAX ? [`WRONG  ${faultsTotal - TOLD_MAX} more contents: see --json`] : []),
    `${contents} contents, ${describeSize(bytes)}, verified by ${source.described} in ${describeSeconds(seconds)} (${rate}).`,
    ...(elsewhere > 0 ? [`${elsewhere} of them lie in a bucket, and were not read: larder blobs --help`] : []),
    ...(unlisted.contents > 0
      ? [`${unlisted.contents} contents, ${describeSize(unlisted.bytes)}, lie there that ${describeUnlisted(source)}.`]
      : []),
    ...(foreign > 0 ? [`${foreign} files in the store are no contents. Larder didn't put them there.`] : []),
    isWhole ? `${directory} is intact.` : `${directory} is NOT intact: ${adviseOn(found)}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** Those of a copy may be of files that came after its snapshot. */
function describeUnlisted({ snapshot }: VerifySource): string {
  return snapshot === undefined ? "no file uses; they are collected in time" : "this snapshot doesn't know";
}

function describeFault({ kind, digest, sizeBytes, detail, files }: FaultyContent): string[] {
  const what = { damaged: "is damaged", missing: "is missing", unreadable: "can't be read" }[kind];
  return [
    `WRONG  the content ${toChecksum(digest)} (${describeSize(sizeBytes)}) ${what}: ${detail}`,
    ...files.map(({ account, path, as }) => {
      const when = { present: "", earlier: " (an earlier content)", trash: " (in the trash)" }[as];
      return `         ${account}: ${path}${when}`;
    }),
  ];
}

function adviseOn({ faultsTotal, problems }: Verification): string {
  return [
    ...(faultsTotal > 0 ? ["put good copies of the contents back by: larder heal --from BACKUP"] : []),
    ...(problems.length > 0 ? ["go back to a good state of the database by: larder restore"] : []),
  ].join("; ");
}
