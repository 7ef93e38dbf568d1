import { afterEach, beforeEach, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { takeSnapshotOf } from "../../../src/db/snapshot.ts";
import { findDatabaseSource } from "../../../src/server/data/database-source.ts";
import { dataPaths } from "../../../src/server/data/data-directory.ts";
import { markOpen } from "../../../src/server/data/run-mark.ts";

let folder: string;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-origin-"));
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

test("a copy opened for reading is not changed, even with a newer database: its mount may be read-only", () => {
  const original = dataPaths(join(folder, "original"));
  fs.mkdirSync(original.root);
  const db = openDatabase(original.database);
  db.sqlite.run("CREATE TABLE blobs (digest BLOB, size_bytes INTEGER, refs INTEGER, id INTEGER)");
  db.sqlite.run("CREATE TABLE nodes (id INTEGER, blob_id INTEGER, name TEXT)");
  db.sqlite.run("CREATE TABLE versions (node_id INTEGER, blob_id INTEGER)");
  markOpen(original);
  const snapshot = takeSnapshotOf(original.database, original.snapshots, "scheduled");
  const copy = dataPaths(join(folder, "copy"));
  fs.cpSync(original.root, copy.root, { recursive: true });
  db.close();
  const look = () => fs.statSync(copy.database, { bigint: true });
  // Written within the clock tick of its creation, as small files are.
  for (let made = look(); made.birthtimeNs !== made.mtimeNs; made = look()) {
    const bytes = fs.readFileSync(copy.database);
    fs.rmSync(copy.database);
    fs.writeFileSync(copy.database, bytes);
  }
  const { mtimeNs, ctimeNs } = look();
  const origin = findDatabaseSource(copy, 0);
  expect([origin.isLive, origin.take(folder).name]).toEqual([false, snapshot.name]);
  expect([look().mtimeNs, look().ctimeNs]).toEqual([mtimeNs, ctimeNs]);
});
