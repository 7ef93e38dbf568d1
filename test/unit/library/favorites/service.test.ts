import { afterEach, beforeEach, expect, test } from "bun:test";
import { Reader } from "../../../../src/db/reader.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { FavoriteService } from "../../../../src/features/library/favorites/service.ts";
import { Permissions } from "../../../../src/features/library/permissions/permissions.ts";
import type { TreeNode } from "../../../../src/tree/model/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { TestTree } from "../../tree/support.ts";

let tree: TestTree;
let favorites: FavoriteService;
let owner: User;
let guest: User;
let reads: number;

class CountingReader extends Reader {
  override read: Reader["read"] = (statements) => {
    reads++;
    return tree.thread.read(statements);
  };
}

function addUser(): User {
  const id = tree.addAccount();
  const names = { publicId: `usr_${id}`, email: `${id}@example.org`, name: `User ${id}` };
  return { id, ...names, role: "user", plan: "free", quotaBytes: null, disabledAtMs: null, createdAtMs: 0 };
}

beforeEach(() => {
  tree = new TestTree();
  reads = 0;
  [owner, guest] = [addUser(), addUser()];
  const known = new Map([owner, guest].map((user) => [user.id, user]));
  const { sqlite } = tree.db;
  const permissions = new Permissions({
    sqlite,
    tree: tree.read,
    users: { findById: (id) => known.get(id) },
    clock: tree.clock,
  });
  favorites = new FavoriteService({
    sqlite,
    reader: new CountingReader(tree.path, silentLog),
    writer: tree.writer,
    clock: tree.clock,
    tree: tree.read,
    permissions,
  });
});

afterEach(() => tree.close());

let shares = 0;

function share(node: TreeNode): string {
  const publicId = `shr_${++shares}`;
  tree.db.sqlite.run(
    `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at, recipient_id)
     VALUES (?, ?, ?, 'account', x'00', randomblob(32), 0, ?)`,
    [publicId, node.accountId, node.id, guest.id],
  );
  return publicId;
}

const list = (user: User) => favorites.list(user, { sort: "natural", order: "asc", offset: 0, limit: 100 });

/** A path of this many folders. */
const pathOf = (depth: number) => "/f".repeat(depth);

test("own favorites are found without a visit of the folders above them", async () => {
  const names = ["b 10", "b 9", "a"];
  const files = names.map((name, index) => tree.addFile(owner.id, pathOf(200 + index), name));
  await favorites.change(
    owner,
    files.map(({ publicId }) => publicId),
    true,
  );
  expect((await list(owner)).favorites.map(({ node }) => node.name)).toEqual(["a", "b 9", "b 10"]);
  expect(reads).toBe(0);
});

test("many folders above received favorites are visited in the reader thread", async () => {
  const top = tree.addFolder(owner.id, "/", "shared");
  const shallow = tree.addFile(owner.id, "/shared/x", "b");
  const deep = [1, 2, 3, 4, 5].map((chain) => tree.addFile(owner.id, `/shared/${chain}${pathOf(240)}`, `a${chain}`));
  const outer = share(top);
  share(shallow);
  await favorites.change(guest, [shallow.publicId], true);
  const shown = { name: "b", folder: "/x", share: outer };
  const simplify = (found: Awaited<ReturnType<typeof list>>) =>
    found.favorites.map(({ node, share: id }) => ({ name: node.name, folder: node.folder, share: id }));
  expect(simplify(await list(guest))).toEqual([shown]);
  expect(reads).toBe(0);
  await favorites.change(
    guest,
    deep.map(({ publicId }) => publicId),
    true,
  );
  const found = simplify(await list(guest));
  expect(found.map(({ name }) => name)).toEqual(["a1", "a2", "a3", "a4", "a5", "b"]);
  expect([found[0], found[5]]).toEqual([{ name: "a1", folder: `/1${pathOf(240)}`, share: outer }, shown]);
  expect(reads).toBe(2);
});

test("favorites in folders that went to the trash are hidden, and so are those of others", async () => {
  const [here, away] = [tree.addFile(owner.id, "/here", "a"), tree.addFile(owner.id, "/away/below", "b")];
  const both = [here.publicId, away.publicId];
  const [first, second] = ["/here", "/away"].map((path) => tree.read.findFolderByPath(owner.id, path));
  if (first === undefined || second === undefined) throw new Error("the folders exist");
  share(first);
  share(second);
  await favorites.change(owner, both, true);
  await favorites.change(guest, both, true);
  const seen = async () =>
    [await list(owner), await list(guest)].map((found) => found.favorites.map(({ node }) => node.name));
  expect(await seen()).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  tree.run((tx) => tree.write.trash(tx, second));
  expect(await seen()).toEqual([["a"], ["a"]]);
  tree.run((tx) => tree.write.restore(tx, second));
  expect(await seen()).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  tree.db.sqlite.run("DELETE FROM shares WHERE node_id = ?", [first.id]);
  expect(await seen()).toEqual([["a", "b"], ["b"]]);
});

test("an account without favorites is remembered until it marks something, or another process wrote", async () => {
  const [file, other] = [tree.addFile(owner.id, "/", "a"), tree.addFile(owner.id, "/", "b")];
  const marked = () => [...favorites.among(owner, [file, other])];
  expect(marked()).toEqual([]);
  expect(marked()).toEqual([]);
  await favorites.change(owner, [file.publicId], true);
  expect(marked()).toEqual([file.id]);
  await favorites.change(owner, [file.publicId], false);
  expect(marked()).toEqual([]);
  tree.db.sqlite.run("INSERT INTO favorites (account_id, node_id) VALUES (?, ?)", [owner.id, other.id]);
  favorites.dropCaches();
  expect(marked()).toEqual([other.id]);
});

test("what a transaction sees is not remembered, as it may be rolled back", async () => {
  const file = tree.addFile(owner.id, "/", "a");
  await favorites.change(owner, [file.publicId], true);
  const { sqlite } = tree.db;
  sqlite.run("BEGIN");
  sqlite.run("DELETE FROM favorites");
  expect(favorites.among(owner, [file]).size).toBe(0);
  sqlite.run("ROLLBACK");
  expect(favorites.among(owner, [file]).size).toBe(1);
});
