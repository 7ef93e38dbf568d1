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
  PLACE_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  tellWarnings,
  UsageError,
} from "../shared/command.ts";
import { type Terminal, toJson } from "../shared/output.ts";
import {
  count,
  Progress,
  refuseOwnData,
  requiredText,
  requireUser,
  tellProblems,
  untilSignal,
  withTransfer,
} from "../shared/transfer.ts";

/** `larder import DIR --user EMAIL`: takes a folder into an account, beside a running server or without one. */
export function define(command: Command, context: CommandContext): void {
  command
    .argument("<dir>", "the folder whose contents are taken in")
    .description(
      "Take a folder of this machine into an account, with names and times. Works beside a running server. What is " +
        "there already, by path, size and time, is not read again: run it again after an interruption, and it goes on. " +
        "Symbolic links, sockets and devices are left out. An export made with --metadata gets its tags back.",
    )
    .option("--user <email>", "whose files they become (required)")
    .option("--folder <path>", 'the folder of the account that takes them (default: "/")')
    .option(
      "--on-conflict <what>",
      "a path is taken by another content: skip leaves it, version stores a new version of it, rename numbers (skip)",
    )
    .option(
      "--link",
      "share the files with the store by hard links where the file system can: no bytes are copied, " +
        "and whoever changes the source later damages what is stored",
    )
    .option("--checksum", "read every file, also those whose size and time are those of the stored one")
    .option("--rename", "put _ in place of characters that names may not have, instead of leaving such files out")
    .option("--dry-run", "tell what would be done, and do nothing")
    .option("--json", "print the result as JSON");
  addSettings(command, [...PLACE_SETTINGS, "minFreeSpace"]);
  describeEnd(
    command,
    "larder import /home/anna/Pictures --user anna@example.org --folder /Pictures",
    "something could not be taken in, and is named; everything else was",
  );
  runs(command, async ([directory = ""]) => {
    const loaded = readConfig(command, context);
    tellWarnings(loaded, context.terminal);
    requireDatabase(loaded.config);
    const email = requiredText(command, "user", "--user EMAIL: the account that is to have the files");
    const wanted = readWanted(command, resolve(context.directory, directory));
    refuseOwnData(loaded.config, wanted.source);
    const report = await carryOut(loaded.config, context.terminal, email, wanted);
    return tell(report, wanted.isDryRun, hasOption(command, "json"), context.terminal);
  });
}

type Wanted = Omit<ImportRequest, "hasServer" | "signal" | "onProgress">;

function readWanted(command: Command, source: string): Wanted {
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
    throw new UsageError(`--on-conflict must be one of: ${IMPORT_CONFLICTS.join(", ")}; not "${text}".`);
  }
  return known;
}

async function carryOut(config: Config, terminal: Terminal, email: string, wanted: Wanted): Promise<ImportReport> {
  return withTransfer(config, terminal, async (services, hasServer) => {
    const user = requireUser(services.users, email);
    const progress = new Progress<ImportCounts>(terminal, describeProgress);
    const importer = new Importer({ ...services, dataDir: config.data });
    const report = await untilSignal((signal) =>
      importer.run(user, { ...wanted, hasServer, signal, onProgress: (soFar) => progress.show(soFar) }),
    );
    progress.end();
    if (!wanted.isDryRun && report.imported > 0) {
      const { imported: files, importedBytes: bytes } = report;
      await services.audit.record(commandEntry("transfer.import", user, { folder: wanted.folder, files, bytes }));
    }
    return report;
  });
}

function describeProgress({ seen, imported, importedBytes, unchanged }: ImportCounts): string {
  return `${count(seen, "file")} met, ${imported} taken in (${describeSize(importedBytes)}), ${unchanged} there already`;
}

function tell(report: ImportReport, isDryRun: boolean, isJson: boolean, terminal: Terminal): ExitCode {
  const isWhole = report.problems === 0 && report.stopped === undefined;
  if (isJson) {
    const { problemList, ...numbers } = report;
    terminal.out(toJson({ ok: isWhole, dryRun: isDryRun, ...numbers, list: problemList }));
  } else {
    tellProblems(report.problemList, report.problems + report.leftOut, terminal);
    terminal.out(`${describe(report, isDryRun)}\n`);
  }
  return isWhole ? EXIT.fine : EXIT.wrong;
}

function describe(report: ImportReport, isDryRun: boolean): string {
  const { imported, importedBytes, versions, renamed, unchanged, folders, problems, leftOut } = report;
  const seconds = report.durationMs / 1_000;
  const parts = [
    `${isDryRun ? "Would take in" : "Took in"} ${count(imported, "file")} (${describeSize(importedBytes)})` +
      (folders > 0 ? ` and ${count(folders, "folder")}` : ""),
    ...(versions > 0 ? [`${versions} of them as new versions`] : []),
    ...(renamed > 0 ? [`${renamed} of them under a numbered name`] : []),
    ...(unchanged > 0 ? [`${unchanged} were there already`] : []),
    ...(leftOut > 0 ? [`${leftOut} left out (links and the like)`] : []),
    ...(problems > 0 ? [`${problems} not taken in`] : []),
  ];
  const end = {
    interrupted: " Interrupted: run it again, and it goes on from there.",
    quota_exceeded: " The account is full: give it more room (larder user set --quota), and run it again.",
  };
  const ending = report.stopped === undefined ? "" : end[report.stopped];
  return `${parts.join("; ")}. ${seconds.toFixed(1)} s.${ending}`;
}
