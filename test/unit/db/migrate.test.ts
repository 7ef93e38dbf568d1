import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  ForeignDatabaseError,
  isOlderThanMarks,
  migrate,
  MigrationError,
  rejectForeign,
} from "../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { openDatabase } from "../../../src/db/open.ts";
import type { Log } from "../../../src/lib/log.ts";
import { silentLog } from "../../../src/lib/log.ts";

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "larder-migrate-"));
  path = join(directory, "larder.db");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const FIRST = MIGRATIONS.slice(0, 1);

function make(known = MIGRATIONS, log: Log = silentLog): void {
  const db = openDatabase(path);
  migrate(db.sqlite, log, known);
  db.close();
}

function contentOf(): { tables: unknown; steps: unknown } {
  const sqlite = new Database(path);
  const tables = sqlite.query("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
  const steps = sqlite.query("SELECT id FROM migrations ORDER BY id").values().flat();
  sqlite.close();
  return { tables, steps };
}

test("the rows of each table are logged before and after", () => {
  make(FIRST);
  const logged: unknown[] = [];
  make(MIGRATIONS, { ...silentLog, info: (message, fields) => logged.push(message, fields) });
  expect(logged).toEqual([
    "Upgraded the database.",
    {
      steps: MIGRATIONS.slice(1).map(({ id }) => id),
      rowsBefore: expect.objectContaining({ nodes: 0, users: 0, meta: 0 }),
      rowsAfter: expect.objectContaining({ nodes: 0, users: 0, trash: 0, meta: 1 }),
    },
  ]);
});

test("accounts created by the first sign-in through a provider have no known password", () => {
  const before = MIGRATIONS.filter(({ id }) => id < "0024");
  make(before);
  const sqlite = new Database(path);
  const addUser = (id: number, name: string) =>
    sqlite.run(
      `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
       VALUES (?1, ?2, ?2, ?2, ?2, 'user', 'free', 'x', 1000000)`,
      [id, name],
    );
  const link = (id: number, createdAt: number) =>
    sqlite.run("INSERT INTO oidc_identities (issuer, subject, user_id, created_at) VALUES ('i', ?1, ?1, ?2)", [
      id,
      createdAt,
    ]);
  addUser(1, "signed up");
  addUser(2, "made by the provider");
  addUser(3, "linked later");
  link(2, 1_000_100);
  link(3, 9_000_000);
  sqlite.close();
  make();
  const migrated = new Database(path);
  expect(migrated.query("SELECT has_password FROM users ORDER BY id").values().flat()).toEqual([1, 0, 1]);
  migrated.close();
});

test("files and folders of an earlier version get their own dates to sort by", () => {
  make(MIGRATIONS.filter(({ id }) => id < "0032"));
  const sqlite = new Database(path);
  sqlite.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'u', 'u', 'u', 'u', 'user', 'free', 'x', 0)`,
  );
  sqlite.run("INSERT INTO accounts (id, root_id) VALUES (1, 1)");
  const add = (id: number, kind: number, sentDate: string | null, contentAt: number | null) =>
    sqlite.run(
      `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
         created_seq, size_bytes, content_at, file_modified_at) VALUES (?1, ?1, 1, 1, ?2, ?1, ?1, 7000, 9000, 1, 1, 0, ?3, ?4)`,
      [id, kind, contentAt, sentDate],
    );
  add(1, 0, null, null);
  add(2, 1, null, 8_000);
  const dates = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+05:30", "1969-12-31T23:59:59.5Z", "no date"];
  dates.forEach((date, index) => add(3 + index, 1, date, 8_000));
  sqlite.run("INSERT INTO folders (node_id, child_files) VALUES (1, 5)");
  sqlite.close();
  const startedMs = Date.now();
  make();
  const migrated = new Database(path);
  expect(migrated.query("SELECT file_at FROM nodes ORDER BY id").values().flat()).toEqual([
    7_000,
    8_000,
    ...dates.slice(0, 3).map((date) => Date.parse(date)),
    8_000,
  ]);
  expect(migrated.query("SELECT bytes, tree_bytes FROM folders").get()).toEqual({ bytes: null, tree_bytes: null });
  const [rev] = migrated.query("SELECT tree_rev FROM folders").values().flat();
  expect(rev).toBeGreaterThanOrEqual(startedMs);
  expect(rev).toBeLessThanOrEqual(Date.now());
  migrated.close();
});

test("a failing step rolls back the steps before it and is named in the error", () => {
  make(FIRST);
  const before = contentOf();
  const failing = [
    ...MIGRATIONS.slice(0, 4),
    { id: "9999_broken", sql: "CREATE TABLE a (x);--> statement-breakpoint\nNO SQL" },
  ];
  expect(() => make(failing)).toThrow(MigrationError);
  expect(() => make(failing)).toThrow(/9999_broken .*near "NO"/);
  expect(contentOf()).toEqual(before);
  make();
  expect(contentOf().steps).toEqual(MIGRATIONS.map(({ id }) => id));
});

test.each([1, 5, MIGRATIONS.length - 1])("a kill during step %i leaves the old state", async (at) => {
  make(FIRST);
  const before = contentOf();
  const source = (file: string) => JSON.stringify(resolve(import.meta.dir, "../../../src", file));
  const program = `
    import { migrate } from ${source("db/migrate.ts")};
    import { MIGRATIONS } from ${source("db/migrations.ts")};
    import { openDatabase } from ${source("db/open.ts")};
    import { silentLog } from ${source("lib/log.ts")};
    const killing = MIGRATIONS.map((one, index) => index !== ${at} ? one : {
      id: one.id,
      get sql() { process.kill(process.pid, "SIGKILL"); return one.sql; },
    });
    migrate(openDatabase(${JSON.stringify(path)}).sqlite, silentLog, killing);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stderr: "inherit" });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(contentOf()).toEqual(before);
  make();
  expect(contentOf().steps).toEqual(MIGRATIONS.map(({ id }) => id));
});

test.each(["closed in order", "left by a crash"])("a database of a newer program is not changed (%s)", (how) => {
  const db = openDatabase(path);
  migrate(db.sqlite, silentLog);
  db.sqlite.run("INSERT INTO migrations VALUES ('9999_of_the_future', 1)");
  if (how === "closed in order") db.close();
  const before = readFileSync(path);
  const beside = readdirSync(directory);
  expect(() => rejectForeign(path)).toThrow(ForeignDatabaseError);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(directory)).toEqual(beside);
  db.sqlite.close();
});

test("a foreign database is rejected, and a missing one is not created", () => {
  rejectForeign(path);
  expect(existsSync(path)).toBe(false);
  const sqlite = new Database(path);
  sqlite.run("CREATE TABLE others (x)");
  sqlite.close();
  expect(() => rejectForeign(path)).toThrow(/not one of Larder's/);
});

test("a database last written by an older program is distinguished from one with run marks", () => {
  make(MIGRATIONS.slice(0, 3));
  expect(isOlderThanMarks(path)).toBe(true);
  make();
  expect(isOlderThanMarks(path)).toBe(false);
  rmSync(path);
  expect(isOlderThanMarks(path)).toBe(false);
});
