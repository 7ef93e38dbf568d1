import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { type HealResult, heal, type UnhealthyBlob } from "../../features/storage/integrity/heal.ts";
import { ContentUses } from "../../features/storage/integrity/uses.ts";
import { createLog } from "../../lib/log.ts";
import { openForCommand } from "../../server/for-commands.ts";
import {
  addSettings,
  type CommandContext,
  describeEnd,
  EXIT,
  type ExitCode,
  hasOption,
  DATA_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  printWarnings,
  UsageError,
} from "../shared/command.ts";
import { type Terminal, toJson } from "../shared/output.ts";
import { count } from "../shared/transfer.ts";

const FILES_MAX = 10;
const REPORTED_MAX = 50;
const PROGRESS_MS = 1_000;

/** `larder heal --from DIR`: puts good copies of damaged and missing contents back. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Replace damaged and missing blobs with good copies from a backup, another data directory, an old disk, or a folder of " +
        "files. Each copy is verified; damaged bytes are moved to blobs/quarantine/. The server may run at the same time and " +
        "serves the repaired files immediately. To find damage first: larder verify",
    )
    .option("--from <dir>", "Directory with good copies. Can be repeated.", collect, [])
    .option("--search", "Compare all files of the right size in those directories, whatever their names.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(
    command,
    "larder heal --from /mnt/usb/backup --data /srv/larder\nlarder heal --search --from ~/Pictures",
    "some blobs are still damaged or missing",
  );
  runs(command, async () => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    requireDatabase(loaded.config);
    const from = readFolders(command, context);
    const services = await openForCommand(
      loaded.config,
      createLog("pretty", "warn", (line) => context.terminal.error(line)),
    );
    try {
      const { sqlite } = services.db;
      const healed = await heal({
        sqlite,
        blobs: services.blobs,
        integrity: services.integrity,
        from,
        mustSearch: hasOption(command, "search"),
        onProgress: showProgress(context.terminal),
      });
      return printResult(healed, new ContentUses(sqlite), hasOption(command, "json"), context.terminal);
    } finally {
      await services.close();
    }
  });
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

function readFolders(command: Command, { directory }: CommandContext): string[] {
  const given: unknown = command.getOptionValue("from");
  const folders = Array.isArray(given) ? given.map((folder) => resolve(directory, String(folder))) : [];
  if (folders.length === 0) throw new UsageError("Specify a directory with good copies: larder heal --from DIR");
  for (const folder of folders) {
    if (!existsSync(folder))
      throw new StartupError(`Directory ${folder} does not exist. Check that its disk is mounted.`);
  }
  return folders;
}

function showProgress(terminal: Terminal): (done: number, of: number) => void {
  let nextMs = performance.now() + PROGRESS_MS;
  return (done, of) => {
    if (!process.stderr.isTTY || performance.now() < nextMs) return;
    nextMs = performance.now() + PROGRESS_MS;
    terminal.error(`${done} of ${of} blobs\n`);
  };
}

function printResult(
  { healed, missing, bad }: HealResult,
  uses: ContentUses,
  isJson: boolean,
  terminal: Terminal,
): ExitCode {
  const filesOf = ({ digest }: UnhealthyBlob) => uses.find(digest, FILES_MAX);
  if (isJson) {
    const present = (content: UnhealthyBlob) => ({
      checksum: toChecksum(content.digest),
      size: content.sizeBytes,
      files: filesOf(content),
    });
    terminal.out(
      toJson({
        ok: missing.length === 0,
        healed: healed.map((content) => ({ ...present(content), from: content.from })),
        missing: missing.map(present),
        bad,
      }),
    );
    return missing.length === 0 ? EXIT.fine : EXIT.wrong;
  }
  const lines = [
    ...healed.slice(0, REPORTED_MAX).map((content) => `repaired ${toChecksum(content.digest)} from ${content.from}`),
    ...bad.slice(0, REPORTED_MAX).map((path) => `bad copy ${path}`),
    ...missing
      .slice(0, REPORTED_MAX)
      .flatMap((content) => [
        `MISSING  ${toChecksum(content.digest)} (${describeSize(content.sizeBytes)})`,
        ...filesOf(content).map(({ account, path }) => `         ${account}: ${path}`),
      ]),
    ...(missing.length > REPORTED_MAX
      ? [`MISSING  ${missing.length - REPORTED_MAX} more; use --json to list them`]
      : []),
    summarize(healed.length, missing.length),
  ];
  terminal.out(lines.map((line) => `${line}\n`).join(""));
  return missing.length === 0 ? EXIT.fine : EXIT.wrong;
}

function summarize(healed: number, missing: number): string {
  if (healed + missing === 0) return "No damaged or missing blobs are recorded. To check for damage: larder verify";
  const done = `Repaired ${count(healed, "blob")}`;
  if (missing === 0) return `${done}; none are damaged or missing now.`;
  return `${done}; found no good copy of ${missing}. Try another directory, or upload the files again.`;
}
