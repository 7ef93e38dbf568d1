import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { AppError, type Reason } from "../../../../src/errors.ts";
import { ItemEtags } from "../../../../src/features/clients/webdav/item-etags.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { TestTree } from "../../tree/support.ts";
import { say } from "../../../../src/translations/say.ts";

let tree: TestTree;
let user: User;
beforeEach(() => {
  tree = new TestTree();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of the user counts here
  user = { id: tree.addAccount() } as User;
});
afterEach(() => tree.close());

function etagsOf(): { etags: ItemEtags; readRoot: () => string } {
  const etags = new ItemEtags({ tree: tree.read, treeWriter: tree.write, clientTree: { mountedShares: () => [] } });
  const node = tree.read.getRoot(user.id);
  const root = { kind: "item", node, owner: user, share: undefined, isRoot: true, canWrite: true } as const;
  return { etags, readRoot: () => etags.of(root) };
}

/** Fails the next transaction. */
function failOnce(reason: Reason) {
  return spyOn(tree.writer, "run").mockImplementationOnce(() => Promise.reject(new AppError(reason, say``)));
}

test.each(["disk_full", "database_busy"] as const)(
  "folders keep their ETags while nothing can be written (%s), and have other ones later",
  async (reason) => {
    const { etags, readRoot } = etagsOf();
    await etags.refresh(user);
    const before = readRoot();
    tree.addFile(user.id, "/", "a");
    const failing = failOnce(reason);
    await etags.refresh(user);
    failing.mockRestore();
    // No condition of a client may hold until then.
    expect(readRoot()).toBe('"changed"');
    expect(etags.refresh(user)).toBeInstanceOf(Promise);
    await etags.refresh(user);
    expect(readRoot()).not.toBe(before);
    expect(etags.refresh(user)).toBeUndefined();
  },
);

test("any other error of the database fails the request", async () => {
  const { etags } = etagsOf();
  await etags.refresh(user);
  tree.addFile(user.id, "/", "a");
  const failing = failOnce("database_error");
  await expect(etags.refresh(user)?.catch((error: AppError) => error.reason)).resolves.toBe("database_error");
  failing.mockRestore();
});
