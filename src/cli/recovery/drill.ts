import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { createLog } from "../../lib/log.ts";
import { dataPaths, requireReadable } from "../../server/data/data-directory.ts";
import { drill, type DrillReport } from "../../server/drill.ts";
import { type CommandContext, EXIT, type ExitCode, hasOption, optionText, UsageError } from "../shared/command.ts";
import { describeLost } from "../shared/lost-contents.ts";
import { toJson } from "../shared/output.ts";
import { untilSignal } from "../shared/transfer.ts";
import { describeSeconds } from "../shared/transfer-progress.ts";

/** Restores a backup aside, or the state of now where none is named, and tells whether files come back. */
export async function runDrill(
  command: Command,
  config: Config,
  dir: string,
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal, environment } = context;
  const source = dataPaths(dir === "" ? config.data : resolve(context.directory, dir));
  requireReadable(source);
  if (!existsSync(source.root))
    throw new StartupError(`There is no directory ${source.root}. Give a backup, or --data.`);
  const sampleCount = Number(optionText(command, "sample"));
  if (!Number.isInteger(sampleCount) || sampleCount < 1) throw new UsageError("--sample must be a number from 1 on.");
  const report = await untilSignal((signal) =>
    drill({
      source,
      config,
      sampleCount,
      program: Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main],
      environment,
      log: createLog("pretty", "error", (line) => terminal.error(line)),
      signal,
    }),
  );
  terminal.out(hasOption(command, "json") ? toJson(presentDrill(report)) : describeDrill(report));
  return isPassed(report) ? EXIT.fine : EXIT.wrong;
}

function isPassed({ failures, missing }: DrillReport): boolean {
  return failures.length === 0 && missing.count === 0;
}

function presentDrill(report: DrillReport) {
  const { counts, missing, failures } = report;
  return {
    ok: isPassed(report),
    snapshot: report.snapshot,
    takenAt: toTimestamp(report.takenAtMs),
    users: counts?.users ?? null,
    files: counts?.files ?? null,
    folders: counts?.folders ?? null,
    bytes: counts?.bytes ?? null,
    missing: missing.count,
    fetched: report.fetched,
    fetchedBytes: report.fetchedBytes,
    failures: failures.map(({ sample, why }) => ({
      file: sample.fileId,
      name: sample.name,
      checksum: toChecksum(sample.digest),
      why,
    })),
    seconds: Math.round(report.durationMs) / 1000,
  };
}

function describeDrill(report: DrillReport): string {
  const { counts, missing, failures } = report;
  const held =
    counts === undefined
      ? ""
      : `It holds ${counts.users} users, ${counts.files} files, ${counts.folders} folders, ${describeSize(counts.bytes)}.\n`;
  const wrong = failures.map(({ sample, why }) => `  ${sample.name} (${sample.fileId}): ${why}\n`).join("");
  return (
    `The state ${report.snapshot} was restored aside and started.\n${held}` +
    `${report.fetched} files, ${describeSize(report.fetchedBytes)}, were fetched and are what they should be.\n` +
    (failures.length > 0 ? `${failures.length} files did not come back:\n${wrong}` : "") +
    (missing.count > 0 ? describeLost(missing.some, missing.count) : "") +
    `${isPassed(report) ? "The backup is good" : "The backup is NOT good"} (${describeSeconds(report.durationMs / 1000)}).\n`
  );
}
