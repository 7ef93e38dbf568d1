// Limits on the depth of folders and the number of nodes, for every operation that enlarges a tree.
import { afterEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { AppError } from "../../../src/errors.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { reasonOf, TestTree } from "./support.ts";
import { say } from "../../../src/translations/say.ts";

let tree: TestTree;
let accountId: number;
afterEach(() => tree.close());

function open(maxNodes: number | null = null) {
  tree = new TestTree();
  tree.maxNodes = maxNodes;
  accountId = tree.addAccount();
}
const chain = (levels: number, name = "d") => `/${name}`.repeat(levels);
const ensure = (path: string) => tree.run((tx) => tree.write.ensureFolder(tx, accountId, path));
const folderAt = (path: string) => {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`${path.slice(0, 50)} is not there`);
  return folder;
};
const move = (from: string, to: string) => tree.run((tx) => tree.write.move(tx, folderAt(from), to));
const copyOptions = { onConflict: "rename", preserveMetadata: true, createdBy: 1, quotaBytes: null } as const;
const copy = (from: string, to: string) => tree.run((tx) => tree.write.copy(tx, folderAt(from), to, copyOptions));
const expectNoDrift = async () => expect(await tree.read.recount(accountId)).toEqual([]);

/** Writes rows of a chain of folders, as earlier versions allowed by moves. */
function deepen(levels: number, name = "d", parentId = tree.read.getRoot(accountId).id): void {
  const { sqlite } = tree.db;
  let parent = parentId;
  sqlite.transaction(() => {
    for (let i = 0; i < levels; i++) {
      const { id } = sqlite
        .query<{ id: number }, [string, number, number, string]>(
          `INSERT INTO nodes (public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
             created_seq, size_bytes) VALUES (?1, ?2, ?3, 0, ?4, ?4, 0, 0, 0, 0, 0) RETURNING id`,
        )
        .get(`fold_${name}${i}`, accountId, parent, name) ?? { id: 0 };
      sqlite.run("INSERT INTO folders (node_id) VALUES (?)", [id]);
      sqlite.run("UPDATE folders SET child_folders = child_folders + 1 WHERE node_id = ?", [parent]);
      parent = id;
    }
    sqlite.run("UPDATE accounts SET folders = folders + ? WHERE id = ?", [levels, accountId]);
  })();
  backfillAsMigrated(sqlite);
}

/** Runs the migration step that sets the bounds of folders written without them. */
function backfillAsMigrated(sqlite: Database): void {
  const { sql } = MIGRATIONS.find(({ id }) => id === "0023_node_limits") ?? { sql: "" };
  for (const statement of sql.split("--> statement-breakpoint").filter((text) => !/^\s*(--.*\n)*\s*ALTER/.test(text))) {
    sqlite.run(statement);
  }
}

describe("the depth of folders", () => {
  test("is limited to 256 levels and 4,096 bytes, when creating, moving, renaming and copying", async () => {
    open();
    ensure(chain(256));
    expect(reasonOf(() => ensure(chain(257, "e")))).toBe("path_too_long");
    expect(reasonOf(() => tree.addFolder(accountId, chain(256), "one more"))).toBe("path_too_long");
    tree.addFile(accountId, chain(256), "a file is no level");
    ensure("/top");
    expect(reasonOf(() => move("/d", "/top"))).toBe("path_too_long");
    expect(reasonOf(() => copy("/d", "/top"))).toBe("path_too_long");
    ensure(chain(15, "x".repeat(255)));
    const wide = `/${"x".repeat(255)}`;
    ensure(`${wide.repeat(15)}/${"y".repeat(240)}`);
    expect(reasonOf(() => move(wide, chain(8)))).toBe("path_too_long");
    expect(reasonOf(() => copy(wide, chain(8)))).toBe("path_too_long");
    move(wide, chain(6));
    const inside = `${chain(6)}${wide}${wide}`;
    ensure("/z");
    const rename = (path: string, name: string) =>
      tree.run((tx) => tree.write.updateFolder(tx, folderAt(path), { name }));
    expect(reasonOf(() => rename("/d/d", "a longer name"))).toBe("path_too_long");
    rename(inside, "short");
    rename("/d/d", "a longer name");
    await expectNoDrift();
  });

  test("depends on current folders, not on former ones", async () => {
    open();
    ensure(`/a${chain(200)}`);
    ensure("/a/b/c");
    ensure(chain(100, "to"));
    expect(reasonOf(() => move("/a", chain(100, "to")))).toBe("path_too_long");
    tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/a/d")));
    move("/a", chain(100, "to"));
    expect(tree.read.findFolderByPath(accountId, `${chain(100, "to")}/a/b/c`)).toBeDefined();
    await expectNoDrift();
  });

  test("is checked when restoring from the trash, except into the former folder", async () => {
    open();
    ensure(chain(200));
    ensure(`${chain(100)}/x`);
    const trash = (path: string) => tree.run((tx) => tree.write.trash(tx, folderAt(path)));
    const restore = (publicId: string) => tree.run((tx) => tree.write.restore(tx, { accountId, publicId }));
    const { node } = trash(chain(101));
    ensure(chain(200, "e"));
    move(chain(100), chain(200, "e"));
    expect(reasonOf(() => restore(node.publicId))).toBe("path_too_long");
    move(`${chain(200, "e")}/d`, chain(99));
    restore(node.publicId);
    expect(folderAt(chain(200)).itemCount).toBe(0);
    await expectNoDrift();
  });

  test("is checked for two moves that are each allowed alone", () => {
    open();
    ensure(`/a${chain(150)}`);
    ensure(`/b${chain(150)}`);
    move("/a", `/b${chain(100)}`);
    expect(reasonOf(() => move("/b", "/c/d/e/f/g/h"))).toBe("path_too_long");
    ensure("/c");
    move("/b", "/c");
  });
});

describe("a tree that is already too deep", () => {
  test("allows every change that makes no path longer", async () => {
    open();
    deepen(1_000);
    await expectNoDrift();
    const middle = chain(500);
    expect(reasonOf(() => move(middle, "/elsewhere/x"))).toBeUndefined();
    expect(folderAt("/elsewhere/x/d").folder).toBe("/elsewhere/x");
    expect(
      reasonOf(() => tree.run((tx) => tree.write.updateFolder(tx, folderAt("/d"), { name: "longer" }))),
    ).toBeUndefined();
    expect(reasonOf(() => move("/elsewhere", "/longer"))).toBe("path_too_long");
    expect(reasonOf(() => copy("/elsewhere", "/"))).toBe("path_too_long");
    const { node } = tree.run((tx) => tree.write.trash(tx, folderAt("/elsewhere/x")));
    tree.run((tx) => tree.write.restore(tx, { accountId, publicId: node.publicId }));
    await expectNoDrift();
  });
});

describe("the number of nodes in an account", () => {
  const expectFull = (change: () => unknown) =>
    expect(change).toThrow(
      expect.objectContaining({ reason: "quota_exceeded", details: expect.objectContaining({ of: "nodes" }) }),
    );

  test("includes files, folders and the trash, and is limited", async () => {
    open(10);
    ensure("/a/b/c");
    for (let i = 0; i < 5; i++) tree.addFile(accountId, "/a", `f ${i}`);
    tree.run((tx) => tree.write.trash(tx, folderAt("/a/b")));
    expect(tree.read.usage(accountId).nodes).toBe(8);
    expect(() => ensure("/x/y/z")).toThrow(
      expect.objectContaining({ details: { limit: 10, of: "nodes", used: 10, required: 1 } }),
    );
    expectFull(() => copy("/a", "/copy"));
    ensure("/x/y");
    expectFull(() => tree.addFile(accountId, "/", "one more"));
    expect(tree.read.usage(accountId)).toMatchObject({ nodes: 10, files: 5, folders: 3 });
    await expectNoDrift();
  });

  test("above the limit still allows moves, renames, trash, restores and deletions", async () => {
    open();
    ensure("/a/b/c");
    const file = tree.addFile(accountId, "/a", "f");
    tree.maxNodes = 2;
    tree.run((tx) => tree.write.updateFile(tx, file, { name: "g", folderPath: "/a/b" }));
    move("/a/b/c", "/a");
    const { node } = tree.run((tx) => tree.write.trash(tx, folderAt("/a/b")));
    tree.run((tx) => tree.write.restore(tx, { accountId, publicId: node.publicId }));
    expectFull(() => ensure("/a/new"));
    tree.run((tx) => tree.write.trash(tx, folderAt("/a/b")));
    tree.run((tx) => tree.write.purge(tx, { accountId, publicId: node.publicId }));
    tree.run((tx) => tree.write.deleteFolder(tx, folderAt("/a/c")));
    ensure("/a/new");
    await expectNoDrift();
  });

  test("a large copy is rejected before it begins, and counts when it appears", async () => {
    open(1_000);
    for (let i = 0; i < 45; i++) ensure(`/src/${i % 9}/${i}/x/y/z/u/v/w/q/r/s/t`);
    const before = tree.read.usage(accountId);
    const rejection = tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions);
    expect(await rejection.catch((error: unknown) => error)).toMatchObject({
      reason: "quota_exceeded",
      details: { of: "nodes" },
    });
    expect(tree.read.usage(accountId)).toEqual(before);
    expect(tree.run((tx) => tree.write.reapSome(tx, 100))).toBe(0);
  });

  test("reserves disk space for the rows of a large copy, and releases it", async () => {
    open();
    for (let i = 0; i < 450; i++) tree.addFile(accountId, "/src", `f ${i}`);
    const reserved: number[] = [];
    const released: number[] = [];
    const reserveSpace = (bytes: number) => {
      reserved.push(bytes);
      return () => void released.push(bytes);
    };
    await tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", { ...copyOptions, reserveSpace });
    expect(reserved).toHaveLength(1);
    expect(reserved[0]).toBeGreaterThan(451 * 100);
    expect(released).toEqual(reserved);
    const full = () => {
      throw new AppError("disk_full", say`The disk is full.`);
    };
    const rejection = tree.write.copyLarge(tree.writer, folderAt("/src"), "/b", { ...copyOptions, reserveSpace: full });
    expect(await rejection.catch((error: unknown) => error)).toMatchObject({ reason: "disk_full" });
    expect(tree.run((tx) => tree.write.reapSome(tx, 10))).toBe(0);
  });
});
