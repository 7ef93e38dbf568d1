/** Pages of a large folder through the page index, compared with pages by plain OFFSET. */
import { afterEach, expect, test } from "bun:test";
import { idsSql } from "../../../src/tree/queries/list.ts";
import { SORTS } from "../../../src/tree/model/sorts.ts";
import { type NamedRow, sortNaturally } from "../../../src/lib/natural-key.ts";
import type { FolderNode, SortField } from "../../../src/tree/model/types.ts";
import { seededRandom } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

const FILES = 21_000;
const FIELDS: readonly SortField[] = ["name", "natural", "size", "createdAt", "modifiedAt", "fileModifiedAt"];

let tree: TestTree;
afterEach(() => tree.close());

function fill(accountId: number, count: number): FolderNode {
  const random = seededRandom(7);
  tree.run((tx) => {
    for (let i = 0; i < count; i++) {
      tree.clock.advance(random.below(2));
      const name = `${random.pick(["ä", "b", "🦊", "漢", "￮"])} ${random.below(1_000_000)} ${i}`;
      tree.createFile(tx, accountId, "/large", name, { blob: blobOf("same", random.below(5)) });
    }
  });
  const folder = tree.read.findFolderByPath(accountId, "/large");
  if (folder === undefined) throw new Error("the folder was not made");
  return folder;
}

/** The page by plain OFFSET. */
function plainPage(
  folder: FolderNode,
  sort: SortField,
  order: "asc" | "desc",
  offset: number,
  limit: number,
): number[] {
  const { keys } = SORTS[sort];
  if (sort === "natural") {
    const names = tree.db.sqlite
      .query<NamedRow, [number]>("SELECT id, kind, name FROM nodes WHERE parent_id = ?1 AND kind = 1")
      .all(folder.id);
    return sortNaturally(names, order).slice(offset, offset + limit);
  }
  return tree.db.sqlite
    .query<{ id: number }, [number, number, number]>(
      `SELECT id FROM nodes WHERE parent_id = ?1 AND kind = 1
       ORDER BY ${keys.map((key) => `${key} ${order}`).join(", ")} LIMIT ?2 OFFSET ?3`,
    )
    .all(folder.id, limit, offset)
    .map(({ id }) => id);
}

test("pages through the index equal pages by OFFSET, during random writes", async () => {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const folder = fill(accountId, FILES);
  await tree.store.naturalKeys.fill();
  const random = seededRandom(11);
  const list = (sort: SortField, order: "asc" | "desc", offset: number, limit: number) =>
    tree.read.list({ accountId, folder, kind: "file", sort, order, offset, limit });
  // Indexes of all sorts, while writes continue.
  for (const sort of FIELDS) await list(sort, "asc", FILES / 2, 5);
  tree.addFile(accountId, "/large", "during");
  await tree.store.pageIndex.whenBuilt();
  // The key of that file was missing, so the index of the natural order is built only now.
  await list("natural", "asc", FILES / 2, 5);
  await tree.store.pageIndex.whenBuilt();
  const ids = tree.db.sqlite.query<{ public_id: string }, [number]>("SELECT public_id FROM nodes WHERE parent_id = ?");
  let located = 0;
  for (let round = 0; round < 60; round++) {
    const known = ids.all(folder.id);
    for (let i = 0; i < 40; i++) {
      tree.clock.advance(1);
      const file = { accountId, publicId: random.pick(known).public_id };
      if (tree.read.findFile(accountId, file.publicId) === undefined) continue;
      const name = `${random.pick(["A", "zz", "m"])} ${round} ${i}`;
      const changes = [
        () => tree.addFile(accountId, "/large", name, { blob: blobOf(name, random.below(5)) }),
        () => tree.run((tx) => tree.write.deleteFile(tx, file)),
        () => tree.run((tx) => tree.write.updateFile(tx, file, { name })),
        () => {
          const fileModifiedAt = new Date(random.below(2_000_000_000) * 1_000).toISOString();
          return tree.run((tx) => tree.write.updateFile(tx, file, { fileModifiedAt }));
        },
        () => tree.run((tx) => tree.write.updateFile(tx, file, { folderPath: "/elsewhere", name })),
        () => tree.run((tx) => tree.write.createFolder(tx, { accountId, parentPath: "/large", name, metadata: {} })),
      ];
      random.pick(changes)();
    }
    const sort = random.pick(FIELDS);
    const order = random.pick(["asc", "desc"] as const);
    const total = tree.read.findFolder(accountId, folder.publicId)?.itemCount ?? 0;
    const offset = random.below(total);
    const page = await list(sort, order, offset, 50);
    expect(page.nodes.map(({ id }) => id)).toEqual(plainPage(folder, sort, order, offset, 50));
    const row = tree.db.sqlite
      .query<{ rev: number; files: number }, [number]>(
        "SELECT children_rev AS rev, child_files AS files FROM folders WHERE node_id = ?",
      )
      .get(folder.id);
    const run = { folderId: folder.id, kind: 1, sort };
    if (tree.store.pageIndex.locate(run, row?.rev ?? 0, row?.files ?? 0, 0) !== undefined) located++;
  }
  // The indexes stayed valid during the whole test: the pages above were read through them.
  expect(located).toBe(60);
}, 120_000);

test("the index is dropped after another process wrote, and unchanged by a rollback", async () => {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const folder = fill(accountId, FILES);
  const query = { accountId, folder, kind: "file", sort: "name", order: "asc", offset: FILES / 2, limit: 20 } as const;
  await tree.read.list(query);
  await tree.store.pageIndex.whenBuilt();
  expect(() =>
    tree.run((tx) => {
      const [first] = plainPage(folder, "name", "asc", 0, 1);
      const file = tree.read.findFileById(first ?? 0);
      if (file !== undefined) tree.write.deleteFile(tx, file);
      throw new Error("undone");
    }),
  ).toThrow("undone");
  expect((await tree.read.list(query)).nodes.map(({ id }) => id)).toEqual(
    plainPage(folder, "name", "asc", FILES / 2, 20),
  );
  const other = new (await import("bun:sqlite")).Database(tree.path);
  other.run("PRAGMA foreign_keys = OFF");
  other.run("UPDATE folders SET children_rev = children_rev + 1, child_files = child_files - 1 WHERE node_id = ?", [
    folder.id,
  ]);
  other.run("DELETE FROM nodes WHERE id = (SELECT id FROM nodes WHERE parent_id = ? ORDER BY sort_key, name LIMIT 1)", [
    folder.id,
  ]);
  other.close();
  expect((await tree.read.list(query)).nodes.map(({ id }) => id)).toEqual(
    plainPage(folder, "name", "asc", FILES / 2, 20),
  );
});

test("pages are read from an index alone, and equal keys are searched, not scanned", () => {
  tree = new TestTree();
  for (const sort of FIELDS) {
    for (const way of ["asc", "desc", "from"] as const) {
      const statement = tree.db.sqlite.prepare<{ detail: string }, (number | string)[]>(
        `EXPLAIN QUERY PLAN ${idsSql(sort, way)}`,
      );
      const plan = statement.all(...(way === "from" ? [1, 1, 1, 1, 10, 0] : [1, 1, 10, 0])).map(({ detail }) => detail);
      statement.finalize();
      const searches = plan.filter((line) => line.startsWith("SEARCH"));
      expect(searches.length).toBe(way === "from" ? 2 : 1);
      for (const line of searches) expect(line).toContain(`USING COVERING INDEX ${SORTS[sort].index}`);
      expect(plan.join()).not.toContain("TEMP B-TREE");
      if (way === "from") expect(searches[0]).toMatch(/(rowid|name)>\?\)$/);
    }
  }
});
