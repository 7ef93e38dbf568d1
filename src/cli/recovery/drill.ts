import { existsSync } from "node:fs";
import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { toTimestamp } from "../../lib/clock.ts";
import { dataPaths, requireReadable } from "../../server/data/data-directory.ts";
import { drill, type DrillReport } from "../../server/drill.ts";
import { EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { describeCounts, describeLost } from "../shared/lost-blobs.ts";
import { count } from "../shared/output.ts";
import { describeSeconds } from "../shared/progress.ts";
import { untilSignal } from "../shared/transfer.ts";

/** Restores a backup, or the current state, to a temporary directory, and reports whether its files can be read. */
export async function runDrill(command: RunningCommand, dir: string): Promise<ExitCode> {
  const { config, loaded, environment } = command;
  const source = dataPaths(dir === "" ? config.data : command.path(dir));
  requireReadable(source);
  if (!existsSync(source.root))
    throw new StartupError(`Directory ${source.root} does not exist. Specify a backup, or set --data.`);
  const sampleCount = command.wholeNumber("sample", 1);
  const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
  const report = await untilSignal((signal) =>
    drill({ source, config, loaded, sampleCount, program, environment, log: command.log("error"), signal }),
  );
  command.print(presentDrill(report), describeDrill(report));
  return isPassed(report) ? EXIT.success : EXIT.problems;
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
  const size = counts === undefined ? "" : `It has ${describeCounts(counts)}.\n`;
  const wrong = failures.map(({ sample, why }) => `  ${sample.name} (${sample.fileId}): ${why}\n`).join("");
  return (
    `Restored snapshot ${report.snapshot} to a temporary directory and started a server on it.\n${size}` +
    `Downloaded ${count(report.fetched, "file")}, ${describeSize(report.fetchedBytes)}, and verified their checksums.\n` +
    (failures.length > 0 ? `${count(failures.length, "file")} failed:\n${wrong}` : "") +
    (missing.count > 0 ? describeLost(missing.some, missing.count) : "") +
    `${isPassed(report) ? "The backup is good" : "The backup is NOT good"} (${describeSeconds(report.durationMs / 1000)}).\n`
  );
}
