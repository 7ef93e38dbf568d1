/**
 * Makes the data directory of a stopped server look old and large: an account with many files, its long journal, other
 * accounts, and shares. Writes rows directly, and only for directories that the benchmark removes.
 *
 * Usage: bun seed-growth.ts accounts|files DATA_DIRECTORY FOLDER_NAME SCALE_AS_JSON
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { newId } from "../../src/lib/id.ts";
import { seed } from "./seed.ts";

/** What grows. */
export interface Scale {
  files: number;
  /** How many of the files are in one folder. */
  folderFiles: number;
  journalEntries: number;
  accounts: number;
  shares: number;
}

/** Opens the database of a stopped server. */
export function openToSeed(data: string): Database {
  const database = new Database(join(data, "larder.db"), { readwrite: true, strict: true });
  database.run("PRAGMA cache_size = -262144");
  database.run("PRAGMA foreign_keys = OFF");
  // The directory is used once, so a crash may destroy it.
  database.run("PRAGMA synchronous = OFF");
  return database;
}

function columnsOf(database: Database, table: string): string[] {
  const found = database.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
  return found.map(({ name }) => name);
}

/** A statement that copies a row; `own` are the columns that get new values, as parameters in this order. */
export function copyStatement(database: Database, table: string, own: string[], where: string) {
  const copied = columnsOf(database, table).filter((name) => !own.includes(name));
  const values = own.map((_, index) => `?${index + 1}`);
  return database.prepare(
    `INSERT INTO ${table} (${[...own, ...copied].join(", ")})
       SELECT ${[...values, ...copied].join(", ")} FROM ${table} WHERE ${where}`,
  );
}

/** Earlier changes of the files that are created next. */
function seedJournal(database: Database, { files, journalEntries }: Scale): void {
  const [account] = database.query<{ id: number; seq: number }, []>("SELECT id, seq FROM accounts LIMIT 1").all();
  const [last] = database.query<{ id: number }, []>("SELECT max(id) AS id FROM nodes").all();
  if (account === undefined || last === undefined) throw new Error("the database has no account");
  database
    .query(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO journal (account_id, seq, node_id, at) SELECT ?2, ?3 + i, ?4 + i * 7919 % ?5, ?6 FROM n`,
    )
    .run(journalEntries, account.id, account.seq, last.id + 1, files, Date.now());
  database.query("UPDATE accounts SET seq = seq + ?1 WHERE id = ?2").run(journalEntries, account.id);
}

/** Accounts without files, each with its root folder. */
export function seedAccounts(database: Database, { accounts }: Scale): void {
  const [root] = database.query<{ id: number }, []>("SELECT root_id AS id FROM accounts LIMIT 1").all();
  const [last] = database
    .query<{ node: number; user: number }, []>(
      "SELECT (SELECT max(id) FROM nodes) AS node, (SELECT max(id) FROM users) AS user",
    )
    .all();
  if (root === undefined || last === undefined) throw new Error("the database has no account");
  const unique = ["email_folded", "email_skeleton", "email_forms"];
  const addUser = copyStatement(database, "users", ["id", "public_id", "email", "email_key", ...unique], "id = 1");
  const addNode = copyStatement(database, "nodes", ["id", "public_id", "account_id"], `id = ${root.id}`);
  const addFolder = database.prepare("INSERT INTO folders (node_id) VALUES (?1)");
  const addAccount = database.prepare("INSERT INTO accounts (id, root_id) VALUES (?1, ?2)");
  const now = Date.now();
  for (let number = 1; number <= accounts; number += 1) {
    const [user, node, email] = [last.user + number, last.node + number, `user-${number}@example.com`];
    addUser.run(user, newId("usr", now), email, email, null, null, null);
    addNode.run(node, newId("fold", now), user);
    addFolder.run(node);
    addAccount.run(user, node);
  }
}

/** Shares of different files, which are copies of the only one. */
function seedShares(database: Database, { files, shares }: Scale): void {
  const [first] = database.query<{ id: number; nodeId: number }, []>("SELECT id, node_id AS nodeId FROM shares").all();
  if (first === undefined) throw new Error("the account has no share to copy");
  const own = ["id", "public_id", "node_id", "nonce", "token_hash"];
  const add = copyStatement(database, "shares", own, `id = ${first.id}`);
  const node = database.prepare<{ id: number }, [number]>("SELECT id FROM nodes WHERE kind = 1 AND id >= ?1 LIMIT 1");
  const now = Date.now();
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  for (let number = 1; number < shares; number += 1) {
    const nodeId = node.get(first.nodeId + 1 + Math.floor((number * files) / shares))?.id ?? first.nodeId;
    add.run(first.id + number, newId("shr", now), nodeId, random(16), random(32));
  }
}

/** The accounts come first: the server writes the metadata journal of each, which reads the rows of all files. */
function seedBeforeFiles(data: string, scale: Scale): void {
  const database = openToSeed(data);
  database.transaction(() => seedAccounts(database, scale))();
  database.close();
}

function seedFiles(data: string, folderName: string, scale: Scale): void {
  const database = openToSeed(data);
  seedJournal(database, scale);
  seed(data, folderName, scale.files, scale.folderFiles);
  database.transaction(() => {
    seedShares(database, scale);
    // The triggers add them to the photos, at the time when they were created.
    database.run("UPDATE nodes SET media_type = 'image/jpeg' WHERE kind = 1 AND name LIKE '%.jpg'");
    // Everything counts as written to the metadata journal. The search index is built after the start.
    database.run("DELETE FROM store_journal_again");
    database.run("UPDATE store_journal SET seq = (SELECT a.seq FROM accounts a WHERE a.id = store_journal.account_id)");
    database.run("DELETE FROM search_fill");
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

if (import.meta.main) {
  const [part, data, folderName, scale] = process.argv.slice(2);
  if (data === undefined || folderName === undefined || scale === undefined)
    throw new Error("usage: seed-growth.ts accounts|files DATA_DIRECTORY FOLDER_NAME SCALE_AS_JSON");
  const parsed: Scale = JSON.parse(scale);
  if (part === "accounts") seedBeforeFiles(data, parsed);
  else seedFiles(data, folderName, parsed);
}
