/**
 * The lock that allows one running server per data directory. The kernel releases it when the process ends, also after
 * a crash. So a lock never becomes stale, and a reused process ID (in a container, every server is process 1) can't
 * look like its owner. SQLite takes the lock on an empty database file. Nothing else in the server's process may open
 * that file: closing it would release the lock (fcntl(2)).
 */
import { Database } from "bun:sqlite";
import { readFileSync, statSync } from "node:fs";
import { StartupError } from "../../config/startup-error.ts";
import { isBusy } from "../../db/transaction.ts";
import { messageOf } from "../../lib/error.ts";

/** Another process holds the lock. */
export class LockedError extends StartupError {
  override readonly name = "LockedError";
  /** The process that holds the lock, if known. */
  readonly pid: number | undefined;

  constructor(message: string, pid: number | undefined) {
    super(message);
    this.pid = pid;
  }
}

/** A lock, until it is released or the process ends. */
export interface ServerLock {
  /** Releases the lock. Further calls do nothing. */
  release(): void;
}

/** How long to wait for the lock: a server may be stopping, or a command may be checking the lock. */
const WAIT_MS = 500;

/**
 * Takes the lock of a data directory.
 * @param path the file `larder.lock`; created if it is missing, and never removed
 * @throws LockedError with the process that holds the lock; StartupError if the file can't be used
 */
export function acquireServerLock(path: string, waitMs = WAIT_MS): ServerLock {
  const database = openLockFile(path);
  try {
    database.run(`PRAGMA busy_timeout=${waitMs}`);
    // No page is ever written, so there is no journal either.
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw unusable(path, error);
    const pid = findLockHolder(path);
    const holder = pid === undefined ? "Another process" : `Process ${pid}`;
    throw new LockedError(
      `${holder} is already running on this data directory (lock file ${path}). ` +
        "Stop it, or set another data directory with --data.",
      pid,
    );
  }
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      database.run("ROLLBACK");
      database.close();
    },
  };
}

/** The process that holds the lock now, if known; undefined if no server runs. Does not disturb other processes. */
export function findRunningServer(path: string): { pid: number | undefined } | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = openLockFile(path);
  try {
    database.run("PRAGMA busy_timeout=0");
    // This takes a shared lock for the time of reading an empty file. A starting server waits longer than that.
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw unusable(path, error);
    return { pid: findLockHolder(path) };
  } finally {
    database.close();
  }
}

/**
 * The process that holds a lock on the file, from /proc/locks; undefined if it is not listed, for example because it
 * runs in another container.
 */
function findLockHolder(path: string): number | undefined {
  let locks: string;
  try {
    locks = readFileSync("/proc/locks", "utf8");
  } catch {
    return undefined; // no /proc
  }
  const inode = String(statSync(path, { bigint: true }).ino);
  for (const line of locks.split("\n")) {
    // "1: POSIX  ADVISORY  WRITE 1234 fe:01:5678 1073741826 1073742335"
    const [, , , , pid, file] = line.trim().split(/\s+/);
    if (file?.split(":")[2] === inode && Number(pid) > 0) return Number(pid);
  }
  return undefined;
}

function openLockFile(path: string): Database {
  try {
    return new Database(path, { create: true, readwrite: true });
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): StartupError {
  const cause = messageOf(error);
  return new StartupError(`Cannot use the lock file ${path}: ${cause}. Check its owner and its disk.`, error);
}
