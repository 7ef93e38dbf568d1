import { Layout } from "../../blobs/layout.ts";
import { PasswordHasher } from "../../features/accounts/users/passwords.ts";
import {
  mergeNewer,
  type MergedAccount,
  type MergeReport,
  newerWorkingFile,
} from "../../features/storage/store-journal/merge-newer.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import { newSecretToken } from "../../lib/id.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { readEpoch, readRestoredAt } from "../../server/data/open-copy.ts";
import type { CommandServices } from "../../server/for-commands.ts";
import { EXIT, type ExitCode, type RunningCommand } from "../shared/command.ts";
import { describeMissing, describeUnread, presentMissing } from "../shared/lost-blobs.ts";
import { toLines, toTable } from "../shared/output.ts";
import { everySecond } from "../shared/progress.ts";
import { withLock, withServices } from "../shared/services.ts";

const NAMED_MAX = 20;

/** `larder rebuild --newer`: applies the changes recorded after the restored state of a database, and prints them. */
export async function rebuildNewer(command: RunningCommand): Promise<ExitCode> {
  const paths = openDataDirectory(command.config.data);
  const isDryRun = command.has("dryRun");
  const merge = async (services: CommandServices) => {
    const { sqlite } = services.db;
    const report = await mergeNewer({
      ...services,
      sqlite,
      layout: new Layout(paths.root),
      root: journalRoot(paths.blobs),
      epoch: readEpoch(sqlite),
      restoredAtMs: readRestoredAt(sqlite),
      workingFile: newerWorkingFile(paths.root),
      email: command.text("user"),
      isDryRun,
      passwordHash: await new PasswordHasher().hash(newSecretToken()),
      nowMs: Date.now(),
      onProgress: everySecond(command.terminal, (records: number) => `${records} journal entries read …`),
    });
    // The applied changes go into the store journal, like all others.
    if (!isDryRun) await services.storeJournal.flush();
    const overQuota = report.accounts.filter(({ email }) => isOverQuota(services, email));
    return printReport(report, new Set(overQuota), command);
  };
  return withLock(paths, () => withServices(command, merge, { holdsLock: true, logLevel: "error" }));
}

function isOverQuota({ users, limitsOf, tree }: CommandServices, email: string): boolean {
  const user = users.findByEmail(email);
  if (user === undefined) return false;
  const { quotaBytes } = limitsOf(user);
  return quotaBytes !== null && tree.usage(user.id).usedBytes > quotaBytes;
}

function printReport(report: MergeReport, overQuota: ReadonlySet<MergedAccount>, command: RunningCommand): ExitCode {
  const { accounts, missing, damaged } = report;
  const isDryRun = command.has("dryRun");
  const json = {
    ...report,
    dryRun: isDryRun,
    accounts: accounts.map((account) => ({ ...account, overQuota: overQuota.has(account) })),
    missing: presentMissing(missing),
  };
  const notes = accounts.flatMap((account) => notesOn(account, overQuota.has(account)));
  command.print(json, describeAccounts(report, isDryRun) + toLines([...notes, ...notesOnPeople(report)]));
  if (!command.isJson) command.terminal.error(toLines(problemsOf(report)));
  return missing.length + damaged.length > 0 ? EXIT.problems : EXIT.success;
}

function describeAccounts(report: MergeReport, isDryRun: boolean): string {
  const { accounts } = report;
  const ending = isDryRun ? "Dry run: these changes would be applied. Nothing was changed." : "Applied these changes.";
  if (accounts.length === 0) {
    const hasOthers = notesOnPeople(report).length > 0;
    return hasOthers ? `${ending}\n` : "The journal has no changes newer than the database.\n";
  }
  const heading = ["EMAIL", "FILES", "FOLDERS", "VERSIONS", "TAGS"];
  const rows = accounts.map(({ email, files, folders, versions, labels }) => [
    email,
    ...[files, folders, versions, labels].map(String),
  ]);
  return `${toTable([heading, ...rows])}\n${ending}\n`;
}

function notesOn(account: MergedAccount, isOverQuota: boolean): string[] {
  const { email, names, isNew, beside, deletions, moves, moved, albums, shares, revoked } = account;
  return [
    ...names.slice(0, NAMED_MAX).map((name) => `  ${email}: ${name}`),
    ...(names.length > NAMED_MAX ? [`  ${email}: more; use --json to list all`] : []),
    ...(isNew
      ? [
          `${email} was missing and has been created without a password. Set one: larder user set ${email} --password-stdin`,
        ]
      : []),
    ...(beside > 0
      ? [
          `${email}: ${beside} files were changed since the restore; their recorded versions were added as new files next to them.`,
        ]
      : []),
    ...(moved > 0 ? [`${email}: ${moved} moves and renames applied.`] : []),
    ...(deletions + moves > 0
      ? [
          `${email}: not applied: ${deletions} deletions, and ${moves} moves that conflict with changes since the restore.`,
        ]
      : []),
    ...(albums > 0 ? [`${email}: ${albums} albums restored.`] : []),
    ...(shares + revoked > 0 ? [`${email}: ${shares} links and shares restored, ${revoked} revoked.`] : []),
    ...(isOverQuota ? [`${email} now exceeds its quota. Nothing was removed.`] : []),
  ];
}

function notesOnPeople({ groups: { groups, joined, left }, profiles }: MergeReport): string[] {
  const { pictures, removed, pins } = profiles;
  return [
    ...(groups + joined + left > 0
      ? [`Groups: ${groups} deleted, ${left} memberships ended, ${joined} memberships restored.`]
      : []),
    ...(pictures + removed > 0 ? [`Pictures of people: ${pictures} restored, ${removed} removed.`] : []),
    ...(pins > 0 ? [`Pins: ${pins} restored.`] : []),
  ];
}

function problemsOf({ damaged, missing }: MergeReport): string[] {
  return [
    ...describeUnread(damaged),
    ...(missing.length > 0
      ? [
          `${missing.length} blobs are missing from the store. If a copy has them, copy them to the same path in blobs/sha256, ` +
            "then run the command again.",
        ]
      : []),
    ...describeMissing(missing),
  ];
}
