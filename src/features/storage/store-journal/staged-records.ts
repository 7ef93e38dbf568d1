import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import type { AlbumRecord } from "./album-records.ts";
import { idOf, parseAlbumRecord, parseNodeRecord } from "./parse-record.ts";
import type { FileRecord, FolderRecord, GoneRecord } from "./records.ts";

/** A node's record and its number, which never changes. */
interface StagedRecord {
  readonly number: number;
  readonly record: FileRecord | FolderRecord;
}

/** How a record is staged: it is of a node, of a deletion, or of an album. */
const NODE = 0;
const GONE = 1;
const ALBUM = 2;

/** The newest record of each node and album of one account, in a temporary database: a large account does not fit into memory. */
export class StagedRecords {
  readonly #path: string;
  readonly #sqlite: Database;
  readonly #put;
  readonly #find;
  readonly #get;
  #lastSeq = 0;
  #lastAtMs = 0;

  /** @param path of the temporary file; an existing one is replaced */
  constructor(path: string) {
    this.#path = path;
    rmSync(path, { force: true });
    this.#sqlite = new Database(path, { create: true, readwrite: true, strict: true });
    for (const pragma of ["journal_mode=OFF", "synchronous=OFF", "cache_size=-16384"]) {
      this.#sqlite.run(`PRAGMA ${pragma}`);
    }
    this.#sqlite.run(
      "CREATE TABLE records (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, is_gone INTEGER NOT NULL, line TEXT NOT NULL) STRICT",
    );
    this.#put = this.#sqlite.prepare<undefined, [string, number, string]>(
      `INSERT INTO records (id, is_gone, line) VALUES (?1, ?2, ?3)
       ON CONFLICT (id) DO UPDATE SET is_gone = excluded.is_gone, line = excluded.line`,
    );
    this.#find = this.#sqlite.prepare<{ number: number; isGone: number }, [string]>(
      "SELECT number, is_gone AS isGone FROM records WHERE id = ?1",
    );
    this.#get = this.#sqlite.prepare<{ line: string }, [string]>(
      `SELECT line FROM records WHERE id = ?1 AND is_gone = ${NODE}`,
    );
    this.#sqlite.run("BEGIN");
  }

  /** Adds a line; the last one of a node counts. @throws Error if it is no record of a node */
  put(line: unknown): void {
    const album = parseAlbumRecord(line);
    if (album !== undefined) {
      this.#put.run(album.gone, ALBUM, JSON.stringify(album));
      return;
    }
    const record = parseNodeRecord(line);
    if (record === undefined) throw new Error("a line is not valid");
    if (!("gone" in record)) this.#noteNumbers(record);
    this.#put.run(idOf(record), "gone" in record ? GONE : NODE, JSON.stringify(record));
  }

  /** The highest number of the account's journal in any record, and the latest time. */
  get last(): { readonly seq: number; readonly atMs: number } {
    return { seq: this.#lastSeq, atMs: this.#lastAtMs };
  }

  /** The number of a node, and whether it was deleted; undefined without a record. */
  find(id: string): { readonly number: number; readonly isGone: boolean } | undefined {
    const row = this.#find.get(id);
    return row === null ? undefined : { number: row.number, isGone: row.isGone === GONE };
  }

  /** The record of a node; undefined if it was deleted or has none. */
  get(id: string): FileRecord | FolderRecord | undefined {
    const row = this.#get.get(id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it was put here
    return row === null ? undefined : (JSON.parse(row.line) as FileRecord | FolderRecord);
  }

  /** Ids of all nodes and albums that were deleted. */
  gone(): string[] {
    return this.#sqlite
      .query<{ id: string }, []>(`SELECT id FROM records WHERE is_gone = ${GONE}`)
      .all()
      .map(({ id }) => id);
  }

  /** The records of all nodes that were not deleted, in the order in which they were first added. */
  *all(): Generator<StagedRecord> {
    const rows = this.#sqlite.query<{ number: number; line: string }, []>(
      `SELECT number, line FROM records WHERE is_gone = ${NODE} ORDER BY number`,
    );
    for (const { number, line } of rows.iterate()) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it was put here
      const record = JSON.parse(line) as FileRecord | FolderRecord | GoneRecord;
      if (!("gone" in record)) yield { number, record };
    }
  }

  /** The records of all albums that were not deleted, in the order in which they were first added. */
  *albums(): Generator<AlbumRecord> {
    const rows = this.#sqlite.query<{ line: string }, []>(
      `SELECT line FROM records WHERE is_gone = ${ALBUM} ORDER BY number`,
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked when it was put here
    for (const { line } of rows.iterate()) yield JSON.parse(line) as AlbumRecord;
  }

  /** Deletes all records, for the next account. */
  clear(): void {
    this.#sqlite.run("DELETE FROM records");
    this.#lastSeq = 0;
    this.#lastAtMs = 0;
  }

  #noteNumbers({ born = 0, bornAt = 0, places = [] }: FileRecord | FolderRecord): void {
    this.#lastSeq = Math.max(this.#lastSeq, born, ...places.map(({ seq }) => seq));
    this.#lastAtMs = Math.max(this.#lastAtMs, bornAt, ...places.map(({ at }) => at));
  }

  /** Closes the database and deletes its file. */
  close(): void {
    this.#sqlite.run("ROLLBACK");
    this.#sqlite.close();
    rmSync(this.#path, { force: true });
  }
}
