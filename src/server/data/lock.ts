/**
 * One running server per data directory. The lock is one that the kernel holds for a process and drops when the process
 * ends, however it ends: no stale lock can be left behind, and a process number used again (in a container everybody
 * is process 1) can't look like its owner. SQLite takes it for us, on an empty database file; nothing else in
 * the server's process may open that file, because closing it would end the lock (fcntl(2)).
 */
import { Database } from "bun:sqlite";
import { readFileSync, statSync } from "node:fs";
import { StartupError } from "../../config/startup-error.ts";
import { isBusy } from "../../db/transaction.ts";

/** Somebody else holds the lock. */
export class LockedError extends StartupError {
  override readonly name = "LockedError";
  /** The process that holds it, where that can be told. */
  readonly pid: number | undefined;

  constructor(message: string, pid: number | undefined) {
    super(message);
    this.pid = pid;
  }
}

/** The lock, held until it is released or the process ends. */
export interface ServerLock {
  /** Gives the lock back. Calling again is harmless. */
  release(): void;
}

/** How long a lock held by another is waited for: a server that is just ending, or a command's short look. */
const WAIT_MS = 500;

/**
 * Takes the lock of a data directory.
 * @param path the file `larder.lock`, made where there is none and never removed
 * @throws LockedError naming the process that holds it; StartupError when the file can't be used
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
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      database.run("ROLLBACK");
      database.close();
    },
  };
}

/** Whether a server holds the lock now, and which process, where that can be told. Disturbs nobody. */
export function findRunningServer(path: string): { pid: number | undefined } | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const database = openLockFile(path);
  try {
    database.run("PRAGMA busy_timeout=0");
    // A shared lock for the length of a read of an empty file: a starting server waits longer than that.
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
 * The process that holds a lock on the file, as the kernel tells it in /proc/locks; undefined where that says nothing,
 * as for a holder in another container.
 */
function findLockHolder(path: string): number | undefined {
  let locks: string;
  try {
    locks = readFileSync("/proc/locks", "utf8");
  } catch {
    return undefined; // no /proc: the message goes without a number
  }
  const inode = String(statSync(path, { bigint: true }).ino);
  for (const line of locks.split("\n")) {
    // "1: POSIX  ADVISORY  WRITE 1234 fe:01:5678 1073741826 1073742335"
    const [, , , , pid, place] = line.trim().split(/\s+/);
    if (place?.split(":")[2] === inode && Number(pid) > 0) return Number(pid);
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
  const cause = error instanceof Error ? error.message : String(error);
  return new StartupError(`Cannot use the lock file ${path}: ${cause}. Check its owner and its disk.`, error);
}
