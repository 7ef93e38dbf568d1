/**
 * Checks that the database and the folder of blobs belong together. Both contain the same identity: the database in its
 * table `meta`, the folder in the file `.larder-store`. So a disk that is not mounted, or a new database next to old
 * blobs, is found at the start and while the server runs, and nothing is created there.
 */
import type { Database } from "bun:sqlite";
import { randomBytes, randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StartupError } from "../../config/startup-error.ts";
import { AppError } from "../../errors.ts";
import { syncPath } from "../../lib/sync-path.ts";
import type { DataPaths } from "./data-directory.ts";
import { errorCode, messageOf } from "../../lib/error.ts";
import { say } from "../../translations/say.ts";

const META_KEY = "store_id";

/** Entries of an otherwise empty folder: the file system's own, and an unfinished marker after a crash. */
const IGNORED_ENTRY = /^(lost\+found|\.larder-store\..*\.tmp)$/;

/**
 * Rejects blobs without a database. Runs before anything is opened or created; changes nothing.
 * @throws StartupError
 */
export function rejectOrphanedStore(paths: DataPaths): void {
  if (existsSync(paths.database)) return;
  const marker = readMarker(paths.storeMarker);
  if (marker !== undefined || holdsFiles(paths.blobs)) throw withoutDatabase(paths, marker);
}

/**
 * Rejects a database and a folder of blobs that don't belong together. Runs before the database is upgraded; changes
 * nothing.
 * @throws StartupError with the problem and how to recover
 */
export function checkStore(sqlite: Database, paths: DataPaths): void {
  const id = readStoreId(sqlite);
  const marker = readMarker(paths.storeMarker);
  if (id === undefined) {
    if (marker !== undefined || holdsFiles(paths.blobs)) throw withoutDatabase(paths, marker);
    return;
  }
  if (marker === id) return;
  if (marker !== undefined) throw foreignStore(paths, id, marker);
  if (hasBlobRows(sqlite) || holdsFiles(paths.blobs)) throw missingStore(paths, id);
}

/**
 * Gives a new database and an empty folder the same identity, or completes that after a crash. Both are on disk on
 * return. Runs after the database is upgraded.
 * @returns the identity of the store
 * @throws StartupError as {@link checkStore}
 */
export function bindStore(sqlite: Database, paths: DataPaths): string {
  checkStore(sqlite, paths);
  let id = readStoreId(sqlite);
  if (id === undefined) {
    id = randomUUID();
    // The database first: a database without blobs may get a new folder, but a folder never gets a new database.
    sqlite.run("INSERT INTO meta (key, value) VALUES (?, ?)", [META_KEY, id]);
  }
  if (readMarker(paths.storeMarker) === undefined) writeMarker(paths, id);
  return id;
}

/**
 * Gives a data directory without blobs the identity of a database whose blobs are in a bucket.
 * @throws StartupError if there are blobs, or the marker of another store
 */
export function adoptStore(paths: DataPaths, id: string): void {
  const marker = readMarker(paths.storeMarker);
  if (marker === id) return;
  if (marker !== undefined) throw foreignStore(paths, id, marker);
  if (holdsFiles(paths.blobs)) throw missingStore(paths, id);
  writeMarker(paths, id);
}

/** Checks while the server runs that the blobs are still those of the start: their disk may be unmounted. */
export class StoreGuard {
  readonly #path: string;
  readonly #id: string;
  #device: bigint;
  #inode: bigint;

  /** @param id the identity from {@link bindStore}. @throws AppError store_missing */
  constructor(paths: DataPaths, id: string) {
    this.#path = paths.storeMarker;
    this.#id = id;
    this.#device = -1n;
    this.#inode = -1n;
    this.check();
  }

  /**
   * Call before each commit that refers to blobs. Checks the marker, which takes some microseconds.
   * @throws AppError store_missing if the folder is missing, or another one is mounted there
   */
  check(): void {
    const found = this.#statMarker();
    if (found.dev === this.#device && found.ino === this.#inode) return;
    // The disk was mounted again, or the file system changed its inode numbers. The content of the marker decides.
    if (this.#readMarker() !== this.#id) throw storeMissing(undefined);
    this.#device = found.dev;
    this.#inode = found.ino;
  }

  #statMarker(): { dev: bigint; ino: bigint } {
    try {
      const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (found !== undefined) return found;
    } catch (error) {
      throw storeMissing(error);
    }
    throw storeMissing(undefined);
  }

  #readMarker(): string | undefined {
    try {
      return readMarker(this.#path);
    } catch (error) {
      throw storeMissing(error);
    }
  }
}

function storeMissing(cause: unknown): AppError {
  return new AppError(
    "store_missing",
    say`The disk that stores the files is not connected. Ask your administrator to reconnect it, then try again.`,
    {},
    cause,
  );
}

/** The identity of the store that a database belongs to; undefined if no server has opened the database. */
export function readStoreId(sqlite: Database): string | undefined {
  if (!hasTable(sqlite, "meta")) return undefined;
  return sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?").get(META_KEY)?.value;
}

function hasBlobRows(sqlite: Database): boolean {
  return hasTable(sqlite, "blobs") && sqlite.query("SELECT 1 FROM blobs LIMIT 1").get() !== null;
}

function hasTable(sqlite: Database, name: string): boolean {
  return sqlite.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== null;
}

/** The identity in the marker file; undefined without a file. An incomplete or foreign file gives its own text. */
function readMarker(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The identity of the store in a data directory, without its database; undefined in a new directory. */
export function readStoreMarker({ storeMarker }: Pick<DataPaths, "storeMarker">): string | undefined {
  return readMarker(storeMarker);
}

/** Whether the folder or a folder below it has a file. */
function holdsFiles(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) => !IGNORED_ENTRY.test(entry.name) && (entry.isDirectory() ? holdsFiles(join(folder, entry.name)) : true),
  );
}

function writeMarker(paths: DataPaths, id: string): void {
  const temporary = join(paths.blobs, `.larder-store.${randomBytes(6).toString("hex")}.tmp`);
  try {
    mkdirSync(paths.blobs, { recursive: true, mode: 0o700 });
    syncPath(dirname(paths.blobs));
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeSync(file, `${id}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, paths.storeMarker);
    syncPath(paths.blobs);
  } catch (error) {
    rmSync(temporary, { force: true });
    const cause = messageOf(error);
    throw new StartupError(`Cannot write to the directory ${paths.blobs}: ${cause}.`, error);
  }
}

function withoutDatabase(paths: DataPaths, marker: string | undefined): StartupError {
  const whose = marker === undefined ? "" : ` (store ${marker})`;
  return new StartupError(
    `${paths.blobs} has stored files${whose}, but ${paths.database} is new or missing. ` +
      "The names and owners of the files are in the database. Nothing was changed.\n" +
      "Do one of the following:\n" +
      `  The database is elsewhere:    mount its disk, or set its directory with --data\n` +
      `  It was lost:                  larder restore --snapshot newest --data ${paths.root}\n` +
      `                                (to list snapshots: larder restore --data ${paths.root})\n` +
      `  No snapshot is left:          larder rebuild --data ${paths.root}\n` +
      "  You want to start over:       set another, empty directory with --data, and keep this one",
  );
}

function missingStore(paths: DataPaths, id: string): StartupError {
  return new StartupError(
    `${paths.database} belongs to store ${id}, but ${paths.storeMarker} is missing. ` +
      "Most likely the disk with the stored files is not mounted. Nothing was changed.\n" +
      "Do one of the following:\n" +
      `  The disk is not mounted:      mount it at ${paths.blobs}, then start again (check: findmnt -T ${paths.blobs})\n` +
      `  The directory was lost:       restore blobs/ from your backup, including blobs/.larder-store\n` +
      "  The files are in a bucket:    larder restore --database COPY --secrets COPY --data NEW, with the settings s3.*\n" +
      "  Only the marker was lost, and these are the right files:\n" +
      `                                echo ${id} > ${paths.storeMarker}`,
  );
}

function foreignStore(paths: DataPaths, id: string, marker: string): StartupError {
  return new StartupError(
    `${paths.database} belongs to store ${id}, but ${paths.blobs} is store ${JSON.stringify(marker)}. ` +
      "Two data directories are mixed up. Nothing was changed.\n" +
      "Do one of the following:\n" +
      `  The wrong disk is mounted:    mount the disk of store ${id} at ${paths.blobs}\n` +
      `  The wrong database is here:   copy the database of this store to ${paths.database}\n` +
      "                                (the newest from its snapshots/ or from your backup)",
  );
}
