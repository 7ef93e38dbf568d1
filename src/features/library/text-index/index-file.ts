/** The database file of the text index: opened, created and deleted. */
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { TOKENIZER } from "./fold.ts";

/** Raised when the tables, or the form of the words in them, change. */
const FORMAT = 3;

const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE texts (blob_id INTEGER PRIMARY KEY, digest BLOB NOT NULL, state INTEGER NOT NULL, reason TEXT,
    first_segment INTEGER NOT NULL DEFAULT 0, segments INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    type_id INTEGER NOT NULL, read_ms INTEGER, is_stored INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX texts_digest ON texts (substr(digest, 1, 6));
  CREATE INDEX texts_state ON texts (state, reason);
  CREATE INDEX texts_stored ON texts (read_ms) WHERE is_stored = 1 AND read_ms IS NOT NULL;
  CREATE TABLE media_types (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE segments (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, position INTEGER NOT NULL, length INTEGER NOT NULL,
    hash INTEGER NOT NULL);
  CREATE TABLE stored (segment_id INTEGER PRIMARY KEY, text BLOB NOT NULL);
  CREATE TABLE queue (blob_id INTEGER PRIMARY KEY, digest BLOB NOT NULL, media_type TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX queue_order ON queue (attempts, blob_id);
  CREATE TABLE cursors (account_id INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
  CREATE VIRTUAL TABLE words USING fts5 (text, content='', columnsize=0, detail=none, tokenize="${TOKENIZER}");
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
  INSERT INTO words (words, rank) VALUES ('pgsz', 4050);`;
const CONNECTION = `
  CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab (main, words, instance);`;

/** Deletes the index. */
export function deleteIndex(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true });
}

/** Opens the index; creates it if it is missing, damaged, of another format, or of another database. */
export function openIndex(path: string, source: string): Database {
  let sqlite: Database | undefined;
  try {
    sqlite = open(path);
    if (readMeta(sqlite, "source") !== `${FORMAT} ${source}`) throw new Error("It belongs to another database.");
  } catch {
    sqlite?.close();
    deleteIndex(path);
    sqlite = open(path);
    sqlite.run(TABLES);
    writeMeta(sqlite, "source", `${FORMAT} ${source}`);
  }
  sqlite.run(CONNECTION);
  return sqlite;
}

function open(path: string): Database {
  const sqlite = new Database(path, { create: true, readwrite: true, strict: true });
  const pragmas = [
    // Merging leaves a third of the file empty. It has to be set before the file has a page.
    "auto_vacuum=INCREMENTAL",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "secure_delete=ON",
    "cache_size=-8192",
    "temp_store=MEMORY",
  ];
  for (const pragma of pragmas) sqlite.run(`PRAGMA ${pragma}`);
  return sqlite;
}

/** Reads a value that belongs to the whole index. */
export function readMeta(sqlite: Database, key: string): string | undefined {
  return sqlite.query<{ value: string }, [string]>("SELECT value FROM meta WHERE key = ?1").get(key)?.value;
}

/** Writes a value that belongs to the whole index. */
export function writeMeta(sqlite: Database, key: string, value: string): void {
  sqlite.query("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)").run(key, value);
}

/** Overwrites what removed texts left in the log. */
export function checkpoint(sqlite: Database): void {
  sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").all();
}
