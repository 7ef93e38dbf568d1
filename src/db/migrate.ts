/**
 * Migrates a database to the data model of this program: forward only, all steps in one transaction. The caller takes a
 * snapshot first. A failing step leaves the database unchanged.
 */
import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Log } from "../lib/log.ts";
import { MIGRATIONS, type Migration, SCHEMA } from "./migrations.ts";
import { messageOf } from "../lib/error.ts";

/** The database was written by a newer version, or by another program. */
export class ForeignDatabaseError extends Error {
  override readonly name = "ForeignDatabaseError";
}

/** A step failed. The database is unchanged. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** The first step of the versions that record in `larder.state` how the database was closed. */
const FIRST_WITH_MARKS = "0015_findings";

/**
 * Rejects the database of a newer version before it is opened for writing, so that it stays unchanged.
 * @throws ForeignDatabaseError; SQLiteError if it can't be read
 */
export function rejectForeign(path: string): void {
  if (!existsSync(path)) return;
  // With a write-ahead log, the file alone may be outdated. Without one, reading it must not create one.
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
  if (existsSync(`${path}-wal`)) readSteps(new Database(path, SQLITE_OPEN_READONLY), pendingMigrations);
  else readSteps(new Database(immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), pendingMigrations);
}

/**
 * Whether a database was last written by a version that records nothing in `larder.state`, so that the file there says
 * nothing about it. False if the database can't be read.
 */
export function isOlderThanMarks(path: string): boolean {
  try {
    const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
    return readSteps(new Database(immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), (database) => {
      const steps = appliedMigrations(database);
      return steps.length > 0 && !steps.includes(FIRST_WITH_MARKS);
    });
  } catch {
    // An incomplete copy, for example: the caller must not trust it.
    return false;
  }
}

/** The URI with which SQLite reads only the file: no write-ahead log, and no new files next to it. */
function immutable(path: string): string {
  return `${pathToFileURL(path).href}?immutable=1`;
}

function readSteps<T>(database: Database, read: (database: Database) => T): T {
  try {
    database.run("PRAGMA busy_timeout=5000");
    return read(database);
  } finally {
    database.close();
  }
}

/** The steps not yet applied to `database`. @throws ForeignDatabaseError if it has steps unknown to this version */
export function pendingMigrations(database: Database, known: readonly Migration[] = MIGRATIONS): Migration[] {
  const applied = appliedMigrations(database);
  const unknown = applied.filter((id) => !known.some((migration) => migration.id === id));
  if (unknown.length > 0) {
    throw new ForeignDatabaseError(
      `This database was written by a newer Larder (it has the steps ${unknown.join(", ")}). ` +
        "Start the newer version again, or restore a snapshot that this version made.",
    );
  }
  return known.filter((migration) => !applied.includes(migration.id));
}

/**
 * Creates a new database, or runs the pending steps on an older one. Logs the rows of each table before and after.
 * @throws ForeignDatabaseError; MigrationError, caused by the SQLiteError, with the database unchanged
 */
export function migrate(database: Database, log: Log, known: readonly Migration[] = MIGRATIONS): void {
  const pending = pendingMigrations(database, known);
  if (pending.length === 0) return;
  const before = countRows(database);
  const isNew = Object.keys(before).length === 0;
  database
    .transaction(() => (isNew && known === MIGRATIONS ? create(database) : runSteps(database, pending)))
    .immediate();
  // So that the file alone, without its log, shows the version it belongs to.
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  log.info(isNew ? "Created the database." : "Upgraded the database.", {
    steps: pending.map((migration) => migration.id),
    ...(isNew ? {} : { rowsBefore: before, rowsAfter: countRows(database) }),
  });
}

/** Creates the result of all steps at once: most steps make SQLite parse its whole schema again, which is slow. */
function create(database: Database): void {
  failAs("Making the database", () => {
    database.run(SCHEMA);
    for (const { id } of MIGRATIONS) noteStep(database, id);
  });
}

/**
 * Runs `steps` one after the other.
 * @throws MigrationError at the first that fails; the caller's transaction undoes the others
 */
export function runSteps(database: Database, steps: readonly Migration[]): void {
  database.run(
    "CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  );
  for (const { id, sql } of steps) {
    failAs(`The step ${id} of its change`, () => {
      for (const statement of sql.split("--> statement-breakpoint")) database.run(statement);
      noteStep(database, id);
    });
  }
}

function failAs(what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    const said = messageOf(error);
    throw new MigrationError(`${what} failed: ${said}`, { cause: error });
  }
}

function noteStep(database: Database, id: string): void {
  database.run("INSERT INTO migrations (id, applied_at) VALUES (?, ?)", [id, Date.now()]);
}

function appliedMigrations(database: Database): string[] {
  const table = database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").get();
  if (table === null) {
    const others = database.query("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 1").get();
    if (others !== null) throw new ForeignDatabaseError("This file is a database, but not one of Larder's.");
    return [];
  }
  return database
    .query<{ id: string }, []>("SELECT id FROM migrations ORDER BY id")
    .all()
    .map((row) => row.id);
}

function countRows(database: Database): Record<string, number> {
  const tables = database
    .query<{ name: string }, []>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'node_names%'
        AND name <> 'migrations' ORDER BY name`,
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      database.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${name}"`).get()?.rows ?? 0,
    ]),
  );
}
