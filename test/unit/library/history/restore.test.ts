/** Random changes by people and devices; then everything is restored to a moment, and must be as it was. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Transaction } from "../../../../src/db/transaction.ts";
import { HistoryService, RESTORE_CHANGES_MAX } from "../../../../src/features/library/history/service.ts";
import type { RestoreOutcome, RestoreRequest } from "../../../../src/features/library/history/types.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../../src/tree/model/types.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { Turns } from "../../../../src/lib/turns.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, CountedTrials, reasonOf, TestTree } from "../../tree/support.ts";

const NAMES = ["a", "b.txt", "B.TXT", "ä.jpg", "c (1)", "c", "d"];
const DEVICE = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

let tree: TestTree;
let trials: CountedTrials;
/** Ids of nodes restored from the trash. */
const returned = new Set<string>();
afterEach(() => tree.close());

function open(quotaBytes: number | null = null) {
  tree = new TestTree();
  trials = new CountedTrials(tree.trials);
  const accountId = tree.addAccount();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as far as a user is looked at here
  const user = { id: accountId, viaDeviceId: undefined } as User;
  const service = new HistoryService({
    sqlite: tree.db.sqlite,
    writer: tree.writer,
    clock: tree.clock,
    tree: tree.read,
    treeWriter: tree.write,
    trials,
    limitsOf: () => ({ quotaBytes, plan: "free" }),
    maxAgeMs: () => 30 * DAY_MS,
    turns: new Turns(8),
  });
  const run = (atMs: number, more: Partial<RestoreRequest> = {}) =>
    service.restore(user, { folderPath: "/", atMs, isDryRun: false, removesNew: false, isPartial: false, ...more });
  const restore = async (atMs: number, more: Partial<RestoreRequest> = {}) => (await run(atMs, more)).outcomes;
  return { accountId, run, restore };
}

async function allNodes(accountId: number): Promise<TreeNode[]> {
  const all: TreeNode[] = [];
  const walk = async (folder: FolderNode): Promise<void> => {
    const query = { accountId, folder, sort: "name", order: "asc", offset: 0, limit: 10_000 } as const;
    for (const node of (await tree.read.list(query)).nodes) {
      all.push(node);
      if (node.kind === "folder") await walk(node);
    }
  };
  await walk(tree.read.getRoot(accountId));
  return all;
}

/** Paths with content, in order. */
function shape(nodes: readonly TreeNode[]): string[] {
  return nodes.map((node) => `${node.folder}|${node.name}|${node.kind === "file" ? node.digest : ""}`).sort();
}

/** A random change. @returns ids that it deleted permanently */
function change(accountId: number, random: ReturnType<typeof seededRandom>, nodes: readonly TreeNode[]): string[] {
  const folders = nodes.filter((node) => node.kind === "folder");
  const folderPath = folders.length > 0 && random.chance(0.7) ? random.pick(folders).path : "/";
  const name = random.pick(NAMES);
  const deviceId = random.chance(0.6) ? DEVICE : undefined;
  const node = nodes.length > 0 ? random.pick(nodes) : undefined;
  const kind = random.below(12);
  const by = (change: (tx: Transaction) => unknown) => tree.run((tx) => tree.write.by(deviceId, () => void change(tx)));
  const below = (folder: TreeNode): string[] =>
    nodes.filter(({ parentId }) => parentId === folder.id).flatMap((one) => [one.publicId, ...below(one)]);
  if (node === undefined || kind <= 1) {
    const blob = blobOf(`${random.below(1_000)}`, 1 + random.below(50));
    tree.addFile(accountId, folderPath, name, { blob, onConflict: "rename" });
  } else if (kind === 2)
    by((tx) => tree.write.ensureFolder(tx, accountId, `${folderPath === "/" ? "" : folderPath}/f${name}`));
  else if (kind <= 4) by((tx) => tree.write.move(tx, node, folderPath));
  else if (kind === 5 && node.kind === "folder") by((tx) => tree.write.updateFolder(tx, node, { name: `f${name}` }));
  else if (kind === 6 && node.kind === "file") by((tx) => tree.write.updateFile(tx, node, { name, folderPath }));
  else if (kind === 7 && node.kind === "file") rewrite(accountId, node, `${random.below(1_000)}`);
  else if (kind === 8) {
    by((tx) => (node.kind === "file" ? tree.write.deleteFile(tx, node) : tree.write.deleteFolder(tx, node)));
    return deviceId === undefined ? [node.publicId, ...below(node)] : [];
  } else if (kind === 9) by((tx) => tree.write.trash(tx, node));
  else if (kind === 10) by((tx) => tree.write.reapSome(tx, 3));
  else if (kind === 11) {
    const { entries } = tree.read.trash.byTime({ accountId, order: "desc", offset: 0, limit: 100 });
    const trashed = entries.length > 0 ? random.pick(entries).node : undefined;
    if (trashed !== undefined) {
      by((tx) => tree.write.restore(tx, trashed));
      returned.add(trashed.publicId);
    }
  }
  return [];
}

function rewrite(accountId: number, file: FileNode, text: string): void {
  const content = { file, blob: blobOf(text, 9), mediaType: "a/b", createdBy: accountId, quotaBytes: null };
  tree.run((tx) => tree.write.replaceContent(tx, content));
}

async function changeMuch(
  accountId: number,
  random: ReturnType<typeof seededRandom>,
  steps: number,
): Promise<Set<string>> {
  const deleted = new Set<string>();
  for (let step = 0; step < steps; step++) {
    tree.clock.advance(1 + random.below(5));
    try {
      for (const publicId of change(accountId, random, await allNodes(accountId))) deleted.add(publicId);
    } catch (error) {
      // A taken name, or a folder moved into itself: nothing has changed.
      if (!(error instanceof Error && "reason" in error)) throw error;
    }
  }
  return deleted;
}

async function expectNoDrift(accountId: number): Promise<void> {
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
}

describe("locations that are too deep", () => {
  const chain = (name: string, levels: number) => `/${name}`.repeat(levels);
  /** Folders are restored from the top down: this one after its present parent. */
  const home = chain("q", 120);
  /** Two branches, one of which is moved into the other and is too deep there once that one is restored. */
  function swapBranches(accountId: number) {
    const folderAt = (path: string) => tree.read.findFolderByPath(accountId, path) ?? expect.unreachable();
    for (const path of [chain("a", 200), home + chain("b", 100)])
      tree.run((tx) => tree.write.ensureFolder(tx, accountId, path));
    tree.clock.advance(5);
    const atMs = tree.clock.nowMs();
    tree.clock.advance(5);
    tree.run((tx) => {
      tree.write.updateFolder(tx, folderAt(chain("a", 100)), { folderPath: "/", name: "top" });
      tree.write.updateFolder(tx, folderAt(`${home}/b`), { folderPath: `/top${chain("a", 100)}`, name: "b" });
    });
    tree.clock.advance(5);
    return { atMs, folderAt };
  }

  test("are postponed until other restores reduce the depth", async () => {
    const { accountId, restore } = open();
    const { atMs } = swapBranches(accountId);
    const outcomes = await restore(atMs, { removesNew: true });
    expect(outcomes).toMatchObject([{ change: "place" }, { change: "place" }]);
    for (const path of [chain("a", 200), home + chain("b", 100)])
      expect(tree.read.findFolderByPath(accountId, path)).toBeDefined();
    await expectNoDrift(accountId);
  });

  test("are reported if nothing reduces the depth, and all else is restored", async () => {
    const { accountId, restore } = open();
    tree.addFile(accountId, `${home}/b`, "file", { blob: blobOf("file") });
    tree.addFile(accountId, chain("a", 101), "inside", { blob: blobOf("inside") });
    const { atMs, folderAt } = swapBranches(accountId);
    const top = folderAt("/top");
    // Longer than it was then.
    tree.run((tx) => tree.write.ensureFolder(tx, accountId, `/top${chain("a", 99)}${chain("c", 100)}`));
    const file = tree.read.findFileNamed(accountId, `/top${chain("a", 100)}/b`, "file") ?? expect.unreachable();
    tree.run((tx) => tree.write.updateFile(tx, file, { name: "renamed" }));
    const inTop = tree.read.findFileNamed(accountId, "/top/a", "inside") ?? expect.unreachable();
    rewrite(accountId, inTop, "later");
    tree.clock.advance(5);
    const outcomes = await restore(atMs);
    expect(tree.read.findFileNamed(accountId, "/top/a", "inside")?.digest).toBe(inTop.digest);
    expect(outcomes).toContainEqual({
      outcome: "skipped",
      reason: "too_deep",
      node: { publicId: top.publicId, isFolder: true, name: "top", folder: "/" },
    });
    expect(tree.read.findFileNamed(accountId, `${home}/b`, "file")).toBeDefined();
    await expectNoDrift(accountId);
  });
});

describe("everything restored", () => {
  test.each(seedsToRun([1, 2]))("is what it was (seed %i)", async (seed) => {
    const { accountId, restore } = open();
    const random = seededRandom(seed);
    await changeMuch(accountId, random, 40);
    const before = await allNodes(accountId);
    const atMs = tree.clock.nowMs();
    const deleted = await changeMuch(accountId, random, 60);
    // Permanently deleted nodes and their content are not expected.
    const byId = new Map(before.map((node) => [node.id, node]));
    const isAvailable = (node: TreeNode): boolean => {
      const parent = byId.get(node.parentId ?? 0);
      return !deleted.has(node.publicId) && (parent === undefined || isAvailable(parent));
    };
    tree.clock.advance(5);
    const now = shape(await allNodes(accountId));
    const dry = await restore(atMs, { isDryRun: true, removesNew: true });
    expect(shape(await allNodes(accountId))).toEqual(now);
    const outcomes = await restore(atMs, { removesNew: true });
    expect(outcomes.map(summary)).toEqual(dry.map(summary));
    expect(outcomes.filter(({ outcome }) => outcome === "skipped")).toEqual([]);
    const orphans = new Set(before.filter((node) => !isAvailable(node)).map(({ publicId }) => publicId));
    // A node restored from the trash since that moment stays.
    const known = new Set(before.map(({ publicId }) => publicId));
    for (const publicId of returned) if (!known.has(publicId)) orphans.add(publicId);
    const present = await allNodes(accountId);
    const parents = new Map(present.map((node) => [node.id, node]));
    const isOrphan = (node: TreeNode): boolean => {
      const parent = parents.get(node.parentId ?? 0);
      return orphans.has(node.publicId) || (parent !== undefined && isOrphan(parent));
    };
    const after = present.filter((node) => !isOrphan(node));
    expect(shape(after)).toEqual(shape(before.filter(isAvailable)));
    await expectNoDrift(accountId);
    // After one run nothing is left to do.
    tree.clock.advance(5);
    expect(await restore(atMs, { removesNew: true })).toEqual([]);
  });
});

function summary(one: RestoreOutcome): string {
  const what = one.outcome === "done" ? one.change : one.outcome;
  return `${what} ${one.node.folder} ${one.node.name}`;
}

test("swapped names return to their files", async () => {
  const { accountId, restore } = open();
  const files = ["1", "2", "3"].map((name) => tree.addFile(accountId, "/f", name, { blob: blobOf(name) }));
  const before = await allNodes(accountId);
  const atMs = tree.clock.nowMs();
  tree.clock.advance(5);
  const rename = (file: FileNode | undefined, name: string) => {
    if (file !== undefined) tree.run((tx) => tree.write.updateFile(tx, file, { name }));
  };
  rename(files[0], "x");
  rename(files[1], "1");
  rename(files[2], "2");
  rename(files[0], "3");
  const outcomes = await restore(atMs, { folderPath: "/f" });
  expect(shape(await allNodes(accountId))).toEqual(shape(before));
  expect(outcomes.map(summary).sort()).toEqual(["place /f 1", "place /f 2", "place /f 3"]);
  expect(outcomes.flatMap((one) => (one.outcome === "done" && one.from ? [one.from.name] : [])).sort()).toEqual([
    "1",
    "2",
    "3",
  ]);
});

test("new files are renamed, and stay unless their removal is requested", async () => {
  const { accountId, restore } = open();
  const file = tree.addFile(accountId, "/f", "a.txt", { blob: blobOf("old") });
  const atMs = tree.clock.nowMs();
  tree.clock.advance(5);
  tree.run((tx) => tree.write.updateFile(tx, file, { name: "a.txt.locked" }));
  tree.addFile(accountId, "/f", "a.txt", { blob: blobOf("new") });
  const outcomes = await restore(atMs);
  expect(outcomes.map(summary)).toEqual(["new /f a.txt", "aside /f a (1).txt", "place /f a.txt"]);
  const names = (await allNodes(accountId)).map(({ name }) => name);
  expect(names).toEqual(["f", "a (1).txt", "a.txt"]);
});

test("others read and write during a large restore", async () => {
  const { accountId, restore } = open();
  const many = 300;
  const files = Array.from({ length: many }, (_, index) => tree.addFile(accountId, "/then", `${index}`));
  const atMs = tree.clock.nowMs();
  tree.clock.advance(5);
  tree.run((tx) => {
    for (const file of files) tree.write.move(tx, file, "/now");
  });
  const folderIds = ["/then", "/now"].map((path) => tree.read.findFolderByPath(accountId, path)?.id);
  const countThen = () =>
    tree.db.sqlite
      .query<{ files: number }, [number]>("SELECT child_files AS files FROM folders WHERE node_id = ?1")
      .get(folderIds[0] ?? 0)?.files ?? 0;
  const seen = new Set<number>();
  const state = { isOver: false };
  const restored = restore(atMs).finally(() => {
    state.isOver = true;
  });
  while (!state.isOver) {
    await tree.writer.run(() => void seen.add(countThen()));
    await Bun.sleep(0);
  }
  expect((await restored).filter(({ outcome }) => outcome === "done")).toHaveLength(many);
  expect(countThen()).toBe(many);
  // Neither nothing nor everything: another transaction ran in between.
  expect([...seen].some((count) => count > 0 && count < many)).toBe(true);
});

test("others get their turn between the steps of a dry run", async () => {
  const { accountId, restore } = open();
  const files = Array.from({ length: 30 }, (_, at) => tree.addFile(accountId, "/", `f${at}`));
  const atMs = tree.clock.nowMs();
  tree.clock.advance(5);
  for (const file of files) rewrite(accountId, file, `new ${file.name}`);
  expect(await restore(atMs, { isDryRun: true })).toHaveLength(files.length);
  expect(trials.turns).toBeGreaterThanOrEqual(files.length);
});

test("a restore beyond the quota is rejected as a whole", async () => {
  const { accountId, restore } = open(25);
  const file = tree.addFile(accountId, "/", "a", { blob: blobOf("old", 10) });
  tree.addFile(accountId, "/", "b", { blob: blobOf("b", 1) });
  const atMs = tree.clock.nowMs();
  tree.clock.advance(5);
  rewrite(accountId, file, "new");
  tree.run((tx) => {
    const b = tree.read.findNodeIn(tree.read.getRoot(accountId).id, "b");
    if (b?.kind === "file") tree.write.updateFile(tx, b, { name: "c" });
  });
  const now = shape(await allNodes(accountId));
  for (const isDryRun of [true, false]) {
    const rejection = await restore(atMs, { isDryRun }).catch((error: unknown) => error);
    expect(
      reasonOf(() => {
        throw rejection;
      }),
    ).toBe("quota_exceeded");
    expect(shape(await allNodes(accountId))).toEqual(now);
  }
});

test("a moment in the future or too long ago is rejected, and so are too many changes", async () => {
  const { accountId, run, restore } = open();
  tree.addFile(accountId, "/", "a");
  tree.clock.advance(31 * DAY_MS);
  const reason = async (atMs: number, more: Partial<RestoreRequest> = {}) => {
    const rejection = await restore(atMs, more).catch((error: unknown) => error);
    return reasonOf(() => {
      throw rejection;
    });
  };
  expect(await reason(tree.clock.nowMs() + 1)).toBe("invalid_field");
  expect(await reason(tree.clock.nowMs() - 30 * DAY_MS - 1)).toBe("invalid_field");
  const atMs = tree.clock.nowMs();
  tree.clock.advance(1);
  const root = tree.read.getRoot(accountId);
  tree.run((tx) => {
    for (let i = 0; i <= RESTORE_CHANGES_MAX; i++)
      tree.write.createFolder(tx, { accountId, parentPath: "/", name: `${i}`, metadata: {} });
  });
  tree.clock.advance(1);
  const movedAtMs = tree.clock.nowMs();
  tree.clock.advance(1);
  tree.run((tx) => {
    for (let i = 0; i <= RESTORE_CHANGES_MAX; i++) {
      const node = tree.read.findNodeIn(root.id, `${i}`);
      if (node?.kind === "folder") tree.write.updateFolder(tx, node, { name: `x${i}` });
    }
  });
  expect(await reason(movedAtMs)).toBe("invalid_request");
  const first = await run(movedAtMs, { isPartial: true });
  expect([first.outcomes.length, first.hasMore]).toEqual([RESTORE_CHANGES_MAX, true]);
  const second = await run(movedAtMs, { isPartial: true });
  expect([second.outcomes.length, second.hasMore]).toEqual([1, false]);
  expect((await run(movedAtMs)).outcomes).toEqual([]);
  // All of it is new since an earlier time; what stays is counted, and the first part listed.
  const left = await run(atMs);
  expect([left.outcomes.length, left.newCount, left.hasMore]).toEqual([1_000, RESTORE_CHANGES_MAX + 1, false]);
  expect(await reason(atMs, { removesNew: true })).toBe("invalid_request");
  const removed = await run(atMs, { removesNew: true, isPartial: true });
  expect([removed.outcomes.length, removed.hasMore]).toEqual([RESTORE_CHANGES_MAX, true]);
  expect((await run(atMs, { removesNew: true })).outcomes.length).toBe(1);
}, 120_000);
