import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "../../../src/config/startup-error.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { AppError } from "../../../src/errors.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { dataPaths, type DataPaths, openDataDirectory } from "../../../src/server/data/data-directory.ts";
import { bindStore, checkStore, rejectOrphanedStore, StoreGuard } from "../../../src/server/data/store-identity.ts";

let root: string;
let paths: DataPaths;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "larder-store-"));
  paths = openDataDirectory(join(root, "data"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** The start of the program, up to the identity check. */
function start(at = paths): string {
  rejectOrphanedStore(at);
  const db = openDatabase(at.database);
  try {
    checkStore(db.sqlite, at);
    migrate(db.sqlite, silentLog);
    return bindStore(db.sqlite, at);
  } finally {
    db.close();
  }
}

function addBlobRow(): void {
  const db = openDatabase(paths.database);
  db.sqlite.run(
    "INSERT INTO blobs (digest, size_bytes, crc32, refs, created_at, touched_at) VALUES (x'00', 1, 0, 1, 0, 0)",
  );
  db.close();
}

function rejection(): string {
  try {
    start();
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  }
  return "not refused";
}

describe("the identity of the store", () => {
  test("is created once for a new database and an empty folder, and never changes", () => {
    const id = start();
    expect(readFileSync(paths.storeMarker, "utf8")).toBe(`${id}\n`);
    expect(start()).toBe(id);
    expect(readdirSync(paths.blobs)).toEqual([".larder-store"]);
  });

  test("is created in a folder that is a mount point", () => {
    mkdirSync(join(paths.blobs, "lost+found"), { recursive: true });
    expect(start()).toHaveLength(36);
  });

  test("is completed if a crash left it incomplete", () => {
    const id = start();
    renameSync(paths.storeMarker, `${paths.storeMarker}.abc.tmp`);
    expect(start()).toBe(id);
    rmSync(paths.blobs, { recursive: true });
    expect(start()).toBe(id);
    expect(existsSync(paths.storeMarker)).toBe(true);
  });

  test("rejects blobs without a database, and changes nothing", () => {
    start();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(paths.database + suffix, { force: true });
    expect(rejection()).toContain("has stored files (store ");
    expect(existsSync(paths.database)).toBe(false);
  });

  test("rejects unmarked blobs next to a new database, and changes nothing", () => {
    mkdirSync(join(paths.blobs, "sha256/ab/cd"), { recursive: true });
    writeFileSync(join(paths.blobs, "sha256/ab/cd/abcd"), "x");
    expect(rejection()).toContain("has stored files, but");
    expect(existsSync(paths.database)).toBe(false);
    expect(existsSync(paths.storeMarker)).toBe(false);
  });

  test("rejects a database with blobs next to an empty or missing folder: the disk is not mounted", () => {
    const id = start();
    addBlobRow();
    renameSync(paths.blobs, `${paths.blobs}.away`);
    expect(rejection()).toContain(`echo ${id} > ${paths.storeMarker}`);
    expect(existsSync(paths.blobs)).toBe(false);
    mkdirSync(paths.blobs);
    expect(rejection()).toContain("not mounted");
    expect(readdirSync(paths.blobs)).toEqual([]);
    rmSync(paths.blobs, { recursive: true });
    renameSync(`${paths.blobs}.away`, paths.blobs);
    expect(start()).toBe(id);
  });

  test("rejects unmarked blobs next to a database without blobs", () => {
    start();
    rmSync(paths.storeMarker);
    writeFileSync(join(paths.blobs, "stray"), "x");
    expect(rejection()).toContain("is missing");
  });

  test("rejects the blobs of another database", () => {
    const id = start();
    const other = openDataDirectory(join(root, "other"));
    const otherId = start(other);
    rmSync(paths.blobs, { recursive: true });
    cpSync(other.blobs, paths.blobs, { recursive: true });
    const message = rejection();
    expect(message).toContain(id);
    expect(message).toContain(otherId);
    expect(readFileSync(paths.storeMarker, "utf8").trim()).toBe(otherId);
  });

  test("rejects a mismatched store before the database is migrated", () => {
    start();
    rmSync(paths.database);
    const db = openDatabase(paths.database);
    expect(() => checkStore(db.sqlite, paths)).toThrow(StartupError);
    expect(db.sqlite.query("SELECT count(*) AS n FROM sqlite_schema").get()).toEqual({ n: 0 });
    db.close();
  });
});

function reasonOf(guard: StoreGuard): string {
  try {
    guard.check();
    return "there";
  } catch (error) {
    if (error instanceof AppError) return error.reason;
    throw error;
  }
}

describe("the guard of the store", () => {
  test("notices if the folder is removed, replaced, and back again", () => {
    const guard = new StoreGuard(paths, start());
    expect(reasonOf(guard)).toBe("there");
    renameSync(paths.blobs, `${paths.blobs}.away`);
    expect(reasonOf(guard)).toBe("store_missing");
    mkdirSync(paths.blobs);
    expect(reasonOf(guard)).toBe("store_missing");
    writeFileSync(paths.storeMarker, "another\n");
    expect(reasonOf(guard)).toBe("store_missing");
    rmSync(paths.blobs, { recursive: true });
    renameSync(`${paths.blobs}.away`, paths.blobs);
    expect(reasonOf(guard)).toBe("there");
  });

  test("recognizes the same store by its marker after it was remounted", () => {
    const guard = new StoreGuard(paths, start());
    cpSync(paths.storeMarker, `${paths.storeMarker}.copy`);
    renameSync(`${paths.storeMarker}.copy`, paths.storeMarker);
    expect(reasonOf(guard)).toBe("there");
  });

  test("can't be created without the store", () => {
    expect(() => new StoreGuard(dataPaths(join(root, "nowhere")), "id")).toThrow(AppError);
  });
});
