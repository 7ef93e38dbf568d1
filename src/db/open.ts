/**
 * How the database is opened: one connection that writes, in the server's main thread, and read-only ones in workers.
 * WAL with synchronous=FULL: a commit that returned is on disk.
 */
import { Database, SQLiteError } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { LazyDatabase } from "./lazy-database.ts";

/** The oldest SQLite that is trusted with a write-ahead log (D45). */
export const SQLITE_MINIMUM = "3.51.3";

/** Drizzle. Build a query once with `.prepare()` and keep it where it is called often. */
export type Orm = BunSQLiteDatabase;

/** One open database: `sqlite` for statements where the plan matters, `orm` for the rest. */
export interface Db {
  readonly sqlite: Database;
  readonly orm: Orm;
  /**
   * Whether another connection has committed since the last call: a command beside the running server.
   * About two microseconds; what is cached of the database must be dropped when true.
   */
  changedElsewhere(): boolean;
  /** How long one statement may block for another process's lock from now on; by default hardly, as a server must. */
  setBusyTimeout(ms?: number): void;
  /**
   * Folds the log back into the file where nobody else holds the database, and closes.
   * @returns whether this was the last connection that could write, so that the file is all there is
   */
  close(): boolean;
}

/** How long a statement waits in place for another process's lock; longer waits are the writer's, off the event loop. */
const BUSY_TIMEOUT_MS = 50;
/** What a connection needs to change rows as all others do. */
const PRAGMAS_OF_CHANGES = ["foreign_keys=ON", "cache_size=-16384", "temp_store=MEMORY", "trusted_schema=OFF"];

/**
 * Opens the database file, making it where there is none.
 * @param busyTimeoutMs how long one statement may block for another process's lock; commands wait long, the server hardly.
 */
export function openDatabase(path: string, busyTimeoutMs = BUSY_TIMEOUT_MS): Db {
  const sqlite = new LazyDatabase(path, { create: true, readwrite: true, strict: true });
  const pragmas = [
    `busy_timeout=${busyTimeoutMs}`,
    "journal_mode=WAL",
    "synchronous=FULL",
    ...PRAGMAS_OF_CHANGES,
    // Checkpoints are made by the worker while it is quiet; this is the backstop, so that the log stays bounded.
    "wal_autocheckpoint=4000",
    "journal_size_limit=67108864",
  ];
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  return wrap(sqlite, false);
}

/** Opens an existing database for changes that are never committed. Never waits in place for another connection. */
export function openForTrial(path: string): Database {
  const sqlite = new LazyDatabase(path, { readwrite: true, strict: true });
  for (const pragma of ["busy_timeout=0", ...PRAGMAS_OF_CHANGES]) sqlite.run(`PRAGMA ${pragma}`);
  return sqlite;
}

/** Opens an existing database for reading only, for workers and for checks beside a running server. */
export function openReadOnly(path: string): Db {
  const sqlite = new LazyDatabase(path, { readonly: true, strict: true });
  for (const pragma of ["busy_timeout=5000", "cache_size=-16384", "temp_store=MEMORY"]) sqlite.run(`PRAGMA ${pragma}`);
  return wrap(sqlite, true);
}

/** The version of SQLite in this executable. @throws Error when it is older than {@link SQLITE_MINIMUM}. */
export function assertSqliteVersion(): string {
  const memory = new Database(":memory:");
  const version = memory.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()?.version ?? "0";
  memory.close();
  const isOld = Bun.semver.order(version, SQLITE_MINIMUM) < 0;
  if (isOld) throw new Error(`SQLite ${version} is older than ${SQLITE_MINIMUM}, which keeps a write-ahead log whole.`);
  return version;
}

function wrap(sqlite: Database, isReadOnly: boolean): Db {
  const dataVersion = sqlite.query<{ data_version: number }, []>("PRAGMA data_version");
  let seen = dataVersion.get()?.data_version;
  return {
    sqlite,
    orm: drizzle(sqlite),
    changedElsewhere() {
      const now = dataVersion.get()?.data_version;
      const hasChanged = now !== seen;
      seen = now;
      return hasChanged;
    },
    setBusyTimeout(ms = BUSY_TIMEOUT_MS) {
      sqlite.run(`PRAGMA busy_timeout=${ms}`);
    },
    close() {
      const isLast = !isReadOnly && leaveWal(sqlite);
      sqlite.close();
      return isLast;
    },
  };
}

/**
 * Ends the write-ahead log, which only the last connection can; the next opening begins one again. A file without a log
 * can be read from where nothing may be written, and copied by itself.
 */
function leaveWal(sqlite: Database): boolean {
  try {
    return sqlite.query<{ journal_mode: string }, []>("PRAGMA journal_mode=DELETE").get()?.journal_mode === "delete";
  } catch (error) {
    // Others hold it: their end folds the log. A full or broken disk leaves the log for the next opening.
    if (error instanceof SQLiteError) return false;
    throw error;
  }
}
