import { afterEach, beforeEach, expect, test } from "bun:test";
import { notFound } from "../../../../src/errors.ts";
import type { Permissions } from "../../../../src/features/library/permissions/permissions.ts";
import { TrashService } from "../../../../src/features/library/trash/service.ts";
import { MEASURED_IN_READER_MIN } from "../../../../src/tree/operations/measure-folder.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { TestTree } from "../../tree/support.ts";
import { say } from "../../../../src/translations/say.ts";

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
    livePairs: { withTrashedVideos: (ids: readonly string[]) => [...new Set(ids)] },
    writer: tree.writer,
    clock: tree.clock,
    tree: tree.read,
    treeWriter: tree.write,
    // Permissions are tested elsewhere; a purge checks none.
    permissions: {
      node: (_user: User, publicId: string) => {
        const node = tree.read.findNode(accountId, publicId);
        if (node === undefined) throw notFound(say`The file was not found.`);
        return { node, owner: { id: accountId }, isOwn: true };
      },
    } as unknown as Permissions,
    access: { forget: () => {} },
    keepMs: () => 30 * DAY_MS,
    onDetached: () => {
      detached++;
    },
  });
});
afterEach(() => tree.close());

test("items whose time in the trash has expired are deleted, and nothing else", async () => {
  const trashFile = (name: string) => {
    const file = tree.addFile(accountId, "/", name);
    tree.run((tx) => tree.write.trash(tx, file));
  };
  for (let number = 0; number < 20; number++) trashFile(`old ${number}`);
  tree.addFile(accountId, "/folder", "below");
  const folder = tree.read.findFolderByPath(accountId, "/folder");
  if (folder === undefined) throw new Error("no folder");
  tree.run((tx) => tree.write.trash(tx, folder));
  tree.clock.advance(DAY_MS);
  trashFile("young");
  tree.clock.advance(29 * DAY_MS - 1);
  expect(await trash.sweep()).toBe(0);
  tree.clock.advance(1);
  expect(await trash.sweep()).toBe(21);
  expect(detached).toBe(1);
  while (tree.run((tx) => tree.write.reapSome(tx)) > 0);
  expect(
    tree.read.trash.byTime({ accountId, order: "desc", offset: 0, limit: 10 }).entries.map(({ node }) => node.name),
  ).toEqual(["young"]);
  expect(tree.read.usage(accountId)).toMatchObject({ usedBytes: 5, trashBytes: 5 });
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
});

test("items are trashed in order, in accounts of any size, and reported once", async () => {
  // Folders of large accounts are measured in the reading thread. The items after them once did not wait.
  tree.run((tx) => {
    for (let number = 0; number < MEASURED_IN_READER_MIN; number++)
      tree.write.ensureFolder(tx, accountId, `/${number % 10}/${number}`);
  });
  const child = tree.addFile(accountId, "/1", "child");
  const folder = tree.read.findFolderByPath(accountId, "/1");
  const other = tree.read.findFolderByPath(accountId, "/2");
  if (folder === undefined || other === undefined) throw new Error("no folder");
  tree.db.sqlite.run("UPDATE accounts SET files = files + ?2 WHERE id = ?1", [accountId, MEASURED_IN_READER_MIN]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as far as a user is looked at here
  const user = { id: accountId, viaDeviceId: undefined } as User;
  const trashed = await trash.put(user, [folder.publicId, child.publicId, other.publicId, folder.publicId]);
  expect(trashed.map((one) => ("done" in one ? one.done.node.name : one.error.reason))).toEqual([
    "1",
    "not_found",
    "2",
  ]);
  const back = await trash.restore(user, [folder.publicId, other.publicId, folder.publicId]);
  expect(back.map((one) => ("done" in one ? one.done.name : one.error.reason))).toEqual(["1", "2"]);
  expect(tree.read.findNode(accountId, child.publicId)).toBeDefined();
});
