/** The data directory: where each thing lies in it, and that the program may write there. */
import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StartupError } from "../../config/startup-error.ts";

/** Where everything lies. All paths are absolute. */
export interface DataPaths {
  readonly root: string;
  /** The database. */
  readonly database: string;
  /** How the database was left; written by `run-mark.ts` alone. */
  readonly state: string;
  /** Held by the one running server. */
  readonly lock: string;
  /** Contents, by digest. Made by `store-identity.ts` alone. */
  readonly blobs: string;
  /** Says which database the contents belong to. */
  readonly storeMarker: string;
  /** Files that arrive in chunks, until they are whole. */
  readonly uploads: string;
  /** What can be made again. */
  readonly thumbs: string;
  /** Where the executable puts its native libraries; made by the thumbnail process, may be deleted at any time. */
  readonly native: string;
  /** Copies of the database. */
  readonly snapshots: string;
  /** Databases that another took the place of; nothing here is ever removed by the program. */
  readonly setAside: string;
  /** Keys. Made by `config/secrets.ts` alone. */
  readonly secrets: string;
}

/** The paths of a data directory; nothing is looked at. */
export function dataPaths(data: string): DataPaths {
  const root = resolve(data);
  return {
    root,
    database: join(root, "larder.db"),
    state: join(root, "larder.state"),
    lock: join(root, "larder.lock"),
    blobs: join(root, "blobs"),
    storeMarker: join(root, "blobs", ".larder-store"),
    uploads: join(root, "uploads"),
    thumbs: join(root, "thumbs"),
    native: join(root, "native"),
    snapshots: join(root, "snapshots"),
    setAside: join(root, "set-aside"),
    secrets: join(root, "secrets"),
  };
}

/**
 * Makes the data directory itself where there is none (for its user alone), and makes sure that everything in it that
 * is there already may be read and written. Owners and modes of what is there are never changed.
 * @throws StartupError with path, owner, own user and the command that helps
 */
export function openDataDirectory(data: string): DataPaths {
  const paths = dataPaths(data);
  makeDirectory(paths.root);
  requireAccess(paths.root, "directory");
  for (const path of [paths.blobs, paths.uploads, paths.thumbs, paths.snapshots, paths.secrets]) {
    if (isThere(path)) requireAccess(path, "directory");
  }
  for (const path of [paths.database, `${paths.database}-wal`, `${paths.database}-shm`, paths.lock, paths.state]) {
    if (isThere(path)) requireAccess(path, "file");
  }
  return paths;
}

/**
 * Makes sure that a directory that is only read, as a backup does with the original, is this user's to read.
 * @throws StartupError with path, owner, own user and the command that helps
 */
export function requireReadable(paths: DataPaths): void {
  const { root, blobs, snapshots, secrets, storeMarker, state, database } = paths;
  for (const path of [root, blobs, snapshots, secrets, storeMarker, state, database]) {
    try {
      const mode = statSync(path).isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK;
      accessSync(path, mode);
    } catch (error) {
      if (!isCode(error, "EACCES")) continue; // what is not there, or broken, is told by who needs it
      throw notReadable(path, error);
    }
  }
}

function notReadable(path: string, error: unknown): StartupError {
  const there = nearestThere(path);
  const { uid, gid, mode } = statSync(there);
  return new StartupError(
    `Cannot read ${path}.\n` +
      `  ${there} belongs to ${uid}:${gid}, mode ${(mode & 0o7777).toString(8)}\n` +
      `  this program runs as  ${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}\n` +
      `Run the command as the owner: sudo -u '#${uid}' larder …, or as root.`,
    error,
  );
}

/** Makes the working folders that may be missing or were deleted: uploads, thumbs, snapshots. @throws StartupError */
export function makeWorkingFolders(paths: DataPaths): void {
  for (const path of [paths.uploads, paths.thumbs, paths.snapshots]) makeDirectory(path);
}

/** Makes what was made, renamed or removed in a directory last through a power cut. @throws the system's error */
export function syncDirectory(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function makeDirectory(path: string): void {
  try {
    const first = mkdirSync(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
  } catch (error) {
    if (isCode(error, "EEXIST") || isCode(error, "ENOTDIR")) {
      throw new StartupError(`${path} must be a directory, but it is a file. Move the file to another place.`, error);
    }
    throw notWritable(path, error);
  }
}

function requireAccess(path: string, kind: "directory" | "file"): void {
  const isDirectory = statSync(path).isDirectory();
  if (isDirectory !== (kind === "directory")) {
    throw new StartupError(
      `${path} must be a ${kind}. Move it to another place, or set another data directory with --data.`,
    );
  }
  try {
    accessSync(path, constants.R_OK | constants.W_OK | (isDirectory ? constants.X_OK : 0));
  } catch (error) {
    throw notWritable(path, error);
  }
}

/** Tells what can't be written, whose it is, who we are, and the command that puts it right. */
function notWritable(path: string, error: unknown): StartupError {
  if (isCode(error, "EROFS")) {
    return new StartupError(
      `Cannot write to ${path}: its file system is mounted read-only. Mount it read-write, ` +
        "or set another data directory with --data (LARDER_DATA).",
      error,
    );
  }
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const there = nearestThere(path);
  const { uid: ownerUid, gid: ownerGid, mode } = statSync(there);
  const cause = error instanceof Error && !isCode(error, "EACCES") ? ` (${error.message})` : "";
  return new StartupError(
    `Cannot write to ${path}${cause}.\n` +
      `  ${there} belongs to ${ownerUid}:${ownerGid}, mode ${(mode & 0o7777).toString(8)}\n` +
      `  this program runs as  ${uid}:${gid}\n` +
      `Change the owner:       sudo chown -R ${uid}:${gid} ${there}\n` +
      `or run as the owner (in a container: --user ${ownerUid}:${ownerGid}, or change the owner of the volume on the host).`,
    error,
  );
}

function nearestThere(path: string): string {
  let at = path;
  while (!isThere(at) && at !== "/") at = resolve(at, "..");
  return at;
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent that may not be entered is told of when it is opened itself; one that is a file, when it is made.
    if (isCode(error, "EACCES") || isCode(error, "ENOTDIR")) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
