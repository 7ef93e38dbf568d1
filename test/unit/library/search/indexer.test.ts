// Compares the index with reading every file, during random changes, with the indexer stopped, restarted and lagging.
import { afterEach, expect, test } from "bun:test";
import type { Reader } from "../../../../src/db/reader.ts";
import { openSearch, openSearchReader } from "../../../../src/features/library/search/open.ts";
import { SearchIndexer } from "../../../../src/features/library/search/indexer.ts";
import { SearchTables } from "../../../../src/features/library/search/queries.ts";
import { isAppError } from "./support.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { eventually } from "../../../support/expect.ts";
import { TestTree } from "../../tree/support.ts";
import { NO_TEXTS } from "../../../support/no-texts.ts";

const trees: TestTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.close();
});

function newTree(): TestTree {
  const tree = new TestTree();
  trees.push(tree);
  return tree;
}

function searchOver(tree: TestTree, reader: Reader) {
  return openSearch({
    sqlite: tree.db.sqlite,
    reader,
    writer: tree.writer,
    tree: tree.read,
    log: silentLog,
    texts: NO_TEXTS,
  });
}

const WORDS = ["beach", "beaches", "house", "lake", "garden", "red", "reddish", "été"];
const TAGS = ["holiday", "work", "a b"];

interface Row {
  public_id: string;
  name: string;
  tags: string | null;
  metadata: string | null;
  size_bytes: number;
  kind: number;
}

/** Everything in the tree of an account, read without the index. */
function everything(tree: TestTree, accountId: number): Row[] {
  return tree.db.sqlite
    .query<Row, [number]>(
      `WITH RECURSIVE t(id) AS (SELECT root_id FROM accounts WHERE id = ?1
         UNION ALL SELECT n.id FROM t JOIN nodes n ON n.parent_id = t.id)
       SELECT n.public_id, n.name, n.tags, n.metadata, n.size_bytes, n.kind FROM t JOIN nodes n ON n.id = t.id
       WHERE n.parent_id IS NOT NULL`,
    )
    .all(accountId);
}

function wordsOf(text: string): string[] {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

function has(row: Row, word: string): boolean {
  const texts = [
    row.name,
    ...(JSON.parse(row.tags ?? "[]") as string[]),
    ...Object.values(JSON.parse(row.metadata ?? "{}") as object),
  ];
  return texts.flatMap((text) => wordsOf(String(text))).some((one) => one.startsWith(wordsOf(word)[0] ?? ""));
}

const QUERIES: [string, (row: Row) => boolean][] = [
  ...WORDS.map((word): [string, (row: Row) => boolean] => [word, (row) => has(row, word)]),
  ["beach -red", (row) => has(row, "beach") && !has(row, "red")],
  ["house lake", (row) => has(row, "house") && has(row, "lake")],
  ["tag:holiday", (row) => (row.tags ?? "").includes('"holiday"')],
  ['tag:"A B" beach', (row) => (row.tags ?? "").includes('"a b"') && has(row, "beach")],
  ["type:folder", (row) => row.kind === 0],
  ["-type:folder -tag:work", (row) => row.kind === 1 && !(row.tags ?? "").includes('"work"')],
  ["size:>=22 beach", (row) => row.kind === 1 && row.size_bytes >= 22 && has(row, "beach")],
];

test.each(seedsToRun([1]))(
  "a search finds what reading every file finds, after random changes (seed %d)",
  async (seed) => {
    const { fraction, below, chance, pick } = seededRandom(seed);
    const tree = newTree();
    const accounts = [tree.addAccount(), tree.addAccount()];
    const reader = openSearchReader(tree.path, silentLog);
    let { search, indexer } = searchOver(tree, reader);
    const name = () => `${pick(WORDS)} ${pick(WORDS)} ${below(50)}.txt`;
    const folder = () => pick(["/", "/red", "/red/lake", "/house", "/red/lake/deep"]);
    for (let round = 0; round < 700; round++) {
      const accountId = pick(accounts);
      const known = everything(tree, accountId);
      const files = known.filter(({ kind }) => kind === 1);
      const ref = () => ({ accountId, publicId: pick(files).public_id });
      const dice = fraction();
      try {
        if (files.length < 5 || dice < 0.35) {
          tree.addFile(accountId, folder(), name(), {
            onConflict: "rename",
            tags: chance(0.3) ? [pick(TAGS)] : [],
            metadata: chance(0.3) ? { description: pick(WORDS), folder: pick(WORDS) } : {},
          });
        } else if (dice < 0.5) tree.run((tx) => tree.write.updateFile(tx, ref(), { name: name() }));
        else if (dice < 0.65) tree.run((tx) => tree.write.updateFile(tx, ref(), { tags: [pick(TAGS)] }));
        else if (dice < 0.75) tree.run((tx) => tree.write.move(tx, ref(), folder()));
        else if (dice < 0.85) tree.run((tx) => tree.write.deleteFile(tx, ref()));
        else if (dice < 0.9) {
          const folders = known.filter(({ kind }) => kind === 0);
          if (folders.length > 0) {
            tree.run((tx) => tree.write.deleteFolder(tx, { accountId, publicId: pick(folders).public_id }));
          }
        } else if (dice < 0.93) while (tree.run((tx) => tree.write.reapSome(tx, 3)) > 0);
        else if (dice < 0.97) await indexer.catchUp(accountId, 1);
        else ({ search, indexer } = searchOver(tree, reader));
      } catch (error) {
        // A taken name, or a folder moved into itself.
        if (!isAppError(error)) throw error;
      }
      if (round % 20 !== 0) continue;
      const [q, isExpected] = pick(QUERIES);
      let total = 0;
      const found: string[] = [];
      do {
        const request = { accountId, q, folderPath: undefined, received: [], offset: found.length, limit: 7 };
        let page = await search.search(request);
        // A search waits for the index only briefly.
        while (page.isLagging) page = await search.search(request);
        ({ total } = page);
        found.push(...page.nodes.map(({ publicId }) => publicId));
      } while (found.length < total);
      const expected = everything(tree, accountId)
        .filter(isExpected)
        .map((row) => row.public_id);
      expect({ q, found: found.toSorted() }).toEqual({ q, found: expected.toSorted() });
    }
    reader.close();
  },
  120_000,
);

test("a search finds a change made while an earlier search waited for the index", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  const reader = openSearchReader(tree.path, silentLog);
  const { search, indexer } = searchOver(tree, reader);
  await indexer.drain();
  const add = (index: number) => tree.addFile(accountId, "/", `beach ${index}.txt`);
  const [first] = Array.from({ length: 64 }, (_, index) => add(index));
  const runSearch = (q: string) =>
    search.search({ accountId, q, folderPath: undefined, received: [], offset: 0, limit: 5 });
  const earlier = runSearch("beach");
  // More changes than the pass of the earlier search indexes.
  for (let index = 64; index < 200; index++) add(index);
  if (first !== undefined) tree.run((tx) => tree.write.updateFile(tx, first, { name: "zebra.txt" }));
  expect(await runSearch("zebra")).toMatchObject({ total: 1, isLagging: false });
  await earlier;
  expect(await runSearch("beach")).toMatchObject({ total: 199, isLagging: false });
  reader.close();
});

test("indexes a file that was added while the last look for changes was committed", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  const tables = new SearchTables(tree.db.sqlite);
  const headOf = (id: number) => tree.read.headOf(id);
  const indexer = new SearchIndexer({ tables, writer: tree.writer, log: silentLog, headOf });
  const dropErased = tables.dropErased.bind(tables);
  let added: Promise<unknown> | undefined;
  tables.dropErased = (limit) => {
    // Commits together with the transaction that is running now.
    added ??= tree.writer.run((tx) => tree.createFile(tx, accountId, "/", "late.txt"));
    return dropErased(limit);
  };
  indexer.start();
  await eventually("the indexer is at the end", () => added !== undefined, 10_000);
  await added;
  await eventually("the file is indexed", () => indexer.isCaughtUp(accountId), 10_000);
  await indexer.stop();
});

test("a database that never had an index gets one, while its files change", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  for (let index = 0; index < 300; index++) tree.addFile(accountId, "/a", `beach ${index}.txt`);
  const reader = openSearchReader(tree.path, silentLog);
  const { search, indexer } = searchOver(tree, reader);
  const [first] = everything(tree, accountId).filter(({ kind }) => kind === 1);
  await indexer.catchUp(accountId, 0);
  tree.run((tx) => tree.write.deleteFile(tx, { accountId, publicId: first?.public_id ?? "" }));
  await indexer.drain();
  const request = { accountId, folderPath: undefined, received: [], offset: 0, limit: 5 };
  expect((await search.search({ ...request, q: "beach" })).total).toBe(299);
  expect((await search.search({ ...request, q: "in:/a beach" })).total).toBe(299);
  reader.close();
});

test("an erased account's words leave the index", async () => {
  const tree = newTree();
  const [accountId, other] = [tree.addAccount(), tree.addAccount()];
  for (const id of [accountId, other])
    for (let index = 0; index < 100; index++) tree.addFile(id, "/", `beach ${index}.txt`);
  const reader = openSearchReader(tree.path, silentLog);
  const { indexer } = searchOver(tree, reader);
  await indexer.drain();
  const entries = () =>
    tree.db.sqlite
      .query<{ n: number }, []>("SELECT count(*) AS n FROM search_text WHERE search_text MATCH 'beach'")
      .get()?.n;
  expect(entries()).toBe(200);
  tree.run((tx) => tree.write.detachRoot(tx, accountId));
  await indexer.drain();
  expect(entries()).toBe(100);
  reader.close();
});

test("trashed nodes are not found, and restored ones are, with all below them", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  const file = tree.addFile(accountId, "/", "beach.txt");
  for (let index = 0; index < 80; index++) tree.addFile(accountId, `/top/sub ${index}`, `beach ${index}.txt`);
  const few = tree.addFile(accountId, "/small", "beach small.txt");
  const reader = openSearchReader(tree.path, silentLog);
  const { search } = searchOver(tree, reader);
  const total = async (q = "beach") =>
    (await search.search({ accountId, q, folderPath: undefined, received: [], offset: 0, limit: 1 })).total;
  const folder = (path: string) => tree.read.findFolderByPath(accountId, path)?.publicId ?? "";
  const [top, small] = [folder("/top"), folder("/small")];
  expect(await total()).toBe(82);
  for (const [publicId, left] of [
    [file.publicId, 81],
    [small, 80],
    [top, 0],
  ] as const) {
    tree.run((tx) => tree.write.trash(tx, { accountId, publicId }));
    expect(await total()).toBe(left);
    expect(await total("size:>0 beach")).toBe(left);
  }
  for (const [publicId, left] of [
    [top, 80],
    [small, 81],
    [file.publicId, 82],
  ] as const) {
    tree.run((tx) => tree.write.restore(tx, { accountId, publicId }));
    expect(await total()).toBe(left);
  }
  expect(few.name).toBe("beach small.txt");
  reader.close();
});
