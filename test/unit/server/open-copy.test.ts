import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { migrate } from "../../../src/db/migrate.ts";
import { Layout } from "../../../src/blobs/layout.ts";
import { toDigest } from "../../../src/blobs/digest.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { listSnapshots, takeSnapshot } from "../../../src/db/snapshot.ts";
import { clientIds } from "../../../src/features/clients/client-ids.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { type DataPaths, dataPaths } from "../../../src/server/data/data-directory.ts";
import {
  chooseSnapshot,
  installSnapshot,
  openFromSnapshot,
  readEpoch,
  prepareRestored,
} from "../../../src/server/data/open-copy.ts";
import { readNodeEpochs } from "../../../src/tree/tables/node-epochs.ts";

const HOUR_MS = 3_600_000;
const startMs = Date.UTC(2026, 5, 1);
let paths: DataPaths;
let sqlite: Database;

beforeEach(() => {
  paths = dataPaths(fs.mkdtempSync(join(tmpdir(), "larder-open-copy-")));
  sqlite = openDatabase(paths.database).sqlite;
  migrate(sqlite, silentLog);
});

afterEach(() => fs.rmSync(paths.root, { recursive: true }));

/** A blob with its row; its file is in its normal folder unless `where` says otherwise. */
function store(text: string, isThere = true): string {
  const digest = toDigest(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  sqlite.run("INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?, ?, 0, 1, 0, 0)", [
    Buffer.from(digest, "hex"),
    text.length,
  ]);
  const path = new Layout(paths.root).blob(digest);
  fs.mkdirSync(dirname(path), { recursive: true });
  if (isThere) fs.writeFileSync(path, text);
  return path;
}

const snapshot = (hours: number) => takeSnapshot(sqlite, paths.snapshots, "scheduled", startMs + hours * HOUR_MS);

test("the newest complete snapshot is chosen", () => {
  store("one");
  snapshot(0);
  store("two");
  const newest = snapshot(1);
  expect(chooseSnapshot(paths)).toEqual({ snapshot: newest, missing: [] });
});

test("a snapshot whose blobs were uploaded during the copy is passed over for a complete one", () => {
  store("one");
  const complete = snapshot(0);
  store("came later", false);
  snapshot(1);
  expect(chooseSnapshot(paths)?.snapshot.name).toBe(complete.name);
});

test("if every snapshot misses a blob, the newest is chosen and the lost files are named", () => {
  const lost = store("lost long ago");
  snapshot(0);
  fs.rmSync(lost);
  store("new");
  const newest = snapshot(1);
  const chosen = chooseSnapshot(paths);
  expect(chosen?.snapshot.name).toBe(newest.name);
  expect(chosen?.missing.map(({ sizeBytes }) => sizeBytes)).toEqual([13]);
});

test("blobs lost long ago do not hide blobs that the copy missed", () => {
  fs.rmSync(store("lost long ago"));
  const complete = snapshot(0);
  store("came later", false);
  snapshot(1);
  const chosen = chooseSnapshot(paths);
  expect(chosen?.snapshot.name).toBe(complete.name);
  expect(chosen?.missing).toHaveLength(1);
});

test("blobs quarantined by garbage collection during the copy are restored if their digest matches", () => {
  const texts = ["set aside", "set aside and damaged", "no longer named"];
  const [good = "", bad = "", old = ""] = texts.map((text) => store(text));
  sqlite.run("UPDATE blobs SET refs = 0 WHERE size_bytes = ?", ["no longer named".length]);
  snapshot(0);
  const layout = new Layout(paths.root);
  fs.mkdirSync(layout.quarantine);
  const asideOf = (path: string) => join(layout.quarantine, basename(path));
  for (const path of [good, bad, old]) fs.renameSync(path, asideOf(path));
  fs.rmSync(dirname(good), { recursive: true });
  fs.writeFileSync(asideOf(bad), "set aside and damageD");
  const chosen = openFromSnapshot(paths, "copied", silentLog);
  expect(chosen?.missing).toEqual([]);
  expect([good, bad, old].map((path) => fs.existsSync(path))).toEqual([true, false, false]);
  expect(fs.readdirSync(layout.quarantine).sort()).toEqual([basename(bad), basename(old)].sort());
});

test("a recent loss does not select a snapshot of last week", () => {
  snapshot(0);
  store("new", false);
  const newest = snapshot(24 * 7);
  expect(chooseSnapshot(paths)?.snapshot.name).toBe(newest.name);
});

test("a blob of another length counts as missing", () => {
  const path = store("one");
  snapshot(0);
  fs.truncateSync(path, 1);
  expect(chooseSnapshot(paths)?.missing).toHaveLength(1);
});

test("incomplete snapshots are passed over", () => {
  const good = snapshot(0);
  const cut = snapshot(1);
  fs.truncateSync(cut.path, 4096);
  const flipped = snapshot(2);
  const fd = fs.openSync(flipped.path, "r+");
  fs.writeSync(fd, "x", 5000);
  fs.closeSync(fd);
  const alone = snapshot(3);
  fs.rmSync(`${alone.path}.sha256`);
  expect(chooseSnapshot(paths)?.snapshot.name).toBe(good.name);
  for (const { path } of listSnapshots(paths.snapshots)) fs.rmSync(`${path}.sha256`, { force: true });
  expect(chooseSnapshot(paths)).toBeUndefined();
  expect(() => openFromSnapshot(paths, "copied", silentLog)).toThrow("no intact snapshot");
});

test("the existing database is moved away with its log, which never mixes with the snapshot", () => {
  store("in the snapshot");
  const { path } = snapshot(0);
  store("only in the log");
  const before = fs.readFileSync(`${paths.database}-wal`);
  const aside = installSnapshot(paths, path) ?? "";
  expect(fs.existsSync(`${paths.database}-wal`)).toBe(false);
  expect(fs.readFileSync(`${aside}-wal`).equals(before)).toBe(true);
  const opened = openDatabase(paths.database).sqlite;
  expect(opened.query("SELECT count(*) AS n FROM blobs").get()).toEqual({ n: 1 });
  const old = openDatabase(aside).sqlite;
  expect(old.query("SELECT count(*) AS n FROM blobs").get()).toEqual({ n: 2 });
});

test("no log of another database mixes with the snapshot, however much of it was copied", () => {
  const { path } = snapshot(0);
  sqlite.close();
  const suffixes = ["-wal", "-journal", "-shm"];
  const left = (isThere: boolean) => {
    for (const suffix of suffixes) fs.writeFileSync(paths.database + suffix, `foreign ${suffix}`);
    if (!isThere) fs.rmSync(paths.database, { force: true });
    const aside = installSnapshot(paths, path);
    expect(fs.readdirSync(paths.root).filter((name) => name.startsWith("larder.db"))).toEqual(["larder.db"]);
    return aside;
  };
  const aside = left(true) ?? "";
  expect(suffixes.map((suffix) => fs.readFileSync(aside + suffix, "utf8"))).toEqual(
    suffixes.map((suffix) => `foreign ${suffix}`),
  );
  expect(left(false)).toBeUndefined();
  sqlite = openDatabase(paths.database).sqlite;
});

test("a database continued from a snapshot gets a new epoch", () => {
  const { name } = snapshot(0);
  expect(readEpoch(sqlite)).toBe("");
  prepareRestored(sqlite, name, startMs);
  const first = readEpoch(sqlite);
  prepareRestored(sqlite, name, startMs);
  expect(first).not.toBe("");
  expect(readEpoch(sqlite)).not.toBe(first);
});

test("ids of nodes that are given again after a restore belong to another epoch", () => {
  const { name } = snapshot(0);
  const ids = () => [...readNodeEpochs(sqlite)].map(({ afterId }) => afterId);
  expect(ids()).toEqual([]);
  sqlite.run("PRAGMA foreign_keys = OFF");
  const insert = `INSERT INTO nodes (id, public_id, account_id, kind, name, sort_key, created_at, modified_at, seq, created_seq,
    size_bytes, is_public) VALUES (?1, ?1, 1, 0, '', '', 0, 0, 0, 0, 0, 0)`;
  sqlite.run(insert, [7]);
  prepareRestored(sqlite, name, startMs);
  sqlite.run(insert, [9]);
  prepareRestored(sqlite, name, startMs);
  expect(ids()).toEqual([7, 9]);
  const clientIdOf = clientIds("store", readNodeEpochs(sqlite));
  const suffixes = [7, 8, 9, 10].map((id) => clientIdOf(id).replace(/^0*\d+/, ""));
  expect(suffixes[0]).toBe("ldstore");
  expect(suffixes[1]).toBe(suffixes[2] ?? "");
  expect(new Set(suffixes).size).toBe(3);
});

test("the server's own database is left unchanged", () => {
  snapshot(0);
  expect(openFromSnapshot(paths, "whole", silentLog)).toBeUndefined();
  expect(openFromSnapshot(paths, "absent", silentLog)).toBeUndefined();
  expect(fs.existsSync(paths.setAside)).toBe(false);
});
