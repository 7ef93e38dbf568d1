import { afterEach, beforeEach, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { COPY_NODES_MAX } from "../../../../src/tree/operations/copy.ts";
import type { CopyOptions } from "../../../../src/tree/model/types.ts";
import { TestTree } from "../../tree/support.ts";
import { say } from "../../../../src/translations/say.ts";

let tree: TestTree;
let from: number;
let to: number;

beforeEach(() => {
  tree = new TestTree();
  from = tree.addAccount();
  to = tree.addAccount();
});

afterEach(() => tree.close());

function options(changes: Partial<CopyOptions> = {}): CopyOptions {
  return { accountId: to, onConflict: "rename", preserveMetadata: true, createdBy: to, quotaBytes: null, ...changes };
}

/** All stored counters equal a fresh count. */
async function expectNoDrift(): Promise<void> {
  expect([await tree.read.recount(from), await tree.read.recount(to), await tree.read.recountBlobs()]).toEqual([
    [],
    [],
    [],
  ]);
}

test("a file and a folder are copied into another account and count there", async () => {
  const file = tree.addFile(from, "/a/b", "c.txt", { tags: ["t"], metadata: { k: "v" }, isPublic: true });
  const folder = tree.read.findFolderByPath(from, "/a");
  if (folder === undefined) throw new Error("the folder was just made");
  const before = tree.read.usage(from);
  const copies = tree.run((tx) => [
    tree.write.copy(tx, file, "/mine", options()).node,
    tree.write.copy(tx, folder, "/mine/a", options()).node,
  ]);
  expect(copies).toMatchObject([
    { accountId: to, folder: "/mine", tags: ["t"], metadata: { k: "v" }, isPublic: false, digest: file.digest },
    { accountId: to, path: "/mine/a/a" },
  ]);
  expect(tree.read.findFileNamed(to, "/mine/a/a/b", "c.txt")?.accountId).toBe(to);
  expect(tree.read.usage(from)).toEqual(before);
  expect(tree.read.usage(to)).toMatchObject({ files: 2, folders: 4, fileBytes: 2 * file.sizeBytes });
  await expectNoDrift();
  tree.run((tx) => tree.write.deleteFolder(tx, folder));
  expect(tree.read.findFileNamed(to, "/mine", "c.txt")).toBeDefined();
  await expectNoDrift();
});

test("the quota of the target account applies", async () => {
  const file = tree.addFile(from, "/", "c.txt");
  const copy = () => tree.run((tx) => tree.write.copy(tx, file, "/", options({ quotaBytes: file.sizeBytes - 1 })));
  expect(copy).toThrow(AppError);
  await expectNoDrift();
});

test("a large folder appears in the other account completely, or not at all if it is rejected at the end", async () => {
  tree.run((tx) => {
    for (let i = 0; i <= COPY_NODES_MAX; i++) {
      tree.write.createFolder(tx, { accountId: from, parentPath: "/large", name: `f${i}`, metadata: {} });
    }
  });
  tree.addFile(from, "/large/f0", "c.txt");
  const folder = tree.read.findFolderByPath(from, "/large");
  if (folder === undefined) throw new Error("the folder was just made");
  const rejection = tree.write.copyLarge(
    tree.writer,
    folder,
    "/",
    options({
      admit: () => {
        throw new AppError("not_found", say`revoked since`);
      },
    }),
  );
  expect(await rejection.catch((error: unknown) => String(error))).toContain("revoked since");
  expect(tree.read.findFolderByPath(to, "/large")).toBeUndefined();
  const copied = await tree.write.copyLarge(tree.writer, folder, "/", options());
  expect(copied).toMatchObject({ accountId: to, path: "/large", itemCount: COPY_NODES_MAX + 1 });
  while (tree.run((tx) => tree.write.reapSome(tx, 1_000)) > 0);
  await expectNoDrift();
});
