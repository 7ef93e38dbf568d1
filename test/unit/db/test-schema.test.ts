// Most unit tests begin with the schema of test/support/database.ts: it has to be the one that users have.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { createSchema } from "../../support/database.ts";

function contents(sqlite: Database): Record<string, unknown> {
  const schema = sqlite.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const tables = sqlite.query<{ name: string }, []>("SELECT name FROM pragma_table_list WHERE type = 'table'").all();
  const rows = tables
    .filter(({ name }) => name !== "sqlite_schema" && name !== "migrations")
    .map(({ name }) => [name, sqlite.query(`SELECT * FROM "${name}"`).all()]);
  const steps = sqlite.query("SELECT id FROM migrations ORDER BY id").all();
  return { schema, steps, ...Object.fromEntries(rows) };
}

test("the schema of unit tests is what the migrations leave", () => {
  const migrated = new Database(":memory:");
  migrate(migrated, silentLog);
  const created = new Database(":memory:");
  createSchema(created);
  expect(contents(created)).toEqual(contents(migrated));
});
