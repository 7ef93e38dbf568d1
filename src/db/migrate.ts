/**
 * Brings a database to the data model of this program: forward only, all steps in one transaction, with a snapshot
 * taken by the caller before (D6). A failing step leaves the database as it was.
 */
import { constants, Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Log } from "../lib/log.ts";
import { MIGRATIONS, type Migration, SCHEMA } from "./migrations.ts";

/** The database was written by a newer program, or by none that this one knows. */
export class ForeignDatabaseError extends Error {
  override readonly name = "ForeignDatabaseError";
}

/** A step failed. The database is as it was. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** The first step of the programs that note how they left a database (`larder.state`). */
const FIRST_WITH_MARKS = "0015_findings";

/**
 * Rejects a database of a newer program before anything is opened for writing: not a byte of it is changed.
 * @throws ForeignDatabaseError; SQLiteError where it can't be read
 */
export function rejectForeign(path: string): void {
  if (!existsSync(path)) return;
  // Beside a log the file alone may be of any time; without one, looking at it must not make one.
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
  if (existsSync(`${path}-wal`)) readSteps(new Database(path, SQLITE_OPEN_READONLY), pendingMigrations);
  else readSteps(new Database(immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), pendingMigrations);
}

/**
 * Whether a database was last written by a program that notes nothing in `larder.state`: what stands there is not about it.
 * False where it can't be read.
 */
export function isOlderThanMarks(path: string): boolean {
  try {
    const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants;
    return readSteps(new Database(immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI), (database) => {
      const steps = appliedMigrations(database);
      return steps.length > 0 && !steps.includes(FIRST_WITH_MARKS);
    });
  } catch {
    // A half of a copy, for instance: whoever asks must not trust it.
    return false;
  }
}

/** The address under which SQLite reads a file alone, without a log and without leaving anything beside it. */
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

/** The steps that `database` has not seen yet. @throws ForeignDatabaseError when it has seen steps unknown here. */
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
 * Makes a new database, or runs what is pending on an older one. Logs the rows of each table before and after.
 * @throws ForeignDatabaseError; MigrationError, its cause the SQLiteError, with the old state intact
 */
export function migrate(database: Database, log: Log, known: readonly Migration[] = MIGRATIONS): void {
  const pending = pendingMigrations(database, known);
  if (pending.length === 0) return;
  const before = countRows(database);
  const isNew = Object.keys(before).length === 0;
  database
    .transaction(() => (isNew && known === MIGRATIONS ? create(database) : runSteps(database, pending)))
    .immediate();
  // Whoever looks at the file alone sees of which program it is.
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  log.info(isNew ? "Created the database." : "Upgraded the database.", {
    steps: pending.map((migration) => migration.id),
    ...(isNew ? {} : { rowsBefore: before, rowsAfter: countRows(database) }),
  });
}

/** Makes at once what all steps make one after the other: most of them have SQLite read its whole schema again. */
function create(database: Database): void {
  failAs("Making the database", () => {
    database.run(SCHEMA);
    for (const { id } of MIGRATIONS) noteStep(database, id);
  });
}

/** Runs `steps` one after the other. @throws MigrationError at the first that fails; the caller's transaction undoes the others */
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
    const said = error instanceof Error ? error.message : String(error);
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
