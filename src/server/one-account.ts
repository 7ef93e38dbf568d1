import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/settings.ts";
import { StartupError } from "../config/startup-error.ts";
import { openDatabase } from "../db/open.ts";
import { type Snapshot, takeSnapshotOf } from "../db/snapshot.ts";
import { NOTHING_REAPED, REAP_JOB } from "../features/library/jobs.ts";
import type { Log } from "../lib/log.ts";
import { type DataPaths, dataPaths } from "./data/data-directory.ts";
import { openForCommand } from "./for-commands.ts";
import { markOpen } from "./data/run-mark.ts";

/** A copy of a database in which one account is left. */
export interface Reduced {
  readonly snapshot: Snapshot;
  readonly email: string;
  /** How many other accounts there were. */
  readonly erased: number;
  /** Shares between the account and others, which are not in it any more. */
  readonly shares: { readonly given: number; readonly received: number };
}

/** What {@link reduceTo} works with. */
export interface ReduceOptions {
  /** Lies in `folder`; removed. */
  readonly snapshot: Snapshot;
  readonly folder: string;
  /** Where it was taken from: its keys. */
  readonly source: DataPaths;
  readonly config: Config;
  readonly log: Log;
}

/**
 * Makes of a copy of a database one in which a single account is left, erased like any other account is; the account
 * becomes an administrator, because somebody has to be. The audit log, which names others, is left out. Contents of
 * others are named by it no more.
 * @throws StartupError where there is no such account
 */
export async function reduceTo(email: string, options: ReduceOptions): Promise<Reduced> {
  const { snapshot, folder, source, config, log } = options;
  const paths = dataPaths(join(folder, "one"));
  prepareDirectory(paths, snapshot, source);
  const services = await openForCommand({ ...config, data: paths.root }, log, true);
  let erased = 0;
  let shares = { given: 0, received: 0 };
  try {
    const { users } = services;
    const user = users.findByEmail(email);
    if (user === undefined) throw new StartupError(`No account found for ${email} in this backup.`);
    shares = countShares(paths.database, user.id);
    await users.update(user.id, { role: "admin", isDisabled: false });
    for (const other of users.list()) {
      if (other.id === user.id || other.email === "") continue;
      await services.eraseAccount(other);
      erased++;
    }
    // Each run does a bounded amount of work.
    while ((await services.runJob(REAP_JOB, undefined)) !== NOTHING_REAPED) continue;
  } finally {
    await services.close();
  }
  forgetAudit(paths.database);
  fs.rmSync(snapshot.path);
  fs.rmSync(`${snapshot.path}.sha256`);
  // Written anew, so that nothing of what was erased is left in the file.
  const reduced = takeSnapshotOf(paths.database, folder, snapshot.label, snapshot.takenAtMs);
  fs.rmSync(paths.root, { recursive: true });
  return { snapshot: reduced, email, erased, shares };
}

/** A data directory without contents, for the services that erase. */
function prepareDirectory(paths: DataPaths, snapshot: Snapshot, source: DataPaths): void {
  fs.mkdirSync(paths.blobs, { recursive: true, mode: 0o700 });
  fs.copyFileSync(snapshot.path, paths.database, fs.constants.COPYFILE_FICLONE);
  fs.copyFileSync(source.storeMarker, paths.storeMarker);
  fs.cpSync(source.secrets, paths.secrets, { recursive: true });
  for (const path of [paths.root, paths.secrets]) fs.chmodSync(path, 0o700);
  for (const name of fs.readdirSync(paths.secrets)) fs.chmodSync(join(paths.secrets, name), 0o600);
  markOpen(paths);
}

function countShares(database: string, userId: number): { given: number; received: number } {
  const db = openDatabase(database, 5_000);
  try {
    const count = (where: string) =>
      db.sqlite
        .query<{ count: number }, [number]>(
          `SELECT count(*) AS count FROM shares WHERE kind = 'account' AND recipient_id IS NOT NULL AND ${where} = ?1`,
        )
        .get(userId)?.count ?? 0;
    return { given: count("account_id"), received: count("recipient_id") };
  } finally {
    db.close();
  }
}

/** Empties the audit log. Its triggers, which keep it, are taken away for that and put back. */
function forgetAudit(database: string): void {
  const db = openDatabase(database, 5_000);
  try {
    db.sqlite
      .transaction(() => withoutTriggers(db.sqlite, "audit", () => db.sqlite.run("DELETE FROM audit")))
      .immediate();
  } finally {
    db.close();
  }
}

function withoutTriggers(sqlite: Database, table: string, work: () => void): void {
  const triggers = sqlite
    .query<{ name: string; sql: string }, [string]>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1",
    )
    .all(table);
  for (const { name } of triggers) sqlite.run(`DROP TRIGGER "${name}"`);
  work();
  for (const { sql } of triggers) sqlite.run(sql);
}
