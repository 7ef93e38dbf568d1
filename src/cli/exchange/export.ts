import { resolve } from "node:path";
import type { Command } from "commander";
import { describeSize } from "../../config/quantities.ts";
import { Exporter } from "../../features/storage/import-export/export.ts";
import type { ExportCounts, ExportReport, ExportRequest } from "../../features/storage/import-export/types.ts";
import { normalizePath, ROOT_PATH } from "../../lib/path.ts";
import { commandEntry } from "../shared/audit-entry.ts";
import {
  addSettings,
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
import { type Terminal, toJson } from "../shared/output.ts";
import {
  count,
  Progress,
  rejectOwnData,
  requiredText,
  requireUser,
  printProblems,
  untilSignal,
  withTransfer,
} from "../shared/transfer.ts";

/** `larder export --user EMAIL --to DIR`: writes an account's files as plain files, beside a running server or without one. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Export an account's files as plain files with their names, folders, and modification times. The server may run at the " +
        "same time. Run the command again to write only new and changed files. Nothing in the target folder is removed.",
    )
    .option("--user <email>", "Account to export. (required)")
    .option("--to <dir>", "Target directory; created if missing. (required)")
    .option("--folder <path>", "Export only this folder of the account. (default: /)")
    .option("--at <time>", "Export the files as they were at this time, such as 2026-03-01T12:00:00Z.")
    .option("--metadata", "Write tags, descriptions, and metadata to larder-export.json, which larder import reads.")
    .option("--versions", "Also write earlier versions to .larder-versions.")
    .option("--checksum", "Compare existing files by checksum, not by size and time.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(
    command,
    "larder export --user anna@example.org --to /mnt/usb/anna --metadata",
    "some files could not be written; all others were",
  );
  runs(command, async () => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    requireDatabase(loaded.config);
    const email = requiredText(command, "user", "--user EMAIL, the account to export");
    const to = requiredText(command, "to", "--to DIR, the target directory");
    const request = readRequest(command, resolve(context.directory, to));
    rejectOwnData(loaded.config, request.target);
    const report = await withTransfer(loaded.config, context.terminal, async (services) => {
      const user = requireUser(services.users, email);
      const progress = new Progress<ExportCounts>(context.terminal, describeProgress);
      const exporter = new Exporter({ ...services, dataDir: loaded.config.data });
      const done = await untilSignal((signal) =>
        exporter.run(user, { ...request, signal, onProgress: (soFar) => progress.show(soFar) }),
      );
      progress.end();
      const { folder } = request;
      await services.audit.record(commandEntry("transfer.export", user, { folder, files: done.written }));
      return done;
    });
    return printReport(report, hasOption(command, "json"), context.terminal);
  });
}

function readRequest(command: Command, target: string): Omit<ExportRequest, "signal" | "onProgress"> {
  return {
    target,
    folder: normalizePath(optionText(command, "folder") ?? ROOT_PATH),
    atMs: readMoment(optionText(command, "at")),
    hasManifest: hasOption(command, "metadata"),
    hasVersions: hasOption(command, "versions"),
    isRereading: hasOption(command, "checksum"),
  };
}

function readMoment(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError(`--at must be a time such as 2026-03-01T12:00:00Z, not "${text}".`);
  return ms;
}

function describeProgress({ files, written, writtenBytes, unchanged }: ExportCounts): string {
  return `${count(files, "file")} found, ${written} written (${describeSize(writtenBytes)}), ${unchanged} unchanged`;
}

function printReport(report: ExportReport, isJson: boolean, terminal: Terminal): ExitCode {
  const isWhole = report.problems === 0 && report.stopped === undefined;
  if (isJson) {
    const { problemList, ...numbers } = report;
    terminal.out(toJson({ ok: isWhole, ...numbers, list: problemList }));
  } else {
    printProblems(report.problemList, report.problems, terminal);
    for (const { path, writtenAs } of report.renamings) terminal.error(`${path}: written as ${writtenAs}\n`);
    terminal.out(`${describe(report)}\n`);
  }
  return isWhole ? EXIT.fine : EXIT.wrong;
}

function describe({ written, writtenBytes, unchanged, versions, problems, durationMs, stopped }: ExportReport): string {
  const parts = [
    `Exported ${count(written, "file")} (${describeSize(writtenBytes)})`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(versions > 0 ? [count(versions, "earlier version")] : []),
    ...(problems > 0 ? [`${problems} failed`] : []),
  ];
  const ending = stopped === undefined ? "" : " Interrupted; run the command again to continue.";
  return `${parts.join("; ")}. ${(durationMs / 1_000).toFixed(1)} s.${ending}`;
}
