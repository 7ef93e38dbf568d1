import { afterEach, beforeEach, expect, test } from "bun:test";
import type { BlobStore } from "../../../../src/blobs/blob-store.ts";
import { ArchiveService } from "../../../../src/features/library/archive/service.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { blobOf, TestTree } from "../../tree/support.ts";

let tree: TestTree;
let accountId: number;
let archives: ArchiveService;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
  // Planning never reads file content.
  archives = new ArchiveService({ tree: tree.read, blobs: {} as BlobStore, log: silentLog });
});
afterEach(() => tree.close());

function folderAt(path: string) {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`no folder ${path}`);
  return folder;
}

test("is planned from one snapshot, even if files change during planning", async () => {
  for (let number = 0; number < 600; number++) tree.addFile(accountId, "/f", `${number}`.padStart(3, "0"));
  tree.addFile(accountId, "/f/below", "x");
  const names: string[] = [];
  await tree.read.walk([folderAt("/f").id], (node) => {
    if (names.length === 0) {
      tree.addFile(accountId, "/f", "500 new");
      tree.addFile(accountId, "/f/below", "y");
      tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/f/below")));
    }
    names.push(node.name);
    return names.length;
  });
  expect(names.length).toBe(603);
  expect(names.slice(-2)).toEqual(["below", "x"]);
}, 120_000);

test("reuses the cached plan while nothing changes, and returns the same bytes while its files stay the same", async () => {
  tree.addFile(accountId, "/f", "a");
  const folder = folderAt("/f");
  const first = await archives.plan([folder]);
  expect(await archives.plan([folder])).toBe(first);
  tree.addFile(accountId, "/elsewhere", "b");
  const second = await archives.plan([folder]);
  expect(second).not.toBe(first);
  expect([second.etag, second.sizeBytes]).toEqual([first.etag, first.sizeBytes]);

  const changes = [
    () => tree.addFile(accountId, "/f", "c"),
    () => tree.run((tx) => tree.write.updateFolder(tx, folderAt("/f"), { name: "g" })),
    () => tree.addFile(accountId, "/g", "a", { blob: blobOf("other", 1), onConflict: "version" }),
    () => tree.run((tx) => tree.write.ensureFolder(tx, accountId, "/g/empty")),
  ];
  const etags = new Set([first.etag]);
  for (const change of changes) {
    tree.clock.advance(2_000);
    change();
    const now = tree.read.findFolder(accountId, folder.publicId);
    if (now === undefined) throw new Error("the folder is gone");
    etags.add((await archives.plan([now])).etag);
  }
  expect(etags.size).toBe(changes.length + 1);
});

test("takes any number of files in a given order, and leaves out those that are gone", async () => {
  const files = Array.from({ length: 600 }, (_, number) => tree.addFile(accountId, "/f", `${number}`));
  const gone = files[300];
  if (gone === undefined) throw new Error("there are 600 files");
  tree.run((tx) => tree.write.deleteFile(tx, gone));
  const ids = files.map(({ id }) => id).toReversed();
  const visited: number[] = [];
  await tree.read.walkFiles(accountId, [...ids, tree.addFile(tree.addAccount(), "/", "other").id], ({ id }) =>
    visited.push(id),
  );
  expect(visited).toEqual(ids.filter((id) => id !== gone.id));
  const plan = await archives.planFiles({ accountId, ids, name: "all" });
  expect([plan.fileName, plan.entries]).toEqual(["all.zip", 599]);
  expect(await archives.planFiles({ accountId, ids, name: "all" })).toBe(plan);
  const other = await archives.planFiles({ accountId, ids: ids.toReversed(), name: "all" });
  expect(other).not.toBe(plan);
  expect(() => archives.planFiles({ accountId, ids: [], name: "all" })).toThrow("not found");
});

test("fails if a file is deleted before it is read", async () => {
  const file = tree.addFile(accountId, "/", "a");
  tree.run((tx) => tree.write.deleteFile(tx, file));
  expect(archives.plan([file])).rejects.toMatchObject({ reason: "not_found" });
});

test("is named as requested, or by its only item, or by default", async () => {
  const a = tree.addFile(accountId, "/", "a.zip");
  const b = tree.addFile(accountId, "/", "b");
  const root = tree.read.getRoot(accountId);
  const nameOf = async (...plan: Parameters<ArchiveService["plan"]>) => (await archives.plan(...plan)).fileName;
  expect(await nameOf([a])).toBe("a.zip.zip");
  expect(await nameOf([a, b])).toBe("files.zip");
  expect(await nameOf([root])).toBe("files.zip");
  expect(await nameOf([a, b], "mine")).toBe("mine.zip");
  expect(await nameOf([a, b], "mine.ZIP")).toBe("mine.ZIP");
  expect(() => archives.plan([a], "a/b")).toThrow("slash");
});
