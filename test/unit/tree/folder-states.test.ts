/** ETags and sizes of folders: they follow exactly the changes below them that listings show. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { fillSizes } from "../../../src/tree/operations/fill-sizes.ts";
import { TreeReader } from "../../../src/tree/reader.ts";
import { TreeStore } from "../../../src/tree/tables/store.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../support/random.ts";
import { describeFolders, RandomChanges } from "./random-changes.ts";
import { blobOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const refresh = () => tree.write.refreshFolders([accountId]);
const unaborted = () => new AbortController().signal;
const rootId = () => tree.read.getRoot(accountId).id;
const stateOf = (id: number) => {
  const state = tree.read.folderStates([id]).get(id);
  if (state === undefined) throw new Error("no such folder");
  return state;
};

/** Deletes all sizes, as an upgrade leaves them. */
const forgetSizes = () => tree.run(() => tree.db.sqlite.run("UPDATE folders SET bytes = NULL, tree_bytes = NULL"));
const unfilled = () => tree.db.sqlite.query("SELECT count(*) FROM folders WHERE bytes IS NULL").values()[0]?.[0];

test.each(seedsToRun([1, 2, 3]))(
  "after random changes, exactly the ETags above them differ, and all sizes are right (seed %d)",
  async (seed) => {
    const random = seededRandom(seed);
    const otherAccountId = tree.addAccount();
    const changes = new RandomChanges(tree, random, accountId, otherAccountId);
    const seen = new Map<number, { etag: string; shown: string }>();
    const shownBy = new Map<string, string>();
    for (let batch = 0; batch < 60; batch++) {
      for (let i = random.below(7); i >= 0; i--) await changes.step();
      if (batch % 10 === 9) await changes.copyInSteps();
      await tree.write.refreshFolders([accountId, otherAccountId]);
      expect(tree.write.refreshFolders([accountId, otherAccountId])).toBeUndefined();
      const folders = describeFolders(tree, changes.changesIn);
      const states = tree.read.folderStates([...folders.keys()]);
      for (const [id, { shown, bytes }] of folders) {
        const { etag = "", sizeBytes } = states.get(id) ?? {};
        const before = seen.get(id);
        if (before !== undefined) expect([id, before.etag !== etag]).toEqual([id, before.shown !== shown]);
        // The same ETag never stands for two states.
        expect(shownBy.get(etag) ?? shown).toBe(shown);
        expect([id, sizeBytes]).toEqual([id, bytes]);
        seen.set(id, { etag, shown });
        shownBy.set(etag, shown);
      }
      if (batch % 20 === 0) expect(await tree.read.recount(accountId)).toEqual([]);
    }
    expect(await tree.read.recount(accountId)).toEqual([]);
    expect(await tree.read.recount(otherAccountId)).toEqual([]);
  },
  60_000,
);

describe("sizes of an upgraded database", () => {
  test.each(seedsToRun([1, 2, 3]))(
    "are added up while others write, and no ETag changes by that (seed %d)",
    async (seed) => {
      const random = seededRandom(seed);
      const otherAccountId = tree.addAccount();
      const changes = new RandomChanges(tree, random, accountId, otherAccountId);
      for (let i = 0; i < 150; i++) await changes.step();
      await tree.write.refreshFolders([accountId, otherAccountId]);
      forgetSizes();
      // A run that is interrupted, and one during which others write.
      const interrupted = new AbortController();
      const filling = tree.write.refreshEverything(interrupted.signal);
      await tree.writer.run(() => interrupted.abort());
      await filling;
      for (let i = 0; i < 30; i++) {
        await changes.step();
        if (random.chance(0.2)) await tree.write.refreshFolders([accountId, otherAccountId]);
      }
      const again = tree.write.refreshEverything(unaborted());
      for (let i = 0; i < 20; i++) {
        await changes.step();
        await tree.writer.run(() => undefined);
      }
      await again;
      await tree.write.refreshEverything(unaborted());
      expect(unfilled()).toBe(0);
      const folders = describeFolders(tree, changes.changesIn);
      const states = tree.read.folderStates([...folders.keys()]);
      for (const [id, { bytes }] of folders) expect([id, states.get(id)?.sizeBytes]).toEqual([id, bytes]);
      forgetSizes();
      await tree.write.refreshEverything(unaborted());
      expect(tree.read.folderStates([...folders.keys()])).toEqual(states);
      expect(await tree.read.recount(accountId)).toEqual([]);
    },
    60_000,
  );

  test("are unknown above a folder without a size, and computed on request", async () => {
    tree.addFile(accountId, "/a/b", "x", { blob: blobOf("x", 5) });
    tree.addFile(accountId, "/c", "y", { blob: blobOf("y", 7) });
    await refresh();
    const [a, c] = ["/a", "/c"].map((path) => tree.read.findFolderByPath(accountId, path));
    if (a === undefined || c === undefined) throw new Error("no folders");
    tree.run(() => tree.db.sqlite.run("UPDATE folders SET bytes = NULL, tree_bytes = NULL WHERE node_id = ?", [a.id]));
    tree.run((tx) => tree.write.updateFolder(tx, a, { folderPath: "/c" }));
    await refresh();
    expect([stateOf(a.id).sizeBytes, stateOf(c.id).sizeBytes, stateOf(rootId()).sizeBytes]).toEqual([null, null, null]);
    expect(await Promise.all([a.id, c.id, rootId()].map((id) => tree.read.folderSize(id)))).toEqual([5, 12, 12]);
    expect((await tree.write.refreshEverything(unaborted())).filled).toBe(3);
    expect([stateOf(a.id).sizeBytes, stateOf(c.id).sizeBytes, stateOf(rootId()).sizeBytes]).toEqual([5, 12, 12]);
  });

  test("replace the size that the parent knows, when the folder is refreshed", async () => {
    tree.addFile(accountId, "/a", "x", { blob: blobOf("x", 5) });
    tree.addFile(accountId, "/c/d", "y", { blob: blobOf("y", 7) });
    await refresh();
    const [a, d] = ["/a", "/c/d"].map((path) => tree.read.findFolderByPath(accountId, path));
    if (a === undefined || d === undefined) throw new Error("no folders");
    tree.run(() => tree.db.sqlite.run("UPDATE folders SET bytes = NULL, tree_bytes = NULL WHERE node_id = ?", [a.id]));
    tree.run((tx) => tree.write.updateFolder(tx, a, { folderPath: "/c/d" }));
    await fillSizes(tree.store, unaborted());
    await refresh();
    await tree.write.refreshEverything(unaborted());
    expect([a.id, d.id, rootId()].map((id) => stateOf(id).sizeBytes)).toEqual([5, 12, 12]);
    expect(await tree.read.recount(accountId)).toEqual([]);
  });

  test("of a folder with many children are added up although it changes during that", async () => {
    tree.run((tx) => {
      const blob = blobOf("x", 3);
      const file = { accountId, createdBy: accountId, folderPath: "/many", mediaType: "a/b", tags: [], metadata: {} };
      for (let i = 0; i < 2_100; i++) {
        tree.write.createFile(tx, {
          ...file,
          name: `f${i}`,
          blob,
          isPublic: false,
          onConflict: "error",
          quotaBytes: null,
        });
      }
    });
    await refresh();
    forgetSizes();
    // Between the sum and its storage, a file is added.
    const { thread } = tree;
    const original = thread.read.bind(thread);
    const read = spyOn(thread, "read").mockImplementationOnce(async (statements) => {
      const results = await original(statements);
      tree.addFile(accountId, "/many", "late", { blob: blobOf("late", 11) });
      return results;
    });
    await tree.write.refreshEverything(unaborted());
    expect(read.mock.calls.length).toBeGreaterThan(1);
    read.mockRestore();
    await refresh();
    expect(stateOf(rootId()).sizeBytes).toBe(2_100 * 3 + 11);
    expect(await tree.read.recount(accountId)).toEqual([]);
  });
});

test("many changed folders that are deep are refreshed in several transactions", async () => {
  const paths = Array.from({ length: 30 }, (_, i) => `/c${i}${"/x".repeat(200)}`);
  for (const path of paths) tree.addFile(accountId, path, "a", { blob: blobOf("a", 5) });
  await refresh();
  for (const path of paths) tree.addFile(accountId, path, "b", { blob: blobOf("b", 2) });
  const run = spyOn(tree.writer, "run");
  await refresh();
  // At most 1,536 folders each.
  expect(run.mock.calls.length).toBeGreaterThanOrEqual(4);
  run.mockRestore();
  expect(stateOf(rootId()).sizeBytes).toBe(30 * 7);
  expect(await tree.read.recount(accountId)).toEqual([]);
});

test("an ETag differs after a restore from a snapshot, where row ids and numbers are given again", async () => {
  const { db, thread, writer, clock } = tree;
  const options = { sqlite: db.sqlite, reader: thread, writer, clock, log: silentLog };
  const restored = new TreeReader(new TreeStore({ ...options, epoch: "b6d4" })).folderStates([rootId()]);
  const again = new TreeReader(new TreeStore({ ...options, epoch: "c7e5" })).folderStates([rootId()]);
  const etags = [stateOf(rootId()), restored.get(rootId()), again.get(rootId())].map((state) => state?.etag);
  expect(new Set(etags).size).toBe(3);
});

test("the time of a folder is that of the last shown change of a direct child", async () => {
  const file = tree.addFile(accountId, "/a/b", "x");
  const b = file.parentId;
  const createdAtMs = tree.clock.nowMs();
  tree.clock.advance(1_000);
  tree.run((tx) => tree.write.updateFile(tx, file, { tags: ["red"], isPublic: true, metadata: { k: "v" } }));
  expect(stateOf(b).changedAtMs).toBe(createdAtMs);
  tree.run((tx) => tree.write.updateFile(tx, file, { fileModifiedAt: "2001-02-03T04:05:06Z" }));
  expect([stateOf(b).changedAtMs, stateOf(rootId()).changedAtMs]).toEqual([createdAtMs + 1_000, createdAtMs]);
});

test("a property of a file changes the ETags above it", async () => {
  const file = tree.addFile(accountId, "/a", "x");
  await refresh();
  const before = [file.parentId, rootId()].map((id) => stateOf(id).etag);
  tree.run((tx) => tree.write.changeProperties(tx, file, [{ namespace: "n", name: "p", value: "1" }]));
  await refresh();
  for (const [i, id] of [file.parentId, rootId()].entries()) expect(stateOf(id).etag).not.toBe(before[i] ?? "");
});
