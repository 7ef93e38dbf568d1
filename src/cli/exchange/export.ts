import { describeSize } from "../../config/quantities.ts";
import { Exporter } from "../../features/storage/import-export/export.ts";
import type { ExportCounts, ExportReport } from "../../features/storage/import-export/types.ts";
import { normalizePath, ROOT_PATH } from "../../lib/path.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import {
  DATA_SETTINGS,
  defineCommand,
  EXIT,
  type ExitCode,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { count } from "../shared/output.ts";
import { ProgressLine } from "../shared/progress.ts";
import { requireUser } from "../shared/services.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import { printProblems, rejectOwnData, untilSignal, withTransfer } from "../shared/transfer.ts";

/** `larder export --user EMAIL --to DIR`: writes the files of an account to a folder, also while a server runs. */
export const define = defineCommand({
  description:
    "Export an account's files as plain files with their names, folders, and modification times. The server may run at the " +
    "same time. Run the command again to write only new and changed files. Nothing in the target folder is removed.",
  options: [
    ["--user <email>", "Account to export. (required)"],
    ["--to <dir>", "Target directory; created if missing. (required)"],
    ["--folder <path>", "Export only this folder of the account. (default: /)"],
    ["--at <time>", "Export the files as they were at this time, such as 2026-03-01T12:00:00Z."],
    [
      "--metadata",
      "Write tags, descriptions, metadata, favorites, albums, pins, and the picture of the person to larder-export.json, " +
        "which larder import reads. Also write an XMP sidecar for each photo and video with such details, which other " +
        "programs read.",
    ],
    ["--versions", "Also write earlier versions to .larder-versions."],
    ["--checksum", "Compare existing files by checksum, not by size and time."],
    ["--json", "Print the result as JSON."],
  ],
  settings: DATA_SETTINGS,
  examples: "larder export --user anna@example.org --to /mnt/usb/anna --metadata",
  problems: "some files could not be written; all others were",
  needsDatabase: true,
  async run(command) {
    const { config, terminal } = command;
    const email = command.requiredText("user", "--user EMAIL, the account to export");
    const request = {
      target: command.path(command.requiredText("to", "--to DIR, the target directory")),
      folder: normalizePath(command.text("folder") ?? ROOT_PATH),
      atMs: readMoment(command.text("at")),
      hasManifest: command.has("metadata"),
      hasVersions: command.has("versions"),
      isRereading: command.has("checksum"),
    };
    rejectOwnData(config, request.target);
    const exportFrom = async (services: CommandServices) => {
      const user = requireUser(services.users, email);
      const progress = new ProgressLine<ExportCounts>(terminal, describeProgress);
      const exporter = new Exporter({ ...services, dataDir: config.data });
      const report = await untilSignal((signal) =>
        exporter.run(user, { ...request, signal, onProgress: (counts) => progress.show(counts) }),
      );
      progress.end();
      const { folder } = request;
      await services.audit.record(auditEntry("transfer.export", user, { folder, files: report.written }));
      return report;
    };
    const report = await withTransfer(command, exportFrom, true);
    return printReport(report, command);
  },
});

function readMoment(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`--at must be a time such as 2026-03-01T12:00:00Z, not "${text}".`);
  return ms;
}

function describeProgress({ files, written, writtenBytes, unchanged }: ExportCounts): string {
  return `${count(files, "file")} found, ${written} written (${describeSize(writtenBytes)}), ${unchanged} unchanged`;
}

function printReport(report: ExportReport, command: RunningCommand): ExitCode {
  const isComplete = report.problems === 0 && report.stopped === undefined;
  const { problemList, ...numbers } = report;
  if (!command.isJson) {
    printProblems(problemList, report.problems, command.terminal);
    printProblems(report.sidecars?.list ?? [], report.sidecars?.leftOut ?? 0, command.terminal);
    for (const { path, writtenAs } of report.renamings) command.terminal.error(`${path}: written as ${writtenAs}\n`);
  }
  command.print({ ok: isComplete, ...numbers, list: problemList }, `${describe(report)}\n`);
  return isComplete ? EXIT.success : EXIT.problems;
}

function describe(report: ExportReport): string {
  const { written, writtenBytes, unchanged, versions, sidecars, problems, durationMs, stopped } = report;
  const { leftOut = 0 } = sidecars ?? {};
  const parts = [
    `Exported ${count(written, "file")} (${describeSize(writtenBytes)})`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(versions > 0 ? [count(versions, "earlier version")] : []),
    ...(sidecars !== undefined && sidecars.written > 0 ? [count(sidecars.written, "sidecar")] : []),
    ...(leftOut > 0 ? [`${count(leftOut, "sidecar")} not written`] : []),
    ...(problems > 0 ? [`${problems} failed`] : []),
  ];
  const ending = stopped === undefined ? "" : " Interrupted; run the command again to continue.";
  return `${parts.join("; ")}. ${(durationMs / 1_000).toFixed(1)} s.${ending}`;
}
