// The step that forgets languages that nobody chose.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { silentLog } from "../../../src/lib/log.ts";

test("a stored default is no language that a person chose", () => {
  const sqlite = new Database(":memory:", { strict: true });
  const before = MIGRATIONS.findIndex(({ id }) => id === "0054_unset_language");
  migrate(sqlite, silentLog, MIGRATIONS.slice(0, before));
  const settings = [
    '{"language":"en","theme":"dark"}',
    '{"language":"pt-BR","theme":"dark"}',
    '{"pins":["fld_1"]}',
    "{}",
  ];
  for (const [index, json] of settings.entries()) {
    sqlite
      .query(
        `INSERT INTO users (public_id, email, email_key, name, role, plan, password_hash, created_at, settings)
         VALUES (?1, ?1, ?1, 'A', 'user', 'free', '', 0, ?2)`,
      )
      .run(`usr_${index}`, json);
  }
  migrate(sqlite, silentLog);
  const stored = sqlite.query("SELECT settings FROM users ORDER BY id").values().flat();
  expect(stored).toEqual(['{"theme":"dark"}', ...settings.slice(1)]);
});
