import * as fs from "node:fs";
import { Option } from "commander";
import { describeSize } from "../../config/quantities.ts";
import { StartupError } from "../../config/startup-error.ts";
import { isWhole, listSnapshots } from "../../db/snapshot.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { rebuildDatabase, type RebuildReport } from "../../features/storage/store-journal/rebuild.ts";
import { newSecretToken } from "../../lib/id.ts";
import { type DataPaths, openDataDirectory } from "../../server/data/data-directory.ts";
import { installSnapshot } from "../../server/data/open-copy.ts";
import { markClosed } from "../../server/data/run-mark.ts";
import {
  DATA_SETTINGS,
  defineCommand,
  EXIT,
  type ExitCode,
  requireDatabase,
  type RunningCommand,
  UsageError,
} from "../shared/command.ts";
import { describeMissing, describeUnread, presentMissing } from "../shared/lost-blobs.ts";
import { toLines, toTable } from "../shared/output.ts";
import { everySecond } from "../shared/progress.ts";
import { withLock } from "../shared/services.ts";
import { findInBucket } from "./rebuild-bucket.ts";
import { rebuildNewer } from "./rebuild-newer.ts";

/** `larder rebuild`: recreates the database of a data directory from its blobs and their journal. */
export const define = defineCommand({
  description:
    "Rebuild the database from the metadata journal (blobs/journal). Use this only if larder.db and all its snapshots are " +
    "lost; if an intact snapshot is left, larder restore recovers more. Stop the server first.\n\n" +
    "Restored: accounts, folders, names, tags, albums, version history, trash, links and shares with their passwords and " +
    "limits, and previous locations. Revoked links stay revoked.\n\n" +
    "Not restored: account passwords, sessions, API keys, app passwords, two-factor authentication, devices, notifications, webhooks, " +
    "the audit log, and the deletion records of devices. Before a user can sign in, set a new password: " +
    "larder user set EMAIL --password-stdin\n\n" +
    "With --newer, after you restored an earlier snapshot: apply the changes recorded after that snapshot. These are new " +
    "and changed files, folders, versions, tags, albums, moves, renames, links, and shares. Deletions are counted but not " +
    "applied, except revoked links and shares. Changes made since the restore are kept. Quotas are not checked. Safe to " +
    "run twice.",
  options: [
    ["--force", "Rebuild even if there is a database or an intact snapshot. The old database is moved to set-aside/."],
    new Option("--over", "Former name of --force.").implies({ force: true }).hideHelp(),
    [
      "--recover-unnamed <email>",
      "Add blobs that belong to no file, including deleted files, to this account in /recovered.",
    ],
    ["--newer", "Apply the changes recorded after the restored snapshot."],
    ["--user <email>", "With --newer: apply only the changes of this account."],
    ["--dry-run", "With --newer: list the changes without applying them."],
    ["--json", "Print the result as JSON."],
  ],
  settings: DATA_SETTINGS,
  examples: "larder rebuild --data /srv/larder\nlarder rebuild --newer --data /srv/larder",
  problems: "the database was rebuilt, but blobs are missing or the journal is damaged",
  run(command) {
    const { config } = command;
    if (!fs.existsSync(config.data)) throw new StartupError(`Directory ${config.data} does not exist.`);
    const recoverFor = command.text("recoverUnnamed");
    if (command.has("newer")) {
      if (command.has("force") || recoverFor !== undefined)
        throw new UsageError("--newer cannot be combined with --force or --recover-unnamed.");
      requireDatabase(config);
      return rebuildNewer(command);
    }
    if (command.text("user") !== undefined) throw new UsageError("--user requires --newer.");
    if (command.has("dryRun")) throw new UsageError("--dry-run requires --newer.");
    const paths = openDataDirectory(config.data);
    return withLock(paths, async () => {
      const storeId = readStoreId(paths);
      if (!command.has("force")) requireNoDatabase(paths);
      const { report, aside } = await rebuild(command, { paths, storeId, recoverFor });
      return printReport(await findInBucket(command, report), { paths, aside }, command);
    });
  },
});

async function rebuild(
  { terminal }: RunningCommand,
  options: { readonly paths: DataPaths; readonly storeId: string; readonly recoverFor: string | undefined },
): Promise<{ report: RebuildReport; aside: string | undefined }> {
  const { paths, storeId, recoverFor } = options;
  const target = `${paths.database}.rebuilding`;
  try {
    const report = await rebuildDatabase({
      dataDirectory: paths.root,
      target,
      storeId,
      recoverFor,
      passwordHash: await new PasswordHasher().hash(newSecretToken()),
      nowMs: Date.now(),
      onProgress: everySecond(terminal, (records: number) => `${records} journal entries read …`),
    });
    const aside = installSnapshot(paths, target);
    // The run mark describes the previous database.
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

/** @throws StartupError if there is a database, or a snapshot that recovers more than a rebuild */
function requireNoDatabase(paths: DataPaths): void {
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

function printReport(
  report: RebuildReport,
  { paths, aside }: { readonly paths: DataPaths; readonly aside: string | undefined },
  command: RunningCommand,
): ExitCode {
  const lost = report.accounts.reduce((sum, account) => sum + account.lost, 0);
  const missingSome = presentMissing(report.missingSome);
  command.print({ data: paths.root, setAside: aside ?? null, ...report, missingSome }, describe(report, paths, aside));
  if (!command.isJson) command.terminal.error(toLines(problemsOf(report, lost)));
  return report.missing > 0 || report.damaged.length > 0 || lost > 0 ? EXIT.problems : EXIT.success;
}

function describe({ accounts }: RebuildReport, { root, database }: DataPaths, aside: string | undefined): string {
  const recovered = accounts.reduce((sum, account) => sum + account.recovered, 0);
  const heading = ["EMAIL", "ROLE", "FILES", "FOLDERS", "VERSIONS", "IN TRASH", "SHARES"];
  const rows = accounts.map(({ email, role, files, folders, versions, trashed, shares }) => [
    email,
    role,
    ...[files, folders, versions, trashed, shares].map(String),
  ]);
  return (
    `${toTable([heading, ...rows])}\nRebuilt the database: ${database}\n` +
    (recovered > 0 ? `Added ${recovered} blobs that belonged to no file to /recovered.\n` : "") +
    (aside === undefined ? "" : `Moved the previous database to ${aside}.\n`) +
    "Not restored: passwords, sessions, API keys, app passwords, two-factor authentication, devices, notifications, " +
    "webhooks, and the audit log. WebDAV and sync programs need new app passwords.\n" +
    "Links keep their addresses if secrets/ is the original one.\n" +
    "Set a new password for each account, administrators first:\n" +
    `  larder user set EMAIL --password-stdin --data ${root}\n`
  );
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
