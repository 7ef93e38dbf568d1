import { describeSize } from "../../config/quantities.ts";
import { Importer } from "../../features/storage/import-export/import.ts";
import {
  IMPORT_CONFLICTS,
  type ImportConflict,
  type ImportCounts,
  type ImportReport,
} from "../../features/storage/import-export/types.ts";
import { normalizePath, ROOT_PATH } from "../../lib/path.ts";
import { auditEntry } from "../shared/audit-entry.ts";
import { EXIT, type ExitCode, type RunningCommand, UsageError } from "../shared/command.ts";
import { count } from "../shared/output.ts";
import { ProgressLine } from "../shared/progress.ts";
import { requireUser } from "../shared/services.ts";
import { printProblems, rejectOwnData, untilSignal, withTransfer } from "../shared/transfer.ts";

/** Imports a folder of this machine, with names and modification times. */
export async function importFolder(command: RunningCommand, directory: string): Promise<ExitCode> {
  const { config, terminal } = command;
  const email = command.requiredText("user", "--user EMAIL, the account to import into");
  const request = {
    source: command.path(directory),
    folder: normalizePath(command.text("folder") ?? ROOT_PATH),
    onConflict: readConflict(command.text("onConflict")),
    isLinking: command.has("link"),
    isRereading: command.has("checksum"),
    isRenaming: command.has("rename"),
    isDryRun: command.has("dryRun"),
  };
  rejectOwnData(config, request.source);
  const report = await withTransfer(command, async (services, hasServer) => {
    const user = requireUser(services.users, email);
    const progress = new ProgressLine<ImportCounts>(terminal, describeProgress);
    const importer = new Importer({ ...services, dataDir: config.data });
    const report = await untilSignal((signal) =>
      importer.run(user, { ...request, hasServer, signal, onProgress: (counts) => progress.show(counts) }),
    );
    progress.end();
    const { imported: files, importedBytes: bytes } = report;
    if (!request.isDryRun && files > 0) {
      await services.audit.record(auditEntry("transfer.import", user, { folder: request.folder, files, bytes }));
    }
    return report;
  });
  return printReport(report, request.isDryRun, command);
}

function readConflict(text = "skip"): ImportConflict {
  const known = IMPORT_CONFLICTS.find((word) => word === text);
  if (known === undefined) {
    throw new UsageError(`--on-conflict must be one of: ${IMPORT_CONFLICTS.join(", ")}, not "${text}".`);
  }
  return known;
}

function describeProgress({ seen, imported, importedBytes, unchanged }: ImportCounts): string {
  return `${count(seen, "file")} found, ${imported} imported (${describeSize(importedBytes)}), ${unchanged} unchanged`;
}

function printReport(report: ImportReport, isDryRun: boolean, command: RunningCommand): ExitCode {
  const isComplete = report.problems === 0 && report.stopped === undefined;
  const { problemList, ...numbers } = report;
  if (!command.isJson) printProblems(problemList, report.problems + report.leftOut, command.terminal);
  const json = { ok: isComplete, dryRun: isDryRun, ...numbers, list: problemList };
  command.print(json, `${describe(report, isDryRun)}\n`);
  return isComplete ? EXIT.success : EXIT.problems;
}

function describe(report: ImportReport, isDryRun: boolean): string {
  const { imported, importedBytes, versions, renamed, unchanged, folders, problems, leftOut } = report;
  const seconds = report.durationMs / 1_000;
  const parts = [
    `${isDryRun ? "Would import" : "Imported"} ${count(imported, "file")} (${describeSize(importedBytes)})` +
      (folders > 0 ? ` and ${count(folders, "folder")}` : ""),
    ...(versions > 0 ? [`${versions} of them as new versions`] : []),
    ...(renamed > 0 ? [`${renamed} of them renamed`] : []),
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(leftOut > 0 ? [`${leftOut} skipped (symbolic links and special files)`] : []),
    ...(problems > 0 ? [`${problems} failed`] : []),
  ];
  const end = {
    interrupted: " Interrupted; run the command again to continue.",
    quota_exceeded:
      " The account has reached its quota; raise it (larder user set EMAIL --quota SIZE), then run the command again.",
  };
  const ending = report.stopped === undefined ? "" : end[report.stopped];
  return `${parts.join("; ")}. ${seconds.toFixed(1)} s.${ending}`;
}
