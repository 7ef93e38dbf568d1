import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/errors.ts";
import { type Permission, Permissions } from "../../../../src/features/library/permissions/permissions.ts";
import type { TreeNode } from "../../../../src/tree/model/types.ts";
import type { User } from "../../../../src/features/accounts/users/types.ts";
import { reasonOf, TestTree } from "../../tree/support.ts";

let tree: TestTree;
let permissions: Permissions;
let owner: User;
let guest: User;
let stranger: User;
let disabled: Set<number>;

function userOf(id: number): User {
  return {
    id,
    publicId: `usr_${id}`,
    email: `${id}@example.org`,
    name: `User ${id}`,
    role: "user",
    plan: "free",
    quotaBytes: null,
    disabledAtMs: disabled.has(id) ? 1 : null,
    createdAtMs: 0,
  };
}

beforeEach(() => {
  tree = new TestTree();
  disabled = new Set();
  [owner, guest, stranger] = [0, 0, 0].map(() => userOf(tree.addAccount())) as [User, User, User];
  permissions = new Permissions({
    sqlite: tree.db.sqlite,
    tree: tree.read,
    users: { findById: (id) => userOf(id) },
    clock: tree.clock,
  });
});

afterEach(() => tree.close());

let shares = 0;

/** @returns the public id of the share */
function share(
  node: TreeNode,
  options: { write?: boolean; expiresAtMs?: number; to?: User; kind?: string } = {},
): string {
  const { write = false, expiresAtMs = null, to = guest, kind = "account" } = options;
  const publicId = `shr_${++shares}`;
  tree.db.sqlite.run(
    `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at, expires_at, can_write, recipient_id)
     VALUES (?, ?, ?, ?, x'00', randomblob(32), 0, ?, ?, ?)`,
    [publicId, node.accountId, node.id, kind, expiresAtMs, write ? 1 : 0, to.id],
  );
  return publicId;
}

function folder(path: string) {
  return tree.run((tx) => tree.write.ensureFolder(tx, owner.id, path));
}

function file(folderPath: string, name: string) {
  return tree.addFile(owner.id, folderPath, name);
}

/** `ok`, or the reason of the rejection. */
function outcome(user: User, node: TreeNode, permission: Permission): string {
  return reasonOf(() => permissions.node(user, node.publicId, permission)) ?? "ok";
}

function outcomes(user: User, node: TreeNode): string {
  return (["read", "write", "manage", "own"] as const).map((permission) => outcome(user, node, permission)).join(" ");
}

const REJECTED = "share_permission";
const NOTHING = "not_found not_found not_found not_found";

describe("access to a file or folder", () => {
  test("the owner may do everything, others nothing", () => {
    const node = file("/a/b", "c.txt");
    expect(outcomes(owner, node)).toBe("ok ok ok ok");
    expect(outcomes(guest, node)).toBe(NOTHING);
  });

  test("a read share allows reading the folder and all below it", () => {
    const shared = folder("/a/b");
    const below = file("/a/b/c/d", "e.txt");
    share(shared);
    for (const node of [shared, folder("/a/b/c"), below])
      expect(outcomes(guest, node)).toBe(`ok ${REJECTED} ${REJECTED} ${REJECTED}`);
    expect(outcomes(stranger, below)).toBe(NOTHING);
  });

  test("a write share allows moving what is below it, never itself", () => {
    const shared = folder("/a/b");
    share(shared, { write: true });
    expect(outcomes(guest, shared)).toBe(`ok ok ${REJECTED} ${REJECTED}`);
    expect(outcomes(guest, file("/a/b/c", "d.txt"))).toBe(`ok ok ok ${REJECTED}`);
  });

  test("a share gives no access above or next to it, even with equal names", () => {
    share(folder("/dir"), { write: true });
    for (const path of ["/dir-secret", "/dir-secret/dir", "/other/dir", "/Dir", "/"])
      expect(outcomes(guest, folder(path))).toBe(NOTHING);
    expect(outcomes(guest, file("/", "dir.txt"))).toBe(NOTHING);
  });

  test("a share follows its node through renames and moves", () => {
    const shared = folder("/a/b");
    const below = file("/a/b", "c.txt");
    share(shared);
    tree.run((tx) => tree.write.updateFolder(tx, shared, { name: "x", folderPath: "/elsewhere" }));
    expect(outcome(guest, below, "read")).toBe("ok");
    tree.run((tx) => tree.write.move(tx, below, "/a"));
    expect(outcome(guest, below, "read")).toBe("not_found");
    expect(outcome(guest, folder("/a/b"), "read")).toBe("not_found");
  });

  test("the better of several shares counts", () => {
    const below = file("/a/b/c", "d.txt");
    share(folder("/a"));
    share(folder("/a/b"), { write: true });
    expect(outcomes(guest, below)).toBe(`ok ok ok ${REJECTED}`);
    expect(outcomes(guest, folder("/a/b"))).toBe(`ok ok ${REJECTED} ${REJECTED}`);
    share(folder("/a"), { write: true });
    expect(outcomes(guest, folder("/a/b"))).toBe(`ok ok ok ${REJECTED}`);
  });

  test("links and drop boxes give no access", () => {
    const node = file("/", "a.txt");
    for (const kind of ["public", "link", "upload"]) share(node, { kind });
    expect(outcomes(guest, node)).toBe(NOTHING);
  });

  test("a share ends at its expiry, when it is revoked, and with the owner's account", () => {
    const node = file("/a", "b.txt");
    share(node, { expiresAtMs: tree.clock.nowMs() + 1000 });
    expect(outcome(guest, node, "read")).toBe("ok");
    tree.clock.advance(1000);
    expect(outcome(guest, node, "read")).toBe("not_found");
    const second = share(node);
    expect(outcome(guest, node, "read")).toBe("ok");
    disabled.add(owner.id);
    expect(outcome(guest, node, "read")).toBe("not_found");
    disabled.clear();
    tree.db.sqlite.run("DELETE FROM shares WHERE public_id = ?", [second]);
    expect(outcome(guest, node, "read")).toBe("not_found");
  });

  test("a share ends when its node, or a folder above it, is deleted", () => {
    const shared = folder("/a/b");
    const below = file("/a/b", "c.txt");
    share(shared, { write: true });
    tree.run((tx) => tree.write.deleteFolder(tx, folder("/a")));
    expect(outcome(guest, below, "read")).toBe("not_found");
    expect(outcome(guest, shared, "read")).toBe("not_found");
  });

  test("files are no folders", () => {
    const [aFile, aFolder] = [file("/a", "b.txt"), folder("/a")];
    share(aFolder);
    expect(() => permissions.folder(guest, aFile.publicId, "read")).toThrow("not found");
    expect(() => permissions.file(guest, aFolder.publicId, "read")).toThrow("not found");
    // The rejection of a share must not reveal the kind.
    expect(() => permissions.file(guest, aFolder.publicId, "own")).toThrow("not found");
  });

  test("permissions are checked again inside a transaction", () => {
    const node = file("/a", "b.txt");
    const id = share(node);
    expect(outcome(guest, node, "read")).toBe("ok");
    tree.run(() => {
      tree.db.sqlite.run("DELETE FROM shares WHERE public_id = ?", [id]);
      expect(outcome(guest, node, "read")).toBe("not_found");
    });
  });
});

describe("what a recipient sees", () => {
  test("paths begin at the outermost share, and the public flag is hidden", () => {
    const shared = folder("/top/secret/trips");
    const below = tree.addFile(owner.id, "/top/secret/trips/rome/day", "a.jpg", { isPublic: true });
    share(shared);
    share(folder("/top/secret/trips/rome"));
    const { node, owner: whose, isOwn } = permissions.file(guest, below.publicId, "read");
    expect(node).toMatchObject({ name: "a.jpg", folder: "/rome/day", isPublic: false });
    expect(whose.id).toBe(owner.id);
    expect(isOwn).toBe(false);
    const top = permissions.folder(guest, shared.publicId, "read").node;
    expect(top).toMatchObject({ name: "trips", folder: "/", path: "/" });
    expect(permissions.folder(guest, folder("/top/secret/trips/rome").publicId, "read").node).toMatchObject({
      folder: "/",
      path: "/rome",
    });
    // The owner sees everything unchanged.
    expect(permissions.file(owner, below.publicId, "own").node).toEqual(below);
  });

  test("a single shared file is at the top level", () => {
    const node = file("/top/secret", "a.txt");
    share(node);
    expect(permissions.file(guest, node.publicId, "read").node.folder).toBe("/");
  });

  test("a node that left the share does not reveal where it went", () => {
    const shared = folder("/a/b");
    share(shared);
    const { view } = permissions.folder(guest, shared.publicId, "read");
    expect(view.show(file("/a/hidden", "x.txt")).folder).toBe("/");
    expect(view.show(file("/a/b2/hidden", "x.txt")).folder).toBe("/");
  });

  test("errors of the tree name no path above the share", () => {
    const shared = folder("/top/secret/box");
    file("/top/secret/box", "taken");
    const id = share(shared, { write: true });
    const target = permissions.location(guest, "/taken/sub", id);
    const make = () => target.view.run(() => tree.run((tx) => tree.write.ensureFolder(tx, owner.id, target.path)));
    expect(make).toThrow('"/taken" is a file. Choose a folder.');
    const inner = folder("/top/secret/box/inner");
    const into = permissions.location(guest, "/inner", id);
    const move = () => into.view.run(() => tree.run((tx) => tree.write.move(tx, inner, into.path)));
    expect(move).toThrow(`You can't move or copy this into "/inner". Choose another folder.`);
    for (const change of [make, move]) {
      try {
        change();
      } catch (error) {
        expect(error instanceof AppError && JSON.stringify([error.message, error.details])).not.toMatch(
          /top|secret|box/,
        );
      }
    }
  });
});

describe("a target", () => {
  test("is in the own tree, or below a write share, with the owner's path", () => {
    const id = share(folder("/a/b"), { write: true });
    expect(permissions.location(guest, "/x", undefined)).toMatchObject({ path: "/x", isOwn: true });
    expect(permissions.location(guest, "/x/y", id)).toMatchObject({ path: "/a/b/x/y", isOwn: false });
    expect(permissions.location(guest, "/", id)).toMatchObject({ path: "/a/b", isOwn: false });
    expect(permissions.location(guest, "/", id).owner.id).toBe(owner.id);
  });

  test("is not below a read share, a single file, or a share of others", () => {
    const read = share(folder("/a/b"));
    const single = share(file("/a", "c.txt"), { write: true });
    const others = share(folder("/a"), { write: true, to: stranger });
    expect(reasonOf(() => permissions.location(guest, "/x", read))).toBe(REJECTED);
    expect(reasonOf(() => permissions.location(guest, "/", single))).toBe("invalid_field");
    expect(reasonOf(() => permissions.location(guest, "/", others))).toBe("not_found");
    expect(reasonOf(() => permissions.location(owner, "/", others))).toBe("not_found");
    expect(reasonOf(() => permissions.location(guest, "/", "shr_nothing"))).toBe("not_found");
  });

  test("is below a read share if a write share inside it allows it", () => {
    const read = share(folder("/a"));
    share(folder("/a/b"), { write: true });
    expect(reasonOf(() => permissions.location(guest, "/b/c", read))).toBeUndefined();
    expect(reasonOf(() => permissions.location(guest, "/c", read))).toBe(REJECTED);
    const below = permissions.file(guest, file("/a/b", "d.txt").publicId, "manage");
    expect(permissions.locationInSameTree(guest, below, "/b/e").path).toBe("/a/b/e");
    expect(reasonOf(() => permissions.locationInSameTree(guest, below, "/e"))).toBe(REJECTED);
  });

  test("is not so deep that the owner's path gets too long", () => {
    const names = (count: number) => Array.from({ length: count }, () => "n".repeat(200)).join("/");
    const id = share(folder(`/${names(10)}`), { write: true });
    expect(reasonOf(() => permissions.location(guest, `/${names(11)}`, id))).toBe("invalid_path");
  });

  test("hosts are those who let the user write", () => {
    expect(permissions.writableOwners(guest)).toEqual([]);
    share(folder("/a"));
    expect(permissions.writableOwners(guest)).toEqual([]);
    share(folder("/b"), { write: true });
    share(folder("/c"), { write: true });
    expect(permissions.writableOwners(guest).map(({ id }) => id)).toEqual([owner.id]);
    disabled.add(owner.id);
    expect(permissions.writableOwners(guest)).toEqual([]);
  });
});

test("a share covers a file a hundred folders below", () => {
  const path = `/top${"/d".repeat(100)}`;
  const below = file(path, "deep.txt");
  share(folder("/top"));
  expect(permissions.file(guest, below.publicId, "read").node.folder).toBe("/d".repeat(100));
});
