/** Finds the database that a data directory, or a copy of one, is verified against. Writes nothing to the directory. */
import { Database, SQLiteError } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { ForeignDatabaseError, migrate, pendingMigrations } from "../../db/migrate.ts";
import { openReadOnly } from "../../db/open.ts";
import { silentLog } from "../../lib/log.ts";
import type { DataPaths } from "../../server/data/data-directory.ts";
import { findRunningServer } from "../../server/data/lock.ts";
import { chooseSnapshot } from "../../server/data/open-copy.ts";
import { readCloseState, isAltered } from "../../server/data/run-mark.ts";

/** The database that a directory is verified against. */
export interface VerifySource {
  readonly databasePath: string;
  /** Its description, for people: it follows "against". */
  readonly described: string;
  /** The name of the snapshot, if it is one. */
  readonly snapshot: string | undefined;
  readonly takenAtMs: number | undefined;
  /** Whether it is the database that the server uses. */
  readonly isOwn: boolean;
  /** Whether a server is running on it. */
  readonly isServed: boolean;
  /** Whether its bytes changed since it was closed. */
  readonly isAltered: boolean;
  /** Removes the temporary copy. */
  close(): void;
}

/**
 * Finds the database. Copies it to a temporary folder if it has an older version, or a log that cannot be read in place.
 * @throws StartupError if there is none, or it cannot be read
 */
export function openVerifySource(paths: DataPaths): VerifySource {
  if (!fs.existsSync(paths.blobs)) {
    throw new StartupError(
      `No blobs directory in ${paths.root}. Check that it is a data directory and that its disk is mounted.`,
    );
  }
  const closeState = readCloseState(paths, false);
  if (closeState === "whole") {
    const isRunning = isServed(paths);
    const hasLog = !isRunning && (fs.statSync(`${paths.database}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const described = isRunning
      ? "the database of the running server"
      : hasLog
        ? "its database and write-ahead log, as after a crash"
        : "its database";
    const database = { databasePath: paths.database, described, isOwn: true, isServed: isRunning };
    const isOther = !isRunning && isAltered(paths);
    return makeReadable(paths, { ...database, snapshot: undefined, takenAtMs: undefined, isAltered: isOther }, hasLog);
  }
  const chosen = chooseSnapshot(paths);
  if (chosen === undefined) {
    const why =
      closeState === "absent"
        ? `No database found in ${paths.root}`
        : `The database in ${paths.root} is missing or was copied while a server was running`;
    throw new StartupError(`${why}, and there is no intact snapshot to verify against.`);
  }
  const { path, name, takenAtMs } = chosen.snapshot;
  return makeReadable(
    paths,
    {
      databasePath: path,
      described: `its snapshot ${name}`,
      snapshot: name,
      takenAtMs,
      isOwn: false,
      isServed: false,
      isAltered: false,
    },
    false,
  );
}

function isServed(paths: DataPaths): boolean {
  try {
    return findRunningServer(paths.lock) !== undefined;
  } catch (error) {
    // On a read-only disk, the lock fails, and no server can run.
    if (error instanceof StartupError) return false;
    throw error;
  }
}

/** Makes sure that this version can read the database, in a copy if necessary. */
function makeReadable(paths: DataPaths, found: Omit<VerifySource, "close">, mustCopy: boolean): VerifySource {
  try {
    if (!mustCopy && isUpToDate(found.databasePath)) return { ...found, close: () => {} };
  } catch (error) {
    if (!(error instanceof SQLiteError && /^SQLITE_(CANTOPEN|READONLY)/.test(error.code ?? ""))) {
      throw explain(error, found.databasePath);
    }
  }
  const folder = fs.mkdtempSync(join(tmpdir(), "larder-verify-"));
  const close = () => fs.rmSync(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, "larder.db");
    for (const suffix of found.databasePath === paths.database ? ["", "-wal"] : [""]) {
      const from = found.databasePath + suffix;
      if (fs.existsSync(from)) fs.copyFileSync(from, copy + suffix, fs.constants.COPYFILE_FICLONE);
    }
    applyWal(copy);
    return { ...found, databasePath: copy, close };
  } catch (error) {
    close();
    throw explain(error, found.databasePath);
  }
}

function isUpToDate(path: string): boolean {
  const db = openReadOnly(path);
  try {
    return pendingMigrations(db.sqlite).length === 0;
  } finally {
    db.close();
  }
}

/** Merges the log into a copy, and migrates it to this version. */
function applyWal(copy: string): void {
  fs.chmodSync(copy, 0o600);
  const sqlite = new Database(copy, { readwrite: true, strict: true });
  try {
    sqlite.run("PRAGMA synchronous=OFF");
    sqlite.run("PRAGMA journal_mode=DELETE");
    migrate(sqlite, silentLog);
  } finally {
    sqlite.close();
  }
}

function explain(error: unknown, path: string): unknown {
  if (error instanceof ForeignDatabaseError) return new StartupError(`${path}: ${error.message}`, error);
  if (error instanceof SQLiteError) {
    return new StartupError(
      `Cannot read ${path}: ${error.message}. Restore one of its snapshots: larder restore --help`,
      error,
    );
  }
  return error;
}
