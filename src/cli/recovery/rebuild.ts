import * as fs from "node:fs";
import type { Command } from "commander";
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
  PLACE_SETTINGS,
  readConfig,
  requireDatabase,
  runs,
  tellWarnings,
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
      "Rebuild the database from the store journal (blobs/journal): accounts, folders, names, labels, " +
        "earlier versions, the trash, links and shares with their passwords and limits, and earlier locations. Use it if " +
        "larder.db and all its snapshots are lost; if a whole snapshot is left, larder restore recovers more. The server must be stopped.\n\n" +
        "These are not restored: passwords of accounts, sessions, API keys, second factors, devices, messages, " +
        "webhooks, the audit log, and what devices deleted. A link that was revoked stays revoked. Nobody can sign in until " +
        "an account has a new password: larder user set EMAIL --password-stdin.\n\n" +
        "With --newer, after a restore to an earlier state (larder restore --snapshot): apply the changes recorded after that " +
        "state: files, folders, versions, labels, moves, renames, links and shares. Only revoked links and shares are " +
        "removed; deletions are only counted. Changes made since the restore stay. Quotas are not checked. Safe to run twice.",
    )
    .option("--over", "also if there is a database or a complete snapshot; the old database is moved to set-aside/")
    .option(
      "--recover-unnamed <email>",
      "add contents that belong to no file, deleted files too, to this account in /recovered",
    )
    .option("--newer", "apply the changes recorded after the state that the database was restored to")
    .option("--user <email>", "with --newer: only changes of this account")
    .option("--dry-run", "with --newer: only list what would be applied")
    .option("--json", "print the result as JSON");
  addSettings(command, PLACE_SETTINGS);
  describeEnd(
    command,
    "larder rebuild --data /srv/larder\nlarder rebuild --newer --data /srv/larder",
    "the database was rebuilt, but contents are missing or something could not be read",
  );
  runs(command, async () => {
    const loaded = readConfig(command, context);
    tellWarnings(loaded, context.terminal);
    if (!fs.existsSync(loaded.config.data)) throw new StartupError(`There is no directory ${loaded.config.data}.`);
    if (hasOption(command, "newer")) return applyNewer(command, loaded.config, context);
    for (const [name, option] of NEWER_OPTIONS) {
      if (command.getOptionValue(name) !== undefined) throw new UsageError(`${option} needs --newer.`);
    }
    const paths = openDataDirectory(loaded.config.data);
    const lock = acquireServerLock(paths.lock);
    try {
      const storeId = readStoreId(paths);
      if (!hasOption(command, "over")) refuseOver(paths);
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
  if (hasOption(command, "over") || optionText(command, "recoverUnnamed") !== undefined) {
    throw new UsageError("--newer can't be combined with --over or --recover-unnamed.");
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
        terminal.error(`${records} entries read …\n`);
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
      `There is no store in ${root}: ${storeMarker} is missing. Give the right directory by --data, or mount the disk with the contents.`,
    );
  }
  if (!fs.existsSync(journalRoot(blobs))) {
    throw new StartupError(
      `There is no store journal in ${journalRoot(blobs)}: the store is of an earlier version, or no server has used it. ` +
        "Restore a snapshot or a backup: larder restore --help",
    );
  }
  return id;
}

function refuseOver(paths: DataPaths): void {
  if (fs.existsSync(paths.database)) {
    throw new StartupError(
      `There is a database already: ${paths.database}. Nothing was changed. To replace it, add --over. ` +
        "The old one is then moved to set-aside/.",
    );
  }
  const snapshot = listSnapshots(paths.snapshots).find(({ path }) => isWhole(path));
  if (snapshot === undefined) return;
  throw new StartupError(
    `There is a complete snapshot of the database: ${snapshot.name}. It has more than can be rebuilt, passwords for ` +
      `instance. Nothing was changed.\n  restore it:     larder restore --snapshot ${snapshot.name} --data ${paths.root}\n` +
      `  rebuild anyway: larder rebuild --over --data ${paths.root}`,
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
  const heading = ["E-MAIL", "ROLE", "FILES", "FOLDERS", "VERSIONS", "IN TRASH", "SHARES"];
  const rows = report.accounts.map(({ email, role, files, folders, versions, trashed, shares }) => [
    email,
    role,
    ...[files, folders, versions, trashed, shares].map(String),
  ]);
  terminal.out(toTable([heading, ...rows]));
  terminal.out(`\nThe database was rebuilt: ${paths.database}\n`);
  if (recovered > 0) terminal.out(`Contents that belonged to no file: ${recovered}, now in /recovered.\n`);
  if (aside !== undefined) terminal.out(`The previous database was moved to ${aside}.\n`);
  terminal.out(
    "Not restored: passwords, sessions, API keys, second factors, devices, messages, webhooks and the audit log.\n" +
      "Links keep their addresses if secrets/ is the original one.\n" +
      "Give each account a new password, the administrators first:\n" +
      `  larder user set EMAIL --password-stdin --data ${paths.root}\n`,
  );
  for (const line of problemsOf(report, lost)) terminal.error(`${line}\n`);
  return isWrong ? EXIT.wrong : EXIT.fine;
}

function problemsOf(report: RebuildReport, lost: number): string[] {
  const { damaged, missing, missingSome, unnamed } = report;
  return [
    ...describeUnread(damaged),
    ...(lost > 0 ? [`The folders of ${lost} files or folders are not recorded; they are in /lost+found.`] : []),
    ...(missing > 0
      ? [
          `${missing} of ${report.contents} contents are missing in the store. If a copy has them: larder heal --from COPY`,
        ]
      : []),
    ...describeMissing(missingSome),
    ...(unnamed.count > 0
      ? [
          `${unnamed.count} contents (${describeSize(unnamed.bytes)}) belong to no file. Most of them were deleted lately. The ` +
            "server sets them aside for removal in the next nights.\nTo recover them as files, run this again with --over " +
            "--recover-unnamed EMAIL.",
        ]
      : []),
  ];
}
