/** What the tree writes with each change: time, device, deleted content, and events. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { openDatabase } from "../../../src/db/open.ts";
import type { EventName } from "../../../src/events/catalogue.ts";
import { type ChangePosition, knownUpTo, NOTHING_KNOWN } from "../../../src/tree/journal/position.ts";
import type { FileNode, FolderNode } from "../../../src/tree/model/types.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { deepenTree } from "../../support/deep-tree.ts";
import { blobOf, TestTree } from "./support.ts";

let tree: TestTree;
let accountId: number;
beforeEach(() => {
  tree = new TestTree();
  accountId = tree.addAccount();
});
afterEach(() => tree.close());

const PHONE = 7;
const copyOptions = { onConflict: "rename", preserveMetadata: true, createdBy: 1, quotaBytes: null } as const;
const folderAt = (path: string): FolderNode => {
  const folder = tree.read.findFolderByPath(accountId, path);
  if (folder === undefined) throw new Error(`${path} is not there`);
  return folder;
};
const replace = (file: FileNode, text: string) =>
  tree.run((tx) =>
    tree.write.replaceContent(tx, {
      file,
      blob: blobOf(text),
      mediaType: "text/plain",
      createdBy: accountId,
      quotaBytes: null,
    }),
  );
const asPhone = <T>(change: () => T): T => tree.write.by(PHONE, change);
const removeFile = (file: FileNode) => tree.run((tx) => tree.write.deleteFile(tx, file));
const removeFolder = (path: string) => tree.run((tx) => tree.write.deleteFolder(tx, folderAt(path)));
const reapAll = () => {
  while (tree.run((tx) => tree.write.reapSome(tx, 50)) > 0);
};
/** Fills a folder with so many files that copying or deleting it takes many transactions. */
const fill = (folderPath: string, count: number) => {
  for (let i = 0; i < count; i++) tree.addFile(accountId, folderPath, `f ${i}`);
};
const journal = () =>
  tree.db.sqlite
    .query<{ seq: number; at: number; deviceId: number | null }, [number]>(
      "SELECT seq, at, device_id AS deviceId FROM journal WHERE account_id = ? ORDER BY seq",
    )
    .all(accountId);

describe("a row of the journal", () => {
  test("has a time that never goes back, even if the clock does", () => {
    const start = tree.clock.nowMs();
    for (const ms of [0, 500, -86_400_000, 10, 86_400_000]) {
      tree.clock.advance(ms);
      tree.addFile(accountId, "/", `at ${ms}`);
    }
    expect(journal().map(({ at }) => at - start)).toEqual([0, 500, 500, 500, 510]);
    // Another account has its own time.
    tree.clock.advance(-1_000_000);
    const other = tree.addAccount();
    tree.addFile(other, "/", "a");
    const times = tree.db.sqlite.query<{ at: number }, [number]>("SELECT at FROM journal WHERE account_id = ?");
    expect(times.all(other)).toEqual([{ at: tree.clock.nowMs() }]);
  });

  test("names the device that made the change, and no device after that", () => {
    tree.addFile(accountId, "/", "web");
    const file = asPhone(() => tree.addFile(accountId, "/new", "phone"));
    expect(() =>
      asPhone(() => {
        throw new Error("refused");
      }),
    ).toThrow("refused");
    tree.write.by(8, () => asPhone(() => tree.addFile(accountId, "/", "inner")));
    tree.addFile(accountId, "/", "web too");
    expect(journal().map(({ deviceId }) => deviceId)).toEqual([null, PHONE, PHONE, PHONE, null]);
    expect(file.contentDeviceId).toBe(PHONE);
  });

  test("of a large copy names the device in every transaction, and those of others in between do not", async () => {
    fill("/src", 250);
    const before = tree.read.headOf(accountId);
    const copying = tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions, PHONE);
    await tree.untilStaged();
    const folder = { accountId, parentPath: "/", name: "between", metadata: {} };
    const { seq: between } = await tree.writer.run((tx) => tree.write.createFolder(tx, folder));
    const copy = await copying;
    const rows = journal().filter(({ seq }) => seq > before);
    expect([rows.length > 250, between < copy.seq]).toEqual([true, true]);
    expect(rows.filter(({ deviceId }) => deviceId !== PHONE).map(({ seq }) => seq)).toEqual([between]);
    expect(tree.read.findFileNamed(accountId, copy.path, "f 1")?.contentDeviceId).toBe(PHONE);
  });

  test("names who stored the content, not who renamed the file", () => {
    const file = asPhone(() => tree.addFile(accountId, "/", "a"));
    const renamed = tree.run((tx) => tree.write.updateFile(tx, file, { name: "b" }));
    expect(renamed.contentDeviceId).toBe(PHONE);
    expect(replace(renamed, "from the web").contentDeviceId).toBeNull();
    expect(tree.write.by(9, () => replace(renamed, "from a tablet")).contentDeviceId).toBe(9);
  });
});

test("nodes of a large copy are new to a reader that synced during the copy, also after a change", async () => {
  fill("/src/deep", 250);
  const copying = tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions);
  await tree.untilStaged();
  const between = tree.read.headOf(accountId);
  const copy = await copying;
  const edited = tree.read.findFileNamed(accountId, "/to/src/deep", "f 9");
  if (edited === undefined) throw new Error("the copy is whole");
  const readAt = tree.read.changesSince(accountId, knownUpTo(between), 1_000, true);
  replace(edited, "changed");
  const later = tree.read.changesSince(accountId, knownUpTo(between), 1_000, true);
  for (const { entries } of [readAt, later]) {
    expect(entries.map(({ change }) => change)).toEqual(Array.from({ length: 253 }, () => "created"));
  }
  const last = tree.read.changesSince(accountId, readAt.next, 1_000, true);
  expect(last.entries.map(({ change }) => change)).toEqual(["updated"]);
  expect(tree.read.changesSince(accountId, knownUpTo(copy.seq), 1_000, true).entries).toHaveLength(1);
});

test("a journal written without times gets those of its account", () => {
  const database: Database = openDatabase(`${tree.directory}/old.db`).sqlite;
  migrate(database, silentLog, MIGRATIONS.slice(0, 2));
  database.run(
    `INSERT INTO users (id, public_id, email, email_key, name, role, plan, password_hash, created_at)
     VALUES (1, 'u', 'u', 'u', 'U', 'user', 'free', '', 0), (2, 'v', 'v', 'v', 'V', 'user', 'free', '', 0)`,
  );
  database.run("INSERT INTO accounts (id, root_id, seq) VALUES (1, 1, 3), (2, 2, 0)");
  const node = database.prepare<undefined, [number, number | null, number, string, number]>(
    `INSERT INTO nodes (id, public_id, account_id, parent_id, kind, name, sort_key, created_at, modified_at, seq,
       created_seq, size_bytes) VALUES (?1, 'n' || ?1, ?3, ?2, 0, ?4, ?4, 5, ?5, 1, 1, 0)`,
  );
  node.run(1, null, 1, "/", 1);
  node.run(2, null, 2, "/", 1);
  node.run(3, 1, 1, "a", 900);
  node.run(4, 1, 1, "b", 700);
  database.run("INSERT INTO journal (account_id, seq, node_id) VALUES (1, 1, 3), (1, 2, 4), (1, 3, 3)");
  migrate(database, silentLog);
  const times = database.query<{ seq: number; at: number }, []>("SELECT seq, at FROM journal ORDER BY seq").all();
  const heads = database.query<{ at: number }, []>("SELECT changed_at AS at FROM accounts ORDER BY id").all();
  database.close();
  expect(times.every(({ at }, index) => at >= 900 && at >= (times[index - 1]?.at ?? 0))).toBe(true);
  // The next row is not earlier than existing ones.
  expect(heads[0]?.at).toBeGreaterThanOrEqual(times.at(-1)?.at ?? Number.NaN);
});

describe("a deleted content", () => {
  const wasDeleted = (text: string, account = accountId) => tree.read.wasDeleted(account, blobOf(text).digest);

  test("is recorded for its account until a file with it is created", () => {
    const other = tree.addAccount();
    const file = tree.addFile(accountId, "/", "a", { blob: blobOf("x") });
    tree.addFile(other, "/", "a", { blob: blobOf("y") });
    expect(wasDeleted("x")).toBe(false);
    removeFile(file);
    expect([wasDeleted("x"), wasDeleted("x", other), wasDeleted("y")]).toEqual([true, false, false]);
    const again = tree.addFile(accountId, "/", "b", { blob: blobOf("x") });
    expect(wasDeleted("x")).toBe(false);
    removeFile(again);
    // Storing it as the next version of another file removes the record, too.
    replace(tree.addFile(accountId, "/", "c"), "x");
    expect(wasDeleted("x")).toBe(false);
  });

  test("is recorded also if its folder was deleted, once its rows are deleted", () => {
    fill("/big/deep", 150);
    removeFolder("/big");
    reapAll();
    expect([wasDeleted("f 0"), wasDeleted("f 149"), wasDeleted("f 150")]).toEqual([true, true, false]);
  });

  test("counts as deleted only if no file of the account has it", () => {
    const [first, second] = ["a", "b"].map((name) => tree.addFile(accountId, "/", name, { blob: blobOf("x") }));
    if (first === undefined || second === undefined) throw new Error("both were made");
    removeFile(first);
    expect(wasDeleted("x")).toBe(false);
    removeFile(second);
    expect(wasDeleted("x")).toBe(true);
  });

  test("is not recorded if the transaction of the deletion is rolled back", () => {
    const file = tree.addFile(accountId, "/", "a", { blob: blobOf("x") });
    expect(() =>
      tree.run((tx) => {
        tree.write.deleteFile(tx, file);
        throw new Error("undone");
      }),
    ).toThrow("undone");
    expect(tree.db.sqlite.query("SELECT * FROM deleted_contents").all()).toEqual([]);
  });
});

describe("a file is found", () => {
  test("by folder and name", () => {
    const file = tree.addFile(accountId, "/a/b", "x");
    tree.addFolder(accountId, "/a", "folder");
    expect(tree.read.findFileNamed(accountId, "/a/b", "x")).toEqual(file);
    for (const [folder, name] of [
      ["/a", "x"],
      ["/a", "folder"],
      ["/none", "x"],
      ["/a/b", "X"],
    ] as const) {
      expect(tree.read.findFileNamed(accountId, folder, name)).toBeUndefined();
    }
    expect(tree.read.findFileNamed(tree.addAccount(), "/a/b", "x")).toBeUndefined();
  });

  test("by its content, in this account only, and not in deleted folders", () => {
    const other = tree.addAccount();
    tree.addFile(other, "/", "a", { blob: blobOf("x") });
    const find = () => tree.read.findFileWithContent(accountId, blobOf("x").digest);
    expect(find()).toBeUndefined();
    fill("/big", 150);
    tree.addFile(accountId, "/big", "a", { blob: blobOf("x") });
    expect(find()?.folder).toBe("/big");
    removeFolder("/big");
    // Most of its rows still exist.
    expect(find()).toBeUndefined();
    const file = tree.addFile(accountId, "/", "b", { blob: blobOf("x") });
    expect(find()).toEqual(file);
    replace(file, "y");
    expect(find()).toBeUndefined();
  });

  test("by its content through an index, even if many accounts have it", () => {
    const plan = tree.db.sqlite
      .query<{ detail: string }, []>(
        "EXPLAIN QUERY PLAN SELECT id FROM nodes INDEXED BY nodes_blob WHERE blob_id = 1 AND account_id = 2 LIMIT 3",
      )
      .all();
    expect(plan.map(({ detail }) => detail).join()).toContain("nodes_blob (blob_id=? AND account_id=?)");
  });
});

describe("events", () => {
  const listen = (names: readonly EventName[]) => {
    const heard: unknown[] = [];
    for (const name of names) {
      tree.store.events.on(name, (_tx, { accountId: account, ...event }) => heard.push([name, account, event]));
    }
    return heard;
  };
  const FILES = ["file.created", "file.updated", "file.moved", "file.deleted"] as const;
  const factsOf = ({ publicId, name, folder, sizeBytes, mediaType, digest }: FileNode) => ({
    publicId,
    name,
    folder,
    sizeBytes,
    mediaType,
    digest,
  });

  test("report each change of a file with its new state and the device", () => {
    const heard = listen(FILES);
    const file = tree.addFile(accountId, "/a", "x");
    const moved = asPhone(() => tree.run((tx) => tree.write.updateFile(tx, file, { name: "y", folderPath: "/b" })));
    const updated = replace(moved, "longer than before");
    tree.run((tx) => tree.write.updateFile(tx, file, { tags: ["t"] }));
    const copy = tree.run((tx) => tree.write.copy(tx, updated, "/c", copyOptions)).node;
    removeFile(updated);
    if (copy.kind !== "file") throw new Error("a copied file is a file");
    expect(heard).toEqual([
      ["file.created", accountId, { file: factsOf(file), deviceId: null }],
      ["file.moved", accountId, { file: factsOf(moved), deviceId: PHONE }],
      ["file.updated", accountId, { file: factsOf(updated), deviceId: null }],
      ["file.created", accountId, { file: factsOf(copy), deviceId: null }],
      ["file.deleted", accountId, { file: factsOf(updated), deviceId: null }],
    ]);
  });

  test("reach listeners inside the transaction, and are rolled back with it", () => {
    tree.store.events.on("file.created", (_tx, event) => {
      tree.db.sqlite.run("INSERT INTO tags (account_id, key, name, count) VALUES (?, ?, '', 0)", [
        event.accountId,
        event.file.name,
      ]);
      if (event.file.name === "bad") throw new Error("a listener refuses");
    });
    tree.addFile(accountId, "/", "good");
    expect(() => tree.addFile(accountId, "/", "bad")).toThrow("a listener refuses");
    expect(tree.read.findFileNamed(accountId, "/", "bad")).toBeUndefined();
    expect(tree.db.sqlite.query("SELECT key FROM tags").all()).toEqual([{ key: "good" }]);
  });

  test("report growth by files, versions and copies of any size, but not by reservations", async () => {
    const heard = listen(["storage.grown"]);
    const grown = () => heard.splice(0);
    const from = (usedBeforeBytes: number, usedAfterBytes: number) => [
      ["storage.grown", accountId, { usedBeforeBytes, usedAfterBytes }],
    ];
    tree.run((tx) => tree.write.reserveBytes(tx, accountId, 1_000, null));
    const file = tree.addFile(accountId, "/src", "a", { blob: blobOf("a", 100) });
    expect(grown()).toEqual(from(0, 100));
    replace(file, "four");
    expect(grown()).toEqual(from(100, 104));
    tree.run((tx) => tree.write.updateFile(tx, file, { name: "b" }));
    tree.addFile(accountId, "/", "empty", { blob: blobOf("", 0) });
    expect(grown()).toEqual([]);
    tree.run((tx) => tree.write.copy(tx, folderAt("/src"), "/to", copyOptions));
    expect(grown()).toEqual(from(104, 108));
    await tree.write.copyLarge(tree.writer, folderAt("/src"), "/to", copyOptions);
    expect(grown()).toEqual(from(108, 112));
    removeFolder("/src");
    expect(grown()).toEqual([]);
  });
});

describe("pages of changes", () => {
  const pageAfter = async (from: ChangePosition) => {
    const page = await tree.read.nextChanges(accountId, from, 1_000, true, () => true);
    if (page === undefined) throw new Error("the account is not there");
    const names = page.entries.map((entry) => (entry.change === "deleted" ? "" : entry.node.name));
    return { names, next: page.next, hasMore: page.hasMore };
  };
  const pagesAfter = async (from: ChangePosition): Promise<string[][]> => {
    const found: string[][] = [];
    for (let [at, hasMore] = [from, true]; hasMore; ) {
      const page = await pageAfter(at);
      found.push(page.names);
      [at, hasMore] = [page.next, page.hasMore];
    }
    return found;
  };

  test("end early if metadata or paths are long, and leave nothing out", async () => {
    const names = Array.from({ length: 40 }, (_, at) => `f${at}`);
    const metadata = Object.fromEntries(names.map((name) => [name, "x".repeat(1_000)]));
    for (const name of names) tree.addFile(accountId, "/", name, { metadata });
    const described = await pagesAfter(NOTHING_KNOWN);
    expect(described.flat()).toEqual(names);
    expect(described.map(({ length }) => length)).toEqual([25, 15]);
    deepenTree(tree.db.sqlite, accountId, 2_000, { name: "d".repeat(100) });
    tree.store.dropCaches();
    const deep = (await pagesAfter(NOTHING_KNOWN)).slice(1);
    expect(deep.flat()).toEqual([...names.slice(25), ...Array(2_000).fill("d".repeat(100))]);
    expect(Math.max(...deep.map(({ length }) => length))).toBeLessThan(300);
  });

  test("let others write while superseded rows are skipped, and show one state", async () => {
    tree.addFolder(accountId, "/", "a");
    fill("/top", 600);
    tree.run((tx) => tree.write.move(tx, folderAt("/top"), "/a"));
    setImmediate(() => tree.addFile(accountId, "/", "late"));
    const first = await pageAfter(NOTHING_KNOWN);
    expect(first).toMatchObject({ names: ["a"], hasMore: true });
    const rest = (await pagesAfter(first.next)).flat();
    expect(rest.toSorted()).toEqual(["top", "late", ...Array.from({ length: 600 }, (_, i) => `f ${i}`)].toSorted());
  });
});

test("a recount compares reserved bytes with the uploads in progress", async () => {
  const { sqlite } = tree.db;
  sqlite.run(
    "INSERT INTO upload_sessions (id, public_id, account_id, device_id, created_at, expires_at) VALUES (1, 's', ?, 1, 0, 0)",
    [accountId],
  );
  for (const [id, status, bytes] of [
    [1, "uploading", 30],
    [2, "pending", 12],
    [3, "completed", 0],
  ] as const) {
    sqlite.run(
      `INSERT INTO uploads (public_id, session_id, account_id, device_id, local_id, name, folder_path, size_bytes,
         chunk_size_bytes, total_chunks, status, reserved_bytes, on_conflict, nonce, created_at)
       VALUES (?1, 1, ?2, 1, ?1, ?1, '/', ?4, 1, 1, ?3, ?4, 'rename', x'00', 0)`,
      [`u${id}`, accountId, status, bytes],
    );
  }
  tree.run((tx) => tree.write.reserveBytes(tx, accountId, 42, null));
  expect(await tree.read.recount(accountId)).toEqual([]);
  tree.run((tx) => tree.write.reserveBytes(tx, accountId, -2, null));
  expect(await tree.read.recount(accountId)).toEqual([
    { counter: "accounts.reserved_bytes", of: accountId, stored: 40, counted: 42 },
  ]);
});
