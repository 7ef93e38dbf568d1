import { afterEach, beforeEach, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../../../src/db/migrate.ts";
import { silentLog } from "../../../../src/lib/log.ts";
import { digestToBytes, toDigest } from "../../../../src/blobs/digest.ts";
import { HashReader } from "../../../../src/features/storage/integrity/hash-reader.ts";
import { countOrphanedFiles } from "../../../../src/features/storage/integrity/orphaned-files.ts";

let folder: string;
let sqlite: Database;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), "larder-unlisted-"));
  sqlite = new Database(join(folder, "larder.db"), { create: true, strict: true });
  migrate(sqlite, silentLog);
});
afterEach(() => {
  sqlite.close();
  fs.rmSync(folder, { recursive: true });
});

/** A digest with this prefix. */
const digest = (start: string) => toDigest(start.padEnd(64, "5"));

function list(...starts: string[]): void {
  for (const start of starts) {
    sqlite.run(
      "INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (?, 3, 0, 1, 0, 0)",
      [digestToBytes(digest(start))],
    );
  }
}

function put(path: string, bytes = "abc"): void {
  fs.mkdirSync(join(folder, path, ".."), { recursive: true });
  fs.writeFileSync(join(folder, path), bytes);
}

const count = (name: string) => countOrphanedFiles(sqlite, folder, [name]);

test("blobs with a row are listed, also at both ends of a folder's range; blobs without one are counted", () => {
  list("ab".padEnd(64, "0"), "ab".padEnd(64, "f"), "ab12");
  for (const start of ["ab".padEnd(64, "0"), "ab".padEnd(64, "f"), "ab12"]) {
    put(join("ab", digest(start).slice(2, 4), digest(start)));
  }
  expect(count("ab")).toEqual({ contents: 0, bytes: 0, foreign: 0 });
  put(join("ab", "77", digest("ab77")), "12345");
  put(join("ab", "78", digest("ab78")), "1234567");
  expect(count("ab")).toEqual({ contents: 2, bytes: 12, foreign: 0 });
});

test("a blob in a wrong folder is listed by its row; a file that is no blob is foreign; a file among the folders is ignored", () => {
  list("cd12");
  put(join("ab", "12", digest("cd12")));
  put(join("zz", "12", digest("cd12")));
  for (const name of ["thumbs.db", digest("ab12").slice(1)]) put(join("ab", "12", name));
  put(join("ab", "a-file"));
  expect(count("ab")).toEqual({ contents: 0, bytes: 0, foreign: 2 });
  expect(count("zz")).toEqual({ contents: 0, bytes: 0, foreign: 0 });
  expect(count("none")).toEqual({ contents: 0, bytes: 0, foreign: 0 });
});

test("the thread returns the same counts, also at low priority, and reports damage with SQLite's error code", async () => {
  put(join("ab", "77", digest("ab77")), "12345");
  const reader = new HashReader({ isModest: true });
  try {
    const path = join(folder, "larder.db");
    expect(await reader.countOrphanedFiles(path, folder, ["ab", "none"])).toMatchObject({
      contents: 1,
      bytes: 5,
      foreign: 0,
    });
    expect(await reader.checkRules(path)).toEqual([]);
    fs.writeFileSync(join(folder, "broken.db"), Buffer.alloc(8_192, 0x5a));
    expect(await reader.checkRules(join(folder, "broken.db")).catch((error: unknown) => error)).toMatchObject({
      name: "SQLiteError",
      code: "SQLITE_NOTADB",
    });
  } finally {
    reader.close();
  }
});
