import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeSchema } from "../../../scripts/schema.ts";
import { migrate, runSteps } from "../../../src/db/migrate.ts";
import { MIGRATIONS, SCHEMA } from "../../../src/db/migrations.ts";
import { silentLog } from "../../../src/lib/log.ts";

function contents(sqlite: Database): Record<string, unknown> {
  const schema = sqlite.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const tables = sqlite.query<{ name: string }, []>("SELECT name FROM pragma_table_list WHERE type = 'table'").all();
  const rows = tables
    .filter(({ name }) => name !== "sqlite_schema" && name !== "migrations")
    .map(({ name }) => [name, sqlite.query(`SELECT * FROM "${name}"`).all()]);
  const steps = sqlite.query("SELECT id FROM migrations ORDER BY id").all();
  return { schema, steps, ...Object.fromEntries(rows) };
}

test("migrations/schema.sql is up to date; if not, run: bun scripts/schema.ts", () => {
  expect(SCHEMA === writeSchema()).toBe(true);
});

test("a new database equals an empty one after all migration steps", () => {
  const stepped = new Database(":memory:");
  runSteps(stepped, MIGRATIONS);
  const made = new Database(":memory:");
  migrate(made, silentLog);
  expect(contents(made)).toEqual(contents(stepped));
});
