/** A database that was restored to an earlier state gets the later changes from the store journal. */
import { afterEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { toDigest } from "../../../../src/blobs/digest.ts";
import { Layout } from "../../../../src/blobs/layout.ts";
import { openDatabase } from "../../../../src/db/open.ts";
import { Reader } from "../../../../src/db/reader.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { findBrokenRules, findStructuralProblems } from "../../../../src/features/storage/integrity/check-rows.ts";
import { mergeNewer, type MergeReport } from "../../../../src/features/storage/store-journal/merge-newer.ts";
import {
  findNewer,
  forgetNewer,
  NewerReferences,
} from "../../../../src/features/storage/store-journal/newer-objects.ts";
import { TreeReader } from "../../../../src/tree/reader.ts";
import { TreeStore } from "../../../../src/tree/tables/store.ts";
import { TreeWriter } from "../../../../src/tree/writer.ts";
import type { FileNode, StoredBlob } from "../../../../src/tree/model/types.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, TestTree } from "../../tree/support.ts";
import { journalOf, openJournal } from "./support.ts";

const EPOCH = "after";

let tree: TestTree;
afterEach(() => tree.close());

/** Copies the database as a snapshot does. */
function takeCopy(): string {
  const path = join(tree.directory, "copy.db");
  rmSync(path, { force: true });
  tree.db.sqlite.run(`VACUUM INTO '${path}'`);
  return path;
}

/** Replaces the tree's database by a copy. */
async function copyBack(path: string): Promise<void> {
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
}

let restoredAtMs = 0;

function merge(isDryRun = false, missing: readonly string[] = []): Promise<MergeReport> {
  const sizes = new Map(known);
  for (const digest of missing) sizes.delete(digest);
  return mergeNewer({
    sqlite: tree.db.sqlite,
    writer: tree.writer,
    tree: tree.read,
    treeWriter: tree.write,
    blobs: {
      stat(digest) {
        const sizeBytes = sizes.get(digest);
        return sizeBytes === undefined ? undefined : { sizeBytes };
      },
    },
    layout: new Layout(tree.directory),
    storeJournal: openJournal(tree, EPOCH),
    root: journalOf(tree),
    epoch: EPOCH,
    restoredAtMs,
    workingFile: join(tree.directory, "records"),
    email: undefined,
    isDryRun,
    passwordHash: "nobody's",
    nowMs: tree.clock.nowMs(),
  });
}

/** Queues merged objects to be merged again. */
function forgetThatItIsDone(): void {
  const newer = join(journalOf(tree), "newer");
  for (const name of readdirSync(newer)) {
    if (name.endsWith(".done")) renameSync(join(newer, name), join(newer, name.slice(0, -".done".length)));
  }
}

/** Every file content that was created. */
const known = new Map<string, number>();

function content(text: string): StoredBlob {
  const blob = blobOf(text);
  known.set(blob.digest, blob.sizeBytes);
  return blob;
}

function add(accountId: number, folder: string, name: string, text: string): FileNode {
  return tree.addFile(accountId, folder, name, { blob: content(text), onConflict: "rename" });
}

function replace(file: { accountId: number; publicId: string }, text: string): void {
  tree.run((tx) => {
    const { accountId } = file;
    tree.write.replaceContent(tx, {
      file,
      blob: content(text),
      mediaType: "text/plain",
      createdBy: accountId,
      quotaBytes: null,
    });
  });
}

/** The contents of each file by path, oldest first. */
async function contentsOf(accountId: number): Promise<Record<string, string[]>> {
  const texts: Record<string, string[]> = {};
  const files = tree.db.sqlite
    .query<{ id: string }, [number]>("SELECT public_id AS id FROM nodes WHERE account_id = ?1 AND kind = 1")
    .all(accountId);
  for (const { id } of files) {
    const file = tree.read.findFile(accountId, id);
    if (file === undefined) continue;
    const path = `${file.folder === "/" ? "" : file.folder}/${file.name}`;
    texts[path] = tree.read
      .listVersions(file)
      .map(({ digest }) => digest)
      .toReversed();
  }
  return texts;
}

function digestsOf(...texts: readonly string[]): string[] {
  return texts.map((text) => blobOf(text).digest);
}

async function expectSound(): Promise<void> {
  for (const { id } of tree.db.sqlite.query<{ id: number }, []>("SELECT id FROM accounts").all()) {
    expect(await tree.read.recount(id)).toEqual([]);
  }
  expect(await tree.read.recountBlobs()).toEqual([]);
  expect(findStructuralProblems(tree.db.sqlite)).toEqual([]);
  expect(findBrokenRules(tree.db.sqlite)).toEqual([]);
}

/** The first copy, then the objects that are newer than it. */
async function live(before: (accountId: number) => void, after: (accountId: number) => void): Promise<number> {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const journal = openJournal(tree);
  before(accountId);
  await journal.flush();
  const copy = takeCopy();
  tree.clock.advance(1_000);
  after(accountId);
  await journal.flush();
  restoredAtMs = tree.clock.nowMs();
  await copyBack(copy);
  return accountId;
}

const NOTHING = { files: 0, folders: 0, versions: 0, labels: 0, beside: 0, names: [] };

test("new files, versions, folders, tags and moves are merged; deletions are only counted; a second run changes nothing", async () => {
  const files = new Map<string, FileNode>();
  const accountId = await live(
    (id) => {
      for (const name of ["edited", "labelled", "moved", "deleted", "same"]) files.set(name, add(id, "/a", name, name));
    },
    (id) => {
      const get = (name: string) => files.get(name) ?? add(id, "/", "never", "never");
      replace(get("edited"), "edited 2");
      replace(get("edited"), "edited");
      tree.run((tx) => {
        tree.write.updateFile(tx, get("labelled"), { tags: ["new"], metadata: { description: "of late" } });
        tree.write.move(tx, get("moved"), "/elsewhere");
        tree.write.deleteFile(tx, get("deleted"));
      });
      const made = add(id, "/b/c", "made", "made");
      replace(made, "made 2");
      const gone = add(id, "/d", "gone again", "gone again");
      tree.run((tx) => void tree.write.deleteFile(tx, gone));
    },
  );
  const planned = await merge(true);
  expect(readdirSync(journalOf(tree))).not.toContain("newer");
  const report = await merge();
  expect(report).toEqual(planned);
  expect(report).toMatchObject({
    accounts: [
      { isNew: false, files: 1, folders: 4, versions: 2, labels: 1, beside: 0, deletions: 1, moved: 1, moves: 0 },
    ],
    missing: [],
    damaged: [],
  });
  expect(await contentsOf(accountId)).toEqual({
    "/a/edited": digestsOf("edited", "edited 2", "edited"),
    "/a/labelled": digestsOf("labelled"),
    "/elsewhere/moved": digestsOf("moved"),
    "/a/deleted": digestsOf("deleted"),
    "/a/same": digestsOf("same"),
    "/b/c/made": digestsOf("made", "made 2"),
  });
  const labelled = tree.read.findFileNamed(accountId, "/a", "labelled");
  expect([labelled?.tags, labelled?.metadata]).toEqual([["new"], { description: "of late" }]);
  await expectSound();
  expect(await merge()).toMatchObject({ accounts: [] });
  forgetThatItIsDone();
  expect(await merge()).toMatchObject({ accounts: [NOTHING] });
});

test("moves and renames are merged where the node was not moved since, in any order", async () => {
  const nodes = new Map<string, FileNode>();
  const accountId = await live(
    (id) => {
      for (const name of ["one", "two", "stays", "taken"]) nodes.set(name, add(id, "/a", name, name));
      add(id, "/a/deep", "inside", "inside");
    },
    (id) => {
      const get = (name: string) => nodes.get(name) ?? add(id, "/", "never", "never");
      tree.run((tx) => {
        tree.write.updateFile(tx, get("one"), { name: "swap" });
        tree.write.updateFile(tx, get("two"), { name: "one", tags: ["later"] });
        tree.write.updateFile(tx, get("one"), { name: "two" });
        tree.write.updateFile(tx, get("stays"), { name: "other" });
        tree.write.updateFile(tx, get("taken"), { name: "occupied" });
        const folder = tree.read.findFolderByPath(id, "/a/deep");
        if (folder !== undefined) tree.write.updateFolder(tx, folder, { name: "deeper", folderPath: "/new" });
      });
      // At the former location of a moved file.
      add(id, "/a", "stays", "a new one");
    },
  );
  tree.clock.advance(1_000);
  const stays = nodes.get("stays");
  if (stays !== undefined) tree.run((tx) => void tree.write.updateFile(tx, stays, { name: "present" }));
  add(accountId, "/a", "occupied", "occupied");
  const report = await merge();
  expect(report).toMatchObject({ accounts: [{ moved: 3, moves: 2, files: 1, labels: 1 }] });
  expect(await contentsOf(accountId)).toEqual({
    "/a/one": digestsOf("two"),
    "/a/two": digestsOf("one"),
    "/a/present": digestsOf("stays"),
    "/a/taken": digestsOf("taken"),
    "/a/occupied": digestsOf("occupied"),
    "/a/stays": digestsOf("a new one"),
    "/new/deeper/inside": digestsOf("inside"),
  });
  expect(tree.read.findFileNamed(accountId, "/a", "one")?.tags).toEqual(["later"]);
  await expectSound();
  forgetThatItIsDone();
  expect(await merge()).toMatchObject({ accounts: [{ moved: 0, files: 0 }] });
});

test("a move that is too deep waits for the one that makes room, and one that stays too deep is only counted", async () => {
  const chain = (name: string, levels: number) => `/${name}`.repeat(levels);
  const change = (id: number, path: string, changes: { folderPath: string; name: string }) => {
    const folder = tree.read.findFolderByPath(id, path);
    if (folder === undefined) throw new Error("the folder is there");
    tree.run((tx) => tree.write.updateFolder(tx, folder, changes));
  };
  const accountId = await live(
    (id) => {
      for (const path of [chain("a", 200), chain("b", 100), chain("d", 100)])
        tree.run((tx) => tree.write.ensureFolder(tx, id, path));
    },
    (id) => {
      // The other branches fit only once this one is shorter, but the journal names them first.
      change(id, "/b", { folderPath: "/", name: "c" });
      change(id, "/d", { folderPath: "/", name: "e" });
      change(id, chain("a", 100), { folderPath: "/", name: "top" });
      change(id, "/c", { folderPath: `/top${chain("a", 100)}`, name: "c" });
      change(id, "/e", { folderPath: `/top${chain("a", 100)}`, name: "e" });
      add(id, "/", "after", "after");
    },
  );
  tree.clock.advance(1_000);
  const deep = tree.read.findFolderByPath(accountId, chain("d", 100));
  // Made deeper after the restore, so that it no longer fits.
  tree.run((tx) => tree.write.ensureFolder(tx, accountId, `${deep?.path}${chain("d", 100)}`));
  expect(await merge()).toMatchObject({ accounts: [{ moved: 2, moves: 1, files: 1 }] });
  expect(tree.read.findFolderByPath(accountId, `/top${chain("a", 100)}/c${chain("b", 99)}`)).toBeDefined();
  expect(tree.read.findFolderByPath(accountId, chain("d", 200))).toBeDefined();
  await expectSound();
});

test("nodes that were trashed from a folder that can't be created again are merged too", async () => {
  const accountId = await live(
    () => undefined,
    (id) => {
      const trashed = add(id, "/x/y", "trashed", "trashed");
      tree.run((tx) => void tree.write.trash(tx, trashed));
      const folder = tree.read.findFolderByPath(id, "/x") ?? expect.unreachable();
      tree.run((tx) => {
        tree.write.deleteFolder(tx, folder);
        while (tree.write.reapSome(tx) > 0);
      });
      add(id, "/", "after", "after");
    },
  );
  tree.clock.advance(1_000);
  // A file with that name.
  add(accountId, "/", "x", "x");
  expect(await merge()).toMatchObject({ accounts: [{ files: 2, trashed: 1 }] });
  expect(Object.keys(await contentsOf(accountId))).toEqual(["/x", "/after"]);
  expect(
    tree.read.trash.byTime({ accountId, order: "desc", offset: 0, limit: 10 }).entries.map(({ node }) => node.name),
  ).toEqual(["trashed"]);
  await expectSound();
});

/** The shares in the database by their public id, with the fields that control access. */
function sharesNow(): Record<string, unknown> {
  const rows = tree.db.sqlite
    .query<{ id: string }, []>(
      `SELECT s.public_id AS id, s.kind, s.password_hash AS password, hex(s.nonce) AS nonce, s.grant_epoch AS epoch,
         s.downloads, n.name, n.is_public AS isPublic FROM shares s JOIN nodes n ON n.id = s.node_id`,
    )
    .all();
  return Object.fromEntries(rows.map(({ id, ...row }) => [id, row]));
}

function share(file: FileNode, id: string, settings: { kind?: string; createdAt?: number } = {}): void {
  const { kind = "link", createdAt = tree.clock.nowMs() } = settings;
  tree.db.sqlite
    .query<undefined, (string | number | Uint8Array)[]>(
      `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
    )
    .run(id, file.accountId, file.id, kind, Buffer.from(id), Buffer.from(`hash of ${id}`), createdAt);
}

test("new links are merged, changed ones get their later settings, and a revoked one is never restored", async () => {
  const files = new Map<string, FileNode>();
  const run = (sql: string) => tree.db.sqlite.run(sql);
  const accountId = await live(
    (id) => {
      for (const name of ["kept", "public", "deleted", "new"]) files.set(name, add(id, "/", name, name));
      const get = (name: string) => files.get(name) ?? add(id, "/", "never", "never");
      for (const shareId of ["same", "revoked", "tightened"]) share(get("kept"), shareId);
      share(get("deleted"), "of deleted");
      tree.run((tx) => void tree.write.updateFile(tx, get("public"), { isPublic: true }));
      share(get("public"), "was public", { kind: "public" });
    },
    (id) => {
      const get = (name: string) => files.get(name) ?? add(id, "/", "never", "never");
      run("DELETE FROM shares WHERE public_id IN ('revoked', 'was public')");
      run(
        "UPDATE shares SET password_hash = 'x', grant_epoch = 1, max_downloads = 5, downloads = 2 WHERE public_id = 'tightened'",
      );
      tree.run((tx) => {
        tree.write.updateFile(tx, get("public"), { isPublic: false });
        tree.write.updateFile(tx, get("new"), { isPublic: true });
        tree.write.deleteFile(tx, get("deleted"));
      });
      share(get("new"), "new public", { kind: "public" });
      share(add(id, "/", "made", "made"), "of made");
      share(get("kept"), "ended in the present");
    },
  );
  tree.clock.advance(1_000);
  const shared = files.get("kept") ?? add(accountId, "/", "never", "never");
  share(shared, "of the present");
  const planned = await merge(true);
  const report = await merge();
  expect(report).toEqual(planned);
  expect(report).toMatchObject({ accounts: [{ shares: 3, revoked: 3, deletions: 1 }] });
  const plain = { kind: "link", password: null, epoch: 0, downloads: 0, name: "kept", isPublic: 0 };
  const nonce = (id: string) => Buffer.from(id).toString("hex").toUpperCase();
  expect(sharesNow()).toEqual({
    same: { ...plain, nonce: nonce("same") },
    tightened: { ...plain, nonce: nonce("tightened"), password: "x", epoch: 1, downloads: 2 },
    "of the present": { ...plain, nonce: nonce("of the present") },
    "ended in the present": { ...plain, nonce: nonce("ended in the present") },
    "of made": { ...plain, nonce: nonce("of made"), name: "made" },
    "new public": { ...plain, nonce: nonce("new public"), kind: "public", name: "new", isPublic: 1 },
  });
  expect(tree.read.findFileNamed(accountId, "/", "public")?.isPublic).toBe(false);
  await expectSound();

  run("DELETE FROM shares WHERE public_id = 'ended in the present'");
  forgetThatItIsDone();
  expect(await merge()).toMatchObject({ accounts: [{ ...NOTHING, shares: 0, revoked: 0 }] });
  expect(Object.keys(sharesNow())).not.toContain("ended in the present");
});

/** Names of the favorites of an account. */
function favoritesOf(accountId: number): string[] {
  const names = tree.db.sqlite.query<{ name: string }, [number]>(
    "SELECT n.name FROM favorites f JOIN nodes n ON n.id = f.node_id WHERE f.account_id = ?1 ORDER BY 1",
  );
  return names.all(accountId).map(({ name }) => name);
}

const setFavorite = (accountId: number, node: { readonly id: number }) =>
  tree.db.sqlite.run("INSERT INTO favorites VALUES (?1, ?2)", [accountId, node.id]);

test("favorites are merged, and those set after the restore stay", async () => {
  const files = new Map<string, FileNode>();
  const accountId = await live(
    (id) => {
      for (const name of ["before", "after", "both"]) files.set(name, add(id, "/", name, name));
      for (const name of ["before", "both"]) setFavorite(id, files.get(name) ?? add(id, "/", "never", "never"));
    },
    (id) => {
      setFavorite(id, files.get("after") ?? add(id, "/", "never", "never"));
      setFavorite(id, add(id, "/", "made", "made"));
    },
  );
  setFavorite(accountId, add(accountId, "/", "of the present", "of the present"));
  await merge();
  expect(favoritesOf(accountId)).toEqual(["after", "before", "both", "made", "of the present"]);
  await expectSound();
});

test("changes after the restore stay: an edited file gets a copy with the other content, a repeated upload is not duplicated, a deleted file stays deleted", async () => {
  const files = new Map<string, FileNode>();
  const accountId = await live(
    (id) => {
      for (const name of ["edited", "deleted", "trashed", "described"]) files.set(name, add(id, "/", name, name));
    },
    (id) => {
      for (const [name, file] of files) replace(file, `${name} then`);
      add(id, "/phone", "IMG.jpg", "photo");
      add(id, "/phone", "other.jpg", "one");
      tree.run((tx) => {
        const described = files.get("described");
        if (described !== undefined) tree.write.updateFile(tx, described, { metadata: { description: "then" } });
      });
    },
  );
  tree.clock.advance(1_000);
  const now = (name: string) => files.get(name) ?? add(accountId, "/", "never", "never");
  replace(now("edited"), "edited now");
  tree.run((tx) => {
    tree.write.deleteFile(tx, now("deleted"));
    tree.write.trash(tx, now("trashed"));
    tree.write.updateFile(tx, now("described"), { metadata: { description: "now" } });
  });
  add(accountId, "/phone", "IMG.jpg", "photo");
  add(accountId, "/phone", "other.jpg", "another");
  const report = await merge();
  expect(report).toMatchObject({ accounts: [{ files: 3, folders: 0, versions: 1, labels: 0, beside: 1 }] });
  expect(await contentsOf(accountId)).toEqual({
    "/edited": digestsOf("edited", "edited now"),
    "/edited (1)": digestsOf("edited then"),
    // The folder was trashed after the restore, so its missing files are created.
    "/trashed": digestsOf("trashed then"),
    "/described": digestsOf("described", "described then"),
    "/phone/IMG.jpg": digestsOf("photo"),
    "/phone/other.jpg": digestsOf("another"),
    "/phone/other (1).jpg": digestsOf("one"),
  });
  expect(tree.read.findFile(accountId, now("described").publicId)?.metadata).toEqual({ description: "now" });
  await expectSound();
  forgetThatItIsDone();
  expect(await merge()).toMatchObject({ accounts: [NOTHING] });
});

test("a missing blob is reported with its file name, and merged once it is there", async () => {
  const accountId = await live(
    (id) => void add(id, "/", "there", "there"),
    (id) => {
      replace(add(id, "/", "made", "made"), "made 2");
      add(id, "/", "lost", "lost");
    },
  );
  const missing = digestsOf("made 2", "lost");
  const report = await merge(false, missing);
  expect(report.missing.flatMap(({ names }) => names).sort()).toEqual(["/lost", "/made"]);
  expect(await contentsOf(accountId)).toEqual({ "/there": digestsOf("there"), "/made": digestsOf("made") });
  expect(await merge()).toMatchObject({ accounts: [{ files: 1, versions: 1 }], missing: [] });
  expect(await contentsOf(accountId)).toMatchObject({
    "/made": digestsOf("made", "made 2"),
    "/lost": digestsOf("lost"),
  });
  await expectSound();
});

test("garbage collection retains blobs of newer objects, before the next start too, until they are merged or a month has passed", async () => {
  await live(
    (id) => void add(id, "/", "there", "there"),
    (id) => replace(add(id, "/", "made", "made"), "made 2"),
  );
  const { sqlite } = tree.db;
  const root = journalOf(tree);
  const contents = new NewerReferences({ sqlite, root, epoch: () => EPOCH, log: silentLog });
  const has = async (text: string) => {
    const references = await contents.openSnapshotReferences();
    return references.has(blobOf(text).digest);
  };
  expect([await has("made"), await has("made 2"), await has("never")]).toEqual([true, true, false]);
  await openJournal(tree, EPOCH).reconcile();
  const [newer, ...others] = await findNewer(sqlite, root, EPOCH);
  expect([newer?.asideAtMs, others]).toEqual([tree.clock.nowMs(), []]);
  expect([await has("made"), await has("made 2"), await has("never")]).toEqual([true, true, false]);

  // An object that can't be read may name any blob.
  const path = newer?.path ?? "";
  const [name = ""] = readdirSync(path).sort().reverse();
  copyFileSync(join(path, name), join(tree.directory, name));
  writeFileSync(join(path, name), "no object");
  expect(await has("never")).toBe(true);
  copyFileSync(join(tree.directory, name), join(path, name));
  expect(await has("never")).toBe(false);

  expect(await forgetNewer(root, tree.clock.nowMs())).toBe(0);
  expect(await forgetNewer(root, tree.clock.nowMs() + 1)).toBe(1);
  expect([await has("made"), await has("made 2")]).toEqual([false, false]);
});

test("a quarantined blob is returned to the store if it matches its digest", async () => {
  const whole = toDigest(new Bun.CryptoHasher("sha256").update("whole").digest("hex"));
  await live(
    (id) => void add(id, "/", "there", "there"),
    (id) => {
      tree.addFile(id, "/", "whole", { blob: { digest: whole, sizeBytes: 5, crc32: 0 } });
      add(id, "/", "other", "other");
    },
  );
  const layout = new Layout(tree.directory);
  const [other = ""] = digestsOf("other");
  mkdirSync(layout.quarantine, { recursive: true });
  writeFileSync(layout.quarantined(whole), "whole");
  writeFileSync(join(layout.quarantine, other), "wrong");
  expect(await merge(true, [other])).toMatchObject({ returned: 0, missing: [{ digest: other }] });
  expect(existsSync(layout.blob(whole))).toBe(false);
  expect(await merge(false, [other])).toMatchObject({
    accounts: [{ files: 1 }],
    returned: 1,
    missing: [{ digest: other, names: ["/other"] }],
  });
  expect(readFileSync(layout.blob(whole), "utf8")).toBe("whole");
});

test.each(seedsToRun([1, 2]))(
  "after any changes before and since, no recorded content is lost (seed %i)",
  async (seed) => {
    const random = seededRandom(seed);
    let step = 0;
    const act = (id: number) => {
      for (const end = step + 60; step < end; step++) {
        tree.clock.advance(1 + random.below(50));
        const ids = tree.db.sqlite
          .query<{ id: string }, [number]>("SELECT public_id AS id FROM nodes WHERE account_id = ?1 AND kind < 2")
          .all(id)
          .flatMap(({ id: publicId }) => tree.read.findNode(id, publicId) ?? [])
          .filter((node) => node.folder !== "/" || node.name !== "/");
        const node = ids.length > 0 ? random.pick(ids) : undefined;
        const folder = node?.kind === "folder" ? node.path : "/";
        const kind = random.below(10);
        try {
          if (node === undefined || kind < 3) add(id, folder, `f${random.below(8)}`, `${random.below(60)}`);
          else if (kind < 6 && node.kind === "file") replace(node, `${random.below(60)}`);
          else if (kind === 6)
            tree.run((tx) => void tree.write.ensureFolder(tx, id, `${folder}/d${random.below(4)}`.replace("//", "/")));
          else if (kind === 7) tree.run((tx) => void tree.write.move(tx, node, folder));
          else if (kind === 8) tree.run((tx) => void tree.write.trash(tx, node));
          else if (node.kind === "file") tree.run((tx) => void tree.write.deleteFile(tx, node));
          else tree.run((tx) => void tree.write.deleteFolder(tx, node));
        } catch (error) {
          // A file instead of a folder, or a folder moved into itself: nothing changed.
          if (!(error instanceof Error && "reason" in error)) throw error;
        }
      }
      tree.run((tx) => {
        while (tree.write.reapSome(tx, 50) > 0);
      });
    };
    let reported: Record<string, string[]> = {};
    const accountId = await live(act, (id) => {
      act(id);
      const rows = tree.db.sqlite
        .query<{ id: string; digest: string }, []>(
          `SELECT n.public_id AS id, lower(hex(b.digest)) AS digest FROM nodes n JOIN blobs b ON b.id = n.blob_id UNION ALL
           SELECT n.public_id, lower(hex(b.digest)) FROM versions v JOIN nodes n ON n.id = v.node_id JOIN blobs b ON b.id = v.blob_id`,
        )
        .all();
      reported = {};
      for (const { id: publicId, digest } of rows) (reported[publicId] ??= []).push(digest);
    });
    const isQuietPresent = seed % 2 === 0;
    if (!isQuietPresent) act(accountId);
    const report = await merge();
    expect([report.missing, report.damaged]).toEqual([[], []]);
    await expectSound();
    const blobs = tree.db.sqlite.query<{ digest: string }, []>(
      "SELECT lower(hex(digest)) AS digest FROM blobs WHERE refs > 0",
    );
    const digests = new Set(blobs.all().map(({ digest }) => digest));
    const wasDeleted = tree.db.sqlite.query<{ one: 1 }, [string]>(
      "SELECT 1 AS one FROM tombstones WHERE public_id = ?1 AND NOT EXISTS (SELECT 1 FROM nodes WHERE public_id = ?1)",
    );
    for (const [publicId, contents] of Object.entries(reported)) {
      if (wasDeleted.get(publicId) !== null) continue;
      expect(contents.filter((digest) => !digests.has(digest))).toEqual([]);
      if (isQuietPresent) {
        // Or another file with the same content, in a folder with the same name.
        const row = tree.db.sqlite
          .query(
            "SELECT 1 FROM nodes n JOIN blobs b ON b.id = n.blob_id WHERE n.public_id = ?1 OR b.digest = unhex(?2)",
          )
          .get(publicId, contents[0] ?? "");
        expect([publicId, row]).toEqual([publicId, expect.anything()]);
      }
    }
    forgetThatItIsDone();
    expect(await merge()).toMatchObject({ accounts: [NOTHING] });
  },
  120_000,
);

/** Names of the groups of an account. */
function groupsOf(accountId: number): string[] {
  const names = tree.db.sqlite.query<{ name: string }, [number]>(
    "SELECT g.name FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.user_id = ?1 ORDER BY 1",
  );
  return names.all(accountId).map(({ name }) => name);
}

test("memberships that ended stay ended, new ones are merged, a deleted group is deleted, and hidden shares stay hidden", async () => {
  const run = (sql: string, values: (string | number)[]) => tree.db.sqlite.run(sql, values);
  const addGroup = (name: string) =>
    run("INSERT INTO groups (public_id, name, name_key, created_at) VALUES (?1, ?1, ?1, 1)", [name]);
  const join = (id: number, group: string, at: number) =>
    run("INSERT INTO group_members SELECT id, ?1, ?3 FROM groups WHERE name = ?2", [id, group, at]);
  const leave = (id: number, group: string) =>
    run("DELETE FROM group_members WHERE user_id = ?1 AND group_id = (SELECT id FROM groups WHERE name = ?2)", [
      id,
      group,
    ]);
  const files = new Map<string, FileNode>();
  const accountId = await live(
    (id) => {
      for (const name of ["stays", "left", "deleted", "came back"]) {
        addGroup(name);
        join(id, name, 10);
      }
      files.set("shared", add(id, "/", "shared", "shared"));
      share(files.get("shared") ?? add(id, "/", "never", "never"), "of a group", { kind: "account" });
      run(
        "UPDATE shares SET group_id = (SELECT id FROM groups WHERE name = 'stays'), recipient_id = NULL WHERE public_id = ?1",
        ["of a group"],
      );
    },
    (id) => {
      for (const name of ["left", "came back"]) leave(id, name);
      run("DELETE FROM groups WHERE name = ?1", ["deleted"]);
      addGroup("new");
      join(id, "new", 20);
      join(id, "came back", 20);
      run("INSERT INTO hidden_shares SELECT id, ?1 FROM shares WHERE public_id = 'of a group'", [id]);
    },
  );
  expect(groupsOf(accountId)).toEqual(["came back", "deleted", "left", "stays"]);
  const planned = await merge(true);
  const report = await merge();
  expect(report).toEqual(planned);
  expect(report.groups).toEqual({ groups: 1, joined: 2, left: 2 });
  expect(groupsOf(accountId)).toEqual(["came back", "new", "stays"]);
  expect(tree.db.sqlite.query("SELECT 1 FROM groups WHERE name = 'deleted'").get()).toBeNull();
  expect(tree.db.sqlite.query("SELECT user_id FROM hidden_shares").values()).toEqual([[accountId]]);

  leave(accountId, "new");
  join(accountId, "left", 30);
  expect((await merge()).groups).toEqual({ groups: 0, joined: 0, left: 0 });
  expect(groupsOf(accountId)).toEqual(["came back", "left", "stays"]);
  await expectSound();
});

test("the later picture of a person counts, one that was removed is removed, and pins are added", async () => {
  const setPicture = (id: number | undefined, text: string) => {
    const picture = Buffer.from(`RIFF0000WEBP${text}`);
    const values = [id ?? 0, Buffer.alloc(32, 7), picture, tree.clock.nowMs()];
    tree.db.sqlite.run("INSERT OR REPLACE INTO avatars VALUES (?1, ?2, ?3, ?3, ?4)", values);
  };
  const setPins = (id: number, pins: readonly string[]) =>
    tree.db.sqlite.run("UPDATE users SET settings = ?2 WHERE id = ?1", [id, JSON.stringify({ theme: "dark", pins })]);
  const people: number[] = [];
  const accountId = await live(
    (id) => {
      people.push(id, tree.addAccount(), tree.addAccount());
      for (const each of people) setPicture(each, "before");
      setPins(id, ["a", "b"]);
    },
    (id) => {
      setPicture(id, "after");
      tree.db.sqlite.run("DELETE FROM avatars WHERE user_id = ?1", [people[1] ?? 0]);
      setPicture(people[2], "after");
      setPins(id, ["c", "a"]);
    },
  );
  setPicture(people[2], "of the present");
  const planned = await merge(true);
  const report = await merge();
  expect(report).toEqual(planned);
  expect(report.profiles).toEqual({ pictures: 1, removed: 1, pins: 1 });
  const pictures = tree.db.sqlite.query("SELECT user_id, substr(CAST(large AS TEXT), 13) FROM avatars ORDER BY 1");
  expect(pictures.values()).toEqual([
    [accountId, "after"],
    [people[2] ?? 0, "of the present"],
  ]);
  const settings = tree.db.sqlite.query("SELECT settings FROM users WHERE id = ?1").values(accountId);
  expect(settings).toEqual([[JSON.stringify({ theme: "dark", pins: ["a", "b", "c"] })]]);
  expect((await merge()).profiles).toEqual({ pictures: 0, removed: 0, pins: 0 });
});
