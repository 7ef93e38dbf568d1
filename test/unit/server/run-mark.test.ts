import { afterEach, beforeEach, expect, test } from "bun:test";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import { type DataPaths, dataPaths } from "../../../src/server/data/data-directory.ts";
import { readCloseState, markBackup, markClosed, markOpen } from "../../../src/server/data/run-mark.ts";

let folder: string;
let original: DataPaths;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-run-mark-"));
  original = dataPaths(join(folder, "original"));
  fs.mkdirSync(original.root);
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

/** As `cp -a` does it. */
function copyTo(name: string, from = original): DataPaths {
  const paths = dataPaths(join(folder, name));
  const { exitCode } = Bun.spawnSync(["cp", "-a", from.root, paths.root]);
  expect(exitCode).toBe(0);
  return paths;
}

function open() {
  const db = openDatabase(original.database);
  db.sqlite.run("CREATE TABLE IF NOT EXISTS t (a)");
  markOpen(original);
  return db;
}

test("a directory without a database, and one from before run marks existed", () => {
  expect(readCloseState(original)).toBe("absent");
  const db = openDatabase(original.database);
  db.sqlite.run("CREATE TABLE t (a)");
  db.close();
  expect(readCloseState(original)).toBe("whole");
});

test("after a crash the original file is complete with its log and does not count as a copy", () => {
  open();
  expect(readCloseState(original)).toBe("whole");
});

test("a copy of an open database is recognized, even with the inode of the original", () => {
  const db = open();
  expect(readCloseState(copyTo("copy"))).toBe("copied");
  db.close();
  const copy = copyTo("second");
  const inode = fs.statSync(original.database).ino;
  for (let attempt = 0; attempt < 20; attempt++) {
    fs.rmSync(original.root, { recursive: true });
    copyTo("original", copy);
    expect(readCloseState(original)).toBe("copied");
    if (fs.statSync(original.database).ino === inode) return;
  }
});

test("a copy of a closed database is complete unless the database changed during the copy", () => {
  const db = open();
  db.sqlite.run("INSERT INTO t VALUES (1)");
  expect(db.close()).toBe(true);
  markClosed(original);
  expect(fs.existsSync(`${original.database}-wal`)).toBe(false);
  const copy = copyTo("copy");
  expect(readCloseState(copy)).toBe("whole");
  fs.appendFileSync(copy.database, "x");
  expect(readCloseState(copy)).toBe("copied");
  expect(readCloseState(original)).toBe("whole");
});

test("a log next to the copy of a closed database is of a server started during the copy", () => {
  expect(open().close()).toBe(true);
  markClosed(original);
  for (const suffix of ["-wal", "-journal"]) {
    const copy = copyTo(`with${suffix}`);
    fs.writeFileSync(copy.database + suffix, "");
    expect(readCloseState(copy)).toBe("copied");
  }
  // In the original directory it is a crash before the mark was written.
  fs.writeFileSync(`${original.database}-wal`, "");
  expect(readCloseState(original)).toBe("whole");
});

test("a process that opens the database during a shutdown records the shutdown itself", () => {
  expect(open().close()).toBe(true);
  markClosed(original);
  const before = fs.readFileSync(original.state, "utf8");
  const command = openDatabase(original.database);
  command.sqlite.run("INSERT INTO t VALUES (3)");
  markClosed(original);
  expect(fs.readFileSync(original.state, "utf8")).toBe(before);
  expect(command.close()).toBe(true);
  markClosed(original);
  expect(fs.readFileSync(original.state, "utf8")).not.toBe(before);
  expect(readCloseState(copyTo("copy"))).toBe("whole");
});

test("a copy made just after the original's server opened the database", () => {
  expect(open().close()).toBe(true);
  markClosed(original);
  // The mark says closed until the database is open.
  const db = openDatabase(original.database);
  expect(readCloseState(original)).toBe("whole");
  expect(readCloseState(copyTo("copy"))).toBe("copied");
  db.close();
});

test("closing the database while another process has it open is not a shutdown", () => {
  const [server, command] = [open(), openDatabase(original.database)];
  command.sqlite.run("INSERT INTO t VALUES (2)");
  expect(command.close()).toBe(false);
  expect(readCloseState(copyTo("copy"))).toBe("copied");
  expect(server.close()).toBe(true);
});

test("a closed database moved to another file system is complete", () => {
  const db = open();
  expect(db.close()).toBe(true);
  markClosed(original);
  const elsewhere = fs.mkdtempSync("/dev/shm/larder-run-mark-");
  try {
    const moved = dataPaths(join(elsewhere, "moved"));
    expect(Bun.spawnSync(["mv", original.root, moved.root]).exitCode).toBe(0);
    expect(readCloseState(moved)).toBe("whole");
  } finally {
    fs.rmSync(elsewhere, { recursive: true });
  }
});

test("an unreadable mark counts as that of a copy, because a snapshot is always consistent", () => {
  open().close();
  for (const text of [
    "",
    "{",
    "null",
    '{"state":"open"}',
    '{"state":"closed","database":{"device":"1","inode":"1"}}',
  ]) {
    fs.writeFileSync(original.state, text);
    expect({ text, left: readCloseState(original) }).toEqual({ text, left: "copied" });
  }
});

test("a backup declares itself as one", () => {
  markBackup(original);
  expect(readCloseState(original)).toBe("backup");
});
