/**
 * Copies blobs from one store into another, many at a time: `.part` file, sync, rename, so that a blob is whole or
 * missing. On one file system a blob may be hard-linked, because blobs never change, or share its blocks (reflink).
 * Other blobs are copied and compared with their digest.
 */
import * as fs from "node:fs";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { loadSyncfs, syncsWhole } from "../../../blobs/syncfs.ts";
import type { BackupBlob, LostContent } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";
import { writeAll } from "../../../lib/write-all.ts";

/** Dependencies of {@link BlobCopier}. */
interface BlobCopierOptions {
  readonly source: Layout;
  readonly target: Layout;
  /** Whether hard links replace copies. */
  readonly mayLink: boolean;
  /** Called with the bytes of each buffer. */
  readonly onBytes?: (bytes: number) => void;
}

/** How a blob was copied, or why it was not. */
type CopyResult = "linked" | "cloned" | "copied" | LostContent["why"];

interface Part {
  readonly fd: number;
  readonly path: string;
  readonly digest: Digest;
}

/** Limits of a batch, which one sync makes durable. Each file has an open descriptor until then. */
const BATCH_FILES = 64;
const BATCH_BYTES = 64 * 1024 * 1024;
const BUFFER_BYTES = 1024 * 1024;
/** Errors of file systems that can't link or share blocks, or not with another file system. */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  "EXDEV",
  "EPERM",
  "EACCES",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EMLINK",
  "ENOSYS",
  "ENOTTY",
  "EINVAL",
]);
/** Reading the source failed. */
const UNREADABLE = new Set(["EIO", "EACCES", "EPERM", "ELOOP", "EISDIR", "ESTALE"]);

/** Whether a file exists and its disk can't read it. */
export function isUnreadable(error: unknown): boolean {
  return UNREADABLE.has(errorCode(error) ?? "");
}

/** Copies blobs. Blocks while it copies: for a process of its own. */
export class BlobCopier {
  readonly #options: BlobCopierOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #folders = new Set<string>();
  /** Folders whose entries are not yet durable. */
  readonly #unsynced = new Set<string>();
  #parts: Part[] = [];
  #partBytes = 0;
  #count = 0;
  #mayLink: boolean;
  #mayClone = true;

  constructor(options: BlobCopierOptions) {
    this.#options = options;
    this.#mayLink = options.mayLink;
    for (const folder of options.target.folders()) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.sweep();
  }

  /**
   * Copies a blob that the target does not have. It gets its name by the next {@link flush} at the latest.
   * @throws the system's error if the target fails
   */
  copy({ digest, sizeBytes, isDamaged }: BackupBlob): CopyResult {
    const { source, target } = this.#options;
    let from = source.blob(digest);
    let found = this.#stat(from);
    if (found === "missing") {
      // Garbage collection has moved it to quarantine since the snapshot.
      from = source.quarantined(digest);
      found = this.#stat(from);
    }
    if (typeof found === "string") return found;
    if (found.size !== sizeBytes) return "damaged";
    const to = target.blob(digest);
    this.#makeFolders(digest);
    // A damaged blob is read, so that it is not hard-linked.
    if (this.#mayLink && !isDamaged && this.#tryLink(from, to)) {
      this.#options.onBytes?.(sizeBytes);
      return "linked";
    }
    const path = `${target.staging}/${process.pid}-${++this.#count}.part`;
    const outcome = this.#tryClone(from, path, digest) ?? this.#copy(from, path, digest);
    if (this.#parts.length >= BATCH_FILES || this.#partBytes >= BATCH_BYTES) this.flush();
    return outcome;
  }

  /** Makes copied blobs durable and gives them their names. @throws the system's error */
  flush(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    try {
      if (parts.length > 0) this.#sync(parts);
      for (const { path, digest } of parts) {
        fs.renameSync(path, this.#options.target.blob(digest));
        this.#unsynced.add(this.#options.target.foldersOf(digest)[0]);
      }
    } finally {
      for (const { fd } of parts) fs.closeSync(fd);
    }
  }

  /** {@link flush}, and makes the names durable as well. Call before a database that names the blobs is added. */
  finish(): void {
    this.flush();
    // Always: blobs of a run that was killed have their names, but may not be durable.
    if (!syncFileSystem(this.#options.target.root)) for (const folder of this.#unsynced) syncFolder(folder);
    this.#unsynced.clear();
  }

  /** Deletes unfinished files. Safe at any time, even if the target is missing. */
  abandon(): void {
    const parts = this.#parts;
    this.#parts = [];
    try {
      for (const { fd } of parts) fs.closeSync(fd);
      this.sweep();
    } catch {
      // The disk was removed, and its error was thrown already. The next run deletes the files.
    }
  }

  /** Deletes unfinished files of an earlier run. */
  sweep(): void {
    const { staging } = this.#options.target;
    for (const name of fs.readdirSync(staging)) {
      if (name.endsWith(".part")) fs.rmSync(`${staging}/${name}`, { force: true });
    }
  }

  #stat(path: string): fs.Stats | "missing" | "unreadable" {
    try {
      const found = fs.lstatSync(path, { throwIfNoEntry: false });
      return found?.isFile() ? found : "missing";
    } catch (error) {
      if (isUnreadable(error)) return "unreadable";
      throw error;
    }
  }

  #tryLink(from: string, to: string): boolean {
    try {
      fs.linkSync(from, to);
    } catch (error) {
      const code = errorCode(error) ?? "";
      if (code === "EEXIST") return true;
      if (!UNSUPPORTED.has(code)) throw error;
      this.#mayLink = code === "EMLINK";
      return false;
    }
    return true;
  }

  #tryClone(from: string, path: string, digest: Digest): CopyResult | undefined {
    if (!this.#mayClone) return undefined;
    const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = fs.constants;
    try {
      fs.copyFileSync(from, path, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    } catch (error) {
      if (!UNSUPPORTED.has(errorCode(error) ?? "")) throw error;
      fs.rmSync(path, { force: true });
      this.#mayClone = false;
      return undefined;
    }
    fs.chmodSync(path, 0o600);
    const fd = fs.openSync(path, "r");
    return this.#keep(
      { fd, path, digest },
      this.#pass(fd, () => {}),
      "cloned",
    );
  }

  #copy(from: string, path: string, digest: Digest): CopyResult {
    const { O_RDONLY, O_NOFOLLOW } = fs.constants;
    let source: number;
    try {
      source = fs.openSync(from, O_RDONLY | O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return "missing";
      if (isUnreadable(error)) return "unreadable";
      throw error;
    }
    try {
      const fd = fs.openSync(path, "wx", 0o600);
      try {
        const read = this.#pass(source, (bytes) => writeAll(fd, bytes));
        return this.#keep({ fd, path, digest }, read, "copied");
      } catch (error) {
        fs.closeSync(fd);
        throw error;
      }
    } finally {
      fs.closeSync(source);
    }
  }

  #keep(part: Part, read: Digest | "unreadable", how: "cloned" | "copied"): CopyResult {
    if (read === part.digest) {
      this.#parts.push(part);
      return how;
    }
    fs.closeSync(part.fd);
    fs.rmSync(part.path, { force: true });
    return read === "unreadable" ? "unreadable" : "damaged";
  }

  /** Reads a file to its end. @returns the digest of its bytes; "unreadable" if the disk fails */
  #pass(fd: number, write: (bytes: Uint8Array) => void): Digest | "unreadable" {
    const hasher = new Bun.CryptoHasher("sha256");
    for (;;) {
      let got: number;
      try {
        got = fs.readSync(fd, this.#buffer);
      } catch (error) {
        if (isUnreadable(error)) return "unreadable";
        throw error;
      }
      if (got === 0) return toDigest(hasher.digest("hex"));
      const bytes = this.#buffer.subarray(0, got);
      hasher.update(bytes);
      write(bytes);
      this.#partBytes += got;
      this.#options.onBytes?.(got);
    }
  }

  #makeFolders(digest: Digest): void {
    const folders = this.#options.target.foldersOf(digest);
    const [leaf] = folders;
    this.#unsynced.add(leaf);
    if (this.#folders.has(leaf)) return;
    if (fs.mkdirSync(leaf, { recursive: true, mode: 0o700 }) !== undefined)
      for (const folder of folders) this.#unsynced.add(folder);
    this.#folders.add(leaf);
  }

  #sync(parts: readonly Part[]): void {
    if (parts.length > 1 && syncFileSystem(this.#options.target.root)) return;
    for (const { fd } of parts) fs.fdatasyncSync(fd);
  }
}

const syncfs = loadSyncfs();

/** Whether {@link syncFileSystem} supports a path. */
export function canSyncFileSystem(path: string): boolean {
  return syncfs !== undefined && syncsWhole(path);
}

/**
 * Makes everything durable that was written to the file system of a path.
 * @returns false if the file system does not support it
 */
export function syncFileSystem(path: string): boolean {
  if (syncfs === undefined || !syncsWhole(path)) return false;
  const fd = fs.openSync(path, "r");
  try {
    return syncfs(fd) === 0;
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes new, renamed and deleted entries of a folder durable. */
export function syncFolder(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
