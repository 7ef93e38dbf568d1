/**
 * Loads sharp's two native libraries. They are inside the executable, but the dynamic loader needs files. They are
 * written once to a private folder named by a hash of their content, checked, and loaded from there. If that fails
 * (read-only, noexec, another owner), they are loaded from memory, which works only with glibc.
 */
import { CString, dlopen, FFIType } from "bun:ffi";
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { messageOf } from "../../../lib/error.ts";
import { writeAll } from "../../../lib/write-all.ts";

/** A native library inside the executable. */
export interface EmbeddedLibrary {
  /** Path inside the executable of its bytes, compressed by zstd: 19 MB in 7. */
  readonly source: string;
  /** Path in the folder: the addon finds its library by a relative path. */
  readonly name: string;
  readonly sha256: string;
}

/** The addon of sharp and the libvips that it links to, embedded by scripts/build.ts. */
export interface EmbeddedSharp {
  readonly addon: EmbeddedLibrary;
  readonly libvips: EmbeddedLibrary;
}

/** Where this process may write native libraries, and which libvips it uses. */
export interface NativeOptions {
  /** A private directory, created if missing with mode 0700. If undefined, libraries are loaded from memory. */
  readonly directory: string | undefined;
  /** Absolute path of a libvips-cpp that replaces the embedded one. */
  readonly libvips: string | undefined;
}

const RTLD_NOW = 0x002;
const RTLD_GLOBAL = 0x100;

let options: NativeOptions = { directory: undefined, libvips: undefined };

/**
 * Sets where libraries may be written. Call it before sharp is first imported. It is global, because a native library is
 * loaded once per process, and sharp loads its own while it is imported.
 */
export function setNativeOptions(given: NativeOptions): void {
  if (given.libvips !== undefined && !isAbsolute(given.libvips)) {
    throw new Error(`LARDER_LIBVIPS must be an absolute path, got "${given.libvips}".`);
  }
  options = given;
}

/**
 * Loads the embedded addon and returns its exports. Called by the module that replaces sharp's own loader in the
 * executable.
 *
 * @throws Error with the reason why each way failed
 */
export function loadEmbeddedSharp(embedded: EmbeddedSharp): unknown {
  const failures: string[] = [];
  for (const load of [loadFromFolder, loadFromMemory]) {
    try {
      return requireCpu(load(embedded));
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  throw new Error(failures.join("; "));
}

/** Loads a replacement of libvips before sharp is loaded from node_modules, if the program runs from source. */
export function preloadReplacedLibvips(): void {
  if (options.libvips !== undefined) loadGlobally(options.libvips);
}

/** Rejects processors without SSE4.2: sharp's x64 libraries would end the process at first use. */
function requireCpu(addon: unknown): unknown {
  if (typeof addon !== "object" || addon === null) throw new Error("the image library exports nothing");
  const isUsingX64V2 = "_isUsingX64V2" in addon ? addon._isUsingX64V2 : undefined;
  if (process.arch === "x64" && typeof isUsingX64V2 === "function" && !isUsingX64V2()) {
    throw new Error("the processor lacks x86-64-v2 (SSE4.2); on Proxmox set the CPU type to host or x86-64-v2-AES");
  }
  return addon;
}

// ── from a folder ────────────────────────────────────────────────────────────────────────────────────────────────────

function loadFromFolder(embedded: EmbeddedSharp): unknown {
  if (options.directory === undefined) throw new Error("no directory for native libraries is configured");
  const folder = prepareFolder(options.directory, embedded, options.libvips);
  return loadAddon(join(folder, embedded.addon.name));
}

function loadAddon(path: string): unknown {
  const target: { exports: unknown } = { exports: {} };
  process.dlopen(target, path);
  return target.exports;
}

/**
 * The folder with both libraries. At each start their digests are checked. An existing folder is used only if it is
 * complete, belongs to this user and is closed to others; otherwise it is written again.
 */
function prepareFolder(directory: string, embedded: EmbeddedSharp, replacement: string | undefined): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  requireTrusted(directory);
  const folder = join(directory, folderName(embedded, replacement));
  if (isSound(folder, embedded, replacement)) return folder;

  const temporary = join(directory, `.tmp-${randomBytes(8).toString("hex")}`);
  try {
    mkdirSync(temporary, { mode: 0o700 });
    writeLibrary(temporary, embedded.addon);
    if (replacement === undefined) writeLibrary(temporary, embedded.libvips);
    else linkLibrary(temporary, embedded.libvips.name, replacement);
    moveIntoPlace(temporary, folder, () => isSound(folder, embedded, replacement));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  removeOthers(directory, folder);
  if (!isSound(folder, embedded, replacement)) throw new Error(`${folder} changed while it was written`);
  return folder;
}

/** The name identifies the content: another version of either library, or another replacement, is another folder. */
function folderName(embedded: EmbeddedSharp, replacement: string | undefined): string {
  const { addon, libvips } = embedded;
  const lines = [`${addon.sha256} ${addon.name}`, `${replacement ?? libvips.sha256} ${libvips.name}`];
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}

/** Rejects a directory in which another user could replace our files. */
function requireTrusted(directory: string): void {
  const status = lstatSync(directory);
  const uid = process.getuid?.() ?? 0;
  const isSticky = (status.mode & 0o1000) !== 0;
  if (!status.isDirectory()) throw new Error(`${directory} is not a directory`);
  if (status.uid !== uid && status.uid !== 0) throw new Error(`${directory} belongs to another user`);
  if ((status.mode & 0o022) !== 0 && !isSticky) throw new Error(`${directory} is writable by others (chmod 700 it)`);
}

function isSound(folder: string, embedded: EmbeddedSharp, replacement: string | undefined): boolean {
  try {
    const uid = process.getuid?.() ?? 0;
    const { addon, libvips } = embedded;
    for (const path of [folder, join(folder, dirname(addon.name)), join(folder, dirname(libvips.name))]) {
      const status = lstatSync(path);
      if (!status.isDirectory() || status.uid !== uid || (status.mode & 0o077) !== 0) return false;
    }
    if (!isIntact(join(folder, addon.name), addon.sha256, uid)) return false;
    const libvipsPath = join(folder, libvips.name);
    if (replacement !== undefined) return readlinkSync(libvipsPath) === replacement;
    return isIntact(libvipsPath, libvips.sha256, uid);
  } catch (error) {
    // Absent or invalid (a file instead of a folder, no link): in both cases it is written again.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

function isIntact(path: string, sha256: string, uid: number): boolean {
  const status = lstatSync(path);
  if (!status.isFile() || status.uid !== uid || (status.mode & 0o077) !== 0) return false;
  return createHash("sha256").update(readFileSync(path)).digest("hex") === sha256;
}

function writeLibrary(folder: string, library: EmbeddedLibrary): void {
  const path = join(folder, library.name);
  makeFolders(folder, dirname(library.name));
  const bytes = unpack(library);
  const file = openSync(path, "wx", 0o600);
  try {
    writeAll(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function linkLibrary(folder: string, name: string, target: string): void {
  makeFolders(folder, dirname(name));
  symlinkSync(target, join(folder, name));
}

/** Each folder with the mode given here: `recursive` would give it to the last one only where a umask is unusual. */
function makeFolders(folder: string, relative: string): void {
  mkdirSync(join(folder, relative), { recursive: true, mode: 0o700 });
}

/** Renames a folder into place. If another process was faster, its folder stays if it is sound, and is replaced if not. */
function moveIntoPlace(temporary: string, folder: string, isThereSound: () => boolean): void {
  try {
    renameSync(temporary, folder);
  } catch (error) {
    if (isThereSound()) return;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(code)) throw error;
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
  }
}

/** Deletes the folders of earlier versions, and leftovers of a killed process. Nothing else is touched. */
function removeOthers(directory: string, folder: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (path !== folder && /^(?:[0-9a-f]{64}|\.tmp-[0-9a-f]{16})$/.test(name))
      rmSync(path, { recursive: true, force: true });
  }
}

// ── from memory ──────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Writes both libraries into memory files and loads them by their descriptors. The addon finds its libvips because a
 * library of that name is already loaded. The descriptors stay open, because the loader identifies the libraries by
 * them.
 */
function loadFromMemory(embedded: EmbeddedSharp): unknown {
  loadGlobally(options.libvips ?? toMemoryFile(embedded.libvips));
  return loadAddon(toMemoryFile(embedded.addon));
}

function toMemoryFile(library: EmbeddedLibrary): string {
  const libc = openLibc({ memfd_create: { args: [FFIType.cstring, FFIType.u32], returns: FFIType.i32 } });
  const file = libc.symbols.memfd_create(Buffer.from(`${library.name}\0`), 0);
  if (file < 0) throw new Error("the system makes no memory file for the image library");
  writeAll(file, unpack(library));
  return `/proc/self/fd/${file}`;
}

function unpack(library: EmbeddedLibrary): Uint8Array {
  const bytes = Bun.zstdDecompressSync(readFileSync(library.source));
  if (createHash("sha256").update(bytes).digest("hex") !== library.sha256) {
    throw new Error(`${library.name} in the executable is damaged. Install the executable again.`);
  }
  return bytes;
}

/** Loads a library so that libraries loaded later find its name and its symbols. */
function loadGlobally(path: string): void {
  const libc = openLibc({
    dlopen: { args: [FFIType.cstring, FFIType.i32], returns: FFIType.ptr },
    dlerror: { args: [], returns: FFIType.ptr },
  });
  if (libc.symbols.dlopen(Buffer.from(`${path}\0`), RTLD_NOW | RTLD_GLOBAL) !== null) return;
  const complaint = libc.symbols.dlerror();
  throw new Error(complaint === null ? `${path} can't be loaded` : new CString(complaint));
}

/** Opens the C library of glibc. @throws Error on musl, which has no library of that name */
function openLibc<Symbols extends Parameters<typeof dlopen>[1]>(symbols: Symbols): ReturnType<typeof dlopen<Symbols>> {
  return dlopen("libc.so.6", symbols);
}
