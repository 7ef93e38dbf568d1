/** A database that is rebuilt from the store journal has the rows of the lost one, after any changes. */
import { afterEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../../src/db/open.ts";
import { Reader } from "../../../../src/db/reader.ts";
import { findBrokenRules, findStructuralProblems } from "../../../../src/features/storage/integrity/check-rows.ts";
import { ObjectWriter } from "../../../../src/features/storage/store-journal/object-file.ts";
import { openEndedShares } from "../../../../src/features/storage/store-journal/open.ts";
import { Writer } from "../../../../src/db/transaction.ts";
import { TreeReader } from "../../../../src/tree/reader.ts";
import { TreeStore } from "../../../../src/tree/tables/store.ts";
import type { FileNode, FolderNode, TreeNode } from "../../../../src/tree/model/types.ts";
import { TreeWriter } from "../../../../src/tree/writer.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { seededRandom, seedsToRun } from "../../../support/random.ts";
import { blobOf, TestTree } from "../../tree/support.ts";
import { contentsOf, journalOf, openJournal, rebuild } from "./support.ts";

const STEPS = 120;
const NAMES = ["a", "b.txt", "B.TXT", "ä.jpg", "c (1)", "c", "ünï code", "📷"];
const TAGS = ["One", "two", "THREE"];
const TYPES = ["text/plain", "image/png; x=y", "image/PNG"];

type Random = ReturnType<typeof seededRandom>;

let tree: TestTree;
afterEach(() => tree.close());

async function nodesOf(accountId: number): Promise<TreeNode[]> {
  const all: TreeNode[] = [];
  const walk = async (folder: FolderNode): Promise<void> => {
    const query = { accountId, folder, sort: "name", order: "asc", offset: 0, limit: 10_000 } as const;
    for (const node of (await tree.read.list(query)).nodes) {
      all.push(node);
      if (node.kind === "folder") await walk(node);
    }
  };
  await walk(tree.read.getRoot(accountId));
  return all;
}

function change(accountId: number, otherId: number, random: Random, nodes: readonly TreeNode[]): void {
  const folders = nodes.filter((node) => node.kind === "folder");
  const files = nodes.filter((node) => node.kind === "file");
  const folderPath = folders.length > 0 && random.chance(0.7) ? random.pick(folders).path : "/";
  const node = nodes.length > 0 ? random.pick(nodes) : undefined;
  const file: FileNode | undefined = files.length > 0 ? random.pick(files) : undefined;
  const { entries } = tree.read.trash.byTime({ accountId, order: "desc", offset: 0, limit: 100 });
  const trashed = entries.length > 0 ? random.pick(entries).node : undefined;
  const labels = { tags: TAGS.filter(() => random.chance(0.5)), metadata: { k: `${random.below(3)}`, "ü\n": "x" } };
  const blob = blobOf(`${random.below(40)}`, random.below(50));
  const mediaType = random.pick(TYPES);
  const made = {
    accountId,
    createdBy: random.pick([accountId, otherId]),
    mediaType,
    isPublic: false,
    quotaBytes: null,
  };
  const name = random.pick(NAMES);
  const kind = random.below(24);
  tree.run((tx) => {
    const copying = { onConflict: "rename", preserveMetadata: true, quotaBytes: null, createdBy: accountId } as const;
    if (node === undefined || kind <= 3) {
      const onConflict = random.pick(["rename", "version"] as const);
      const dates = random.chance(0.5)
        ? { capturedAt: "2020-02-02T02:02:02Z", fileModifiedAt: "2021-01-01T00:00:00Z" }
        : {};
      tree.write.createFile(tx, { ...made, ...labels, ...dates, folderPath, name, blob, onConflict });
    } else if (kind === 4) tree.write.ensureFolder(tx, accountId, `${folderPath === "/" ? "" : folderPath}/f${name}`);
    else if (kind === 5) tree.write.move(tx, node, folderPath);
    else if (kind === 6) tree.write.copy(tx, node, folderPath, copying);
    else if (kind === 7) tree.write.copy(tx, node, "/from", { ...copying, accountId: otherId });
    else if (kind === 8 && node.kind === "folder")
      tree.write.updateFolder(tx, node, { name: `f${name}`, metadata: { a: "b" } });
    else if (kind === 9 && file !== undefined) tree.write.updateFile(tx, file, { ...labels, name, folderPath });
    else if (kind <= 11 && file !== undefined) {
      tree.write.replaceContent(tx, { file, blob, mediaType, createdBy: accountId, quotaBytes: null });
    } else if (kind === 12 && file !== undefined) {
      const earlier = tree.read.listVersions(file).slice(1);
      if (earlier.length > 0) tree.write.deleteVersion(tx, file, random.pick(earlier).version);
    } else if (kind === 13) {
      if (node.kind === "file") tree.write.deleteFile(tx, node);
      else tree.write.deleteFolder(tx, node);
    } else if (kind <= 15) tree.write.trash(tx, node);
    else if (kind === 16 && trashed !== undefined) tree.write.restore(tx, trashed);
    else if (kind === 17 && trashed !== undefined && random.chance(0.4)) tree.write.purge(tx, trashed);
    else if (kind === 18) addShare(accountId, otherId, node, random);
    else if (kind === 19) changeShare(random);
    else if (kind === 20) toggleFavorite(random.pick([accountId, otherId]), node.id);
    else if (kind === 21) changeGroups(random.pick([accountId, otherId]), random);
    else if (kind === 22) hideShare(otherId, random);
    else if (kind === 23) changeAvatar(random.pick([accountId, otherId]), random);
  });
}

/** Makes, renames or deletes a group, or adds or removes a member. */
function changeGroups(accountId: number, random: Random): void {
  const { sqlite } = tree.db;
  const [group, name] = [random.below(3) + 1, `group ${random.below(1_000_000_000)}`];
  if (random.chance(0.1)) sqlite.run("DELETE FROM groups WHERE id = ?1", [group]);
  else if (random.chance(0.2)) sqlite.run("UPDATE groups SET name = ?2, name_key = ?2 WHERE id = ?1", [group, name]);
  else if (random.chance(0.3)) {
    sqlite.run("DELETE FROM group_members WHERE group_id = ?1 AND user_id = ?2", [group, accountId]);
  } else {
    addGroup(group, name);
    sqlite.run("INSERT OR IGNORE INTO group_members VALUES (?1, ?2, ?3)", [
      group,
      accountId,
      random.below(1_000_000_000),
    ]);
  }
}

function addGroup(id: number, name: string): void {
  tree.db.sqlite.run("INSERT OR IGNORE INTO groups VALUES (?1, ?2, ?3, ?3, 5)", [id, `grp_${name.slice(6)}`, name]);
}

function hideShare(accountId: number, random: Random): void {
  const id = random.below(20);
  const { sqlite } = tree.db;
  const { changes } = sqlite.run("DELETE FROM hidden_shares WHERE share_id = ?1", [id]);
  if (changes > 0) return;
  sqlite.run("INSERT OR IGNORE INTO hidden_shares SELECT id, ?2 FROM shares WHERE id = ?1 AND group_id IS NOT NULL", [
    id,
    accountId,
  ]);
}

/** Sets or removes the picture of a person. */
function changeAvatar(accountId: number, random: Random): void {
  const { sqlite } = tree.db;
  sqlite.run("DELETE FROM avatars WHERE user_id = ?1", [accountId]);
  if (random.chance(0.3)) return;
  const picture = Buffer.concat([Buffer.from("RIFF0000WEBP"), Buffer.from(`VP8 ${random.below(1_000_000)}`)]);
  sqlite.run("INSERT INTO avatars VALUES (?1, ?2, ?3, ?3, 7)", [accountId, Buffer.alloc(32, 7), picture]);
}

function toggleFavorite(accountId: number, nodeId: number): void {
  const row = [accountId, nodeId];
  const { changes } = tree.db.sqlite.run("DELETE FROM favorites WHERE account_id = ?1 AND node_id = ?2", row);
  if (changes === 0) tree.db.sqlite.run("INSERT INTO favorites VALUES (?1, ?2)", row);
}

function addShare(accountId: number, otherId: number, node: TreeNode, random: Random): void {
  const ownId = `shr_${random.below(1_000_000_000)}`;
  tree.db.sqlite
    .query<undefined, (string | number | null | Uint8Array)[]>(
      `INSERT INTO shares (public_id, account_id, node_id, kind, nonce, token_hash, created_at, label, expires_at, can_write,
         recipient_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10)`,
    )
    .run(
      ownId,
      accountId,
      node.id,
      random.pick(["link", "account"]),
      random.bytes(18),
      random.bytes(32),
      random.pick([null, "label"]),
      random.pick([null, 5]),
      random.below(2),
      random.pick([null, otherId]),
    );
  if (random.chance(0.6)) return;
  const group = random.below(3) + 1;
  addGroup(group, `group ${random.below(1_000_000_000)}`);
  tree.db.sqlite.run("UPDATE shares SET kind = 'account', recipient_id = NULL, group_id = ?2 WHERE public_id = ?1", [
    ownId,
    group,
  ]);
}

function changeShare(random: Random): void {
  const changes = [
    "UPDATE shares SET label = 'other'",
    "UPDATE shares SET password_hash = 'x', grant_epoch = grant_epoch + 1",
    "UPDATE shares SET max_downloads = 3, max_upload_bytes = 1000, max_uploads_per_address = 2",
    "UPDATE shares SET downloads = downloads + 1, uploaded_bytes = uploaded_bytes + 7",
    "DELETE FROM shares",
    "UPDATE shares SET shows_versions = 1, grant_epoch = grant_epoch + 1",
  ];
  tree.db.sqlite.run(`${random.pick(changes)} WHERE id = (SELECT id FROM shares ORDER BY random() LIMIT 1)`);
}

/** The history of every account at some moments: paths with their contents at that time. */
async function pastOf(read: TreeReader, sqlite: Database, moments: readonly number[]): Promise<string[]> {
  const seen: string[] = [];
  const accounts = sqlite
    .query<{ id: number; publicId: string }, []>("SELECT id, public_id AS publicId FROM users")
    .all();
  for (const { id, publicId } of accounts) {
    for (const atMs of moments) {
      const moment = read.past.momentAt(id, atMs);
      const walk = async (path: string): Promise<void> => {
        const folder = await read.past.findFolder(moment, path);
        if (folder === undefined) return;
        const query = { sort: "name", order: "asc", offset: 0, limit: 10_000 } as const;
        for (const { node, isContentAvailable } of (await read.past.list(moment, folder, query)).nodes) {
          const { kind, name, publicId: nodeId, createdAtMs } = node;
          const content = node.kind === "file" ? `${node.digest} ${node.version} ${isContentAvailable}` : "";
          seen.push(`${publicId} ${atMs} ${path} ${name} ${kind} ${nodeId} ${createdAtMs} ${content}`);
          if (kind === "folder") await walk(path === "/" ? `/${name}` : `${path}/${name}`);
        }
      };
      await walk("/");
    }
  }
  return seen.toSorted();
}

test.each(seedsToRun([1, 2]))(
  "everything is there again (seed %i)",
  async (seed) => {
    tree = new TestTree();
    const accounts = [tree.addAccount(), tree.addAccount()] as const;
    const random = seededRandom(seed);
    const moments: number[] = [];
    let journal = openJournal(tree);
    for (let step = 0; step < STEPS; step++) {
      const [accountId, otherId] = random.chance(0.7) ? accounts : [accounts[1], accounts[0]];
      tree.clock.advance(random.below(5));
      if (random.chance(0.1)) moments.push(tree.clock.nowMs());
      try {
        change(accountId, otherId, random, await nodesOf(accountId));
      } catch (error) {
        // A taken name, or a folder moved into itself: nothing changed.
        if (!(error instanceof Error && "reason" in error)) throw error;
      }
      if (random.chance(0.4)) tree.run((tx) => tree.write.reapSome(tx, 2));
      if (random.chance(0.3)) await journal.flush();
      // Like a restart after a crash: an object that was written but not noted is written again.
      if (random.chance(0.1)) journal = openJournal(tree);
      if (random.chance(0.03)) tree.db.sqlite.run("UPDATE store_journal SET full_bytes = 0");
    }
    tree.run((tx) => {
      while (tree.write.reapSome(tx, 50) > 0);
    });
    await journal.flush();
    const expected = contentsOf(tree.db.sqlite);
    const past = await pastOf(tree.read, tree.db.sqlite, moments);
    const { report, path, contents } = await rebuild(tree);
    expect(report.damaged).toEqual([]);
    expect(contents).toEqual(expected);

    const db = openDatabase(path);
    const thread = new Reader(path, silentLog);
    try {
      const writer = new Writer(db.sqlite, silentLog);
      const store = new TreeStore({ sqlite: db.sqlite, reader: thread, writer, clock: tree.clock, log: silentLog });
      const [read, write] = [new TreeReader(store), new TreeWriter(store)];
      // The rebuilt folders have no sizes yet.
      expect((await write.refreshEverything(new AbortController().signal)).filled).toBeGreaterThan(0);
      for (const { id } of db.sqlite.query<{ id: number }, []>("SELECT id FROM accounts").all()) {
        expect(await read.recount(id)).toEqual([]);
      }
      expect(await read.recountBlobs()).toEqual([]);
      expect(await pastOf(read, db.sqlite, moments)).toEqual(past);
      expect(findStructuralProblems(db.sqlite)).toEqual([]);
      expect(findBrokenRules(db.sqlite)).toEqual([]);
    } finally {
      thread.close();
      db.close();
    }
  },
  120_000,
);

test("many small objects are joined, and replaced by a full one once they are twice as large", async () => {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const journal = openJournal(tree);
  const folder = () => {
    const row = tree.db.sqlite
      .query<{ id: string }, [number]>("SELECT public_id AS id FROM users WHERE id = ?1")
      .get(accountId);
    return readdirSync(join(journalOf(tree), row?.id ?? ""));
  };
  for (let index = 0; index < 100; index++) {
    tree.addFile(accountId, "/", `${index}.txt`, { tags: [`tag ${index}`] });
    await journal.flush();
    expect(folder().length).toBeLessThanOrEqual(70);
  }
  const file = tree.addFile(accountId, "/", "often.txt");
  for (let index = 0; index < 40; index++) {
    const metadata = { text: Buffer.from(seededRandom(index + 1).bytes(30_000)).toString("base64") };
    tree.run((tx) => void tree.write.updateFile(tx, file, { metadata }));
    await journal.flush();
  }
  const sizes = tree.db.sqlite
    .query<{ full: number; later: number }, []>("SELECT full_bytes AS full, later_bytes AS later FROM store_journal")
    .get();
  expect(sizes?.full).toBeGreaterThan(20_000);
  expect(sizes?.later).toBeLessThan(400_000);
  expect((await rebuild(tree)).contents).toEqual(contentsOf(tree.db.sqlite));
}, 120_000);

test("objects of earlier versions, without history and passwords of shares, can still be rebuilt", async () => {
  tree = new TestTree();
  mkdirSync(join(tree.directory, "blobs", "sha256"), { recursive: true });
  const journal = journalOf(tree);
  const header = { larder: "store journal", format: 1, number: 1, isFull: true, writtenAt: 1 } as const;
  const write = async (path: string, account: string, records: object[], seq: number) => {
    const object = await ObjectWriter.create(path, { ...header, account });
    await object.add(records);
    await object.finish(seq);
  };
  const common = { created: 5, modified: 6 };
  const share = { id: "shr_1", kind: "link", nonce: "00ff", tokenHash: "ff00", created: 7, epoch: 0 };
  const content = { version: 1, sha256: "ab".repeat(32), size: 3, crc32: 1, type: "text/plain", at: 6 };
  const person = { account: "usr_1", email: "a@b.c", name: "A", role: "user", plan: "free", created: 1, settings: {} };
  await write(join(journal, "accounts", "usr_1.jsonl.zst"), "usr_1", [person], 0);
  await write(
    join(journal, "usr_1", "0000000001-0000000001.full.jsonl.zst"),
    "usr_1",
    [
      { folder: "fold_1", name: "/", ...common },
      { file: "file_1", in: "fold_1", name: "f.txt", ...common, content, shares: [share] },
    ],
    9,
  );
  const { report, path, contents } = await rebuild(tree);
  expect(report).toMatchObject({ damaged: [], accounts: [{ files: 1, shares: 1, hasHistory: false }] });
  expect(contents["shares"]).toHaveLength(1);
  const sqlite = new Database(path, { readonly: true });
  // The earlier history is unknown, so none is shown.
  expect(sqlite.query("SELECT value FROM meta WHERE key = 'history_since'").get()).toEqual({ value: "1800000000000" });
  sqlite.close();
});

test("a rebuilt account has no password", async () => {
  tree = new TestTree();
  tree.addAccount();
  await openJournal(tree).flush();
  const { path } = await rebuild(tree);
  const sqlite = new Database(path, { readonly: true });
  expect(sqlite.query("SELECT has_password FROM users").values()).toEqual([[0]]);
  sqlite.close();
});

test("a share that is noted as ended is not restored, even if the objects still have it", async () => {
  tree = new TestTree();
  const accountId = tree.addAccount();
  const file = tree.addFile(accountId, "/", "shared.txt");
  const random = seededRandom(1);
  for (let count = 0; count < 3; count++) addShare(accountId, accountId, file, random);
  await openJournal(tree).flush();
  const { sqlite } = tree.db;
  const ids = sqlite
    .query<{ id: string }, []>("SELECT public_id AS id FROM shares ORDER BY id")
    .all()
    .map(({ id }) => id);
  const ended = openEndedShares({
    sqlite,
    writer: tree.writer,
    blobs: join(tree.directory, "blobs"),
    log: silentLog,
    checkStore: () => undefined,
  });
  const end = (id: string | undefined) => sqlite.run("DELETE FROM shares WHERE public_id = ?", [id ?? ""]);
  const countShares = async () => ((await rebuild(tree)).contents["shares"] ?? []).length;
  end(ids[0]);
  expect(await countShares()).toBe(3);
  await ended.note();
  expect(await countShares()).toBe(2);
  // A line that a crash truncated does not affect the lines before and after it.
  appendFileSync(join(journalOf(tree), "accounts", "ended-shares.jsonl"), '{"ended":"shr_');
  end(ids[1]);
  await Promise.all([ended.note(), ended.note()]);
  expect(await countShares()).toBe(1);
  expect(sqlite.query("SELECT count(*) AS rows FROM ended_shares").get()).toEqual({ rows: 0 });
});
