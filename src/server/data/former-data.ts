/**
 * Moves the data of a directory to `set-aside/`, before the directory continues from the replica of another machine. Changes
 * that only this directory has are not lost: what is moved is a data directory of its own.
 */
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { openReadOnly } from "../../db/open.ts";
import { copySecrets } from "../../features/storage/backup/private-files.ts";
import { errorCode } from "../../lib/error.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "./data-directory.ts";

/** The folder has this name until everything is in it. After a crash, the next attempt continues. */
const UNFINISHED = "unfinished";
const LOG_SUFFIXES = ["-wal", "-shm", "-journal"];

/** Whether a directory has a database or blobs, or a crash interrupted {@link setDataAside}. */
export function hasFormerData(paths: DataPaths): boolean {
  return [paths.database, paths.blobs, join(paths.setAside, UNFINISHED)].some((path) => fs.existsSync(path));
}

/**
 * Moves the database, the blobs, the snapshots, and the unfinished uploads, and copies the keys. Only for the process that
 * holds the directory's lock.
 * @returns the new folder @throws StartupError if the blobs are on another disk
 */
export function setDataAside(paths: DataPaths, nowMs: number): string {
  const unfinished = join(paths.setAside, UNFINISHED);
  fs.mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  copySecrets(paths.secrets, join(unfinished, basename(paths.secrets)));
  const { database, state, blobs, snapshots, uploads } = paths;
  // The blobs first, because only that can fail. The log before the database: it must never be applied to another one.
  const logs = LOG_SUFFIXES.map((suffix) => database + suffix);
  const shadow = join(paths.root, `.${basename(database)}-litestream`);
  for (const path of [blobs, snapshots, uploads, shadow, ...logs, state, database]) move(path, unfinished);
  syncPath(unfinished);
  syncPath(paths.root);
  const folder = join(paths.setAside, new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-"));
  fs.renameSync(unfinished, folder);
  syncPath(paths.setAside);
  return folder;
}

/** @throws StartupError if {@link setDataAside} would fail, because the blobs are a mounted disk */
export function requireMovable({ root, blobs }: Pick<DataPaths, "root" | "blobs">): void {
  const found = fs.statSync(blobs, { throwIfNoEntry: false });
  if (found !== undefined && found.dev !== fs.statSync(root).dev) throw notMovable(blobs, "set-aside/");
}

function move(path: string, folder: string): void {
  if (!fs.existsSync(path)) return;
  try {
    fs.renameSync(path, join(folder, basename(path)));
  } catch (error) {
    if (errorCode(error) !== "EBUSY" && errorCode(error) !== "EXDEV") throw error;
    throw notMovable(path, folder, error);
  }
}

function notMovable(path: string, folder: string, cause?: unknown): StartupError {
  return new StartupError(
    `${path} is on a disk of its own, and can't be moved to ${folder}. Use an empty data directory: set --data.`,
    cause,
  );
}

/**
 * Counts the changes of files and folders that a database has and another one of the same store does not have.
 * @returns undefined if the database can't be read
 */
export function countOwnChanges(database: string, other: string): number | undefined {
  try {
    const db = openReadOnly(database);
    try {
      db.sqlite.query("ATTACH ?1 AS other").run(other);
      const row = db.sqlite
        .query<{ changes: number }, []>(
          `SELECT count(*) AS changes FROM main.journal j
           WHERE NOT EXISTS (SELECT 1 FROM other.journal o
             WHERE o.account_id = j.account_id AND o.seq = j.seq AND o.node_id = j.node_id AND o.at = j.at)`,
        )
        .get();
      return row?.changes;
    } finally {
      db.close();
    }
  } catch {
    // The database may be damaged, or of a version without a journal. It is moved all the same.
    return undefined;
  }
}
