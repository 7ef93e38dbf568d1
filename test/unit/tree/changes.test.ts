import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { FileNode } from "../../../src/tree/model/types.ts";
import { AppError } from "../../../src/errors.ts";
import { blobOf, reasonOf, TestTree } from "./support.ts";
import { say } from "../../../src/translations/say.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const folderAt = (path: string) => {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`${path} is not there`);
  return folder;
};
const copyOptions = { onConflict: "rename", preserveMetadata: true, createdBy: 1, quotaBytes: null } as const;
const replace = (file: FileNode, text: string, quotaBytes: number | null = null) =>
  tree.run((tx) =>
    tree.write.replaceContent(tx, {
      file,
      blob: blobOf(text),
      mediaType: "text/plain",
      createdBy: accountId,
      quotaBytes,
    }),
  );
const reapAll = () => {
  let rows = 0;
  for (let some = -1; some !== 0; rows += some) some = tree.run((tx) => tree.write.reapSome(tx, 7));
  return rows;
};
const expectNoDrift = async () => {
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
};

describe("the quota", () => {
  test("counts files, versions and copies to the byte, and the error names it", async () => {
    const file = tree.addFile(accountId, "/", "a", { blob: blobOf("a", 60), quotaBytes: 100 });
    const over = () => tree.addFile(accountId, "/", "b", { blob: blobOf("b", 41), quotaBytes: 100 });
    expect(over).toThrow(
      expect.objectContaining({ reason: "quota_exceeded", details: { limit: 100, used: 60, required: 41 } }),
    );
    const options = { ...copyOptions, quotaBytes: 119 };
    expect(reasonOf(() => tree.run((tx) => tree.write.copy(tx, file, "/c", options)))).toBe("quota_exceeded");
    expect(tree.read.findFolderByPath(accountId, "/c")).toBeUndefined();
    tree.addFile(accountId, "/", "b", { blob: blobOf("b", 40), quotaBytes: 100 });
    expect(reasonOf(() => replace(file, "x", 100))).toBe("quota_exceeded");
    expect(replace(file, "x", 101).version).toBe(2);
    expect(tree.read.usage(accountId)).toMatchObject({ fileBytes: 41, versionBytes: 60, usedBytes: 101 });
    await expectNoDrift();
  });

  test("accepts changes that add nothing, even in a full account", () => {
    const file = tree.addFile(accountId, "/f", "a", { blob: blobOf("a", 60) });
    tree.addFile(accountId, "/", "empty", { blob: blobOf("", 0), quotaBytes: 10 });
    expect(replace(file, "", 10).version).toBe(2);
    tree.run((tx) => tree.write.move(tx, file, "/g"));
    tree.run((tx) =>
      tree.write.copy(tx, tree.read.findFile(accountId, file.publicId) ?? file, "/h", {
        ...copyOptions,
        quotaBytes: 10,
      }),
    );
    expect(reasonOf(() => tree.addFile(accountId, "/", "one", { blob: blobOf("1", 1), quotaBytes: 10 }))).toBe(
      "quota_exceeded",
    );
  });
});

describe("versions", () => {
  test("pruning retains the newest few and the young ones", async () => {
    let file = tree.addFile(accountId, "/", "a");
    for (let i = 0; i < 12; i++) {
      tree.clock.advance(1_000);
      file = replace(file, `content ${i}`);
    }
    expect([file.version, file.name, file.createdAtMs < file.contentAtMs]).toEqual([13, "a", true]);
    const young = tree.clock.nowMs() + 1 - 1_000;
    const prune = (keep: number, olderThanMs: number) =>
      tree.run((tx) =>
        tree.write.pruneVersions(tx, { retainedVersions: () => keep, olderThanMs, limit: 3, afterNodeId: 0 }),
      );
    expect(prune(20, young)).toEqual({ removed: 0, nextNodeId: file.id });
    expect(prune(5, 0).removed).toBe(0);
    expect(prune(5, young).removed).toBe(7);
    // The last one was the current content until a moment ago.
    expect(prune(0, young).removed).toBe(4);
    expect(prune(0, young + 1_000).removed).toBe(1);
    expect(tree.read.usage(accountId).versionBytes).toBe(0);
    await expectNoDrift();
  });

  test("an unreferenced blob keeps its row, and a blob stored again repairs a damaged row", () => {
    const file = tree.addFile(accountId, "/", "a", { blob: blobOf("x") });
    const { digest } = blobOf("x");
    tree.db.sqlite.run("UPDATE blobs SET damaged_at = 1");
    tree.addFile(accountId, "/", "b", { blob: blobOf("x") });
    expect(tree.read.findBlob(digest)).toMatchObject({ refs: 2, damagedAtMs: 1 });
    tree.addFile(accountId, "/", "c", { blob: { ...blobOf("x"), isNew: true } });
    expect(tree.read.findBlob(digest)).toMatchObject({ refs: 3, damagedAtMs: null });
    tree.clock.advance(5);
    for (const name of ["a", "b", "c"]) {
      const page = tree.db.sqlite
        .query<{ public_id: string }, [string]>("SELECT public_id FROM nodes WHERE name = ?")
        .get(name);
      tree.run((tx) => tree.write.deleteFile(tx, { accountId, publicId: page?.public_id ?? "" }));
    }
    expect(tree.read.findBlob(file.digest)).toMatchObject({ refs: 0, touchedAtMs: tree.clock.nowMs() });
    tree.addFile(accountId, "/", "d", { blob: blobOf("y") });
    const digests = ["x", "y", "never stored"].map((content) => blobOf(content).digest);
    expect([...tree.read.findUnreferenced(digests)]).toEqual([digest]);
  });
});

describe("changes", () => {
  test("a change that changes nothing writes nothing", () => {
    const file = tree.addFile(accountId, "/a", "x", { tags: ["t"], metadata: { k: "v" } });
    const head = tree.read.headOf(accountId);
    const same = { name: "x", folderPath: "/a", tags: ["t"], metadata: { k: "v", none: null }, isPublic: false };
    expect(tree.run((tx) => tree.write.updateFile(tx, file, same))).toEqual(file);
    expect(tree.run((tx) => tree.write.move(tx, file, "/a"))).toEqual(file);
    expect(tree.run((tx) => tree.write.updateFolder(tx, folderAt("/a"), { name: "a" })).path).toBe("/a");
    expect(tree.read.headOf(accountId)).toBe(head);
  });

  test("a precondition sees the current file, and throwing rolls the change back", () => {
    const file = tree.addFile(accountId, "/", "a");
    replace(file, "other");
    const reject = (current: FileNode) => {
      if (current.digest !== file.digest) throw new AppError("precondition_failed", say`no`);
    };
    expect(reasonOf(() => tree.run((tx) => tree.write.updateFile(tx, file, { name: "b" }, reject)))).toBe(
      "precondition_failed",
    );
    expect(reasonOf(() => tree.run((tx) => tree.write.deleteFile(tx, file, reject)))).toBe("precondition_failed");
    expect(tree.read.findFile(accountId, file.publicId)?.name).toBe("a");
  });

  test("metadata is merged, tags are replaced, the uploaded name stays", () => {
    const file = tree.addFile(accountId, "/", "a", { tags: ["One", "two"], metadata: { a: "1", b: "2" } });
    const after = tree.run((tx) =>
      tree.write.updateFile(tx, file, { name: "z", tags: ["two", "three"], metadata: { a: null, c: "3" } }),
    );
    expect(after).toMatchObject({ name: "z", originalName: "a", tags: ["two", "three"], metadata: { b: "2", c: "3" } });
    const tags = tree.db.sqlite
      .query<{ name: string; count: number }, []>("SELECT name, count FROM tags ORDER BY key")
      .all();
    expect(tags).toEqual([
      { name: "three", count: 1 },
      { name: "two", count: 1 },
    ]);
  });

  test("other accounts' nodes and roots cannot be changed", () => {
    const other = tree.addAccount();
    const file = tree.addFile(accountId, "/a", "x");
    const stranger = { accountId: other, publicId: file.publicId };
    expect(tree.read.findNode(other, file.publicId)).toBeUndefined();
    const changes = [
      () => tree.run((tx) => tree.write.updateFile(tx, stranger, { name: "b" })),
      () => tree.run((tx) => tree.write.deleteFile(tx, stranger)),
      () => tree.run((tx) => tree.write.move(tx, stranger, "/")),
      () => tree.run((tx) => tree.write.copy(tx, stranger, "/", copyOptions)),
      () => tree.run((tx) => tree.write.deleteFolder(tx, { accountId: other, publicId: folderAt("/a").publicId })),
    ];
    for (const change of changes) expect(reasonOf(change)).toBe("not_found");
    const root = tree.read.getRoot(accountId);
    expect(root).toMatchObject({ path: "/", name: "/", folder: "/", itemCount: 1 });
    expect(reasonOf(() => tree.run((tx) => tree.write.deleteFolder(tx, root)))).toBe("invalid_path");
    expect(reasonOf(() => tree.run((tx) => tree.write.move(tx, root, "/a")))).toBe("invalid_path");
    expect(reasonOf(() => tree.run((tx) => tree.write.copy(tx, root, "/a", copyOptions)))).toBe("invalid_path");
    expect(tree.run((tx) => tree.write.updateFolder(tx, root, { metadata: { description: "top" } })).metadata).toEqual({
      description: "top",
    });
  });

  test("a renamed folder changes the path of all below it, in one row and one journal entry", () => {
    const file = tree.addFile(accountId, "/a/b/c", "x");
    const head = tree.read.headOf(accountId);
    tree.run((tx) => tree.write.updateFolder(tx, folderAt("/a"), { name: "z" }));
    expect(tree.read.findFile(accountId, file.publicId)).toMatchObject({ folder: "/z/b/c", seq: file.seq });
    expect(tree.read.headOf(accountId)).toBe(head + 1);
    const row = tree.db.sqlite.query<{ path_seq: number }, [number]>("SELECT path_seq FROM folders WHERE node_id = ?");
    expect(row.get(folderAt("/z").id)?.path_seq).toBe(head + 1);
    expect(tree.read.findFolderByPath(accountId, "/a/b")).toBeUndefined();
  });
});

describe("a large copy", () => {
  test("appears complete at the end while others write, and counts exactly", async () => {
    for (let i = 0; i < 350; i++)
      tree.addFile(accountId, `/src/${i % 4}`, `f ${i}`, { tags: ["t"], blob: blobOf(`${i % 9}`) });
    tree.addFolder(accountId, "/src", "empty");
    const before = tree.read.usage(accountId);
    const copying = tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions);
    await tree.untilStaged();
    const reapedDuringCopy = await tree.writer.run((tx) => tree.write.reapSome(tx));
    expect([reapedDuringCopy, tree.read.findFolderByPath(accountId, "/to")]).toEqual([0, undefined]);
    await expectNoDrift();
    const copy = await copying;
    expect([copy.path, copy.itemCount]).toEqual(["/to/src", 5]);
    const after = tree.read.usage(accountId);
    expect([after.files, after.folders, after.fileBytes]).toEqual([700, before.folders + 7, before.fileBytes * 2]);
    expect(tree.read.findFolderByPath(accountId, "/to/src/3")?.itemCount).toBe(87);
    await expectNoDrift();
    expect(reapAll()).toBe(0);
    const again = await tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions);
    expect(again.path).toBe("/to/src (1)");
  });

  test("that exceeds the quota is rejected at once, and one that fails halfway is deleted", async () => {
    for (let i = 0; i < 250; i++) tree.addFile(accountId, "/src", `f ${i}`);
    const tight = { ...copyOptions, quotaBytes: tree.read.usage(accountId).usedBytes + 5 };
    const rejection = tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", tight);
    expect(await rejection.catch((error: unknown) => error)).toMatchObject({
      reason: "quota_exceeded",
    });
    const usage = tree.read.usage(accountId);
    tree.addFile(accountId, "/", "blocking");
    const failed = tree.write.copyLarge(tree.writer, folderAt("/src"), "/blocking", copyOptions);
    expect(await failed.catch((error: unknown) => error)).toMatchObject({ reason: "not_a_folder" });
    expect(reapAll()).toBe(251);
    expect(tree.read.usage(accountId).files).toBe(usage.files + 1);
    await expectNoDrift();
  });
});

describe("a deleted folder", () => {
  test("is deleted at once with all below it, and its rows in slices with a tombstone each", async () => {
    for (let i = 0; i < 150; i++) tree.addFile(accountId, `/big/${i % 3}/deep`, `f ${i}`, { tags: ["t"] });
    const inside = tree.addFile(accountId, "/big/1", "inside");
    replace(inside, "again");
    const copy = tree.run((tx) => tree.write.copy(tx, folderAt("/big"), "/", copyOptions)).node;
    const before = tree.read.usage(accountId);
    const big = folderAt("/big");
    expect(reasonOf(() => tree.run((tx) => tree.write.deleteFolder(tx, big, { onlyEmpty: true })))).toBe(
      "folder_not_empty",
    );
    tree.run((tx) => tree.write.deleteFolder(tx, big));
    expect(tree.read.findFile(accountId, inside.publicId)).toBeUndefined();
    expect(tree.read.findFileById(inside.id)).toBeUndefined();
    const after = tree.read.usage(accountId);
    expect([after.files, after.folders, after.versionBytes]).toEqual([151, 7, 0]);
    expect(after.fileBytes).toBe(before.fileBytes / 2);
    const found = await tree.read.find({
      accountId,
      folder: tree.read.getRoot(accountId),
      search: "inside",
      recursive: true,
      sort: "name",
      order: "asc",
      offset: 0,
      limit: 10,
    });
    expect(found.nodes.map(({ folder }) => folder)).toEqual([`${copy.kind === "folder" ? copy.path : ""}/1`]);
    await expectNoDrift();
    expect(reapAll()).toBeGreaterThan(0);
    await expectNoDrift();
    const tombstones = tree.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM tombstones").get()?.n;
    expect(tombstones).toBe(151 + 7);
    // A folder of the same name is another one.
    tree.addFile(accountId, "/big", "new");
    expect(folderAt("/big").itemCount).toBe(1);
  });

  test("leaves nothing in the search index", () => {
    for (let i = 0; i < 5; i++) tree.addFile(accountId, "/x", `findable ${i}`);
    const [file] = tree.db.sqlite.query<{ public_id: string }, []>("SELECT public_id FROM nodes WHERE kind = 1").all();
    tree.run((tx) => tree.write.updateFile(tx, { accountId, publicId: file?.public_id ?? "" }, { name: "RENAMED" }));
    const hits = (text: string) =>
      tree.db.sqlite
        .query<{ n: number }, [string]>("SELECT count(*) AS n FROM node_names WHERE node_names MATCH ?")
        .get(text)?.n;
    expect([hits('"fin"'), hits('"ren"')]).toEqual([4, 1]);
    tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/x")));
    expect([hits('"fin"'), hits('"ren"')]).toEqual([0, 0]);
  });
});

test("a recount names the counters that were changed, and repairs nothing", async () => {
  const file = tree.addFile(accountId, "/a", "x", { tags: ["t"] });
  tree.db.sqlite.run("UPDATE accounts SET file_bytes = file_bytes + 5, files = 9, folders = 4");
  tree.db.sqlite.run("UPDATE folders SET child_files = 7 WHERE node_id = ?", [file.parentId]);
  tree.db.sqlite.run("UPDATE usage_types SET bytes = 3");
  tree.db.sqlite.run("UPDATE tags SET count = 2");
  tree.db.sqlite.run("UPDATE blobs SET refs = 3");
  const drift = [...(await tree.read.recount(accountId)), ...(await tree.read.recountBlobs())];
  expect(drift).toEqual([
    { counter: "accounts.files", of: accountId, stored: 9, counted: 1 },
    { counter: "accounts.folders", of: accountId, stored: 4, counted: 1 },
    { counter: "accounts.file_bytes", of: accountId, stored: 6, counted: 1 },
    { counter: "folders.child_files", of: file.parentId, stored: 7, counted: 1 },
    { counter: "usage_types.bytes", of: "text/plain", stored: 3, counted: 1 },
    { counter: "tags.count", of: 1, stored: 2, counted: 1 },
    { counter: "blobs.refs", of: file.blobId, stored: 3, counted: 1 },
  ]);
  expect((await tree.read.recount(accountId)).length).toBe(6);
});
