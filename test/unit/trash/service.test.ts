import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Permissions } from "../../../src/features/permissions/permissions.ts";
import { TrashService } from "../../../src/features/trash/service.ts";
import { TestTree } from "../tree/support.ts";

const DAY_MS = 86_400_000;

let tree: TestTree;
let accountId: number;
let trash: TrashService;
let detached: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
  detached = 0;
  trash = new TrashService({
    writer: tree.writer,
    clock: tree.clock,
    tree: tree.read,
    treeWriter: tree.write,
    // Who may put what there is asked elsewhere; what is purged is asked of nobody.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    permissions: {} as Permissions,
    access: { forget: () => {} },
    keepMs: 30 * DAY_MS,
    onDetached: () => {
      detached++;
    },
  });
});
afterEach(() => tree.close());

test("what has been in the trash for its time is deleted for good, and nothing else", async () => {
  const put = (name: string) => {
    const file = tree.addFile(accountId, "/", name);
    tree.run((tx) => tree.write.trash(tx, file));
  };
  for (let number = 0; number < 20; number++) put(`old ${number}`);
  tree.addFile(accountId, "/folder", "below");
  const folder = tree.read.findFolderByPath(accountId, "/folder");
  if (folder === undefined) throw new Error("no folder");
  tree.run((tx) => tree.write.trash(tx, folder));
  tree.clock.advance(DAY_MS);
  put("young");
  tree.clock.advance(29 * DAY_MS - 1);
  expect(await trash.sweep()).toBe(0);
  tree.clock.advance(1);
  expect(await trash.sweep()).toBe(21);
  expect(detached).toBe(1);
  while (tree.run((tx) => tree.write.reapSome(tx)) > 0);
  expect(tree.read.listTrash(accountId, 0, 10).entries.map(({ node }) => node.name)).toEqual(["young"]);
  expect(tree.read.usage(accountId)).toMatchObject({ usedBytes: 5, trashBytes: 5 });
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
});
