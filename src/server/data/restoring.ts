/**
 * Replaces the database of a data directory with a copy. The copy is first prepared in another folder: upgraded,
 * prepared for use, and cleared of stale queued messages. Then it replaces the former database, which is saved. After a crash at
 * any point, the next start opens either the former or the new state.
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
  type DroppedMessages,
  dropQueuedMessages,
  type EndedAccess,
  isStale,
  signOutAll,
} from "../../features/storage/backup/restored-database.ts";
import type { DatabaseCounts, LostContent } from "../../features/storage/backup/types.ts";
import { hasNewerObjects } from "../../features/storage/store-journal/newer-objects.ts";
import { journalRoot } from "../../features/storage/store-journal/open.ts";
import type { Log } from "../../lib/log.ts";
import { toTimestamp } from "../../lib/clock.ts";
import type { DataPaths } from "./data-directory.ts";
import { restoreQuarantined, installSnapshot, readEpoch, prepareRestored } from "./open-copy.ts";
import { readCloseState, markOpen } from "./run-mark.ts";
import { checkStore } from "./store-identity.ts";
import { messageOf } from "../../lib/error.ts";

/** The database to restore. */
export interface RestoreFrom {
  readonly path: string;
  /** Its name in messages and in the restored database. */
  readonly name: string;
  readonly takenAtMs: number;
  /** Whether its digest is unknown. Then it is checked completely first. */
  readonly isUnknown: boolean;
}

/** How the database is changed when it is restored. */
interface RestoreOptions {
  /** Whether {@link signOutAll} runs. Otherwise, sessions and links that ended since then become valid again. */
  readonly signOut: boolean;
  /**
   * Whether the restored server is independent of the original: its blobs are all on its disk, not in the original's
   * bucket.
   */
  readonly isIndependent: boolean;
  readonly nowMs: number;
}

/** The result of a restore. */
export interface RestoredDatabase {
  readonly snapshot: string;
  readonly counts: DatabaseCounts | undefined;
  /** Number of missing blobs that the database refers to, with details of some. */
  readonly missing: { readonly count: number; readonly some: readonly LostContent[] };
  readonly droppedMessages: DroppedMessages | undefined;
  readonly ended: EndedAccess;
  /** The snapshot of the former database; undefined if there was none, or it was unreadable. */
  readonly formerSnapshot: string | undefined;
  /** The new path of the former database's files; undefined if there was none. */
  readonly aside: string | undefined;
  /** Whether the metadata journal has newer changes: `larder rebuild --newer` applies them. */
  readonly hasNewer: boolean;
}

/** How many missing blobs are listed by name. */
export const MISSING_MAX = 1_000;
const WORKING = ".restoring";

/**
 * Replaces the database of a data directory. Only for the process that holds the directory's lock.
 * @throws StartupError if the copy is damaged, or belongs to another store or a newer version; nothing has changed then
 */
export function restoreDatabase(
  paths: DataPaths,
  from: RestoreFrom,
  options: RestoreOptions,
  log: Log,
): RestoredDatabase {
  const working = join(paths.snapshots, WORKING);
  fs.rmSync(working, { recursive: true, force: true });
  fs.mkdirSync(working, { recursive: true, mode: 0o700 });
  try {
    const prepared = join(working, "larder.db");
    copyDatabase(from.path, prepared);
    const { droppedMessages, ended } = prepareCopy(paths, prepared, from, options, log);
    const formerSnapshot = saveCurrent(paths, options.nowMs, log);
    // A copy of the directory starts from its newest snapshot, which must be this state.
    takeSnapshotOf(prepared, paths.snapshots, "restored", laterThanAll(paths, options.nowMs));
    const aside = installSnapshot(paths, prepared);
    markOpen(paths);
    restoreQuarantined(paths);
    const db = openReadOnly(paths.database);
    try {
      const missing = findAbsent(db.sqlite, new Layout(paths.root), MISSING_MAX);
      const counts = countDatabase(db.sqlite);
      const hasNewer = hasNewerObjects(db.sqlite, journalRoot(paths.blobs), readEpoch(db.sqlite));
      return { snapshot: from.name, counts, missing, droppedMessages, ended, formerSnapshot, aside, hasNewer };
    } finally {
      db.close();
    }
  } finally {
    fs.rmSync(working, { recursive: true, force: true });
  }
}

/** Copies a database that no process has open, with its log if a crash left one. */
function copyDatabase(from: string, to: string): void {
  const { COPYFILE_FICLONE } = fs.constants;
  fs.copyFileSync(from, to, COPYFILE_FICLONE);
  if (fs.existsSync(`${from}-wal`)) fs.copyFileSync(`${from}-wal`, `${to}-wal`, COPYFILE_FICLONE);
  for (const path of [to, `${to}-wal`]) if (fs.existsSync(path)) fs.chmodSync(path, 0o600);
}

function prepareCopy(
  paths: DataPaths,
  copy: string,
  from: RestoreFrom,
  { signOut, isIndependent, nowMs }: RestoreOptions,
  log: Log,
): Pick<RestoredDatabase, "droppedMessages" | "ended"> {
  const db = openIntact(copy, from);
  try {
    checkStore(db.sqlite, paths);
    migrate(db.sqlite, log);
    prepareRestored(db.sqlite, from.name, nowMs);
    if (isIndependent) forgetBucket(db.sqlite);
    return {
      droppedMessages: isStale(from.takenAtMs, nowMs) ? dropQueuedMessages(db.sqlite, nowMs) : undefined,
      ended: signOut ? signOutAll(db.sqlite, nowMs) : { logins: 0, links: 0 },
    };
  } catch (error) {
    if (error instanceof ForeignDatabaseError) throw new StartupError(`${from.path}: ${error.message}`);
    throw error;
  } finally {
    db.close();
  }
}

/** Checks and opens a database. @throws StartupError if it is not a database, or is damaged */
function openIntact(path: string, { path: original, isUnknown }: RestoreFrom): Db {
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
    const cause = messageOf(error);
    throw new StartupError(`${original} is not a database or is damaged (${cause}). Nothing was changed.`, error);
  }
}

/** Saves the current database as a snapshot if it is intact. Its files are moved to `set-aside/` in any case. */
function saveCurrent(paths: DataPaths, nowMs: number, log: Log): string | undefined {
  if (!fs.existsSync(paths.database) || readCloseState(paths) !== "whole") return undefined;
  try {
    return takeSnapshotOf(paths.database, paths.snapshots, "before-restore", laterThanAll(paths, nowMs)).name;
  } catch (error) {
    log.warn("Cannot read the current database; moving it to set-aside/ without a snapshot.", { error });
    return undefined;
  }
}

/** A time after all snapshots, even if the clock was set back: their names define their order. */
function laterThanAll({ snapshots }: DataPaths, nowMs: number): number {
  return Math.max(nowMs, (listSnapshots(snapshots)[0]?.takenAtMs ?? 0) + 1);
}

/** Logs what a database that was just opened from a snapshot contains, and drops its stale queued messages. */
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
    ...dropQueuedMessages(db.sqlite, nowMs),
  });
}
