import { afterEach, beforeEach, expect, test } from "bun:test";
import type { FileNode } from "../../../src/tree/model/types.ts";
import { blobOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId = 0;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const rows = () =>
  tree.db.sqlite.query<{ count: number }, []>("SELECT count(*) AS count FROM former_places").get()?.count ?? 0;

function replace(file: FileNode, text: string): FileNode {
  const content = { file, blob: blobOf(text), mediaType: "a/b", createdBy: accountId, quotaBytes: null };
  return tree.run((tx) => tree.write.replaceContent(tx, content));
}

function readAt(atMs: number, publicId: string) {
  return tree.read.past.findFile(tree.read.past.momentAt(accountId, atMs), publicId);
}

test("only a move, rename or deletion writes a row", () => {
  const file = tree.addFile(accountId, "/f", "a");
  replace(file, "other");
  tree.run((tx) => tree.write.updateFile(tx, file, { tags: ["x"], metadata: { k: "v" } }));
  tree.run((tx) => tree.write.updateFile(tx, file, { name: "a", folderPath: "/f" }));
  expect(rows()).toBe(0);
  tree.run((tx) => tree.write.updateFile(tx, file, { name: "b" }));
  expect(rows()).toBe(1);
  tree.run((tx) => tree.write.deleteFile(tx, file));
  expect(rows()).toBe(1);
});

test("a sweep deletes rows in slices, oldest first", () => {
  const file = tree.addFile(accountId, "/", "0");
  for (let step = 1; step <= 5; step++) {
    tree.clock.advance(10);
    tree.run((tx) => tree.write.updateFile(tx, file, { name: String(step) }));
  }
  const lastMs = tree.clock.nowMs();
  expect(tree.run((tx) => tree.write.sweepHistory(tx, accountId, lastMs, 3))).toBe(3);
  expect(readAt(lastMs - 1, file.publicId)?.node.name).toBe("4");
  expect(tree.run((tx) => tree.write.sweepHistory(tx, accountId, lastMs, 3))).toBe(1);
  expect(readAt(lastMs - 1, file.publicId)?.node.name).toBe("4");
  expect(tree.run((tx) => tree.write.sweepHistory(tx, accountId + 1, lastMs + 1, 3))).toBe(0);
  expect(rows()).toBe(1);
});

test("nodes of a large copy exist from when the copy appeared", async () => {
  tree.addFile(accountId, "/from/deep", "a");
  const [source] = (await tree.read.list({ ...page("/"), kind: "folder" })).nodes;
  if (source?.kind !== "folder") throw new Error("there is no folder");
  tree.clock.advance(10);
  const options = { onConflict: "rename", preserveMetadata: true, createdBy: accountId, quotaBytes: null } as const;
  const before = tree.clock.nowMs();
  tree.clock.advance(10);
  const copy = await tree.write.copyLarge(tree.writer, source, "/to", options);
  const [deep] = (await tree.read.list(page(copy.path))).nodes;
  const [file] = deep?.kind === "folder" ? (await tree.read.list(page(deep.path))).nodes : [];
  if (file?.kind !== "file") throw new Error("nothing was copied");
  const after = tree.clock.nowMs();
  tree.clock.advance(10);
  tree.run((tx) => tree.write.move(tx, file, "/"));
  expect(readAt(before, file.publicId)).toBeUndefined();
  expect(readAt(after, file.publicId)?.node.folder).toBe("/to/from/deep");
  expect(readAt(tree.clock.nowMs(), file.publicId)?.node.folder).toBe("/");
});

function page(path: string) {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`there is no ${path}`);
  return { accountId, folder, sort: "name", order: "asc", offset: 0, limit: 10 } as const;
}

test("a version that a share is pinned to outlives its age", () => {
  const file = replace(replace(tree.addFile(accountId, "/", "a"), "second"), "third");
  tree.db.sqlite.run(
    `INSERT INTO shares (public_id, node_id, kind, nonce, token_hash, created_at, pinned_version)
     VALUES ('shr_1', ?, 'link', x'00', x'00', 0, 1)`,
    [file.id],
  );
  tree.clock.advance(10);
  const options = { retainedVersions: () => 0, olderThanMs: tree.clock.nowMs(), limit: 10, afterNodeId: 0 };
  expect(tree.run((tx) => tree.write.pruneVersions(tx, options)).removed).toBe(1);
  expect(tree.read.listVersions(file).map(({ version }) => version)).toEqual([3, 1]);
});

test("age counts from when a version was replaced: an old version that was current until now stays", () => {
  const file = tree.addFile(accountId, "/", "a");
  tree.clock.advance(1_000_000);
  const replacedMs = tree.clock.nowMs();
  replace(file, "second");
  const prune = (olderThanMs: number) =>
    tree.run((tx) =>
      tree.write.pruneVersions(tx, { retainedVersions: () => 0, olderThanMs, limit: 10, afterNodeId: 0 }),
    ).removed;
  expect(prune(replacedMs)).toBe(0);
  expect(prune(replacedMs + 1)).toBe(1);
});

test("a clock that is set back hides no version", () => {
  const file = tree.addFile(accountId, "/", "a");
  tree.clock.advance(1_000);
  const moment = tree.clock.nowMs();
  replace(file, "second");
  tree.clock.advance(-500);
  replace(file, "third");
  for (const atMs of [moment - 1_000, moment - 1, moment, moment + 10_000]) {
    expect(readAt(atMs, file.publicId)?.isContentAvailable).toBe(true);
  }
});
