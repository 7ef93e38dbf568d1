/** The natural order while keys are missing: of new files, after an upgrade, and while they are being stored. */
import { afterEach, expect, spyOn, test } from "bun:test";
import { compareUtf8 } from "../../../src/lib/compare-utf8.ts";
import { naturalKey } from "../../../src/lib/natural-key.ts";
import type { FolderNode, SortOrder, TreeNode } from "../../../src/tree/model/types.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

const WORDS = ["note", "Note", "nöte", "IMG_", "日本語", "٣", "00", "file "];

let tree: TestTree;
let accountId: number;
afterEach(async () => {
  await tree.store.naturalKeys.stop();
  tree.close();
});

/** Makes an account with files of random names, in one commit. */
function fill(folderPath: string, count: number): FolderNode {
  tree = new TestTree();
  accountId = tree.addAccount();
  const random = seededRandom(count);
  tree.run((tx) => {
    for (let i = 0; i < count; i++) create(tx, folderPath, `${random.pick(WORDS)}${random.below(500)} ${i}`);
  });
  return folderAt(folderPath);
}

function create(tx: Parameters<typeof tree.write.createFile>[0], folderPath: string, name: string): void {
  const content = { blob: blobOf("same"), mediaType: "text/plain", createdBy: accountId, quotaBytes: null };
  const labels = { tags: [], metadata: {}, isPublic: false };
  tree.write.createFile(tx, { ...content, ...labels, accountId, folderPath, name, onConflict: "rename" });
}

function folderAt(path: string): FolderNode {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`${path} is missing`);
  return folder;
}

function compare(a: Pick<TreeNode, "kind" | "name" | "id">, b: typeof a, order: SortOrder): number {
  if (a.kind !== b.kind) return a.kind === "folder" ? -1 : 1;
  const sign = order === "asc" ? 1 : -1;
  return sign * (compareUtf8(naturalKey(a.name), naturalKey(b.name)) || compareUtf8(a.name, b.name) || a.id - b.id);
}

/** The names in a folder, or below it, as they should be listed. */
function expected(folder: FolderNode, order: SortOrder, recursive: boolean): string[] {
  const ids = recursive
    ? "WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL SELECT n.id FROM s JOIN nodes n ON n.parent_id = s.id AND n.kind = 0) SELECT id FROM s"
    : "?1";
  return tree.db.sqlite
    .query<{ id: number; kind: number; name: string }, [number]>(
      `SELECT id, kind, name FROM nodes WHERE parent_id IN (${ids})`,
    )
    .all(folder.id)
    .map(({ id, kind, name }) => ({ id, name, kind: kind === 0 ? ("folder" as const) : ("file" as const) }))
    .sort((a, b) => compare(a, b, order))
    .map(({ name }) => name);
}

async function listAll(folder: FolderNode, order: SortOrder, limit: number, recursive = false): Promise<string[]> {
  const names: string[] = [];
  for (let offset = 0; ; offset += limit) {
    const query = { accountId, folder, sort: "natural", order, offset, limit } as const;
    const { nodes, total } = recursive ? await tree.read.find({ ...query, recursive }) : await tree.read.list(query);
    names.push(...nodes.map(({ name }) => name));
    if (offset + limit >= total) return names;
  }
}

const missing = () =>
  tree.db.sqlite.query<{ count: number }, []>("SELECT count(*) AS count FROM nodes WHERE natural_key IS NULL").get()
    ?.count ?? 0;

test.each(seedsToRun([1]))(
  "all pages are in order during random changes, and while keys are stored (seed %d)",
  async (seed) => {
    const folder = fill("/many", 1_300);
    const small = tree.addFolder(accountId, "/many", "few");
    const random = seededRandom(seed);
    const nodes = tree.db.sqlite.query<{ public_id: string }, [number, number]>(
      "SELECT public_id FROM nodes WHERE parent_id IN (?1, ?2) AND kind = 1",
    );
    for (let round = 0; round < 25; round++) {
      for (let i = 0; i < 20; i++) {
        const name = `${random.pick(WORDS)}${random.below(2_000)}`;
        const path = random.pick(["/many", "/many/few"]);
        const file = { accountId, publicId: random.pick(nodes.all(folder.id, small.id)).public_id };
        const changes = [
          () => tree.addFile(accountId, path, name, { onConflict: "rename" }),
          () => tree.addFile(accountId, path, name, { onConflict: "rename" }),
          () => tree.run((tx) => tree.write.updateFile(tx, file, { name: `${name} ${round} ${i}` })),
          () => tree.run((tx) => tree.write.updateFile(tx, file, { folderPath: path, name: `${name} ${round} ${i}` })),
          () => tree.run((tx) => tree.write.deleteFile(tx, file)),
          () => tree.addFolder(accountId, "/many", `${name} ${round} ${i}`),
          // As after an upgrade.
          () => tree.db.sqlite.run("UPDATE nodes SET natural_key = NULL WHERE id % 7 = ?", [random.below(7)]),
        ];
        random.pick(changes)();
      }
      // Listed while the keys are being stored.
      const filling = random.chance(0.3) ? tree.store.naturalKeys.fill() : undefined;
      const order = random.pick(["asc", "desc"] as const);
      for (const listed of [folder, folderAt("/many/few")]) {
        expect(await listAll(listed, order, random.pick([97, 2_000]))).toEqual(expected(listed, order, false));
      }
      await filling;
    }
    await tree.store.naturalKeys.fill();
    expect(missing()).toBe(0);
    const wrong = tree.db.sqlite
      .query<{ name: string; natural_key: string }, []>("SELECT name, natural_key FROM nodes")
      .all()
      .filter(({ name, natural_key: key }) => key !== naturalKey(name));
    expect(wrong).toEqual([]);
  },
  120_000,
);

test("after an upgrade, folders and searches are in order before the keys are stored", async () => {
  const folder = fill("/a/b", 2_600);
  tree.db.sqlite.run("UPDATE nodes SET natural_key = NULL");
  for (const order of ["asc", "desc"] as const) {
    expect(await listAll(folder, order, 1_000)).toEqual(expected(folder, order, false));
    expect(await listAll(folderAt("/a"), order, 1_000, true)).toEqual(expected(folderAt("/a"), order, true));
  }
  expect(missing()).toBeGreaterThan(2_600);
  await tree.store.naturalKeys.fill();
  expect(missing()).toBe(0);
  for (const order of ["asc", "desc"] as const) {
    expect(await listAll(folder, order, 1_000)).toEqual(expected(folder, order, false));
    expect(await listAll(folderAt("/a"), order, 1_000, true)).toEqual(expected(folderAt("/a"), order, true));
  }
});

test("a listing stores a few missing keys, and then new files get theirs at once", async () => {
  const folder = fill("/many", 1_100);
  await tree.store.naturalKeys.fill();
  tree.addFile(accountId, "/many", "note 7");
  expect(missing()).toBe(1);
  await listAll(folder, "asc", 2_000);
  expect(missing()).toBe(0);
  tree.addFile(accountId, "/many", "note 8");
  tree.addFile(accountId, "/", "note 9");
  expect(missing()).toBe(1);
  expect(await listAll(folder, "desc", 50)).toEqual(expected(folder, "desc", false));
});

test("a listing is in order although no key can be stored", async () => {
  const folder = fill("/many", 1_100);
  const run = spyOn(tree.writer, "run").mockRejectedValue(new Error("the disk is full"));
  try {
    expect(await listAll(folder, "asc", 400)).toEqual(expected(folder, "asc", false));
    expect(run).toHaveBeenCalled();
  } finally {
    run.mockRestore();
  }
  expect(missing()).toBeGreaterThan(1_000);
});

test("new files get their keys in the background", async () => {
  fill("/many", 10);
  tree.store.naturalKeys.start();
  // Queued after the first step.
  await tree.store.naturalKeys.stop();
  expect(missing()).toBe(0);
});

test("wrong keys are found, removed, and stored again", async () => {
  const folder = fill("/many", 5_000);
  const { naturalKeys, pageIndex } = tree.store;
  await naturalKeys.fill();
  const repair = () => naturalKeys.repair(new AbortController().signal);
  expect(await repair()).toBe(0);
  tree.db.sqlite.run("UPDATE nodes SET natural_key = 'zzz' || natural_key WHERE id % 3 = 0 AND kind = 1");
  const { changes } = tree.db.sqlite.run("UPDATE nodes SET natural_key = natural_key WHERE id % 3 = 0 AND kind = 1");
  // Positions of pages that were found by the wrong keys are dropped too.
  expect(await listAll(folder, "asc", 100)).not.toEqual(expected(folder, "asc", false));
  await pageIndex.whenBuilt();
  expect(await repair()).toBe(changes);
  expect(missing()).toBe(changes);
  await naturalKeys.fill();
  expect(await listAll(folder, "asc", 100)).toEqual(expected(folder, "asc", false));
  expect(await repair()).toBe(0);
});
