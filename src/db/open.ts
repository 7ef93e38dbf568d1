/**
 * Opens the database: one connection that writes, in the server's main thread, and read-only ones in workers.
 * WAL with synchronous=FULL: a commit that returned is on disk.
 */
import { constants, Database, SQLiteError } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { LazyDatabase } from "./lazy-database.ts";
import { endSharedReads } from "./shared-reads.ts";

/** The oldest SQLite version without known bugs that lose data of a write-ahead log. */
const SQLITE_MINIMUM = "3.51.3";

/** Drizzle. Prepare frequent queries once with `.prepare()` and reuse them. */
export type Orm = BunSQLiteDatabase;

/** An open database: `sqlite` for statements whose query plan matters, `orm` for all others. */
export interface Db {
  readonly sqlite: Database;
  readonly orm: Orm;
  /**
   * Whether another connection has committed since the last call, such as a command next to the running server.
   * If so, caches of database content must be dropped. Takes about two microseconds.
   */
  changedElsewhere(): boolean;
  /** Sets how long a statement may block on another process's lock. The default is short, for servers. */
  setBusyTimeout(ms?: number): void;
  /**
   * Merges the write-ahead log into the file if no other connection is open, and closes.
   * @param keepsLog whether the log stays in place instead until the process ends and after that, for a replica that
   *   continues with it after the next start
   * @returns whether this was the last connection that could write, so that the file alone is complete
   */
  close(keepsLog?: boolean): boolean;
}

/** How long a statement blocks on another process's lock; the writer handles longer waits without blocking. */
const BUSY_TIMEOUT_MS = 50;
/** Pragmas of every connection that changes rows. */
const PRAGMAS_OF_CHANGES = ["foreign_keys=ON", "cache_size=-16384", "temp_store=MEMORY", "trusted_schema=OFF"];

/**
 * Opens the database file; creates it if there is none.
 * @param busyTimeoutMs how long a statement may block on another process's lock: long for commands, short for the server
 */
export function openDatabase(path: string, busyTimeoutMs = BUSY_TIMEOUT_MS): Db {
  const sqlite = new LazyDatabase(path, { create: true, readwrite: true, strict: true });
  const pragmas = [
    `busy_timeout=${busyTimeoutMs}`,
    "journal_mode=WAL",
    "synchronous=FULL",
    ...PRAGMAS_OF_CHANGES,
    // A worker makes checkpoints while the server is idle. This limit keeps the log bounded if it never is.
    "wal_autocheckpoint=4000",
    "journal_size_limit=67108864",
  ];
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  return wrap(sqlite, false);
}

/** Opens an existing database for changes that are never committed. Never blocks on another connection's lock. */
export function openForTrial(path: string): Database {
  const sqlite = new LazyDatabase(path, { readwrite: true, strict: true });
  for (const pragma of ["busy_timeout=0", ...PRAGMAS_OF_CHANGES]) sqlite.run(`PRAGMA ${pragma}`);
  return sqlite;
}

/** Opens an existing database read-only, for workers and for checks next to a running server. */
export function openReadOnly(path: string): Db {
  const sqlite = new LazyDatabase(path, { readonly: true, strict: true });
  for (const pragma of ["busy_timeout=5000", "cache_size=-16384", "temp_store=MEMORY"]) sqlite.run(`PRAGMA ${pragma}`);
  return wrap(sqlite, true);
}

/** Checks the version of SQLite in this executable. @throws Error if it is older than {@link SQLITE_MINIMUM} */
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
      // A shared transaction would hide what was committed since it began.
      endSharedReads(sqlite);
      const now = dataVersion.get()?.data_version;
      const hasChanged = now !== seen;
      seen = now;
      return hasChanged;
    },
    setBusyTimeout(ms = BUSY_TIMEOUT_MS) {
      sqlite.run(`PRAGMA busy_timeout=${ms}`);
    },
    close(keepsLog = false) {
      endSharedReads(sqlite);
      if (keepsLog) persistWal(sqlite.filename);
      const isLast = !isReadOnly && !keepsLog && leaveWal(sqlite);
      sqlite.close();
      return isLast;
    },
  };
}

/**
 * Removes the write-ahead log, which only the last connection can do; opening the database creates it again. A file
 * without a log can be copied alone, and read from a read-only folder.
 */
function leaveWal(sqlite: Database): boolean {
  try {
    return sqlite.query<{ journal_mode: string }, []>("PRAGMA journal_mode=DELETE").get()?.journal_mode === "delete";
  } catch (error) {
    // Other connections are open: the last of them merges the log. With a full or broken disk, the next opening does.
    if (error instanceof SQLiteError) return false;
    throw error;
  }
}

/** Connections that must not be collected as garbage, which would close them. */
const openUntilExit: Database[] = [];

/**
 * Keeps the write-ahead log when the process ends. Compiled statements keep a closed connection open until then, and at
 * the end, the runtime empties the log for each of them. It can't while another connection reads from the log.
 */
function persistWal(path: string): void {
  const reader = new Database(path);
  openUntilExit.push(reader);
  reader.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM sqlite_schema").get();
}
