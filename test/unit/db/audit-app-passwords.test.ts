// The step that lets the audit log name app passwords copies the table.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../../src/db/migrations.ts";

const STEP = "0038_audit_app_passwords";

const insert = (sqlite: Database, via: string, atMs: number) =>
  sqlite.run("INSERT INTO audit (at, via, action, outcome) VALUES (?1, ?2, 'file.upload', 'done')", [atMs, via]);

test("entries stay, ids are not used again, and the log can still only grow", () => {
  const sqlite = new Database(":memory:");
  const at = MIGRATIONS.findIndex(({ id }) => id === STEP);
  for (const { sql } of MIGRATIONS.slice(0, at)) sqlite.run(sql);
  insert(sqlite, "web", Date.now());
  insert(sqlite, "key", 0);
  expect(() => insert(sqlite, "app", Date.now())).toThrow("audit_via");
  sqlite.run("DELETE FROM audit WHERE at = 0");
  for (const { sql } of MIGRATIONS.slice(at)) sqlite.run(sql);

  insert(sqlite, "app", Date.now());
  const rows = sqlite.query("SELECT id, via FROM audit ORDER BY id").all();
  expect(rows).toEqual([
    { id: 1, via: "web" },
    { id: 3, via: "app" },
  ]);
  expect(() => sqlite.run("UPDATE audit SET action = 'x'")).toThrow("append-only");
  expect(() => sqlite.run("DELETE FROM audit")).toThrow("retention");
  expect(() => insert(sqlite, "other", Date.now())).toThrow("audit_via");
});
