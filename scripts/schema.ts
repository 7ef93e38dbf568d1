/**
 * Writes migrations/schema.sql: the result of all steps of migrations/ in one script. New databases are created from it, in
 * a fifth of the time. Run it after you add a step.
 */
import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { runSteps } from "../src/db/migrate.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";

/** The text of the script. */
export function writeSchema(): string {
  const sqlite = new Database(":memory:", { strict: true });
  runSteps(sqlite, MIGRATIONS);
  const entries = sqlite
    .query<{ type: string; name: string; sql: string }, []>(
      `SELECT type, name, sql FROM sqlite_schema s WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND NOT EXISTS (
        SELECT 1 FROM pragma_table_list l WHERE l.name = s.name AND l.type = 'shadow')`,
    )
    .all();
  const tables = entries.filter(({ type, sql }) => type === "table" && !sql.startsWith("CREATE VIRTUAL"));
  const rows = tables.flatMap(({ name }) => insertsOf(sqlite, name));
  sqlite.close();
  const statements = [...entries.map(({ sql }) => sql), ...rows].map((statement) => `${statement};\n`);
  return `-- Written by scripts/schema.ts. Don't change it by hand: change the model by a new step.\n\n${statements.join("\n")}`;
}

/** The statements that insert the rows of a table, without the times of the steps. */
function insertsOf(sqlite: Database, table: string): string[] {
  if (table === "migrations") return [];
  const columns = sqlite.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
  const values = columns.map(({ name }) => `quote("${name}")`).join(" || ',' || ");
  return sqlite
    .query<{ row: string }, []>(`SELECT ${values} AS row FROM "${table}"`)
    .all()
    .map(({ row }) => `INSERT INTO "${table}" VALUES (${row})`);
}

if (import.meta.main) writeFileSync(resolve(import.meta.dir, "../migrations/schema.sql"), writeSchema());
