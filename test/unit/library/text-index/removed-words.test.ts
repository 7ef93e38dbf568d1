import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IndexTables } from "../../../../src/features/library/text-index/index-tables.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-words-"));
afterAll(() => rmSync(directory, { recursive: true }));

const FILES = 300;
const WORDS = 250;

/** Words that are close to each other, so that a key of the index needs all of a word. */
function wordsOf(file: number): string[] {
  return Array.from({ length: WORDS }, (_, at) => `de${String(at * 7_919 + file).padStart(9, "0")}`);
}

function addText(tables: IndexTables, blobId: number, text: string): void {
  const blob = { blobId, digest: new Bun.CryptoHasher("sha256").update(text).digest(), mediaType: "text/plain" };
  tables.transaction(() => {
    tables.begin(blob, 1);
    tables.add(blobId, [{ page: 1, text }]);
    tables.finish(blobId);
  });
}

/** The words of a text that are anywhere in the files of the index. */
function traces(path: string, words: readonly string[]): string[] {
  const all = ["", "-wal"].filter((suffix) => existsSync(path + suffix)).map((suffix) => readFileSync(path + suffix));
  return words.filter((word) => all.some((bytes) => bytes.includes(word)));
}

/** Removes texts as the thread of the index does; then the traces of their words. */
function removeTexts(tables: IndexTables, blobIds: readonly number[]): void {
  for (const blobId of blobIds) tables.transaction(() => tables.markRemoved(blobId));
  while (tables.removeSome(performance.now() + 1));
  tables.checkpoint();
}

test("none of the words of removed texts stays in the file, and all others are still found", () => {
  const path = join(directory, "text-index.db");
  let tables = new IndexTables(path, "test", () => undefined);
  for (let file = 1; file <= FILES; file++) addText(tables, file, wordsOf(file).join(" "));
  const gone = new Set<number>();
  // The second time, the index has been written again before.
  for (const round of [0, 1]) {
    const removed = Array.from({ length: 30 }, (_, at) => 1 + round + at * 9);
    for (const blobId of removed) gone.add(blobId);
    removeTexts(tables, removed);
    const words = removed.flatMap(wordsOf);
    // What is to be cleaned is known after a crash.
    tables.close();
    tables = new IndexTables(path, "test", () => undefined);
    expect(tables.hasTraces).toBe(true);
    expect(traces(path, words)).not.toEqual([]);
    while (tables.cleanSome(performance.now() + 1));
    expect(traces(path, words)).toEqual([]);
    expect(tables.hasTraces).toBe(false);
  }
  const found = (word: string) => tables.match(`"${word}"`).length;
  const files = Array.from({ length: FILES }, (_, at) => at + 1);
  const wrong = files.filter((file) => wordsOf(file).some((word) => found(word) !== (gone.has(file) ? 0 : 1)));
  expect(wrong).toEqual([]);
  tables.close();
  const sqlite = new Database(path);
  sqlite.run("INSERT INTO words (words) VALUES ('integrity-check')");
  expect(sqlite.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  sqlite.close();
});
