import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { join } from "node:path";
import type { LoadedConfig } from "../config/load.ts";
import { StartupError } from "../config/startup-error.ts";
import { openDatabase } from "../db/open.ts";
import { type Snapshot, takeSnapshotOf } from "../db/snapshot.ts";
import { NOTHING_REAPED, REAP_JOB } from "../features/library/jobs.ts";
import type { Log } from "../lib/log.ts";
import { type DataPaths, dataPaths } from "./data/data-directory.ts";
import { openForCommand } from "./for-commands.ts";
import { markOpen } from "./data/run-mark.ts";

/** A copy of a database with only one account. */
export interface ReducedDatabase {
  readonly snapshot: Snapshot;
  readonly email: string;
  /** Number of erased accounts. */
  readonly erased: number;
  /** Numbers of removed shares between the account and others. */
  readonly shares: { readonly given: number; readonly received: number };
}

/** Dependencies of {@link reduceTo}. */
interface ReduceOptions {
  /** The copy in `folder`; removed. */
  readonly snapshot: Snapshot;
  readonly folder: string;
  /** The data directory or backup of the copy, for its keys. */
  readonly source: DataPaths;
  readonly loaded: LoadedConfig;
  readonly log: Log;
}

/**
 * Removes all accounts but one from a copy of a database, in the same way as an administrator erases an account. The
 * remaining account becomes an administrator, because a server needs one. Also removes groups, invitations, and the audit log,
 * which name other people, and all references to blobs of other accounts.
 * @throws StartupError if there is no such account
 */
export async function reduceTo(email: string, options: ReduceOptions): Promise<ReducedDatabase> {
  const { snapshot, folder, source, loaded, log } = options;
  const paths = dataPaths(join(folder, "one"));
  prepareDirectory(paths, snapshot, source);
  const services = await openForCommand({ ...loaded, config: { ...loaded.config, data: paths.root } }, log, true);
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
  forgetOthers(paths.database);
  fs.rmSync(snapshot.path);
  fs.rmSync(`${snapshot.path}.sha256`);
  // The new file contains none of the erased data.
  const reduced = takeSnapshotOf(paths.database, folder, snapshot.label, snapshot.takenAtMs);
  fs.rmSync(paths.root, { recursive: true });
  return { snapshot: reduced, email, erased, shares };
}

/** Creates a data directory without blobs, for the services that erase accounts. */
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
          `SELECT count(*) AS count FROM shares WHERE kind = 'account' AND (recipient_id IS NOT NULL OR group_id IS NOT NULL) AND ${where} = ?1`,
        )
        .get(userId)?.count ?? 0;
    return { given: count("account_id"), received: count("recipient_id") };
  } finally {
    db.close();
  }
}

/**
 * Deletes the groups with the shares for them, and whom the server has invited or sent a new password. Empties the audit
 * log: its triggers forbid that, so they are dropped and created again.
 */
function forgetOthers(database: string): void {
  const db = openDatabase(database, 5_000);
  try {
    db.sqlite
      .transaction(() => {
        for (const table of ["groups", "invites", "reset_requests"]) db.sqlite.run(`DELETE FROM ${table}`);
        withoutTriggers(db.sqlite, "audit", () => db.sqlite.run("DELETE FROM audit"));
      })
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
