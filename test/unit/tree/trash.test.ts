/** Moving files and folders to the trash and restoring them. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ChangePosition, knownUpTo, NOTHING_KNOWN } from "../../../src/tree/journal/position.ts";
import type { TreeNode } from "../../../src/tree/model/types.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";
import { blobOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const trash = (node: { accountId: number; publicId: string }) => tree.run((tx) => tree.write.trash(tx, node));
const restore = (node: { accountId: number; publicId: string }) => tree.run((tx) => tree.write.restore(tx, node));
const purge = (node: { accountId: number; publicId: string }) => tree.run((tx) => tree.write.purge(tx, node));
const reapAll = () => {
  while (tree.run((tx) => tree.write.reapSome(tx)) > 0);
};
const expectNoDrift = async () => {
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
};

/** All changes after a position, as `change publicId`, a few per page, and the last position. */
function listAll(from: ChangePosition, limit = 3): { changes: string[]; end: ChangePosition } {
  const changes: string[] = [];
  let at = from;
  for (;;) {
    const { entries, next, hasMore } = tree.read.changesSince(accountId, at, limit, true);
    for (const entry of entries) {
      changes.push(`${entry.change} ${entry.change === "deleted" ? entry.publicId : entry.node.publicId}`);
    }
    at = next;
    if (!hasMore) return { changes, end: at };
  }
}

describe("a file in the trash", () => {
  test("is in no listing, occupies no name, and counts in the quota but not among the files", async () => {
    const file = tree.addFile(accountId, "/a", "x.txt", { tags: ["red"] });
    const { folder, trashedAtMs } = trash(file);
    expect([folder, trashedAtMs]).toEqual(["/a", tree.clock.nowMs()]);
    expect(tree.read.findNode(accountId, file.publicId)).toBeUndefined();
    expect(tree.read.findFileById(file.id)).toBeUndefined();
    expect(tree.read.findFileNamed(accountId, "/a", "x.txt")).toBeUndefined();
    expect(tree.read.usage(accountId)).toMatchObject({ files: 0, fileBytes: 0, trashBytes: 5, usedBytes: 5 });
    expect(tree.read.usageByType(accountId)).toEqual([]);
    expect(tree.read.tagsOf(accountId, 10)).toEqual([]);
    expect(tree.addFile(accountId, "/a", "x.txt").name).toBe("x.txt");
    await expectNoDrift();
  });

  test("is found by the time it was trashed, in its account or in all", () => {
    const otherId = tree.addAccount();
    const names = [accountId, otherId, accountId, otherId, accountId].map((id, index) => {
      tree.clock.advance(10);
      return trash(tree.addFile(id, "/", `${index}`)).node.publicId;
    });
    const found = (atMs: number, limit: number, id: number | null) =>
      tree.read.trashedBefore(atMs, limit, id).map(({ publicId }) => names.indexOf(publicId));
    const nowMs = tree.clock.nowMs();
    expect(found(nowMs, 10, null)).toEqual([0, 1, 2, 3, 4]);
    expect(found(nowMs - 10, 3, null)).toEqual([0, 1, 2]);
    expect(found(nowMs, 10, accountId)).toEqual([0, 2, 4]);
    expect(found(nowMs - 10, 10, accountId)).toEqual([0, 2]);
    expect(found(nowMs, 1, otherId)).toEqual([1]);
  });

  test("is restored unchanged, under a numbered name if its own is taken", async () => {
    const file = tree.addFile(accountId, "/a", "x.txt", { tags: ["red"], metadata: { k: "v" } });
    trash(file);
    tree.addFile(accountId, "/a", "x.txt");
    const back = restore(file);
    expect(back).toMatchObject({ publicId: file.publicId, name: "x (1).txt", folder: "/a", tags: ["red"] });
    expect(tree.read.tagsOf(accountId, 10)).toEqual([{ tag: "red", count: 1 }]);
    expect(tree.read.usage(accountId)).toMatchObject({ files: 2, fileBytes: 10, trashBytes: 0 });
    await expectNoDrift();
  });

  test("is restored into its folder even if that moved, and if that is gone, into the nearest existing one", () => {
    const moved = tree.addFile(accountId, "/a/b", "moved.txt");
    const lost = tree.addFile(accountId, "/a/c", "lost.txt");
    trash(moved);
    trash(lost);
    const b = tree.read.findFolderByPath(accountId, "/a/b");
    const c = tree.read.findFolderByPath(accountId, "/a/c");
    if (b === undefined || c === undefined) throw new Error("no folders");
    tree.run((tx) => tree.write.updateFolder(tx, b, { name: "z", folderPath: "/" }));
    tree.run((tx) => tree.write.deleteFolder(tx, c));
    expect(restore(moved)).toMatchObject({ folder: "/z" });
    expect(restore(lost)).toMatchObject({ folder: "/a" });
  });

  test("is purged with its versions and its content", async () => {
    const file = tree.addFile(accountId, "/", "x.txt");
    const next = { blob: blobOf("second"), mediaType: "a/b", createdBy: accountId, quotaBytes: null };
    tree.run((tx) => tree.write.replaceContent(tx, { file, ...next }));
    trash(file);
    expect(tree.read.usage(accountId)).toMatchObject({ versionBytes: 0, trashBytes: 11 });
    await expectNoDrift();
    purge(file);
    expect(tree.read.usage(accountId)).toMatchObject({ usedBytes: 0 });
    expect(tree.read.findBlob(file.digest)?.refs).toBe(0);
    expect(() => restore(file)).toThrow(expect.objectContaining({ reason: "not_found" }));
    await expectNoDrift();
  });

  test("counts as deleted content, not as content the account has", () => {
    const file = tree.addFile(accountId, "/a", "photo.jpg");
    const folder = tree.read.findFolderByPath(accountId, "/a");
    if (folder === undefined) throw new Error("no folder");
    for (const node of [file, folder]) {
      trash(node);
      expect(tree.read.findFileWithContent(accountId, file.digest)).toBeUndefined();
      expect(tree.read.wasDeleted(accountId, file.digest)).toBe(true);
      restore(node);
      expect(tree.read.findFileWithContent(accountId, file.digest)?.publicId).toBe(file.publicId);
      expect(tree.read.wasDeleted(accountId, file.digest)).toBe(false);
    }
  });

  test("belongs to its account alone, and the root cannot be trashed", () => {
    const file = tree.addFile(accountId, "/", "x.txt");
    const other = tree.addAccount();
    expect(() => trash({ accountId: other, publicId: file.publicId })).toThrow("not found");
    trash(file);
    expect(() => trash(file)).toThrow("not found");
    expect(() => restore({ accountId: other, publicId: file.publicId })).toThrow("not found");
    expect(() => purge({ accountId: other, publicId: file.publicId })).toThrow("not found");
    expect(tree.read.trash.byTime({ accountId: other, order: "desc", offset: 0, limit: 10 })).toEqual({
      entries: [],
      total: 0,
    });
    expect(() => trash(tree.read.getRoot(accountId))).toThrow(expect.objectContaining({ reason: "invalid_path" }));
  });
});

describe("a folder in the trash", () => {
  test("is one row, however much is below it, and is restored completely", async () => {
    for (let number = 0; number < 150; number++) {
      tree.addFile(accountId, `/big/${number % 7}`, `f${number}`, { tags: number % 3 === 0 ? ["Red"] : [] });
    }
    const before = tree.read.usage(accountId);
    const types = tree.read.usageByType(accountId);
    const folder = tree.read.findFolderByPath(accountId, "/big");
    if (folder === undefined) throw new Error("no folder");
    const inside = tree.read.findFileNamed(accountId, "/big/1", "f1");
    trash(folder);
    expect(tree.db.sqlite.query("SELECT count(*) AS n FROM trash").get()).toEqual({ n: 1 });
    expect(tree.read.usage(accountId)).toMatchObject({ files: 0, folders: 0, usedBytes: before.usedBytes });
    expect(tree.read.usageByType(accountId)).toEqual([]);
    expect(tree.read.tagsOf(accountId, 10)).toEqual([]);
    expect(tree.read.findFileById(inside?.id ?? 0)).toBeUndefined();
    // `reapSome` doesn't delete it.
    expect(tree.run((tx) => tree.write.reapSome(tx))).toBe(0);
    await expectNoDrift();
    restore(folder);
    expect(tree.read.usage(accountId)).toEqual(before);
    expect(tree.read.usageByType(accountId)).toEqual(types);
    expect(tree.read.tagsOf(accountId, 10)).toEqual([{ tag: "Red", count: 50 }]);
    expect(tree.read.findFileNamed(accountId, "/big/1", "f1")?.publicId).toBe(inside?.publicId ?? "");
    await expectNoDrift();
    trash(folder);
    purge(folder);
    reapAll();
    expect(tree.read.usage(accountId)).toMatchObject({ files: 0, usedBytes: 0 });
    expect(tree.db.sqlite.query("SELECT count(*) AS n FROM nodes").get()).toEqual({ n: 1 });
    await expectNoDrift();
  });

  test("uses the totals measured before, unless something changed since", async () => {
    tree.addFile(accountId, "/w", "a");
    const folder = tree.read.findFolderByPath(accountId, "/w");
    if (folder === undefined) throw new Error("no folder");
    const { measureInReader } = await import("../../../src/tree/operations/measure-folder.ts");
    const stale = await measureInReader(tree.store, accountId, folder.id);
    tree.addFile(accountId, "/w", "bb");
    tree.run((tx) => tree.write.trash(tx, folder, stale));
    expect(tree.read.usage(accountId)).toMatchObject({ files: 0, trashBytes: 3 });
    restore(folder);
    const fresh = await measureInReader(tree.store, accountId, folder.id);
    expect(fresh.totals).toMatchObject({ files: 2, folders: 1, fileBytes: 3 });
    tree.run((tx) => tree.write.trash(tx, folder, fresh));
    await expectNoDrift();
  });

  test("is deleted when its account is erased", () => {
    for (const name of ["a", "b"]) {
      trash(tree.addFile(accountId, "/same", "x.txt", { blob: blobOf(name) }));
      const folder = tree.read.findFolderByPath(accountId, "/same");
      if (folder !== undefined) trash(folder);
    }
    tree.run((tx) => tree.write.detachRoot(tx, accountId));
    reapAll();
    expect(tree.db.sqlite.query("SELECT count(*) AS n FROM nodes").get()).toEqual({ n: 0 });
    expect(tree.db.sqlite.query("SELECT count(*) AS n FROM trash").get()).toEqual({ n: 0 });
  });
});

describe("sync", () => {
  test("reports trashed nodes with all below as deleted, once, and restored ones as created", () => {
    const files = [1, 2, 3, 4, 5].map((number) => tree.addFile(accountId, "/f/g", `${number}`));
    const single = tree.addFile(accountId, "/", "single");
    const { end } = listAll(NOTHING_KNOWN);
    const folders = ["/f", "/f/g"].flatMap((path) => tree.read.findFolderByPath(accountId, path) ?? []);
    const [top] = folders;
    if (top === undefined) throw new Error("no folder");
    trash(single);
    trash(top);
    const ids = [...files, ...folders, single].map(({ publicId }) => publicId).toSorted();
    const gone = listAll(end);
    expect(gone.changes.toSorted()).toEqual(ids.map((id) => `deleted ${id}`));
    expect(listAll(gone.end).changes).toEqual([]);
    restore(top);
    restore(single);
    // A reader that knows them as deleted gets them as created; one that does not, as updated; nobody gets them twice.
    expect(listAll(gone.end).changes.toSorted()).toEqual(ids.map((id) => `created ${id}`));
    expect(listAll(end).changes.toSorted()).toEqual(ids.map((id) => `updated ${id}`));
    expect(listAll(NOTHING_KNOWN).changes.toSorted()).toEqual(ids.map((id) => `created ${id}`));
    // A reader that begins now gets nothing of the trash.
    trash(top);
    expect(listAll(NOTHING_KNOWN).changes).toEqual([`created ${single.publicId}`]);
  });

  test("a restored node is new, once, to a reader that knew it as deleted, also after a move", () => {
    // Regression: it was reported as updated once it had left the folder it was restored with, and as created again
    // with each change.
    const file = tree.addFile(accountId, "/f", "a.txt");
    const folder = tree.read.findFolderByPath(accountId, "/f");
    if (folder === undefined) throw new Error("no folder");
    trash(folder);
    const gone = knownUpTo(tree.read.headOf(accountId));
    tree.run((tx) => tree.write.restore(tx, folder));
    const first = tree.read.changesSince(accountId, gone, 1, true);
    expect([first.entries[0]?.change, first.hasMore]).toEqual(["created", true]);
    tree.run((tx) => tree.write.move(tx, file, "/"));
    tree.run((tx) => tree.write.updateFolder(tx, folder, { name: "g" }));
    const rest = tree.read.changesSince(accountId, first.next, 10, true).entries;
    const words = rest.map((entry) => (entry.change === "deleted" ? "" : `${entry.change} ${entry.node.name}`));
    expect(words.at(-1)).toBe("updated g");
    const whole = tree.read.changesSince(accountId, gone, 10, true).entries.map(({ change }) => change);
    expect(whole).toEqual(["created", "created"]);
  });

  test.each(seedsToRun([1, 2]))(
    "keeps a device correct during random changes and pages (seed %d)",
    async (seed) => {
      const random = seededRandom(seed);
      const known = new Map<string, string>();
      let location: ChangePosition = NOTHING_KNOWN;
      const trashed: TreeNode[] = [];
      const nodes = () =>
        tree.db.sqlite
          .query<{ public_id: string }, []>("SELECT public_id FROM nodes WHERE name <> '/'")
          .all()
          .flatMap(({ public_id }) => tree.read.findNode(accountId, public_id) ?? []);
      const pathOf = (node: TreeNode) => (node.kind === "folder" ? node.path : `${node.folder} ${node.name}`);
      const page = () => {
        const { entries, next, hasMore } = tree.read.changesSince(accountId, location, 1 + random.below(4), true);
        const ids = entries.map((entry) => (entry.change === "deleted" ? entry.publicId : entry.node.publicId));
        expect(new Set(ids).size).toBe(ids.length);
        for (const entry of entries) {
          if (entry.change === "deleted") known.delete(entry.publicId);
          else known.set(entry.node.publicId, pathOf(entry.node));
        }
        location = next;
        return hasMore || tree.read.isReaping(accountId);
      };
      const takeOne = (change: (node: TreeNode) => unknown) => {
        for (const node of trashed.splice(random.below(trashed.length + 1), 1)) change(node);
      };
      const folders = () => ["/", ...nodes().flatMap((node) => (node.kind === "folder" ? [node.path] : []))];
      const steps = [
        () =>
          void tree.addFile(accountId, random.pick(folders()), random.pick(["a", "b", "c"]), { onConflict: "rename" }),
        () => void tree.addFile(accountId, random.pick(folders()), "d", { onConflict: "rename", tags: ["t"] }),
        () =>
          void tree.run((tx) =>
            tree.write.ensureFolder(tx, accountId, `${random.pick(folders())}/n`.replace("//", "/")),
          ),
        () => {
          const all = nodes();
          if (all.length > 0) trashed.push(trash(random.pick(all)).node);
        },
        () => {
          takeOne(restore);
        },
        () => {
          if (random.chance(0.5)) takeOne(purge);
        },
        () => {
          const all = nodes().filter(({ kind }) => kind === "folder");
          if (all.length === 0) return;
          const folder = random.pick(all);
          if (folder.kind === "folder")
            tree.run((tx) => tree.write.updateFolder(tx, folder, { name: `r${random.below(99_999)}` }));
        },
        () => {
          const all = nodes();
          const node = all.length > 0 && random.chance(0.3) ? random.pick(all) : undefined;
          if (node?.kind === "file") tree.run((tx) => tree.write.deleteFile(tx, node));
          else if (node?.kind === "folder") tree.run((tx) => tree.write.deleteFolder(tx, node));
        },
        () => void page(),
        () => void page(),
        () => void tree.run((tx) => tree.write.reapSome(tx, 5)),
      ];
      for (let step = 0; step < 500; step++) {
        tree.clock.advance(1);
        random.pick(steps)();
        if (step % 100 !== 99) continue;
        reapAll();
        while (page());
        expect(Object.fromEntries(known)).toEqual(
          Object.fromEntries(nodes().map((node) => [node.publicId, pathOf(node)])),
        );
        await expectNoDrift();
      }
      expect(location).toEqual(knownUpTo(tree.read.headOf(accountId)));
    },
    120_000,
  );
});
