import { describeSize } from "../config/quantities.ts";
import type { Config } from "../config/settings.ts";
import { toChecksum } from "../blobs/digest.ts";
import { Layout } from "../blobs/layout.ts";
import { PasswordHasher } from "../features/auth/passwords.ts";
import { bringNewer, type NewerAccount, type NewerReport, newerWorkingFile } from "../features/store-journal/newer.ts";
import { journalRoot } from "../features/store-journal/open.ts";
import { newSecretToken } from "../lib/id.ts";
import { createLog } from "../lib/log.ts";
import { openDataDirectory } from "../server/data-directory.ts";
import { openForCommand } from "../server/for-commands.ts";
import { acquireServerLock } from "../server/lock.ts";
import { readEpoch, readPutBackAt } from "../server/open-copy.ts";
import { EXIT, type ExitCode } from "./command.ts";
import { type Terminal, toJson, toTable } from "./output.ts";

/** How `larder rebuild --newer` is to run. */
export interface NewerRun {
  readonly email: string | undefined;
  readonly isDryRun: boolean;
  readonly isJson: boolean;
}

const PROGRESS_MS = 1_000;
const TOLD_MAX = 20;

/** Brings what came after the state that a database was put back to, and tells what it was. */
export async function rebuildNewer(config: Config, run: NewerRun, terminal: Terminal): Promise<ExitCode> {
  const paths = openDataDirectory(config.data);
  const lock = acquireServerLock(paths.lock);
  try {
    const log = createLog("pretty", "error", (line) => terminal.error(line));
    const services = await openForCommand(config, log, true);
    let nextWordMs = performance.now() + PROGRESS_MS;
    try {
      const report = await bringNewer({
        ...services,
        sqlite: services.db.sqlite,
        layout: new Layout(paths.root),
        root: journalRoot(paths.blobs),
        epoch: readEpoch(services.db.sqlite),
        putBackAtMs: readPutBackAt(services.db.sqlite),
        workingFile: newerWorkingFile(paths.root),
        email: run.email,
        isDryRun: run.isDryRun,
        passwordHash: await new PasswordHasher().hash(newSecretToken()),
        nowMs: Date.now(),
        onProgress: (records) => {
          if (!process.stderr.isTTY || performance.now() < nextWordMs) return;
          terminal.error(`${records} entries read …\n`);
          nextWordMs = performance.now() + PROGRESS_MS;
        },
      });
      // What was brought is noted beside the contents as well, like everything else.
      if (!run.isDryRun && report.accounts.length > 0) await services.storeJournal.flush();
      const overQuota = report.accounts.filter(({ email }) => {
        const user = services.users.findByEmail(email);
        if (user === undefined) return false;
        const { quotaBytes } = services.limitsOf(user);
        return quotaBytes !== null && services.tree.usage(user.id).usedBytes > quotaBytes;
      });
      return tell(report, run, new Set(overQuota), terminal);
    } finally {
      await services.close();
    }
  } finally {
    lock.release();
  }
}

function tell(
  report: NewerReport,
  { isDryRun, isJson }: NewerRun,
  overQuota: ReadonlySet<NewerAccount>,
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
        missing: missing.map(({ digest, sizeBytes, names }) => ({
          checksum: toChecksum(digest),
          size: sizeBytes,
          names,
        })),
      }),
    );
    return isWrong ? EXIT.wrong : EXIT.fine;
  }
  if (accounts.length === 0) {
    terminal.out("There is nothing newer than the database.\n");
  } else {
    const heading = ["E-MAIL", "FILES", "FOLDERS", "VERSIONS", "LABELS"];
    const rows = accounts.map(({ email, files, folders, versions, labels }) => [
      email,
      ...[files, folders, versions, labels].map(String),
    ]);
    terminal.out(toTable([heading, ...rows]));
    terminal.out(isDryRun ? "\nThat would be brought. Nothing was changed.\n" : "\nThat was brought.\n");
  }
  for (const account of accounts) terminal.out(remarks(account, overQuota.has(account)).map(toLine).join(""));
  terminal.error(complaints(report).map(toLine).join(""));
  return isWrong ? EXIT.wrong : EXIT.fine;
}

function remarks(account: NewerAccount, isOverQuota: boolean): string[] {
  const { email, names, isNew, beside, deletions, moves, moved, shares, revoked } = account;
  return [
    ...names.slice(0, TOLD_MAX).map((name) => `  ${email}: ${name}`),
    ...(names.length > TOLD_MAX ? [`  ${email}: more: see --json`] : []),
    ...(isNew
      ? [`${email} was not there any more, and has no password: larder user set ${email} --password-stdin`]
      : []),
    ...(beside > 0 ? [`${email}: ${beside} files had been changed since; their other contents lie beside them.`] : []),
    ...(moved > 0 ? [`${email}: ${moved} files and folders are where they were moved to.`] : []),
    ...(deletions + moves > 0
      ? [
          `${email}: not carried out again: ${deletions} deletions, ${moves} moves whose place is taken or that changed since.`,
        ]
      : []),
    ...(shares + revoked > 0
      ? [`${email}: ${shares} links and shares are there again, ${revoked} revoked ones ended.`]
      : []),
    ...(isOverQuota ? [`${email} holds more than its quota now. Nothing of it is removed for that.`] : []),
  ];
}

function complaints({ damaged, missing }: NewerReport): string[] {
  return [
    ...damaged.slice(0, TOLD_MAX).map(({ path, fault }) => `Not everything could be read of ${path}: ${fault}.`),
    ...(missing.length > 0
      ? [
          `Contents are missing in the store: ${missing.length}. Where a copy has them, put them into blobs/sha256 as there, ` +
            "then do this again.",
        ]
      : []),
    ...missing
      .slice(0, TOLD_MAX)
      .map(
        ({ digest, sizeBytes, names }) => `  ${toChecksum(digest)}, ${describeSize(sizeBytes)}: ${names.join(", ")}`,
      ),
  ];
}

function toLine(text: string): string {
  return `${text}\n`;
}
