import * as fs from "node:fs";
import { type Command, Option } from "commander";
import { describeSize } from "../../config/quantities.ts";
import type { Config } from "../../config/settings.ts";
import { StartupError } from "../../config/startup-error.ts";
import { isWhole, listSnapshots } from "../../db/snapshot.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { rebuildDatabase, type RebuildReport } from "../../features/storage/store-journal/rebuild.ts";
import { newSecretToken } from "../../lib/id.ts";
import { type DataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { acquireServerLock } from "../../server/data/lock.ts";
import { installSnapshot } from "../../server/data/open-copy.ts";
import { markClosed } from "../../server/data/run-mark.ts";
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
import { describeMissing, describeUnread, presentMissing } from "../shared/lost-contents.ts";
import { type Terminal, toJson, toTable } from "../shared/output.ts";
import { findInBucket } from "./rebuild-bucket.ts";
import { rebuildNewer } from "./rebuild-newer.ts";

const PROGRESS_MS = 1_000;
const NEWER_OPTIONS = [
  ["user", "--user"],
  ["dryRun", "--dry-run"],
] as const;

/** `larder rebuild`: makes the database of a data directory from its store alone. */
export function define(command: Command, context: CommandContext): void {
  command
    .description(
      "Rebuild the database from the metadata journal (blobs/journal). Use this only if larder.db and all its snapshots are " +
        "lost; if an intact snapshot is left, larder restore recovers more. Stop the server first.\n\n" +
        "Restored: accounts, folders, names, tags, version history, trash, links and shares with their passwords and limits, " +
        "and previous locations. Revoked links stay revoked.\n\n" +
        "Not restored: account passwords, sessions, API keys, two-factor authentication, devices, notifications, webhooks, " +
        "the audit log, and the deletion records of devices. Before a user can sign in, set a new password: " +
        "larder user set EMAIL --password-stdin\n\n" +
        "With --newer, after you restored an earlier snapshot: apply the changes recorded after that snapshot. These are new " +
        "and changed files, folders, versions, tags, moves, renames, links, and shares. Deletions are counted but not " +
        "applied, except revoked links and shares. Changes made since the restore are kept. Quotas are not checked. Safe to " +
        "run twice.",
    )
    .option(
      "--force",
      "Rebuild even if there is a database or an intact snapshot. The old database is moved to set-aside/.",
    )
    .addOption(new Option("--over", "Former name of --force.").implies({ force: true }).hideHelp())
    .option(
      "--recover-unnamed <email>",
      "Add blobs that belong to no file, including deleted files, to this account in /recovered.",
    )
    .option("--newer", "Apply the changes recorded after the restored snapshot.")
    .option("--user <email>", "With --newer: apply only the changes of this account.")
    .option("--dry-run", "With --newer: list the changes without applying them.")
    .option("--json", "Print the result as JSON.");
  addSettings(command, DATA_SETTINGS);
  describeEnd(
    command,
    "larder rebuild --data /srv/larder\nlarder rebuild --newer --data /srv/larder",
    "the database was rebuilt, but blobs are missing or the journal is damaged",
  );
  runs(command, async () => {
    const loaded = readConfig(command, context);
    printWarnings(loaded, context.terminal);
    if (!fs.existsSync(loaded.config.data)) throw new StartupError(`Directory ${loaded.config.data} does not exist.`);
    if (hasOption(command, "newer")) return applyNewer(command, loaded.config, context);
    for (const [name, option] of NEWER_OPTIONS) {
      if (command.getOptionValue(name) !== undefined) throw new UsageError(`${option} requires --newer.`);
    }
    const paths = openDataDirectory(loaded.config.data);
    const lock = acquireServerLock(paths.lock);
    try {
      const storeId = readStoreId(paths);
      if (!hasOption(command, "force")) rejectOver(paths);
      const recoverFor = optionText(command, "recoverUnnamed");
      const { report, aside } = await rebuild(paths, { storeId, recoverFor }, context.terminal);
      const found = await findInBucket(report, loaded.config, context.terminal);
      return printReport(found, { paths, aside, isJson: hasOption(command, "json") }, context.terminal);
    } finally {
      lock.release();
    }
  });
}

function applyNewer(command: Command, config: Config, { terminal }: CommandContext): Promise<ExitCode> {
  if (hasOption(command, "force") || optionText(command, "recoverUnnamed") !== undefined) {
    throw new UsageError("--newer cannot be combined with --force or --recover-unnamed.");
  }
  requireDatabase(config);
  const run = {
    email: optionText(command, "user"),
    isDryRun: hasOption(command, "dryRun"),
    isJson: hasOption(command, "json"),
  };
  return rebuildNewer(config, run, terminal);
}

async function rebuild(
  paths: DataPaths,
  { storeId, recoverFor }: { readonly storeId: string; readonly recoverFor: string | undefined },
  terminal: Terminal,
): Promise<{ report: RebuildReport; aside: string | undefined }> {
  const target = `${paths.database}.rebuilding`;
  let nextProgressMs = performance.now() + PROGRESS_MS;
  try {
    const report = await rebuildDatabase({
      dataDirectory: paths.root,
      target,
      storeId,
      recoverFor,
      passwordHash: await new PasswordHasher().hash(newSecretToken()),
      nowMs: Date.now(),
      onProgress: (records) => {
        if (!process.stderr.isTTY || performance.now() < nextProgressMs) return;
        terminal.error(`${records} journal entries read …\n`);
        nextProgressMs += PROGRESS_MS;
      },
    });
    const aside = installSnapshot(paths, target);
    // It describes the previous database.
    fs.rmSync(paths.state, { force: true });
    markClosed(paths);
    return { report, aside };
  } finally {
    fs.rmSync(target, { force: true });
  }
}

function readStoreId({ root, blobs, storeMarker }: DataPaths): string {
  const id = fs.existsSync(storeMarker) ? fs.readFileSync(storeMarker, "utf8").trim() : "";
  if (id === "") {
    throw new StartupError(
      `No store found in ${root}: ${storeMarker} is missing. Set the data directory with --data, or mount its disk.`,
    );
  }
  if (!fs.existsSync(journalRoot(blobs))) {
    throw new StartupError(
      `No metadata journal found in ${journalRoot(blobs)}. The store was created by an earlier version, or no server has used it. ` +
        "Restore a snapshot or a backup: larder restore --help",
    );
  }
  return id;
}

function rejectOver(paths: DataPaths): void {
  if (fs.existsSync(paths.database)) {
    throw new StartupError(
      `A database already exists: ${paths.database}. Nothing was changed. To replace it, add --force; ` +
        "the old one is moved to set-aside/.",
    );
  }
  const snapshot = listSnapshots(paths.snapshots).find(({ path }) => isWhole(path));
  if (snapshot === undefined) return;
  throw new StartupError(
    `There is an intact snapshot of the database: ${snapshot.name}. It has more than a rebuild can recover, such as ` +
      `passwords. Nothing was changed.\n  Restore it:     larder restore --snapshot ${snapshot.name} --data ${paths.root}\n` +
      `  Rebuild anyway: larder rebuild --force --data ${paths.root}`,
  );
}

interface ReportOptions {
  readonly paths: DataPaths;
  readonly aside: string | undefined;
  readonly isJson: boolean;
}

function printReport(report: RebuildReport, { paths, aside, isJson }: ReportOptions, terminal: Terminal): ExitCode {
  const lost = report.accounts.reduce((sum, account) => sum + account.lost, 0);
  const recovered = report.accounts.reduce((sum, account) => sum + account.recovered, 0);
  const isWrong = report.missing > 0 || report.damaged.length > 0 || lost > 0;
  if (isJson) {
    const missingSome = presentMissing(report.missingSome);
    terminal.out(toJson({ data: paths.root, setAside: aside ?? null, ...report, missingSome }));
    return isWrong ? EXIT.wrong : EXIT.fine;
  }
  const heading = ["EMAIL", "ROLE", "FILES", "FOLDERS", "VERSIONS", "IN TRASH", "SHARES"];
  const rows = report.accounts.map(({ email, role, files, folders, versions, trashed, shares }) => [
    email,
    role,
    ...[files, folders, versions, trashed, shares].map(String),
  ]);
  terminal.out(toTable([heading, ...rows]));
  terminal.out(`\nRebuilt the database: ${paths.database}\n`);
  if (recovered > 0) terminal.out(`Added ${recovered} blobs that belonged to no file to /recovered.\n`);
  if (aside !== undefined) terminal.out(`Moved the previous database to ${aside}.\n`);
  terminal.out(
    "Not restored: passwords, sessions, API keys, two-factor authentication, devices, notifications, webhooks, and the audit log.\n" +
      "Links keep their addresses if secrets/ is the original one.\n" +
      "Set a new password for each account, administrators first:\n" +
      `  larder user set EMAIL --password-stdin --data ${paths.root}\n`,
  );
  for (const line of problemsOf(report, lost)) terminal.error(`${line}\n`);
  return isWrong ? EXIT.wrong : EXIT.fine;
}

function problemsOf(report: RebuildReport, lost: number): string[] {
  const { damaged, missing, missingSome, unnamed } = report;
  return [
    ...describeUnread(damaged),
    ...(lost > 0 ? [`${lost} files or folders were moved to /lost+found because their parent folder is unknown.`] : []),
    ...(missing > 0
      ? [
          `${missing} of ${report.contents} blobs are missing from the store. To restore them from a copy: larder heal --from COPY`,
        ]
      : []),
    ...describeMissing(missingSome),
    ...(unnamed.count > 0
      ? [
          `${unnamed.count} blobs (${describeSize(unnamed.bytes)}) belong to no file. Most were deleted recently. The server ` +
            "removes them after the grace period.\nTo recover them as files, run the command again with --force " +
            "--recover-unnamed EMAIL.",
        ]
      : []),
  ];
}
