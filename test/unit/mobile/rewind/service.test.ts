// A rewind restores the tree after random changes by a device, and all counters stay correct.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { RewindService } from "../../../../src/features/mobile/rewind/service.ts";
import type { RewindOutcome } from "../../../../src/features/mobile/rewind/types.ts";
import type { FileNode, TreeNode } from "../../../../src/tree/model/types.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { Turns } from "../../../../src/lib/turns.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, CountedTrials, TestTree } from "../../tree/support.ts";

const DEVICE = 5;

let tree: TestTree;
let trials: CountedTrials;
let accountId: number;
let service: RewindService;
let quotaBytes: number | null;
beforeEach(() => {
  tree = new TestTree();
  trials = new CountedTrials(tree.trials);
  accountId = tree.addAccount();
  quotaBytes = null;
  service = new RewindService({
    sqlite: tree.db.sqlite,
    writer: tree.writer,
    clock: tree.clock,
    tree: tree.read,
    treeWriter: tree.write,
    trials,
    deviceIdOf: () => DEVICE,
    limitsOf: () => ({ quotaBytes }),
    onDeleted: () => {},
    turns: new Turns(8),
  });
});
afterEach(() => tree.close());

const user = (): User => ({
  id: accountId,
  publicId: "user_1",
  email: "a@example.com",
  name: "A",
  role: "user",
  plan: "free",
  quotaBytes: undefined,
  createdAtMs: 0,
  disabledAtMs: null,
  viaDeviceId: 9,
});

const byDevice = <T>(act: () => T): T => tree.write.by(DEVICE, act);
const reap = (limit: number) => tree.run((tx) => tree.write.reapSome(tx, limit));

function allNodes(): TreeNode[] {
  const rows = tree.db.sqlite
    .query<{ publicId: string }, [number]>(
      "SELECT public_id AS publicId FROM nodes WHERE account_id = ?1 AND name <> '/' ORDER BY id",
    )
    .all(accountId);
  return rows.flatMap(({ publicId }) => tree.read.findNode(accountId, publicId) ?? []);
}

/** All folders and files by path, with their content and labels. */
function snapshot(): Map<string, unknown> {
  return new Map(
    allNodes()
      .map((node): [string, unknown] => {
        if (node.kind === "folder") return [node.path, { folder: node.metadata }];
        const { digest, mediaType, tags, metadata, isPublic, originalName, createdAtMs, sizeBytes } = node;
        return [
          `${node.folder}/${node.name}`.replace("//", "/"),
          { digest, mediaType, tags, metadata, isPublic, originalName, createdAtMs, sizeBytes },
        ];
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

async function rewindAll(sinceMs: number): Promise<RewindOutcome[]> {
  const all: RewindOutcome[] = [];
  for (let more = true; more; ) {
    const request = { devicePublicId: "b", sinceMs };
    const before = snapshot();
    const tried = await service.rewind(user(), { ...request, isDryRun: true });
    expect(snapshot()).toEqual(before);
    const done = await service.rewind(user(), { ...request, isDryRun: false });
    expect(tried.outcomes.map(withoutId)).toEqual(done.outcomes.map(withoutId));
    all.push(...done.outcomes);
    more = done.hasMore;
  }
  return all;
}

/** An outcome without the ids of new nodes. */
function withoutId(outcome: RewindOutcome) {
  if (outcome.outcome !== "undone") return outcome;
  const { action, node, formerId } = outcome;
  return { action, name: node.name, folder: node.folder, id: formerId ?? node.publicId };
}

async function expectNoDrift(): Promise<void> {
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
}

const replace = (file: TreeNode, text: string) =>
  tree.run((tx) =>
    tree.write.replaceContent(tx, {
      file,
      blob: blobOf(text),
      mediaType: "application/x-garbage",
      createdBy: accountId,
      quotaBytes: null,
    }),
  );

/** A random change. All names are new, so that no name is taken when the changes are undone. */
function change(random: ReturnType<typeof seededRandom>, number: number): void {
  const nodes = allNodes();
  const files = nodes.filter((node): node is FileNode => node.kind === "file");
  const folders = nodes.filter((node) => node.kind === "folder");
  const folderPath = random.chance(0.1) ? `/new ${number}/in` : random.pick(["/", ...folders.map(({ path }) => path)]);
  const name = `x${number}`;
  const tryMove = (move: () => unknown) => {
    try {
      move();
    } catch (error) {
      // A folder can't be moved into itself.
      if (!(error instanceof Error && "reason" in error)) throw error;
    }
  };
  const kind = random.below(10);
  if (kind === 0 || files.length === 0) tree.addFile(accountId, folderPath, name);
  else if (kind === 1) tree.addFolder(accountId, folderPath, name);
  else if (kind <= 3) replace(random.pick(files), `garbage ${number}`);
  else if (kind === 4) tree.run((tx) => tree.write.updateFile(tx, random.pick(files), { name, folderPath }));
  else if (kind === 5) {
    const labels = { tags: [`t${number}`], metadata: { k: name, first: null }, isPublic: random.chance(0.5) };
    tree.run((tx) => tree.write.updateFile(tx, random.pick(files), labels));
  } else if (kind === 6) tree.run((tx) => tree.write.deleteFile(tx, random.pick(files)));
  else if (folders.length === 0) return;
  else if (kind === 7)
    tryMove(() => tree.run((tx) => tree.write.updateFolder(tx, random.pick(folders), { name, folderPath })));
  else if (kind === 8) tree.run((tx) => tree.write.updateFolder(tx, random.pick(folders), { metadata: { k: name } }));
  else if (random.chance(0.4)) tree.run((tx) => tree.write.deleteFolder(tx, random.pick(folders)));
  if (random.chance(0.3)) reap(random.below(5));
}

describe("random changes of a device", () => {
  for (const seed of seedsToRun([1, 2])) {
    test(`are all undone (seed ${seed})`, async () => {
      const random = seededRandom(seed);
      const folders = ["/", "/a", "/a/b", "/a/b/c", "/d"];
      for (let at = 0; at < 100; at++) {
        const file = tree.addFile(accountId, random.pick(folders), `f${at}`, {
          tags: random.chance(0.3) ? ["first"] : [],
          metadata: random.chance(0.3) ? { first: "1" } : {},
        });
        if (random.chance(0.2)) replace(file, `second ${at}`);
      }
      const early = snapshot();
      const earlyMs = tree.clock.nowMs() + 1;
      tree.clock.advance(10);
      for (let at = 0; at < 40; at++) byDevice(() => change(random, at));
      while (reap(50) > 0);
      tree.clock.advance(10);
      const late = snapshot();
      const lateMs = tree.clock.nowMs();
      for (let at = 40; at < 100; at++) byDevice(() => change(random, at));
      const outcomes = await rewindAll(lateMs);
      expect(outcomes.filter(({ outcome }) => outcome !== "undone")).toEqual([]);
      expect(snapshot()).toEqual(late);
      await rewindAll(earlyMs);
      expect(snapshot()).toEqual(early);
      await expectNoDrift();
      expect(await rewindAll(earlyMs)).toEqual([]);
    });
  }
});

const rewind = (sinceMs: number, isDryRun = false) =>
  service.rewind(user(), { devicePublicId: "b", sinceMs, isDryRun });
const countRows = () => tree.db.sqlite.query<{ rows: number }, []>("SELECT count(*) AS rows FROM undo").get()?.rows;

test("only changes by devices are recorded", () => {
  const file = tree.addFile(accountId, "/a", "f");
  replace(file, "x");
  tree.run((tx) => tree.write.updateFile(tx, file, { name: "g", tags: ["t"] }));
  tree.run((tx) => tree.write.deleteFile(tx, file));
  expect(countRows()).toBe(0);
});

test("changes that exceed one call are undone by the next ones, folders last", async () => {
  const sinceMs = tree.clock.nowMs();
  byDevice(() => {
    const folder = tree.addFolder(accountId, "/", "top");
    for (let at = 0; at < 1_300; at++) tree.addFile(accountId, `/top/${at % 7}`, `f${at}`);
    tree.run((tx) => tree.write.updateFolder(tx, folder, { name: "last changed" }));
  });
  const first = await rewind(sinceMs);
  expect(first.hasMore).toBe(true);
  expect(first.outcomes.length).toBe(1_000);
  const second = await rewind(sinceMs);
  expect(second.hasMore).toBe(false);
  expect(second.outcomes.map(({ outcome }) => outcome)).toEqual(Array(308).fill("undone"));
  expect(snapshot()).toEqual(new Map());
  await expectNoDrift();
});

test("a dry run yields to other requests between its steps", async () => {
  const files = Array.from({ length: 30 }, (_, at) => tree.addFile(accountId, "/", `f${at}`));
  const sinceMs = tree.clock.nowMs();
  tree.clock.advance(10);
  byDevice(() => files.map((file) => replace(file, `garbage ${file.name}`)));
  expect((await rewind(sinceMs, true)).outcomes).toHaveLength(files.length);
  expect(trials.turns).toBeGreaterThanOrEqual(files.length);
});

test("an item that exceeds the quota fails, and is tried again by the next call", async () => {
  const file = tree.addFile(accountId, "/", "f", { blob: blobOf("f", 60) });
  tree.clock.advance(10);
  const sinceMs = tree.clock.nowMs();
  byDevice(() => tree.run((tx) => tree.write.deleteFile(tx, file)));
  tree.addFile(accountId, "/", "g", { blob: blobOf("g", 60) });
  quotaBytes = 100;
  for (const isDryRun of [true, false]) {
    expect(await rewind(sinceMs, isDryRun)).toMatchObject({
      outcomes: [{ outcome: "failed", publicId: file.publicId, error: { reason: "quota_exceeded" } }],
      hasMore: false,
    });
  }
  quotaBytes = 120;
  expect((await rewind(sinceMs)).outcomes).toMatchObject([{ outcome: "undone", formerId: file.publicId }]);
  await expectNoDrift();
});

test("a folder deleted before the time stays deleted, although it was purged after it", async () => {
  for (let at = 0; at < 200; at++) tree.addFile(accountId, "/big", `f${at}`);
  const file = tree.addFile(accountId, "/", "f");
  tree.clock.advance(10);
  const [big] = allNodes();
  if (big === undefined) throw new Error("there is no folder");
  byDevice(() => tree.run((tx) => tree.write.deleteFolder(tx, big)));
  tree.clock.advance(10);
  const sinceMs = tree.clock.nowMs();
  byDevice(() => replace(file, "garbage"));
  tree.clock.advance(10);
  while (reap(50) > 0);
  expect((await rewind(sinceMs)).outcomes.map(withoutId)).toEqual([
    { action: "restored_content", name: "f", folder: "/", id: file.publicId },
  ]);
  expect((await rewind(sinceMs - 10)).outcomes.length).toBe(201);
});

test("changes older than 30 days can't be undone, and are removed", async () => {
  tree.db.sqlite.run(
    `INSERT INTO devices (id, user_id, public_id, name, platform, registered_at, last_active_at)
     VALUES (?, ?, 'b', 'b', 'b', 0, 0)`,
    [DEVICE, accountId],
  );
  const sinceMs = tree.clock.nowMs();
  byDevice(() => tree.addFile(accountId, "/", "f"));
  tree.clock.advance(30 * 86_400_000);
  expect(await rewind(sinceMs, true)).toMatchObject({ outcomes: [{ outcome: "undone" }] });
  byDevice(() => tree.addFile(accountId, "/", "g"));
  tree.clock.advance(1);
  await expect(rewind(sinceMs)).rejects.toMatchObject({ reason: "invalid_field", details: { field: "since" } });
  const sweep = () => tree.run((tx) => tree.write.sweepUndo(tx, accountId, tree.clock.nowMs() - 30 * 86_400_000, 100));
  expect([sweep(), sweep()]).toEqual([1, 0]);
  expect(countRows()).toBe(1);
});
