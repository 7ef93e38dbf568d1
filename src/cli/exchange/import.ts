import { resolve } from "node:path";
import type { Command } from "commander";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { Importer } from "../../features/storage/import-export/import.ts";
import {
  IMPORT_CONFLICTS,
  type ImportConflict,
  type ImportCounts,
  type ImportReport,
  type ImportRequest,
} from "../../features/storage/import-export/types.ts";
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

/** `larder import DIR --user EMAIL`: takes a folder into an account, beside a running server or without one. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("<dir>", "Folder on this machine to import.")
    .description(
      "Import a folder of this machine into an account, with names and modification times. The server may run at the same " +
        "time. Files that already exist with the same path, size, and time are skipped, so you can run the command again " +
        "after an interruption. Symbolic links, sockets, and devices are skipped. Tags are restored from an export made " +
        "with --metadata.",
    )
    .option("--user <email>", "Account to import into. (required)")
    .option("--folder <path>", "Target folder in the account. (default: /)")
    .option(
      "--on-conflict <skip|version|rename>",
      "If the path has a different file: skip it, store a new version, or rename the imported file. (default: skip)",
    )
    .option(
      "--link",
      "Use hard links instead of copies if the file system supports them. If you change a source file later, the stored " +
        "file is damaged.",
    )
    .option("--checksum", "Compare all files by checksum, not by size and time.")
    .option("--rename", "Replace characters that are not allowed in names with _, instead of skipping those files.")
    .option("--dry-run", "Print what would be imported without importing it.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, [...DATA_SETTINGS, "minFreeSpace"]);
  describeEnd(
    command,
    "larder import /home/anna/Pictures --user anna@example.org --folder /Pictures",
    "some files could not be imported; all others were",
  );
  runs(command, async ([directory = ""]) => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    requireDatabase(loaded.config);
    const email = requiredText(command, "user", "--user EMAIL, the account to import into");
    const request = readOptions(command, resolve(context.directory, directory));
    rejectOwnData(loaded.config, request.source);
    const report = await runImport(loaded.config, context.terminal, email, request);
    return printReport(report, request.isDryRun, hasOption(command, "json"), context.terminal);
  });
}

type ImportOptions = Omit<ImportRequest, "hasServer" | "signal" | "onProgress">;

function readOptions(command: Command, source: string): ImportOptions {
  return {
    source,
    folder: normalizePath(optionText(command, "folder") ?? ROOT_PATH),
    onConflict: readConflict(optionText(command, "onConflict")),
    isLinking: hasOption(command, "link"),
    isRereading: hasOption(command, "checksum"),
    isRenaming: hasOption(command, "rename"),
    isDryRun: hasOption(command, "dryRun"),
  };
}

function readConflict(text = "skip"): ImportConflict {
  const known = IMPORT_CONFLICTS.find((word) => word === text);
  if (known === undefined) {
    throw new UsageError(`--on-conflict must be one of: ${IMPORT_CONFLICTS.join(", ")}, not "${text}".`);
  }
  return known;
}

async function runImport(
  config: Config,
  terminal: Terminal,
  email: string,
  request: ImportOptions,
): Promise<ImportReport> {
  return withTransfer(config, terminal, async (services, hasServer) => {
    const user = requireUser(services.users, email);
    const progress = new Progress<ImportCounts>(terminal, describeProgress);
    const importer = new Importer({ ...services, dataDir: config.data });
    const report = await untilSignal((signal) =>
      importer.run(user, { ...request, hasServer, signal, onProgress: (soFar) => progress.show(soFar) }),
    );
    progress.end();
    if (!request.isDryRun && report.imported > 0) {
      const { imported: files, importedBytes: bytes } = report;
      await services.audit.record(commandEntry("transfer.import", user, { folder: request.folder, files, bytes }));
    }
    return report;
  });
}

function describeProgress({ seen, imported, importedBytes, unchanged }: ImportCounts): string {
  return `${count(seen, "file")} found, ${imported} imported (${describeSize(importedBytes)}), ${unchanged} unchanged`;
}

function printReport(report: ImportReport, isDryRun: boolean, isJson: boolean, terminal: Terminal): ExitCode {
  const isWhole = report.problems === 0 && report.stopped === undefined;
  if (isJson) {
    const { problemList, ...numbers } = report;
    terminal.out(toJson({ ok: isWhole, dryRun: isDryRun, ...numbers, list: problemList }));
  } else {
    printProblems(report.problemList, report.problems + report.leftOut, terminal);
    terminal.out(`${describe(report, isDryRun)}\n`);
  }
  return isWhole ? EXIT.fine : EXIT.wrong;
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
