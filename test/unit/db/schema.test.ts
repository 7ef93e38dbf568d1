import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrate } from "../../../src/db/migrate.ts";
import * as schema from "../../../src/db/schema/schema.ts";
import { silentLog } from "../../../src/lib/log.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

const database = new Database(":memory:", { strict: true });
migrate(database, silentLog);

const described = Object.values(schema).flatMap((value) => (is(value, SQLiteTable) ? [getTableConfig(value)] : []));

test.each(described.map((table) => [table.name, table] as const))(
  "the table %s is what its schema says",
  (name, table) => {
    const columns = database
      .query<Column, [string]>("SELECT name, type, [notnull], pk FROM pragma_table_info(?1)")
      .all(name);
    const declared = table.columns.map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      // A key of one integer is the row's number, which SQLite never lets be null.
      isRequired: column.notNull,
    }));
    const made = columns.map((column) => ({ name: column.name, type: column.type, isRequired: column.notnull === 1 }));
    expect(made.toSorted(byName)).toEqual(declared.toSorted(byName));
    const indexes = database
      .query<{ name: string }, [string]>("SELECT name FROM pragma_index_list(?1) WHERE origin = 'c'")
      .all(name);
    expect(indexes.map((index) => index.name).toSorted()).toEqual(
      table.indexes.map((index) => index.config.name).toSorted(),
    );
  },
);

test("every table is in the schema and strict", () => {
  const made = database
    .query<{ name: string; strict: number }, []>(
      "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .filter(({ name }) => name !== "migrations" && !name.startsWith("node_names") && !name.startsWith("search_text"));
  expect(made.map(({ name }) => name).toSorted()).toEqual(described.map(({ name }) => name).toSorted());
  expect(made.filter(({ strict }) => strict === 0)).toEqual([]);
});

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
