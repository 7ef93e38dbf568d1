// SQLite compiled statements again at each run whose plan could depend on a bound value.
import { expect, test } from "bun:test";
import { type Database, Database as PlainDatabase } from "bun:sqlite";
import { keepCompiled, LazyDatabase } from "../../../src/db/lazy-database.ts";

const PAGE = "SELECT id FROM nodes WHERE parent_id = ?1 ORDER BY id LIMIT ?2";
const PARTIAL = "SELECT id FROM nodes WHERE is_public = ?1";

function withTable<T extends Database>(database: T): T {
  database.run("CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent_id INTEGER, is_public INTEGER, name TEXT)");
  database.run("CREATE INDEX nodes_parent ON nodes (parent_id)");
  database.run("CREATE INDEX nodes_public ON nodes (id) WHERE is_public = 1");
  return database;
}

/** The program that SQLite runs for a statement with these values. */
function programOf(database: Database, sql: string, values: number[]): unknown[] {
  return database.query<unknown, number[]>(`EXPLAIN ${sql}`).all(...values);
}

test.each([
  [PAGE, [1, 1], [1, 2]],
  [PARTIAL, [0], [1]],
])("the program of %s does not depend on bound values", (sql, first, second) => {
  // Without the plus sign, SQLite compiles the statement for its values.
  const plain = withTable(new PlainDatabase(":memory:", { strict: true }));
  expect(programOf(plain, sql, first)).not.toEqual(programOf(plain, sql, second));
  const database = withTable(new LazyDatabase(":memory:", { strict: true }));
  expect(programOf(database, sql, first)).toEqual(programOf(database, sql, second));
  expect(database.prepare(sql).toString()).toContain("+");
});

test("a plus sign stands before each parameter whose value SQLite would use", () => {
  expect(keepCompiled(PAGE)).toBe("SELECT id FROM nodes WHERE parent_id = +?1 ORDER BY id LIMIT +?2");
  expect(keepCompiled('select "id" from "nodes" where "id" = ? limit ?')).toBe(
    'select "id" from "nodes" where "id" = +? limit +?',
  );
  expect(keepCompiled("UPDATE nodes SET name=?1 WHERE name IS ?2")).toBe(
    "UPDATE nodes SET name= +?1 WHERE name IS +?2",
  );
});

test("all other parameters, and texts in quotes, stay as they are", () => {
  for (const sql of [
    "SELECT id FROM nodes WHERE id >= ?1 AND id <> ?2 AND id != ?3 AND (parent_id, id) > (?4, ?5)",
    "SELECT id FROM nodes WHERE name = 'a = ?' AND name LIKE ? ESCAPE '\\'",
    "SELECT id FROM nodes LIMIT 5 OFFSET ?1",
  ]) {
    expect(keepCompiled(sql)).toBe(sql);
  }
});

test("values of all types are stored and found as without a plus sign", () => {
  const database = new LazyDatabase(":memory:", { strict: true });
  database.run("CREATE TABLE kept (value ANY, name TEXT, number INTEGER) STRICT");
  database.run("INSERT INTO kept VALUES (NULL, '12', 12)");
  const update = database.prepare<undefined, [string | number | bigint | Uint8Array | null]>(
    "UPDATE kept SET value = ?1",
  );
  for (const value of ["12", 12, 1.5, 9007199254740993n, new Uint8Array([0, 255]), null]) {
    update.run(value);
    const found = database.prepare<unknown, [typeof value]>(
      "SELECT 1 FROM kept WHERE value IS ?1 AND typeof(value) = typeof(?1)",
    );
    expect(found.all(value)).toHaveLength(1);
  }
  // The column decides how values are compared: numbers as texts, and the other way round.
  expect(database.query<unknown, [number]>("SELECT 1 FROM kept WHERE name = ?1").all(12)).toHaveLength(1);
  expect(database.query<unknown, [string]>("SELECT 1 FROM kept WHERE number = ?1").all("12")).toHaveLength(1);
});
