import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { IndexTables } from "../../../../src/features/library/text-index/index-tables.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-segments-"));
afterAll(() => rmSync(directory, { recursive: true }));

const TEXT = "The quagga lived on the plains. Ein Bär aß Süßes. ".repeat(20);

/** An index with one text in two segments. @param bytes of its file; undefined if files are in a bucket */
function indexOf(name: string, bytes: Uint8Array | undefined) {
  const file = join(directory, `${name}.txt`);
  if (bytes !== undefined) writeFileSync(file, bytes);
  const path = join(directory, `${name}.db`);
  const tables = new IndexTables(path, "test", () => (bytes === undefined ? undefined : file));
  tables.transaction(() => {
    tables.begin({ blobId: 7, digest: new Uint8Array(32), mediaType: "text/plain" }, 1);
    for (const text of [TEXT, `second ${TEXT}`]) tables.add(7, [{ page: 1, text }]);
    tables.finish(7);
  });
  const texts = () => [...tables.match('"quagga"')].map((id) => tables.segment(id)?.text);
  const stored = () => {
    const sqlite = new Database(path);
    const rows = sqlite
      .query<{ isStored: number }, []>("SELECT id IN (SELECT segment_id FROM stored) AS isStored FROM segments")
      .all();
    sqlite.close();
    return rows.map(({ isStored }) => isStored === 1);
  };
  const remove = () => {
    tables.markRemoved(7);
    while (tables.removeSome(performance.now() + 1));
  };
  return { path, file, tables, texts, stored, remove };
}

const bytesOf = (mark: string) => Buffer.from(`${mark}${TEXT}second ${TEXT}`);
const both = [TEXT, `second ${TEXT}`];

test.each([
  ["without", ""],
  ["with", "\ufeff"],
])("the text of a plain file is not stored, %s a byte order mark", (_name, mark) => {
  const { stored, texts, tables, remove } = indexOf(`plain${mark.length}`, bytesOf(mark));
  expect(stored()).toEqual([false, false]);
  expect(texts()).toEqual(both);
  remove();
  expect(texts()).toEqual([]);
  expect(stored()).toEqual([]);
  tables.close();
});

test.each([
  ["bucket", undefined],
  ["other", Buffer.from("%PDF-1.7 something else".repeat(200))],
])("the text is stored if it can't be read from the file: %s", (name, bytes) => {
  const { stored, texts, path, tables, remove } = indexOf(name, bytes);
  expect(stored()).toEqual([true, true]);
  expect(texts()).toEqual(both);
  tables.checkpoint();
  expect(readFileSync(path).includes("lived on the plains")).toBe(false);
  remove();
  expect(texts()).toEqual([]);
  tables.close();
});

test("the text of a damaged or missing file has to be read again, also to remove its words", () => {
  const { file, texts, tables, remove } = indexOf("damaged", bytesOf(""));
  writeFileSync(file, bytesOf("").fill("x", 10, 20));
  expect(texts()).toEqual([undefined, `second ${TEXT}`]);
  rmSync(file);
  expect(texts()).toEqual([undefined, undefined]);
  remove();
  expect(tables.unread).toEqual([{ blobId: 7, digest: new Uint8Array(32), mediaType: "text/plain" }]);
  tables.close();
});

test.each([
  ["unreadable", "x'00112233'"],
  ["of another text", "(SELECT text FROM stored WHERE segment_id = 2)"],
])("a damaged stored text has to be read again: %s", (name, value) => {
  const { path, tables, texts, remove } = indexOf(`stored ${name}`, undefined);
  const sqlite = new Database(path);
  sqlite.run(`UPDATE stored SET text = ${value} WHERE segment_id = 1`);
  sqlite.close();
  expect(texts()).toEqual([undefined, `second ${TEXT}`]);
  expect(tables.restore(new Uint8Array(32), bytesOf(""))).toBe(true);
  expect(texts()).toEqual(both);
  remove();
  expect(tables.unread).toEqual([]);
  expect(tables.match('"quagga"')).toEqual(new Float64Array(0));
  tables.close();
});
