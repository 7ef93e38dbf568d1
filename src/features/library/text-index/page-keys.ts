/**
 * Removes what removed words leave in the list of the pages of a full-text index. The list has a key for each page: its
 * first word, or the beginning of it. When that word is removed, SQLite removes it from the page but keeps the key, and
 * its tables can't be changed directly. So all pages are written again, as `optimize` does, but in small steps.
 */
import type { Database } from "bun:sqlite";
import { checkpoint, readMeta, writeMeta } from "./index-file.ts";

/** Pages that are written in one step: a few milliseconds. */
const PAGES_TOGETHER = 16;
/** The bits of the number of a page in its row id, below those of its segment. */
const PAGE_BITS = 37;
/** A row that no text has. */
const NO_ROW = 0;
const NO_TEXT = "a";

/** Whether removed words may still be in the list of pages. */
const TRACES = "traces";

/** The traces of removed words. What is known about them is known after a crash. */
export class WordTraces {
  readonly #sqlite: Database;
  #isPossible: boolean;
  #isRewriting = false;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
    this.#isPossible = readMeta(sqlite, TRACES) === "yes";
  }

  /** Whether there may be some: {@link cleanSome} removes them. */
  get isPossible(): boolean {
    return this.#isPossible;
  }

  /** Words are removed now. */
  note(): void {
    if (!this.#isPossible) writeMeta(this.#sqlite, TRACES, "yes");
    this.#isPossible = true;
  }

  /** Removes them, until a time. @returns whether there may be more */
  cleanSome(untilMs: number): boolean {
    if (!this.#isRewriting) {
      this.#isRewriting = this.#isPossible && hasForeignKeys(this.#sqlite);
      writeMeta(this.#sqlite, TRACES, this.#isRewriting ? "yes" : "no");
      this.#isPossible = false;
      if (this.#isRewriting) this.#sqlite.transaction(() => beginRewrite(this.#sqlite)).immediate();
    }
    while (this.#isRewriting) {
      if (performance.now() > untilMs) return true;
      this.#isRewriting = this.#sqlite.transaction(() => continueRewrite(this.#sqlite)).immediate();
      if (this.#isRewriting) continue;
      if (!this.#isPossible) writeMeta(this.#sqlite, TRACES, "no");
      checkpoint(this.#sqlite);
    }
    return false;
  }
}

/** Whether a page of the index `words` has a key with which no word on it begins. */
function hasForeignKeys(sqlite: Database): boolean {
  const pages = sqlite.query<{ key: Uint8Array; page: Uint8Array }, []>(
    `SELECT i.term AS key, d.block AS page FROM words_idx i JOIN words_data d ON d.id = (i.segid << ${PAGE_BITS}) + (i.pgno >> 1)`,
  );
  for (const { key, page } of pages.iterate()) {
    const first = firstWordOf(page) ?? new Uint8Array(0);
    if (Buffer.compare(first.subarray(0, key.length), key) !== 0) return true;
  }
  return false;
}

/** Begins to write all pages of the index `words` again. In a transaction. */
function beginRewrite(sqlite: Database): void {
  // Without a further segment, SQLite takes the only one for written well.
  sqlite.query("INSERT INTO words (rowid, text) VALUES (?1, ?2)").run(NO_ROW, NO_TEXT);
  merge(sqlite, -PAGES_TOGETHER);
}

/** Writes some pages. In a transaction. @returns whether there are more */
function continueRewrite(sqlite: Database): boolean {
  const before = totalChanges(sqlite);
  merge(sqlite, PAGES_TOGETHER);
  // SQLite counts one change for the command itself.
  if (totalChanges(sqlite) - before >= 2) return true;
  sqlite.query("INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)").run(NO_ROW, NO_TEXT);
  return false;
}

/** With a negative number of pages, SQLite begins. */
function merge(sqlite: Database, pages: number): void {
  sqlite.query("INSERT INTO words (words, rank) VALUES ('merge', ?1)").run(pages);
}

function totalChanges(sqlite: Database): number {
  return sqlite.query<{ changes: number }, []>("SELECT total_changes() AS changes").get()?.changes ?? 0;
}

/** The first word on a page; undefined if none begins on it. */
function firstWordOf(page: Uint8Array): Uint8Array | undefined {
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  // The list of the places of words is after the words. Its first place is from the start of the page.
  const listAt = view.getUint16(2);
  if (listAt >= page.length) return undefined;
  const [wordAt] = readNumber(page, listAt);
  // The first word is complete; the others lack what they share with the one before.
  const [length, textAt] = readNumber(page, wordAt);
  return page.subarray(textAt, textAt + length);
}

/** Reads a number of one to three bytes, with seven bits in each: pages are short. @returns it, and what is next */
function readNumber(page: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let next = at; next < at + 3; next++) {
    const byte = page[next] ?? 0;
    value = (value << 7) | (byte & 0x7f);
    if (byte < 0x80) return [value, next + 1];
  }
  return [value, at + 3];
}
