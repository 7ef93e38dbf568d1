import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { EmbeddedLibrary } from "../../../../src/features/media/thumbnails/native.ts";

const IMG = join(import.meta.dir, "../../../../node_modules/@img");
const ADDON_LIB = join(IMG, `sharp-linux-${process.arch}/lib`);
const LIBVIPS_LIB = join(IMG, `sharp-libvips-linux-${process.arch}/lib`);
// These libraries are for glibc. On other systems, the tests of dist/larder cover the same code.
const isHere = process.platform === "linux" && existsSync(ADDON_LIB) && existsSync(LIBVIPS_LIB);

let temporary: string;
let directory: string;
let addon: EmbeddedLibrary;
let libvips: EmbeddedLibrary;
let libvipsPath: string;

beforeAll(() => {
  if (!isHere) return;
  temporary = mkdtempSync(join(tmpdir(), "larder-native-"));
  libvipsPath = findOne(LIBVIPS_LIB, "libvips-cpp.so");
  addon = pack(findOne(ADDON_LIB, "sharp-"));
  libvips = pack(libvipsPath);
});
beforeEach(() => {
  if (isHere) directory = join(mkdtempSync(join(temporary, "data-")), "native");
});
afterAll(() => {
  if (isHere) rmSync(temporary, { recursive: true, force: true });
});

function findOne(folder: string, start: string): string {
  return join(folder, readdirSync(folder).find((name) => name.startsWith(start)) ?? "");
}

function pack(path: string): EmbeddedLibrary {
  const bytes = readFileSync(path);
  const source = join(temporary, `${basename(path)}.zst`);
  writeFileSync(source, Bun.zstdCompressSync(bytes, { level: 1 }));
  return {
    source,
    name: path.split("/").slice(-3).join("/"),
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}

function load(options: { directory?: string; libvips?: string } = {}): string {
  const given = { embedded: { addon, libvips }, options: { directory, ...options } };
  const result = Bun.spawnSync([process.execPath, join(import.meta.dir, "load-native.ts"), JSON.stringify(given)]);
  return result.success ? result.stdout.toString().trim() : result.stderr.toString();
}

function folder(): string {
  const names = readdirSync(directory);
  expect(names).toHaveLength(1);
  return join(directory, names[0] ?? "");
}

test.if(isHere)("the libraries are written once, with access for their owner only, and reused", () => {
  expect(load()).toBe("loaded");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  const path = join(folder(), libvips.name);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const { ino } = statSync(path);
  expect(load()).toBe("loaded");
  expect(statSync(path).ino).toBe(ino);
});

test.if(isHere)("a changed library, or a folder writable by others, is written again", () => {
  load();
  const path = join(folder(), libvips.name);
  appendFileSync(path, "x");
  expect(load()).toBe("loaded");
  expect(createHash("sha256").update(readFileSync(path)).digest("hex")).toBe(libvips.sha256);

  const { ino } = statSync(path);
  chmodSync(folder(), 0o777);
  expect(load()).toBe("loaded");
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(statSync(path).ino).not.toBe(ino);
});

test.if(isHere)("folders of earlier versions are deleted, and nothing else", () => {
  mkdirSync(join(directory, "0".repeat(64)), { recursive: true });
  writeFileSync(join(directory, "notes.txt"), "mine");
  expect(load()).toBe("loaded");
  expect(readdirSync(directory)).toHaveLength(2);
  expect(existsSync(join(directory, "notes.txt"))).toBe(true);
});

test.if(isHere)("a directory writable by others is not used; the libraries are loaded from memory", () => {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o777);
  expect(load()).toBe("loaded");
  expect(readdirSync(directory)).toEqual([]);
});

test.if(isHere)("another libvips replaces the embedded one, through a link", () => {
  expect(load({ libvips: libvipsPath })).toBe("loaded");
  expect(readlinkSync(join(folder(), libvips.name))).toBe(libvipsPath);
});

test.if(isHere)("a missing libvips is reported by name", () => {
  expect(load({ libvips: "/nonexistent/libvips-cpp.so" })).toContain("/nonexistent/libvips-cpp.so");
});

test.if(isHere)("a damaged executable is reported, and nothing is loaded", () => {
  libvips = { ...libvips, sha256: "0".repeat(64) };
  expect(load()).toContain("is damaged");
});
