/**
 * Puts a copy of the database in the place of a data directory's own. The copy is made ready first, aside: brought up to
 * date, settled, with what is not to be sent again given up. Then it takes the place of the former one, which is kept. Ended
 * at any point, the next start opens one whole state or the other.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { Layout } from "../../blobs/layout.ts";
import { StartupError } from "../../config/startup-error.ts";
import { ForeignDatabaseError, migrate } from "../../db/migrate.ts";
import { type Db, openDatabase, openReadOnly } from "../../db/open.ts";
import { listSnapshots, takeSnapshotOf } from "../../db/snapshot.ts";
import { findAbsent } from "../../features/storage/backup/contents.ts";
import { countDatabase } from "../../features/storage/backup/counts.ts";
import {
  forgetBucket,
  type GivenUp,
  giveUpOutboxes,
  isStale,
  signOutAll,
} from "../../features/storage/backup/settle.ts";
import type { DatabaseCounts, LostContent } from "../../features/storage/backup/types.ts";
import { hasNewerObjects } from "../../features/storage/store-journal/newer-objects.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import type { Log } from "../../lib/log.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { DataPaths } from "./data-directory.ts";
import { bringBack, installSnapshot, readEpoch, settleRestored } from "./open-copy.ts";
import { readCloseState, markOpen } from "./run-mark.ts";
import { checkStore } from "./store-identity.ts";

/** A database that is to be put in place. */
export interface RestoreFrom {
  readonly path: string;
  /** What it is called afterwards. */
  readonly name: string;
  readonly takenAtMs: number;
  /** Nobody vouches for it: it is looked through whole before. */
  readonly isUnknown: boolean;
}

/** How it is to be changed. */
export interface RestoreOptions {
  /** Ends all sessions: what was revoked since comes back otherwise. */
  readonly signOut: boolean;
  /** Whether it goes on apart from the original, with all contents on its own disk and none in the original's bucket. */
  readonly isApart: boolean;
  readonly nowMs: number;
}

/** What became of it. */
export interface Restored {
  readonly snapshot: string;
  readonly counts: DatabaseCounts | undefined;
  /** Contents that it names and the store has not, and some of them by name. */
  readonly missing: { readonly count: number; readonly some: readonly LostContent[] };
  readonly givenUp: GivenUp | undefined;
  /** Sessions and refresh tokens that were ended. */
  readonly signedOut: number;
  /** The former database, as a snapshot; undefined where there was none, or it could not be read. */
  readonly keptAs: string | undefined;
  /** Where the former database's own files lie; undefined where there was none. */
  readonly aside: string | undefined;
  /** Whether something that came after the state is noted beside the contents: `larder rebuild --newer` brings it. */
  readonly hasNewer: boolean;
}

/** How many missing contents are listed by name. */
export const MISSING_MAX = 1_000;
const WORKING = ".restoring";

/**
 * See the head of this file. For the process that holds the directory's lock.
 * @throws StartupError where the copy is damaged, of another store, or of a newer program; nothing has changed then
 */
export function putInPlace(paths: DataPaths, from: RestoreFrom, options: RestoreOptions, log: Log): Restored {
  const working = join(paths.snapshots, WORKING);
  fs.rmSync(working, { recursive: true, force: true });
  fs.mkdirSync(working, { recursive: true, mode: 0o700 });
  try {
    const ready = join(working, "larder.db");
    copyDatabase(from.path, ready);
    const { givenUp, signedOut } = makeReady(paths, ready, from, options, log);
    const keptAs = keepPresent(paths, options.nowMs, log);
    // So that the newest snapshot is what is there from now on: a copy of the directory begins from it.
    takeSnapshotOf(ready, paths.snapshots, "restored", laterThanAll(paths, options.nowMs));
    const aside = installSnapshot(paths, ready);
    markOpen(paths);
    bringBack(paths);
    const db = openReadOnly(paths.database);
    try {
      const missing = findAbsent(db.sqlite, new Layout(paths.root), MISSING_MAX);
      const counts = countDatabase(db.sqlite);
      const hasNewer = hasNewerObjects(db.sqlite, journalRoot(paths.blobs), readEpoch(db.sqlite));
      return { snapshot: from.name, counts, missing, givenUp, signedOut, keptAs, aside, hasNewer };
    } finally {
      db.close();
    }
  } finally {
    fs.rmSync(working, { recursive: true, force: true });
  }
}

/** Copies a database that nobody has open, with the log of a crash where there is one. */
function copyDatabase(from: string, to: string): void {
  const { COPYFILE_FICLONE } = fs.constants;
  fs.copyFileSync(from, to, COPYFILE_FICLONE);
  if (fs.existsSync(`${from}-wal`)) fs.copyFileSync(`${from}-wal`, `${to}-wal`, COPYFILE_FICLONE);
  for (const path of [to, `${to}-wal`]) if (fs.existsSync(path)) fs.chmodSync(path, 0o600);
}

function makeReady(
  paths: DataPaths,
  ready: string,
  from: RestoreFrom,
  { signOut, isApart, nowMs }: RestoreOptions,
  log: Log,
): { givenUp: GivenUp | undefined; signedOut: number } {
  const db = openSound(ready, from);
  try {
    checkStore(db.sqlite, paths);
    migrate(db.sqlite, log);
    settleRestored(db.sqlite, from.name, nowMs);
    if (isApart) forgetBucket(db.sqlite);
    return {
      givenUp: isStale(from.takenAtMs, nowMs) ? giveUpOutboxes(db.sqlite, nowMs) : undefined,
      signedOut: signOut ? signOutAll(db.sqlite) : 0,
    };
  } catch (error) {
    if (error instanceof ForeignDatabaseError) throw new StartupError(`${from.path}: ${error.message}`);
    throw error;
  } finally {
    db.close();
  }
}

/** Opens a database after a look through it. @throws StartupError where it is none, or damaged */
function openSound(path: string, { path: original, isUnknown }: RestoreFrom): Db {
  try {
    const db = openDatabase(path);
    const check = isUnknown ? "integrity_check(20)" : "quick_check(20)";
    const column = isUnknown ? "integrity_check" : "quick_check";
    const problems = db.sqlite
      .query<Record<string, string>, []>(`PRAGMA ${check}`)
      .all()
      .map((row) => row[column]);
    if (problems.length === 1 && problems[0] === "ok") return db;
    db.close();
    throw new StartupError(`${original} is damaged: ${problems.join("; ")}. Nothing was changed. Use another one.`);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const said = error instanceof Error ? error.message : String(error);
    throw new StartupError(`${original} is not a database or is damaged (${said}). Nothing was changed.`, error);
  }
}

/** Keeps the present database as a snapshot, where it can be trusted. Its files are set aside in any case. */
function keepPresent(paths: DataPaths, nowMs: number, log: Log): string | undefined {
  if (!fs.existsSync(paths.database) || readCloseState(paths) !== "whole") return undefined;
  try {
    return takeSnapshotOf(paths.database, paths.snapshots, "before-restore", laterThanAll(paths, nowMs)).name;
  } catch (error) {
    log.warn("Cannot read the current database; moving it to set-aside/ without a snapshot.", { error });
    return undefined;
  }
}

/** The order of snapshots is that of their names, whatever the clock does. */
function laterThanAll({ snapshots }: DataPaths, nowMs: number): number {
  return Math.max(nowMs, (listSnapshots(snapshots)[0]?.takenAtMs ?? 0) + 1);
}

/**
 * For a directory that has just begun from a snapshot by itself: says in the log what it holds, and gives up what an
 * old one still had to send.
 */
export function reportRestored(db: Db, takenAtMs: number, nowMs: number, log: Log): void {
  const counts = countDatabase(db.sqlite);
  if (counts === undefined) return;
  const { lastChangeMs, ...numbers } = counts;
  log.info("Restored database:", {
    ...numbers,
    ...(lastChangeMs !== undefined && { lastChange: toTimestamp(lastChangeMs) }),
  });
  if (!isStale(takenAtMs, nowMs)) return;
  log.info("Dropped queued messages; they were already sent after this snapshot was taken.", {
    ...giveUpOutboxes(db.sqlite, nowMs),
  });
}
