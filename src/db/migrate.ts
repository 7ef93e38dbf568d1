/**
 * Brings a database to the data model of this program: forward only, all steps in one transaction, with a snapshot
 * taken by the caller before (D6). A failing step leaves the database as it was.
 */
import type { Database } from "bun:sqlite";
import type { Log } from "../lib/log.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";

/** The database was written by a newer program, or by none that this one knows. */
export class ForeignDatabaseError extends Error {
  override readonly name = "ForeignDatabaseError";
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
 * Runs what is pending and logs the rows of each table before and after.
 * @throws ForeignDatabaseError; SQLiteError with the old state intact.
 */
export function migrate(database: Database, log: Log, known: readonly Migration[] = MIGRATIONS): void {
  const pending = pendingMigrations(database, known);
  if (pending.length === 0) return;
  const before = countRows(database);
  database
    .transaction(() => {
      database.run(
        "CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
      );
      for (const { id, sql } of pending) {
        for (const statement of sql.split("--> statement-breakpoint")) database.run(statement);
        database.run("INSERT INTO migrations (id, applied_at) VALUES (?, ?)", [id, Date.now()]);
      }
    })
    .immediate();
  const isNew = Object.keys(before).length === 0;
  log.info(isNew ? "The database was made." : "The database was brought up to date.", {
    steps: pending.map((migration) => migration.id),
    ...(isNew ? {} : { rowsBefore: before, rowsAfter: countRows(database) }),
  });
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
