/** The data directory: its paths, and checks that the program can write to it. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { syncPath } from "../../lib/sync-path.ts";
import { errorCode } from "../../lib/error.ts";

/** The paths of a data directory, all absolute. */
export interface DataPaths {
  readonly root: string;
  /** The database. */
  readonly database: string;
  /** The words and texts of files; can be created again. */
  readonly textIndex: string;
  /** How the database was closed; only `run-mark.ts` writes it. */
  readonly state: string;
  /** The lock of the running server. */
  readonly lock: string;
  /** How far this directory is, compared with its replica; only `lease-mark.ts` writes it. */
  readonly lease: string;
  /** Blobs by digest. Only `store-identity.ts` creates it. */
  readonly blobs: string;
  /** Contains the identity of the store that the blobs belong to. */
  readonly storeMarker: string;
  /** Unfinished uploads. */
  readonly uploads: string;
  /** Thumbnails; they can be created again. */
  readonly thumbs: string;
  /** Native libraries, extracted by the thumbnail process; can be deleted at any time. */
  readonly native: string;
  /** Snapshots of the database. */
  readonly snapshots: string;
  /** Replaced databases. The program never removes anything here. */
  readonly setAside: string;
  /** The copy of the replica, on a machine that waits to take over. */
  readonly standby: string;
  /** Keys. Only `config/secrets.ts` creates it. */
  readonly secrets: string;
}

/** The paths of a data directory. Does not access the disk. */
export function dataPaths(data: string): DataPaths {
  const root = resolve(data);
  return {
    root,
    database: join(root, "larder.db"),
    textIndex: join(root, "text-index.db"),
    state: join(root, "larder.state"),
    lock: join(root, "larder.lock"),
    lease: join(root, "larder.lease"),
    blobs: join(root, "blobs"),
    storeMarker: join(root, "blobs", ".larder-store"),
    uploads: join(root, "uploads"),
    thumbs: join(root, "thumbs"),
    native: join(root, "native"),
    snapshots: join(root, "snapshots"),
    setAside: join(root, "set-aside"),
    standby: join(root, "standby"),
    secrets: join(root, "secrets"),
  };
}

/**
 * Creates the data directory if it is missing, for this user only. Checks that its existing files can be read and
 * written; never changes their owners and modes.
 * @throws StartupError with the path, its owner, the user of this process, and a command that fixes the problem
 */
export function openDataDirectory(data: string): DataPaths {
  const paths = dataPaths(data);
  makeDirectory(paths.root);
  requireAccess(paths.root, "directory");
  for (const path of [paths.blobs, paths.uploads, paths.thumbs, paths.snapshots, paths.secrets]) {
    if (exists(path)) requireAccess(path, "directory");
  }
  for (const path of [paths.database, `${paths.database}-wal`, `${paths.database}-shm`, paths.lock, paths.state]) {
    if (exists(path)) requireAccess(path, "file");
  }
  return paths;
}

/**
 * Checks that this user can read a data directory, for example to back it up.
 * @throws StartupError with the path, its owner, the user of this process, and a command that fixes the problem
 */
export function requireReadable(paths: DataPaths): void {
  const { root, blobs, snapshots, secrets, storeMarker, state, database } = paths;
  for (const path of [root, blobs, snapshots, secrets, storeMarker, state, database]) {
    try {
      const mode = statSync(path).isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK;
      accessSync(path, mode);
    } catch (error) {
      // A missing or broken file is reported when it is opened.
      if (errorCode(error) !== "EACCES") continue;
      throw notReadable(path, error);
    }
  }
}

function notReadable(path: string, error: unknown): StartupError {
  const existing = nearestExisting(path);
  const { uid, gid, mode } = statSync(existing);
  return new StartupError(
    `Cannot read ${path}.\n` +
      `  ${existing} belongs to ${uid}:${gid}, mode ${(mode & 0o7777).toString(8)}\n` +
      `  this program runs as  ${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}\n` +
      `Run the command as the owner: sudo -u '#${uid}' larder …, or as root.`,
    error,
  );
}

/** Creates the folders uploads, thumbs, and snapshots if they are missing. @throws StartupError */
export function makeWorkingFolders(paths: DataPaths): void {
  for (const path of [paths.uploads, paths.thumbs, paths.snapshots]) makeDirectory(path);
}

function makeDirectory(path: string): void {
  try {
    const first = mkdirSync(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let made = path; made.length >= first.length; made = dirname(made)) syncPath(dirname(made));
  } catch (error) {
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOTDIR") {
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

function notWritable(path: string, error: unknown): StartupError {
  if (errorCode(error) === "EROFS") {
    return new StartupError(
      `Cannot write to ${path}: its file system is mounted read-only. Mount it read-write, ` +
        "or set another data directory with --data (LARDER_DATA).",
      error,
    );
  }
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const existing = nearestExisting(path);
  const { uid: ownerUid, gid: ownerGid, mode } = statSync(existing);
  const cause = error instanceof Error && errorCode(error) !== "EACCES" ? ` (${error.message})` : "";
  // A new owner for all of /mnt or /srv would be wrong.
  const help =
    existing === path
      ? `Change the owner:       sudo chown -R ${uid}:${gid} ${path}`
      : `Create the directory:   sudo install -d -m 700 -o ${uid} -g ${gid} ${path}`;
  return new StartupError(
    `Cannot write to ${path}${cause}.\n` +
      `  ${existing} belongs to ${ownerUid}:${ownerGid}, mode ${(mode & 0o7777).toString(8)}\n` +
      `  this program runs as  ${uid}:${gid}\n` +
      `${help}\n` +
      `or run as the owner (in a container: --user ${ownerUid}:${ownerGid}, or change the owner of the volume on the host).`,
    error,
  );
}

function nearestExisting(path: string): string {
  let at = path;
  while (!exists(at) && at !== "/") at = resolve(at, "..");
  return at;
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent without access is reported when it is opened; one that is a file, when the folder is created.
    if (errorCode(error) === "EACCES" || errorCode(error) === "ENOTDIR") return false;
    throw error;
  }
}
