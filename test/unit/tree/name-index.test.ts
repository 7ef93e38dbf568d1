/** Searches of names in memory, compared with those in the database. */
import { afterEach, expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import { openReadOnly } from "../../../src/db/open.ts";
import { fold } from "../../../src/lib/path.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { NameIndex, type NameSearch } from "../../../src/tree/tables/name-index.ts";
import { NameSearches } from "../../../src/tree/tables/name-searches.ts";
import { SORTS } from "../../../src/tree/model/sorts.ts";
import type { FindQuery, FolderNode, SortField } from "../../../src/tree/model/types.ts";
import { TreeReader } from "../../../src/tree/reader.ts";
import { TreeStore } from "../../../src/tree/tables/store.ts";
import { type SeededRandom, seededRandom, seedsToRun } from "../../support/random.ts";
import { RandomChanges } from "./random-changes.ts";
import { TestTree } from "./support.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const WORDS = ["Straße", "ΣΊΣΥΦΟΣ", "İzmir", "🦊🐻", "漢字かな", "café", "CAFÉ", "a1", "a10", "a2", "b"];
const TEXTS = ["a", "A1", "ss", "σ", "é", "🦊", "漢字", "b", "1", "caf", " ", "zz", "0"];
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the names of all sorts
const SORT_NAMES = Object.keys(SORTS) as SortField[];

function newTree(): TestTree {
  const tree = new TestTree();
  closing.push(() => tree.close());
  return tree;
}

function newConnection(tree: TestTree): Database {
  const { sqlite } = openReadOnly(tree.path);
  closing.unshift(() => sqlite.close());
  return sqlite;
}

function randomQuery({ pick, below, chance }: SeededRandom, folder: FolderNode): FindQuery {
  return {
    accountId: folder.accountId,
    folder,
    search: pick(TEXTS),
    recursive: chance(0.7),
    kind: pick(["file", "folder", undefined, undefined]),
    sort: pick(SORT_NAMES),
    order: pick(["asc", "desc"]),
    offset: pick([0, 0, 3, below(60)]),
    limit: pick([1, 7, 100]),
  };
}

function toSearch({ search = "", folder, recursive, kind, sort, order, offset, limit }: FindQuery): NameSearch {
  const kinds = kind === undefined ? [0, 1] : [kind === "folder" ? 0 : 1];
  return { text: fold(search), folderId: folder.id, isRecursive: recursive, kinds, sort, order, offset, limit };
}

test.each(seedsToRun([1, 2]))(
  "the index finds what the database finds, during random changes (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const tree = newTree();
    const [accountId, otherId] = [tree.addAccount(), tree.addAccount()];
    for (const id of [accountId, otherId]) {
      tree.run(() => {
        for (let i = 0; i < 150; i++) {
          const folder = random.pick(["/", "/straße", "/straße/b", "/d"]);
          tree.addFile(id, folder, `${random.pick(WORDS)} ${random.below(20)}`, { onConflict: "rename" });
        }
      });
    }
    const changes = new RandomChanges(tree, random, accountId, otherId);
    const sqlite = newConnection(tree);
    const build = () => {
      const index = new NameIndex(sqlite, accountId);
      index.build();
      return index;
    };
    let index = build();
    for (let round = 0; round < 150; round++) {
      if (random.chance(0.02)) await changes.copyInSteps();
      else for (let step = random.below(4); step > 0; step--) await changes.step();
      const [publicId] = random.shuffled(folderIds(tree, accountId));
      const folder = tree.read.findFolder(accountId, publicId ?? "") ?? tree.read.getRoot(accountId);
      const query = randomQuery(random, random.chance(0.5) ? tree.read.getRoot(accountId) : folder);
      let found = index.find(toSearch(query));
      if (found === undefined) {
        // Not prepared for this sort, or the journal was swept.
        if (!index.rank(query.sort)) index = build();
        await tree.store.naturalKeys.catchUp();
        index.rank(query.sort);
        found = index.find(toSearch(query));
      }
      const expected = await tree.read.find(query);
      const ids = expected.nodes.map(({ id }) => id);
      expect({ round, query, found }).toEqual({ round, query, found: { total: expected.total, ids } });
    }
  },
  120_000,
);

function folderIds(tree: TestTree, accountId: number): string[] {
  return tree.db.sqlite
    .query<{ public_id: string }, [number]>("SELECT public_id FROM nodes WHERE account_id = ? AND kind = 0")
    .all(accountId)
    .map(({ public_id }) => public_id);
}

test("a thread answers as soon as it has read the names, and finds later changes at once", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  for (let i = 0; i < 20; i++) tree.addFile(accountId, "/", `plain ${i}`);
  const searches = new NameSearches({ path: tree.path, log: silentLog, nodesMin: 1 });
  closing.unshift(() => searches.close());
  const folder = tree.read.getRoot(accountId);
  const base = { accountId, folder, recursive: true, sort: "name", order: "asc", offset: 0, limit: 2 } as const;
  const find = (search: string) => searches.find(accountId, 20, toSearch({ ...base, search }));
  expect(await find("ai")).toBeUndefined();
  await searches.idle();
  expect((await find("ai"))?.total).toBe(20);
  const added = tree.addFile(accountId, "/", "0 aim");
  expect(await find("ai")).toMatchObject({ total: 21, ids: [added.id, expect.any(Number)] });
  tree.run((tx) => tree.write.deleteFile(tx, added));
  expect((await find("ai"))?.total).toBe(20);
  const pending = find("ai");
  searches.close();
  expect(await pending).toBeUndefined();
});

test("small accounts, and more accounts than there are threads, have no index", async () => {
  const tree = newTree();
  const accounts = [tree.addAccount(), tree.addAccount(), tree.addAccount()];
  for (const id of accounts) tree.addFile(id, "/", "plain");
  const searches = new NameSearches({ path: tree.path, log: silentLog, nodesMin: 10 });
  closing.unshift(() => searches.close());
  const find = async (accountId: number, nodes: number) => {
    const folder = tree.read.getRoot(accountId);
    const search = { accountId, folder, search: "ai", recursive: true, sort: "name", order: "asc" } as const;
    return (await searches.find(accountId, nodes, toSearch({ ...search, offset: 0, limit: 2 })))?.total;
  };
  const findAll = async (nodes: number) => [
    await find(accounts[0] ?? 0, nodes),
    await find(accounts[1] ?? 0, nodes),
    await find(accounts[2] ?? 0, nodes),
  ];
  await findAll(9);
  await searches.idle();
  expect(await findAll(9)).toEqual([undefined, undefined, undefined]);
  await findAll(10);
  await searches.idle();
  expect(await findAll(10)).toEqual([1, 1, undefined]);
});

test("a listing uses the index for frequent texts", async () => {
  const tree = newTree();
  const accountId = tree.addAccount();
  tree.run(() => {
    for (let i = 0; i < 10_100; i++) tree.addFile(accountId, i % 2 === 0 ? "/" : "/d", `plain ${i}`);
  });
  const nameSearches = new NameSearches({ path: tree.path, log: silentLog, nodesMin: 1 });
  closing.unshift(() => nameSearches.close());
  const { sqlite } = tree.db;
  const options = { sqlite, reader: tree.thread, writer: tree.writer, clock: tree.clock, log: silentLog };
  const read = new TreeReader(new TreeStore({ ...options, nameSearches }));
  const folder = read.getRoot(accountId);
  const base = { accountId, folder, recursive: true, order: "desc", offset: 5_000, limit: 100 } as const;
  const query = { ...base, search: "ai", sort: "createdAt" } as const;
  const before = await read.find(query);
  expect(before.total).toBe(10_100);
  await nameSearches.idle();
  // Without the reading thread only the index can answer.
  tree.thread.read = () => Promise.reject(new Error("the index was not used"));
  expect(await read.find(query)).toEqual(before);
}, 60_000);

/** What happens to a thread instead of a search. */
type Death = (worker: Worker, post: Worker["postMessage"]) => void;

/** Threads that are started while this is installed die when they get a search and `death` is set. */
function mortalThreads(): { death: Death | undefined } {
  const fate: { death: Death | undefined } = { death: undefined };
  const RealWorker = globalThis.Worker;
  globalThis.Worker = class extends RealWorker {
    override postMessage(message: object): void {
      if ("search" in message && fate.death !== undefined) fate.death(this, super.postMessage.bind(this));
      else super.postMessage(message);
    }
  };
  closing.push(() => {
    globalThis.Worker = RealWorker;
  });
  return fate;
}

test.each<[string, Death]>([
  ["ends", (worker) => worker.terminate()],
  ["fails", (_worker, post) => post({ id: 1, search: null })],
])(
  "a thread that %s during searches changes no result, and the next search starts another",
  async (_how, death) => {
    const fate = mortalThreads();
    const tree = newTree();
    const accountId = tree.addAccount();
    tree.run(() => {
      for (let i = 0; i < 10_100; i++) tree.addFile(accountId, i % 2 === 0 ? "/" : "/d", `plain ${i}`);
    });
    const errors: string[] = [];
    const log = { ...silentLog, error: (message: string) => void errors.push(message) };
    const nameSearches = new NameSearches({ path: tree.path, log, nodesMin: 1 });
    closing.unshift(() => nameSearches.close());
    const { sqlite } = tree.db;
    const options = { sqlite, reader: tree.thread, writer: tree.writer, clock: tree.clock, log: silentLog };
    const read = new TreeReader(new TreeStore({ ...options, nameSearches }));
    const base = { accountId, folder: read.getRoot(accountId), recursive: true, order: "desc", limit: 100 } as const;
    const find = (search: string, offset: number) => read.find({ ...base, search, offset, sort: "createdAt" });
    const readInThread = tree.thread.read.bind(tree.thread);
    await find("ai", 0);
    await nameSearches.idle();
    tree.addFile(accountId, "/d", "a later plain");
    fate.death = death;
    const found = await Promise.all([find("ai", 0), find("l", 5_000)]);
    fate.death = undefined;
    expect(found.map(({ total }) => total)).toEqual([10_101, 10_101]);
    expect(found[0].nodes[0]?.name).toBe("a later plain");
    expect(errors).toHaveLength(1);
    // This search starts the thread.
    await find("pl", 0);
    await nameSearches.idle();
    tree.thread.read = () => Promise.reject(new Error("the index was not used"));
    const again = [await find("ai", 0), await find("l", 5_000)];
    tree.thread.read = readInThread;
    expect(again).toEqual(found);
  },
  60_000,
);
