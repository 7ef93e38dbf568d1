/** A copy that starts from a snapshot gets all later changes from its store journal, not only new files. */
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Layout } from "../../../../src/blobs/layout.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Reader } from "../../../../src/db/reader.ts";
import { type TransactionBody, Writer } from "../../../../src/db/transaction.ts";
import { findBrokenRules, findStructuralProblems } from "../../../../src/features/storage/integrity/check-rows.ts";
import { summarizeContinuing } from "../../../../src/features/storage/store-journal/continuing-objects.ts";
import { mergeNewer, type MergeReport } from "../../../../src/features/storage/store-journal/merge-newer.ts";
import { type CopyStart, readCopyStart } from "../../../../src/features/storage/store-journal/opened-copy.ts";
import { TreeReader } from "../../../../src/tree/reader.ts";
import { TreeStore } from "../../../../src/tree/tables/store.ts";
import { TreeWriter } from "../../../../src/tree/writer.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, TestTree } from "../../tree/support.ts";
import { journalOf, openJournal } from "./support.ts";

const EPOCH = "of the copy";

let tree: TestTree;
afterEach(() => tree.close());

/** Takes a snapshot, makes changes with their journal, and restores the snapshot. */
async function openCopy(accountId: number, after: () => Promise<void> | void): Promise<CopyStart> {
  const journal = openJournal(tree);
  const path = join(tree.directory, "snapshot.db");
  rmSync(path, { force: true });
  tree.db.sqlite.run(`VACUUM INTO '${path}'`);
  tree.clock.advance(1_000);
  await after();
  await journal.flush();
  later = stateOf(accountId);
  tree.thread.close();
  await tree.thread.ended();
  tree.db.close();
  copyFileSync(path, tree.path);
  const db = openDatabase(tree.path);
  const thread = new Reader(tree.path, silentLog);
  const writer = new Writer(db.sqlite, silentLog);
  const store = new TreeStore({ sqlite: db.sqlite, reader: thread, writer, clock: tree.clock, log: silentLog });
  Object.assign(tree, { db, thread, store, writer, read: new TreeReader(store), write: new TreeWriter(store) });
  tree.clock.advance(1_000);
  const start = readCopyStart(db.sqlite, journalOf(tree));
  if (start === undefined) throw new Error("the journal does not belong to the snapshot");
  return start;
}

/** The last state of the original. */
let later: readonly unknown[] = [];

/** Every reachable file and folder, with its id, path and contents. */
function stateOf(accountId: number): readonly unknown[] {
  return tree.db.sqlite
    .query<{ id: string }, [number]>("SELECT public_id AS id FROM nodes WHERE account_id = ?1 ORDER BY 1")
    .all(accountId)
    .flatMap<object>(({ id }) => {
      const node = tree.read.findNode(accountId, id);
      if (node === undefined) return [];
      if (node.kind === "folder") return [{ id, path: node.path }];
      const contents = tree.read.listVersions(node).map(({ digest }) => digest);
      return [{ id, folder: node.folder, name: node.name, contents }];
    });
}

function merge(copyStart: CopyStart, writer: Pick<Writer, "run"> = tree.writer): Promise<MergeReport> {
  return mergeNewer({
    sqlite: tree.db.sqlite,
    writer,
    tree: tree.read,
    treeWriter: tree.write,
    blobs: { stat: (digest) => ({ sizeBytes: sizes.get(digest) ?? -1 }) },
    layout: new Layout(tree.directory),
    storeJournal: openJournal(tree, EPOCH),
    root: journalOf(tree),
    epoch: EPOCH,
    restoredAtMs: tree.clock.nowMs(),
    workingFile: join(tree.directory, "records"),
    email: undefined,
    isDryRun: false,
    passwordHash: "nobody's",
    nowMs: tree.clock.nowMs(),
    copyStart,
  });
}

const sizes = new Map<string, number>();

function add(accountId: number, folder: string, name: string, text = name) {
  const blob = blobOf(text);
  sizes.set(blob.digest, blob.sizeBytes);
  return tree.addFile(accountId, folder, name, { blob, onConflict: "rename" });
}

async function expectSound(accountId: number): Promise<void> {
  expect(await tree.read.recount(accountId)).toEqual([]);
  expect(await tree.read.recountBlobs()).toEqual([]);
  expect(findStructuralProblems(tree.db.sqlite)).toEqual([]);
  expect(findBrokenRules(tree.db.sqlite)).toEqual([]);
}

test("swapped names, deletions, the trash and moves are applied; deleted files are in the trash", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const file = (name: string, folder = "/") => add(id, folder, name, `${folder} ${name}`);
  const [one, two, gone, replaced, inside] = [
    file("one"),
    file("two"),
    file("gone"),
    file("replaced"),
    file("inside", "/old/deep"),
  ];
  const [trashed, back] = [file("trashed"), file("back")];
  tree.run((tx) => void tree.write.trash(tx, back));
  await openJournal(tree).flush();
  const start = await openCopy(id, () => {
    tree.run((tx) => {
      tree.write.updateFile(tx, one, { name: "aside" });
      tree.write.updateFile(tx, two, { name: "one" });
      tree.write.updateFile(tx, one, { name: "two" });
      tree.write.deleteFile(tx, gone);
      tree.write.deleteFile(tx, replaced);
      tree.write.move(tx, inside, "/new");
      tree.write.deleteFolder(tx, tree.read.findFolderByPath(id, "/old") ?? one);
      tree.write.trash(tx, trashed);
      tree.write.restore(tx, back);
      while (tree.write.reapSome(tx) > 0);
    });
    // A file with the same name and bytes, and a file that was created and deleted.
    file("replaced");
    file("fresh", "/old/deep");
    const brief = file("brief");
    tree.run((tx) => void tree.write.deleteFile(tx, brief));
  });
  expect(await summarizeContinuing(tree.db.sqlite, journalOf(tree), start)).toMatchObject({ accounts: 1, faults: 0 });
  const report = await merge(start);
  expect(report).toMatchObject({ accounts: [{ moves: 0, deletions: 0 }], missing: [], damaged: [] });
  expect(stateOf(id)).toEqual(later);
  const inTrash = tree.db.sqlite.query<{ name: string }, []>(
    "SELECT n.name FROM trash t JOIN nodes n ON n.id = t.node_id ORDER BY 1",
  );
  expect(inTrash.all().map(({ name }) => name)).toEqual(["gone", "old (1)", "replaced", "trashed"]);
  await expectSound(id);
  expect(await merge(start)).toMatchObject({ accounts: [] });
});

test("moves that are too deep in the order of the journal are made nevertheless", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const chain = (name: string, levels: number) => `/${name}`.repeat(levels);
  for (const path of [chain("a", 200), chain("b", 100)]) tree.run((tx) => tree.write.ensureFolder(tx, id, path));
  const change = (path: string, changes: { folderPath: string; name: string }) => {
    const folder = tree.read.findFolderByPath(id, path);
    if (folder === undefined) throw new Error("the folder is there");
    tree.run((tx) => tree.write.updateFolder(tx, folder, changes));
  };
  await openJournal(tree).flush();
  const start = await openCopy(id, () => {
    // The other branch fits only once this one is shorter, but the journal names the other one first.
    change("/b", { folderPath: "/", name: "c" });
    change(chain("a", 100), { folderPath: "/", name: "top" });
    change("/c", { folderPath: `/top${chain("a", 100)}`, name: "c" });
  });
  const report = await merge(start);
  expect(report).toMatchObject({ accounts: [{ moves: 0 }], damaged: [] });
  expect(stateOf(id)).toEqual(later);
  await expectSound(id);
});

test("a folder whose parent is too deep is restored from the trash once that parent has moved", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const chain = (name: string, levels: number) => `/${name}`.repeat(levels);
  const folderAt = (path: string) => tree.read.findFolderByPath(id, path) ?? expect.unreachable();
  tree.run((tx) => tree.write.ensureFolder(tx, id, `/p${chain("x", 200)}`));
  tree.run((tx) => tree.write.ensureFolder(tx, id, chain("q", 100)));
  const deep = folderAt("/p/x");
  tree.run((tx) => {
    tree.write.trash(tx, deep);
    tree.write.updateFolder(tx, folderAt("/p"), { folderPath: chain("q", 100) });
  });
  await openJournal(tree).flush();
  const start = await openCopy(id, () => {
    tree.run((tx) => tree.write.updateFolder(tx, folderAt(`${chain("q", 100)}/p`), { folderPath: "/" }));
    tree.run((tx) => void tree.write.restore(tx, deep));
    add(id, "/p/x", "fresh");
  });
  expect(await merge(start)).toMatchObject({ accounts: [{ moves: 0 }], damaged: [] });
  expect(stateOf(id)).toEqual(later);
  await expectSound(id);
});

test("objects after a gap in the journal are not merged, because a missing one may record a deletion", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  add(id, "/", "before");
  await openJournal(tree).flush();
  const folder = () => join(journalOf(tree), publicIdOf(id));
  const start = await openCopy(id, async () => {
    const journal = openJournal(tree);
    add(id, "/", "first");
    await journal.flush();
    const brief = add(id, "/", "second");
    await journal.flush();
    tree.run((tx) => void tree.write.deleteFile(tx, brief));
    await journal.flush();
    add(id, "/", "third");
    await journal.flush();
  });
  const names = readdirSync(folder()).sort();
  rmSync(join(folder(), names.at(-2) ?? ""));
  const report = await merge(start);
  expect(report.damaged).toMatchObject([{ fault: expect.stringContaining("missing") }]);
  const files = stateOf(id).flatMap((node) =>
    typeof node === "object" && node !== null && "name" in node ? [node.name] : [],
  );
  expect(files.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(["before", "first", "second"]);
});

test("a link that was revoked after the snapshot stays revoked, and a pin is there, even if nothing else changed", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const file = add(id, "/", "shared");
  for (const name of ["open", "revoked"]) {
    tree.db.sqlite
      .query<undefined, [string, number, number, Uint8Array]>(
        "INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at) VALUES (?1, ?2, ?3, 'link', ?4, ?4, 0)",
      )
      .run(name, id, file.id, Buffer.from(name));
  }
  await openJournal(tree).flush();
  const pinned = JSON.stringify({ pins: ["fold_1"] });
  const start = await openCopy(id, () => {
    tree.db.sqlite.run("DELETE FROM shares WHERE public_id = 'revoked'");
    tree.db.sqlite.run("UPDATE users SET settings = ?1", [pinned]);
  });
  const shares = () => tree.db.sqlite.query<{ id: string }, []>("SELECT public_id AS id FROM shares").all();
  expect(shares()).toHaveLength(2);
  await merge(start);
  expect(shares()).toEqual([{ id: "open" }]);
  expect(tree.db.sqlite.query("SELECT settings FROM users").values()).toEqual([[pinned]]);
  await expectSound(id);
});

test("favorites are those of the last objects, if anything else changed in the account", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const [removed, added] = [add(id, "/", "removed"), add(id, "/", "added")];
  tree.db.sqlite.run("INSERT INTO favorites VALUES (?1, ?2)", [id, removed.id]);
  await openJournal(tree).flush();
  const start = await openCopy(id, () => {
    tree.db.sqlite.run("DELETE FROM favorites");
    tree.db.sqlite.run("INSERT INTO favorites VALUES (?1, ?2)", [id, added.id]);
    add(id, "/", "other");
  });
  await merge(start);
  const rows = tree.db.sqlite.query<{ nodeId: number }, []>("SELECT node_id AS nodeId FROM favorites").all();
  expect(rows).toEqual([{ nodeId: added.id }]);
});

test("objects that were copied before the snapshot change nothing", async () => {
  tree = new TestTree();
  const id = tree.addAccount();
  const file = add(id, "/", "before");
  await openJournal(tree).flush();
  add(id, "/", "late");
  const start = await openCopy(id, () => undefined);
  expect(start.accounts[publicIdOf(id)]?.seq).toBeGreaterThan(0);
  const report = await merge(start);
  expect(report.accounts).toEqual([]);
  expect(tree.read.findFile(id, file.publicId)).toBeDefined();
});

function publicIdOf(accountId: number): string {
  const row = tree.db.sqlite.query<{ id: string }, [number]>("SELECT public_id AS id FROM users WHERE id = ?1");
  return row.get(accountId)?.id ?? "";
}

for (const seed of seedsToRun([1, 2])) {
  test(`random changes, merged with an interruption at a random transaction, give the original state (${seed})`, async () => {
    tree = new TestTree();
    const random = seededRandom(seed);
    const id = tree.addAccount();
    let made = 0;
    const folders = ["/", "/a", "/a/b", "/c", "/c/d/e"];
    const names = ["x", "y", "z", "w"];
    const step = () => {
      const nodes = stateOf(id).flatMap((one) => {
        const known =
          typeof one === "object" && one !== null && "id" in one ? tree.read.findNode(id, String(one.id)) : undefined;
        return known === undefined || known.parentId === null ? [] : [known];
      });
      const node = nodes.length > 0 ? random.pick(nodes) : undefined;
      const dice = random.fraction();
      if (node === undefined || dice < 0.35) {
        add(id, random.pick(folders), random.pick(names), `content ${made++ % 7}`);
        return;
      }
      const change: TransactionBody<unknown> = (tx) => {
        if (dice < 0.5 && node.kind === "file") {
          const blob = blobOf(`version ${made++}`);
          sizes.set(blob.digest, blob.sizeBytes);
          const common = { mediaType: "text/plain", createdBy: id, quotaBytes: null };
          tree.write.replaceContent(tx, { file: node, blob, ...common });
        } else if (dice < 0.6) {
          const changes = { name: random.pick(names) };
          if (node.kind === "file") tree.write.updateFile(tx, node, changes);
          else tree.write.updateFolder(tx, node, changes);
        } else if (dice < 0.75) tree.write.move(tx, node, random.pick(folders));
        else if (dice < 0.85) tree.write.trash(tx, node);
        else if (dice < 0.9) {
          const trash = tree.db.sqlite.query<{ id: string }, []>(
            "SELECT n.public_id AS id FROM trash t JOIN nodes n ON n.id = t.node_id ORDER BY t.trashed_at LIMIT 1",
          );
          const found = trash.get();
          if (found !== null) tree.write.restore(tx, { accountId: id, publicId: found.id });
        } else if (node.kind === "file") tree.write.deleteFile(tx, node);
        else tree.write.deleteFolder(tx, node);
      };
      try {
        tree.run(change);
      } catch {
        // A taken name, or a folder moved into itself: nothing changed.
      }
      tree.clock.advance(10);
      while (tree.run((tx) => tree.write.reapSome(tx)) > 0);
    };
    const journal = openJournal(tree);
    for (let count = 0; count < 30; count++) step();
    await journal.flush();
    // The last changes before the snapshot may not be in an object yet.
    for (let count = random.below(4); count > 0; count--) step();
    const start = await openCopy(id, async () => {
      const following = openJournal(tree);
      for (let count = 0; count < 40; count++) {
        step();
        if (random.chance(0.2)) await following.flush();
      }
    });
    let transactions = 0;
    const until = random.below(12);
    const dying: Pick<Writer, "run"> = {
      run: (body, options) => {
        if (transactions++ >= until) return Promise.reject(new Error("killed"));
        return tree.writer.run(body, options);
      },
    };
    await merge(start, dying).catch(() => undefined);
    const report = await merge(start);
    expect({ seed, ...report }).toMatchObject({ missing: [], damaged: [] });
    expect(stateOf(id)).toEqual(later);
    await expectSound(id);
  });
}
