// The index takes at most 30 % of the size of the texts. Texts that it drops for that are read again when they are needed.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TextFinder } from "../../../../src/features/library/text-index/find.ts";
import { toIndexWord } from "../../../../src/features/library/text-index/fold.ts";
import { IndexTables, LostTextError } from "../../../../src/features/library/text-index/index-tables.ts";

const directory = mkdtempSync(join(tmpdir(), "larder-test-space-"));
afterAll(() => rmSync(directory, { recursive: true }));

const TEXTS = 400;
const WORDS = 1_000;
/** One text in ten takes long to read. */
const isSlow = (blobId: number) => blobId % 10 === 0;

/** A word that only one text has. Words of other texts begin another way, so the index contains all of it. */
const uniqueOf = (blobId: number) =>
  `z${new Bun.CryptoHasher("sha256").update(String(blobId)).digest("hex").slice(0, 16)}`;

/** Words as frequent as in a language: the tenth is ten times as rare as the first. */
function textOf(blobId: number): string {
  let seed = blobId * 2_654_435_761;
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const words = Array.from({ length: WORDS }, () => `word${Math.floor(2_000 ** next())}ing`);
  return `${uniqueOf(blobId)} ${words.join(" ")} the ${blobId} end.`;
}

const digestOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();

function addText(tables: IndexTables, blobId: number, readMs: number | null): void {
  const text = textOf(blobId);
  tables.transaction(() => {
    tables.begin({ blobId, digest: digestOf(text), mediaType: "text/html" }, readMs);
    tables.add(blobId, [{ page: 1, text }]);
    tables.finish(blobId);
  });
  while (tables.dropSome(performance.now() + 1));
}

/** Bytes of the pages in use. */
function usedBytes(path: string): number {
  const sqlite = new Database(path, { readonly: true });
  const read = (name: string) =>
    Object.values(sqlite.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {})[0];
  const used = ((read("page_count") ?? 0) - (read("freelist_count") ?? 0)) * (read("page_size") ?? 0);
  sqlite.close();
  return used;
}

const all = Array.from({ length: TEXTS }, (_, at) => at + 1);
const sizeOf = (blobIds: readonly number[]) => blobIds.reduce((sum, one) => sum + Buffer.byteLength(textOf(one)), 0);
const limitOf = (blobIds: readonly number[]) => Math.max(1024 * 1024, sizeOf(blobIds) * 0.3);

/** Is copied for each test, because compressing texts takes long. */
const filledPath = join(directory, "filled.db");
const exceeded: { readonly used: number; readonly limit: number }[] = [];
beforeAll(() => {
  const tables = new IndexTables(filledPath, "test", () => undefined);
  for (const blobId of all) {
    addText(tables, blobId, isSlow(blobId) ? 900 : 5);
    if (blobId % 50 > 0) continue;
    const [used, limit] = [usedBytes(filledPath), limitOf(all.slice(0, blobId))];
    if (used > limit) exceeded.push({ used, limit });
  }
  tables.checkpoint();
  tables.close();
});

/** An index of many texts, in which no file can be read without help. */
function filledIndex(name: string) {
  const path = join(directory, `${name}.db`);
  copyFileSync(filledPath, path);
  const tables = new IndexTables(path, "test", () => undefined);
  const isStored = (blobId: number) => tables.segment(tables.match(`"${uniqueOf(blobId)}"`)[0] ?? 0) !== undefined;
  const dropped = all.filter((blobId) => !isStored(blobId));
  const restore = (blobId: number) => tables.restore(digestOf(textOf(blobId)), Buffer.from(textOf(blobId)));
  return { path, tables, dropped, isStored, restore };
}

/** Searches for everything that is in the index. */
function finderOf(tables: IndexTables) {
  const finder = new TextFinder(tables, {
    blobsIn: () => new Set(all),
    filesWith: (blobId) => [{ id: blobId }],
    filesWithAny: (ids) => ids.map((blobId) => ({ id: blobId, blobId, accountId: 1, parentId: 1, modifiedAtMs: 0 })),
    matchElsewhere: () => new Set<number>(),
    reaches: () => true,
  });
  const find = (value: string, isPhrase: boolean) => {
    const words = [{ inText: toIndexWord(value, isPhrase), elsewhere: null }];
    const { own, unread } = finder.find({ scopes: [{ accountId: 1, rootId: null }], words, limit: 1_000 });
    return { found: own, unread: unread.map(({ blobId }) => blobId) };
  };
  const snippet = (blobId: number) => {
    const word = toIndexWord(uniqueOf(blobId), false);
    const digests = [Buffer.from(digestOf(textOf(blobId))).toString("hex")];
    const { matches, unread } = finder.snippets({
      digests,
      patterns: [word?.pattern ?? ""],
      queries: word?.queries ?? [],
    });
    return { parts: matches[0]?.parts.slice(0, 1), unread: unread.map((one) => one.blobId) };
  };
  return { find, snippet };
}

function traces(path: string, word: string): boolean {
  return ["", "-wal"].some((suffix) => existsSync(path + suffix) && readFileSync(path + suffix).includes(word));
}

test("stays below its share of the texts, and drops those first that are read fast", () => {
  const { path, tables, dropped } = filledIndex("share");
  expect(exceeded).toEqual([]);
  expect(dropped.length).toBeGreaterThan(0);
  expect(dropped.filter(isSlow)).toEqual([]);
  // Their words are still found.
  expect(all.filter((blobId) => tables.match(`"${uniqueOf(blobId)}"`).length !== 1)).toEqual([]);
  while (tables.shrinkSome(true));
  tables.checkpoint();
  expect(statSync(path).size).toBeLessThanOrEqual(limitOf(all));
  tables.close();
});

test("a text that could be read another way the next time is not dropped", () => {
  const path = join(directory, "once.db");
  const tables = new IndexTables(path, "test", () => undefined);
  for (let blobId = 1; blobId <= 250; blobId++) addText(tables, blobId, null);
  expect(tables.segment(tables.match(`"${uniqueOf(1)}"`)[0] ?? 0)?.text).toBe(textOf(1));
  tables.close();
});

test("a dropped text has its snippet and its phrases once it is read again", () => {
  const { tables, dropped, restore } = filledIndex("again");
  const { find, snippet } = finderOf(tables);
  const [blobId = 0] = dropped;
  expect(snippet(blobId)).toEqual({ parts: undefined, unread: [blobId] });
  expect(find(`the ${blobId} end`, true)).toEqual({ found: [], unread: [blobId] });
  expect(tables.restore(digestOf(textOf(blobId)), Buffer.from(`other ${textOf(blobId)}`))).toBe(false);
  expect(snippet(blobId).unread).toEqual([blobId]);
  expect(restore(blobId)).toBe(true);
  expect(snippet(blobId)).toEqual({ parts: [{ text: uniqueOf(blobId), isMatch: true }], unread: [] });
  expect(find(`the ${blobId} end`, true)).toEqual({ found: [blobId], unread: [] });
  expect(find(`the end ${blobId}`, true)).toEqual({ found: [], unread: [] });
  tables.close();
});

test("a phrase is found in all texts, as they are read again some at a time", () => {
  const { tables, restore } = filledIndex("many");
  const { find } = finderOf(tables);
  const phrase = "word1ing word2ing word1ing";
  const steps: number[] = [];
  let result = find(phrase, true);
  for (; result.unread.length > 0; result = find(phrase, true)) {
    steps.push(result.unread.length);
    for (const blobId of result.unread) restore(blobId);
  }
  expect(Math.max(...steps)).toBeLessThanOrEqual(16);
  const expected = all.filter((blobId) => textOf(blobId).includes(` ${phrase} `));
  expect(expected.length).toBeGreaterThan(10);
  expect(result.found.toSorted((a, b) => a - b)).toEqual(expected);
  tables.close();
});

test("a dropped text leaves no word when it is removed, once it is read again", () => {
  const { path, tables, dropped, restore } = filledIndex("removed");
  const [first = 0, second = 0] = dropped;
  for (const blobId of [first, second]) tables.markRemoved(blobId);
  const removeAll = () => {
    while (tables.removeSome(performance.now() + 1));
    tables.checkpoint();
    while (tables.cleanSome(performance.now() + 1));
    tables.checkpoint();
  };
  removeAll();
  expect(tables.unread.map(({ blobId }) => blobId)).toEqual([first, second]);
  expect(tables.match(`"${uniqueOf(first)}"`).filter((id) => tables.blobOf(id) !== 0)).toEqual(new Float64Array(0));
  // One of them can't be read now.
  tables.postpone(second);
  restore(first);
  removeAll();
  expect(tables.unread).toEqual([]);
  expect([first, second].map((blobId) => traces(path, uniqueOf(blobId).slice(-10)))).toEqual([false, true]);
  expect(() => tables.restore(digestOf(textOf(second)), Buffer.from("other"))).toThrow(LostTextError);
  tables.close();
});

test("texts are not dropped because others wait to be removed", () => {
  const { path, tables, dropped, isStored, restore } = filledIndex("waiting");
  const stored = all.filter(isStored);
  const removed = dropped.slice(0, 100);
  for (const blobId of removed) tables.markRemoved(blobId);
  const removeSome = () => {
    while (tables.removeSome(performance.now() + 1));
    while (tables.dropSome(performance.now() + 1));
    return tables.unread;
  };
  expect(removeSome()).not.toEqual([]);
  expect(all.filter(isStored)).toEqual(stored);
  for (let unread = removeSome(); unread.length > 0; unread = removeSome()) {
    for (const { blobId } of unread) restore(blobId);
  }
  const left = all.filter((blobId) => !removed.includes(blobId));
  expect(usedBytes(path)).toBeLessThanOrEqual(limitOf(left));
  tables.close();
});

test("a dropped text that is added again while it is being removed is read first", () => {
  const { tables, dropped, restore } = filledIndex("back");
  const [blobId = 0] = dropped;
  const blob = { blobId, digest: digestOf(textOf(blobId)), mediaType: "text/html" };
  tables.markRemoved(blobId);
  expect(tables.transaction(() => tables.begin(blob, 5))).toBe(false);
  restore(blobId);
  expect(tables.transaction(() => tables.begin(blob, 5))).toBe(true);
  tables.transaction(() => tables.add(blobId, [{ page: 1, text: textOf(blobId) }]));
  tables.finish(blobId);
  expect(tables.match(`"${uniqueOf(blobId)}"`).length).toBe(1);
  tables.close();
});
