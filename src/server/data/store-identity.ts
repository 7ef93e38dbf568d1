/**
 * That the database and the folder of contents belong together. Both carry the same identity: the database in
 * its table `meta`, the folder in the file `.larder-store`. An empty folder where a disk was not mounted, or a new
 * database beside old contents, is told at the start and while running, and nothing is made over it.
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
import { type DataPaths, syncDirectory } from "./data-directory.ts";

const META_KEY = "store_id";

/** What lies in an empty folder without meaning anything: the file system's own, and a marker that a crash left unfinished. */
const IGNORED_ENTRY = /^(lost\+found|\.larder-store\..*\.tmp)$/;

/**
 * Rejects contents without a database. For the moment before anything is opened or made: nothing is changed.
 * @throws StartupError
 */
export function rejectOrphanedStore(paths: DataPaths): void {
  if (existsSync(paths.database)) return;
  const marker = readMarker(paths.storeMarker);
  if (marker !== undefined || holdsFiles(paths.blobs)) throw withoutDatabase(paths, marker);
}

/**
 * Rejects a database and a folder of contents that don't belong together. To be called before the database is brought
 * up to date, so that a wrong pair is left as it is; only reads.
 * @throws StartupError explaining what was found and how to recover
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
 * Ties a new database and an empty folder together, or finishes what a crash left half done. Both are on disk on return.
 * To be called once the tables are there.
 * @returns the identity of the store
 * @throws StartupError as {@link checkStore}
 */
export function bindStore(sqlite: Database, paths: DataPaths): string {
  checkStore(sqlite, paths);
  let id = readStoreId(sqlite);
  if (id === undefined) {
    id = randomUUID();
    // The database first: one with an identity and no contents may be given a new folder, a folder never a new database.
    sqlite.run("INSERT INTO meta (key, value) VALUES (?, ?)", [META_KEY, id]);
  }
  if (readMarker(paths.storeMarker) === undefined) writeMarker(paths, id);
  return id;
}

/**
 * Gives a data directory without contents the identity of the store that a database belongs to: its contents lie in a bucket.
 * @throws StartupError where there are contents already, or the marker of another store
 */
export function adoptStore(paths: DataPaths, id: string): void {
  const marker = readMarker(paths.storeMarker);
  if (marker === id) return;
  if (marker !== undefined) throw foreignStore(paths, id, marker);
  if (holdsFiles(paths.blobs)) throw missingStore(paths, id);
  writeMarker(paths, id);
}

/**
 * Watches while the server runs that the contents are still those it started with: the disk may be taken away under it.
 */
export class StoreGuard {
  readonly #path: string;
  readonly #id: string;
  #device: bigint;
  #inode: bigint;

  /** @param id what {@link bindStore} gave. @throws AppError store_missing */
  constructor(paths: DataPaths, id: string) {
    this.#path = paths.storeMarker;
    this.#id = id;
    this.#device = -1n;
    this.#inode = -1n;
    this.check();
  }

  /**
   * To be called before each commit that names contents: one look at the marker, some microseconds.
   * @throws AppError store_missing when the folder is gone, or another is in its place
   */
  check(): void {
    const found = this.#look();
    if (found.dev === this.#device && found.ino === this.#inode) return;
    // Mounted anew, or a file system that gives its numbers anew: what the marker says decides.
    if (this.#read() !== this.#id) throw storeMissing(undefined);
    this.#device = found.dev;
    this.#inode = found.ino;
  }

  #look(): { dev: bigint; ino: bigint } {
    try {
      const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      if (found !== undefined) return found;
    } catch (error) {
      throw storeMissing(error);
    }
    throw storeMissing(undefined);
  }

  #read(): string | undefined {
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
    "The disk that stores the files is not connected. Ask your administrator to reconnect it, then try again.",
    {},
    cause,
  );
}

/** The store that a database belongs to; undefined for one that no server has opened. */
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

/** The identity in the marker file; undefined where there is no file. A torn or foreign file reads as its own text. */
function readMarker(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Whether there is any file in the folder, however deep; empty folders don't count. */
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
    syncDirectory(dirname(paths.blobs));
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeSync(file, `${id}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, paths.storeMarker);
    syncDirectory(paths.blobs);
  } catch (error) {
    rmSync(temporary, { force: true });
    const cause = error instanceof Error ? error.message : String(error);
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

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
