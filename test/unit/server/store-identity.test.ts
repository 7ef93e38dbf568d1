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

/** What the start of the program does, up to the identity. */
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
  test("is made once for a new database and an empty folder, and is the same ever after", () => {
    const id = start();
    expect(readFileSync(paths.storeMarker, "utf8")).toBe(`${id}\n`);
    expect(start()).toBe(id);
    expect(readdirSync(paths.blobs)).toEqual([".larder-store"]);
  });

  test("is made in a folder that is a disk of its own", () => {
    mkdirSync(join(paths.blobs, "lost+found"), { recursive: true });
    expect(start()).toHaveLength(36);
  });

  test("is finished where a crash left it half made", () => {
    const id = start();
    renameSync(paths.storeMarker, `${paths.storeMarker}.abc.tmp`);
    expect(start()).toBe(id);
    rmSync(paths.blobs, { recursive: true });
    expect(start()).toBe(id);
    expect(existsSync(paths.storeMarker)).toBe(true);
  });

  test("refuses contents without a database, and changes nothing", () => {
    start();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(paths.database + suffix, { force: true });
    expect(rejection()).toContain("has stored files (store ");
    expect(existsSync(paths.database)).toBe(false);
  });

  test("refuses contents that nobody marked beside a new database, and changes nothing", () => {
    mkdirSync(join(paths.blobs, "sha256/ab/cd"), { recursive: true });
    writeFileSync(join(paths.blobs, "sha256/ab/cd/abcd"), "x");
    expect(rejection()).toContain("has stored files, but");
    expect(existsSync(paths.database)).toBe(false);
    expect(existsSync(paths.storeMarker)).toBe(false);
  });

  test("refuses a database that names contents beside an empty folder or none: the disk is not mounted", () => {
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

  test("refuses unmarked contents beside a database without contents", () => {
    start();
    rmSync(paths.storeMarker);
    writeFileSync(join(paths.blobs, "stray"), "x");
    expect(rejection()).toContain("is missing");
  });

  test("refuses the contents of another database", () => {
    const id = start();
    const other = openDataDirectory(join(root, "other"));
    const otherId = start(other);
    rmSync(paths.blobs, { recursive: true });
    cpSync(other.blobs, paths.blobs, { recursive: true });
    const told = rejection();
    expect(told).toContain(id);
    expect(told).toContain(otherId);
    expect(readFileSync(paths.storeMarker, "utf8").trim()).toBe(otherId);
  });

  test("refuses a wrong pair before the database is brought up to date", () => {
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
  test("tells when the folder is taken away, replaced, and back again", () => {
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

  test("knows the same store by its marker after it was mounted anew", () => {
    const guard = new StoreGuard(paths, start());
    cpSync(paths.storeMarker, `${paths.storeMarker}.copy`);
    renameSync(`${paths.storeMarker}.copy`, paths.storeMarker);
    expect(reasonOf(guard)).toBe("there");
  });

  test("can't be set up without the store", () => {
    expect(() => new StoreGuard(dataPaths(join(root, "nowhere")), "id")).toThrow(AppError);
  });
});
