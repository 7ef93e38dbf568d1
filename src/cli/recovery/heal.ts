import { existsSync } from "node:fs";
import { Option } from "commander";
import { toChecksum } from "../../blobs/digest.ts";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { type HealResult, heal, type UnhealthyBlob } from "../../features/storage/integrity/heal.ts";
import { ContentUses } from "../../features/storage/integrity/uses.ts";
import {
  DATA_SETTINGS,
  defineCommand,
  EXIT,
  type ExitCode,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { count, toJson, toLines } from "../shared/output.ts";
import { everySecond } from "../shared/progress.ts";
import { withServices } from "../shared/services.ts";

const FILES_MAX = 10;
const REPORTED_MAX = 50;

/** `larder heal --from DIR`: replaces damaged and missing blobs with good copies. */
export const define = defineCommand({
  description:
    "Replace damaged and missing blobs with good copies from a backup, another data directory, an old disk, or a folder of " +
    "files. Each copy is verified; damaged bytes are moved to blobs/quarantine/. The server may run at the same time and " +
    "serves the repaired files immediately. To find damage first: larder verify",
  options: [
    new Option("--from <dir>", "Directory with good copies. Can be repeated.").argParser(collect).default([]),
    ["--search", "Compare all files of the right size in those directories, regardless of their names."],
    ["--json", "Print the result as JSON."],
  ],
  settings: DATA_SETTINGS,
  examples: "larder heal --from /mnt/usb/backup --data /srv/larder\nlarder heal --search --from ~/Pictures",
  problems: "some blobs are still damaged or missing",
  needsDatabase: true,
  async run(command) {
    const from = readFolders(command);
    return withServices(command, async ({ db: { sqlite }, blobs, integrity }) => {
      const result = await heal({
        sqlite,
        blobs,
        integrity,
        from,
        mustSearch: command.has("search"),
        onProgress: everySecond(command.terminal, (done: number, of: number) => `${done} of ${of} blobs`),
      });
      return printResult(result, new ContentUses(sqlite), command);
    });
  },
});

function collect(value: string, previous: readonly string[]): string[] {
  return [...previous, value];
}

function readFolders(command: RunningCommand): string[] {
  const given = command.value("from");
  const folders = Array.isArray(given) ? given.map((folder) => command.path(String(folder))) : [];
  if (folders.length === 0) throw new UsageError("Specify a directory with good copies: larder heal --from DIR");
  for (const folder of folders) {
    if (!existsSync(folder))
      throw new StartupError(`Directory ${folder} does not exist. Check that its disk is mounted.`);
  }
  return folders;
}

function printResult(result: HealResult, uses: ContentUses, { isJson, terminal }: RunningCommand): ExitCode {
  terminal.out(isJson ? toJson(present(result, uses)) : toLines(describe(result, uses)));
  return result.missing.length === 0 ? EXIT.success : EXIT.problems;
}

function present({ healed, missing, bad }: HealResult, uses: ContentUses) {
  const presentBlob = ({ digest, sizeBytes }: UnhealthyBlob) => ({
    checksum: toChecksum(digest),
    size: sizeBytes,
    files: uses.find(digest, FILES_MAX),
  });
  return {
    ok: missing.length === 0,
    healed: healed.map((blob) => ({ ...presentBlob(blob), from: blob.from })),
    missing: missing.map(presentBlob),
    bad,
  };
}

function describe({ healed, missing, bad }: HealResult, uses: ContentUses): string[] {
  return [
    ...healed.slice(0, REPORTED_MAX).map(({ digest, from }) => `repaired ${toChecksum(digest)} from ${from}`),
    ...bad.slice(0, REPORTED_MAX).map((path) => `bad copy ${path}`),
    ...missing
      .slice(0, REPORTED_MAX)
      .flatMap(({ digest, sizeBytes }) => [
        `MISSING  ${toChecksum(digest)} (${describeSize(sizeBytes)})`,
        ...uses.find(digest, FILES_MAX).map(({ account, path }) => `         ${account}: ${path}`),
      ]),
    ...(missing.length > REPORTED_MAX
      ? [`MISSING  ${missing.length - REPORTED_MAX} more; use --json to list them`]
      : []),
    summarize(healed.length, missing.length),
  ];
}

function summarize(healed: number, missing: number): string {
  if (healed + missing === 0) return "No damaged or missing blobs are recorded. To check for damage: larder verify";
  const done = `Repaired ${count(healed, "blob")}`;
  if (missing === 0) return `${done}; none are damaged or missing now.`;
  return `${done}; found no good copy of ${missing}. Try another directory, or upload the files again.`;
}
