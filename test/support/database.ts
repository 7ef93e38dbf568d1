// Empty databases of the present data model, without the 50 ms that all migrations take.
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { silentLog } from "../../src/lib/log.ts";

/** Every test file runs with its own modules: what one of them worked out lies here for the others, by its content. */
const CACHE = resolve(import.meta.dir, "../../node_modules/.cache/larder");

let script: string | undefined;

/** What `migrate` leaves in an empty database. */
export function createSchema(sqlite: Database): void {
  script ??= readScript();
  sqlite.run(script);
}

function readScript(): string {
  const version = Bun.hash(MIGRATIONS.map(({ id, sql }) => id + sql).join("\n")).toString(36);
  const path = join(CACHE, `test-schema-${version}.sql`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  const made = writeScript();
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, made);
  renameSync(`${path}.${process.pid}`, path);
  return made;
}

function writeScript(): string {
  const sqlite = new Database(":memory:");
  migrate(sqlite, silentLog);
  const entries = sqlite
    .query<{ type: string; name: string; sql: string }, []>(
      `SELECT type, name, sql FROM sqlite_schema s WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*' AND NOT EXISTS (
        SELECT 1 FROM pragma_table_list l WHERE l.name = s.name AND l.type = 'shadow')`,
    )
    .all();
  const tables = entries.filter(({ type, sql }) => type === "table" && !sql.startsWith("CREATE VIRTUAL"));
  const rows = tables.flatMap(({ name }) => insertsOf(sqlite, name));
  sqlite.close();
  return ["BEGIN", ...entries.map(({ sql }) => sql), ...rows, "COMMIT"].join(";\n");
}

/** The statements that give a table its rows. */
function insertsOf(sqlite: Database, table: string): string[] {
  const columns = sqlite.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
  const values = columns.map(({ name }) => `quote("${name}")`).join(" || ',' || ");
  return sqlite
    .query<{ row: string }, []>(`SELECT ${values} AS row FROM "${table}"`)
    .all()
    .map(({ row }) => `INSERT INTO "${table}" VALUES (${row})`);
}
