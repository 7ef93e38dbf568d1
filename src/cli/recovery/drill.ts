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
import { count, describeCounts, untilSignal } from "../shared/transfer.ts";
import { describeSeconds } from "../shared/transfer-progress.ts";

/** Restores a backup, or the current state, to a temporary directory, and reports whether its files can be read. */
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
    throw new StartupError(`Directory ${source.root} does not exist. Specify a backup, or set --data.`);
  const sampleCount = Number(optionText(command, "sample"));
  if (!Number.isInteger(sampleCount) || sampleCount < 1)
    throw new UsageError("--sample must be a whole number of at least 1.");
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
  const contents = counts === undefined ? "" : `It has ${describeCounts(counts)}.\n`;
  const wrong = failures.map(({ sample, why }) => `  ${sample.name} (${sample.fileId}): ${why}\n`).join("");
  return (
    `Restored snapshot ${report.snapshot} to a temporary directory and started a server on it.\n${contents}` +
    `Downloaded ${count(report.fetched, "file")}, ${describeSize(report.fetchedBytes)}, and verified their checksums.\n` +
    (failures.length > 0 ? `${count(failures.length, "file")} failed:\n${wrong}` : "") +
    (missing.count > 0 ? describeLost(missing.some, missing.count) : "") +
    `${isPassed(report) ? "The backup is good" : "The backup is NOT good"} (${describeSeconds(report.durationMs / 1000)}).\n`
  );
}
