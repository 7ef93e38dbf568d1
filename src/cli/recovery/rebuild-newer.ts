import type { Config } from "../../config/settings.ts";
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
import { createLog } from "../../lib/log.ts";
import { openDataDirectory } from "../../server/data/data-directory.ts";
import { openForCommand } from "../../server/for-commands.ts";
import { acquireServerLock } from "../../server/data/lock.ts";
import { readEpoch, readRestoredAt } from "../../server/data/open-copy.ts";
import { EXIT, type ExitCode } from "../shared/command.ts";
import { describeMissing, describeUnread, presentMissing } from "../shared/lost-contents.ts";
import { type Terminal, toJson, toTable } from "../shared/output.ts";

/** How `larder rebuild --newer` is to run. */
export interface NewerRun {
  readonly email: string | undefined;
  readonly isDryRun: boolean;
  readonly isJson: boolean;
}

const PROGRESS_MS = 1_000;
const NAMED_MAX = 20;

/** Applies the changes recorded after the state that a database was restored to, and prints them. */
export async function rebuildNewer(config: Config, run: NewerRun, terminal: Terminal): Promise<ExitCode> {
  const paths = openDataDirectory(config.data);
  const lock = acquireServerLock(paths.lock);
  try {
    const log = createLog("pretty", "error", (line) => terminal.error(line));
    const services = await openForCommand(config, log, true);
    let nextProgressMs = performance.now() + PROGRESS_MS;
    try {
      const report = await mergeNewer({
        ...services,
        sqlite: services.db.sqlite,
        layout: new Layout(paths.root),
        root: journalRoot(paths.blobs),
        epoch: readEpoch(services.db.sqlite),
        restoredAtMs: readRestoredAt(services.db.sqlite),
        workingFile: newerWorkingFile(paths.root),
        email: run.email,
        isDryRun: run.isDryRun,
        passwordHash: await new PasswordHasher().hash(newSecretToken()),
        nowMs: Date.now(),
        onProgress: (records) => {
          if (!process.stderr.isTTY || performance.now() < nextProgressMs) return;
          terminal.error(`${records} journal entries read …\n`);
          nextProgressMs = performance.now() + PROGRESS_MS;
        },
      });
      // The applied changes go into the store journal, like all others.
      if (!run.isDryRun && report.accounts.length > 0) await services.storeJournal.flush();
      const overQuota = report.accounts.filter(({ email }) => {
        const user = services.users.findByEmail(email);
        if (user === undefined) return false;
        const { quotaBytes } = services.limitsOf(user);
        return quotaBytes !== null && services.tree.usage(user.id).usedBytes > quotaBytes;
      });
      return printReport(report, run, new Set(overQuota), terminal);
    } finally {
      await services.close();
    }
  } finally {
    lock.release();
  }
}

function printReport(
  report: MergeReport,
  { isDryRun, isJson }: NewerRun,
  overQuota: ReadonlySet<MergedAccount>,
  terminal: Terminal,
): ExitCode {
  const { accounts, missing, damaged } = report;
  const isWrong = missing.length > 0 || damaged.length > 0;
  if (isJson) {
    terminal.out(
      toJson({
        ...report,
        dryRun: isDryRun,
        accounts: accounts.map((account) => ({ ...account, overQuota: overQuota.has(account) })),
        missing: presentMissing(missing),
      }),
    );
    return isWrong ? EXIT.wrong : EXIT.fine;
  }
  if (accounts.length === 0) {
    terminal.out("The journal has no changes newer than the database.\n");
  } else {
    const heading = ["EMAIL", "FILES", "FOLDERS", "VERSIONS", "TAGS"];
    const rows = accounts.map(({ email, files, folders, versions, labels }) => [
      email,
      ...[files, folders, versions, labels].map(String),
    ]);
    terminal.out(toTable([heading, ...rows]));
    terminal.out(
      isDryRun ? "\nDry run: these changes would be applied. Nothing was changed.\n" : "\nApplied these changes.\n",
    );
  }
  for (const account of accounts) terminal.out(notesOn(account, overQuota.has(account)).map(toLine).join(""));
  terminal.error(problemsOf(report).map(toLine).join(""));
  return isWrong ? EXIT.wrong : EXIT.fine;
}

function notesOn(account: MergedAccount, isOverQuota: boolean): string[] {
  const { email, names, isNew, beside, deletions, moves, moved, shares, revoked } = account;
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
    ...(shares + revoked > 0 ? [`${email}: ${shares} links and shares restored, ${revoked} revoked.`] : []),
    ...(isOverQuota ? [`${email} now exceeds its quota. Nothing was removed.`] : []),
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

function toLine(text: string): string {
  return `${text}\n`;
}
