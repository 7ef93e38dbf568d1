// Which commits are in the bucket, decided from a real write-ahead log and from shadow logs as Litestream writes them.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Coverage } from "../../../../src/features/storage/replication/litestream/coverage.ts";
import { ShadowWal } from "../../../../src/features/storage/replication/litestream/shadow-wal.ts";
import { WalIndex } from "../../../../src/features/storage/replication/litestream/wal-index.ts";
import { temporaryDirectory } from "../../../support/server.ts";

const GENERATION = "0123456789abcdef";
const OTHER_GENERATION = "fedcba9876543210";
const PAGE = 4096;
const FRAME = PAGE + 24;

let folder: string;
let path: string;
let db: Database;
let walIndex: WalIndex;
let coverage: Coverage;

beforeEach(async () => {
  folder = await temporaryDirectory();
  path = join(folder, "l.db");
  db = new Database(path);
  for (const pragma of ["journal_mode=WAL", "wal_autocheckpoint=0", "page_size=4096"]) db.run(`PRAGMA ${pragma}`);
  db.run("CREATE TABLE t (a)");
  walIndex = new WalIndex(path);
  coverage = new Coverage(new ShadowWal(path));
});
afterEach(async () => {
  db.close();
  await rm(folder, { recursive: true, force: true });
});

function commit(): void {
  db.run("INSERT INTO t VALUES (randomblob(3000))");
}

/** Makes the next commit begin a new log, as the checkpoint of Litestream does. */
function restartLog(): void {
  db.run("PRAGMA wal_checkpoint(RESTART)");
}

/** Copies frames of the log to a shadow log, as `DB.Sync` does: by default all. @returns its end */
function copy(index: number, frames = walIndex.read().frames, generation = GENERATION): number {
  const name = `${index.toString(16).padStart(8, "0")}.wal`;
  const target = join(folder, ".l.db-litestream/generations", generation, "wal", name);
  const end = 32 + frames * FRAME;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, readFileSync(`${path}-wal`).subarray(0, end));
  return end;
}

/** Notes the line about a segment, from one offset to another. */
function written(index: number, offset: number, end: number, generation = GENERATION) {
  return coverage.note({ generation, index, offset, bytes: end - offset }, PAGE);
}

/** Copies all, sends it, and finds it covered. @returns the end of the shadow log */
function replicate(index: number, offset = 0): number {
  const end = copy(index);
  expect(written(index, offset, end)).toBe("complete");
  expect(coverage.check(walIndex.read())).toBe("covered");
  return end;
}

describe("a commit", () => {
  test("is pending until a line reports its last frame", () => {
    commit();
    expect(coverage.check(walIndex.read())).toBe("unknown");
    const end = replicate(0);
    commit();
    const target = walIndex.read();
    expect(coverage.check(target)).toBe("pending");
    const later = copy(0);
    expect(coverage.check(target)).toBe("pending");
    written(0, end, later);
    expect(coverage.check(target)).toBe("covered");
  });

  test("of another connection counts", () => {
    const end = replicate(0);
    const other = new Database(path);
    other.run("INSERT INTO t VALUES (1)");
    expect(coverage.check(walIndex.read())).toBe("pending");
    replicate(0, end);
    other.close();
  });

  test("with many frames, or that was rolled back, is no gap", () => {
    const end = replicate(0);
    db.run("PRAGMA cache_size=5");
    db.run("BEGIN");
    for (let row = 0; row < 200; row++) commit();
    db.run("ROLLBACK");
    db.run("BEGIN");
    for (let row = 0; row < 200; row++) commit();
    db.run("COMMIT");
    replicate(0, end);
  });

  test("of an earlier log is covered once that log was sent", () => {
    replicate(0);
    commit();
    const target = walIndex.read();
    written(0, 0, copy(0));
    restartLog();
    commit();
    written(1, 0, copy(1));
    expect(coverage.check(target)).toBe("covered");
    expect(coverage.check(walIndex.read())).toBe("covered");
  });

  test("is found after the line about it was lost with its process", () => {
    const end = replicate(0);
    commit();
    const middle = copy(0);
    expect(middle).toBeGreaterThan(end);
    commit();
    // The next process begins where the bucket ends.
    written(0, middle, copy(0));
    expect(coverage.check(walIndex.read())).toBe("covered");
  });

  test("of before a new generation is unknown, and the present state is covered by it", () => {
    commit();
    const target = walIndex.read();
    replicate(0);
    restartLog();
    commit();
    written(0, 0, copy(0, undefined, OTHER_GENERATION), OTHER_GENERATION);
    expect(coverage.generation).toBe(OTHER_GENERATION);
    expect(coverage.check(target)).toBe("unknown");
    expect(coverage.check(walIndex.read())).toBe("covered");
  });
});

describe("a gap", () => {
  test("is noticed if the end of a log was overwritten before it was copied", () => {
    replicate(0);
    commit();
    const target = walIndex.read();
    restartLog();
    commit();
    // The shadow log of before lacks the commit.
    expect(written(1, 0, copy(1))).toBe("complete");
    expect(coverage.check(target)).toBe("gap");
  });

  test("is noticed even if nobody waited for the lost commit", () => {
    replicate(0);
    commit();
    restartLog();
    commit();
    expect(written(1, 0, copy(1))).toBe("complete");
    expect(coverage.check(walIndex.read())).toBe("gap");
  });

  test("is noticed if the end of a log was copied and not sent", () => {
    replicate(0);
    commit();
    copy(0);
    restartLog();
    commit();
    expect(written(1, 0, copy(1))).toBe("gap");
  });

  test("is assumed if a log can't be checked", () => {
    replicate(0);
    restartLog();
    commit();
    expect(written(2, 0, copy(2))).toBe("gap");
    coverage.reset();
    expect(written(3, 0, 32 + FRAME)).toBe("gap");
  });
});
