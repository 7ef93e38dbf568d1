/**
 * Imports the bytes of files into the store: reads each file once, never follows a link, and never stores a file that
 * changed while it was read. If the file system can share blocks (reflinks of Btrfs, XFS, ZFS and others), large
 * files are shared, not copied. A new blob is durable only after the next sync of the store's file system.
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { detectMediaType, MEDIA_TYPE_HEAD_BYTES } from "../../library/files/media-type.ts";
import type { ImportJob, ImportResult } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";
import { writeAll } from "../../../lib/write-all.ts";

/** Dependencies of {@link ContentImporter}. */
interface ContentImporterOptions {
  readonly layout: Layout;
  /** Unique among all writers of the store: part of the names of unfinished files. */
  readonly label: string;
  /** Whether each blob must be synced on its own, because the file system can't be synced as a whole. */
  readonly isSyncingEach: boolean;
}

/** Files up to this size are read into memory, and written only if the store does not have them. */
const IN_MEMORY_BYTES_MAX = 512 * 1024;
const BUFFER_BYTES = 1024 * 1024;
const ATTEMPTS_MAX = 3;
/** Errors of a file system that can't share blocks, or not between these two folders. */
const CANNOT_CLONE: ReadonlySet<string> = new Set(["ENOTSUP", "EOPNOTSUPP", "EXDEV", "EINVAL", "ENOSYS", "ENOTTY"]);
/** Errors of file systems on which a file can't get a second name in the store. */
const CANNOT_LINK: ReadonlySet<string> = new Set(["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOENT"]);

const CREATE = fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_WRONLY | fs.constants.O_NOFOLLOW;

/** Reading the source failed. */
class SourceError extends Error {}

/** A staged file was deleted: a server that starts deletes all of them. It is written again. */
class StagedFileGone extends Error {}

/** The bytes of a file that was read, staged on disk or in memory. */
interface StagedContent {
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly crc32: number;
  readonly head: Uint8Array;
  /** Moves it into the store, unless that has it already. */
  commit(isForced: boolean): "there" | "copied" | "cloned" | "linked" | "hashed";
  abort(): void;
}

/** Imports files. Blocks while it reads and writes: for a thread of its own. */
export class ContentImporter {
  readonly #options: ContentImporterOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #small = Buffer.allocUnsafeSlow(IN_MEMORY_BYTES_MAX + 1);
  /** Devices of sources that share no blocks with the store. */
  readonly #unclonable = new Set<number>();
  /** Folders of blobs that exist: at most 65,536. */
  readonly #knownFolders = new Set<string>();
  #staged = 0;

  constructor(options: ContentImporterOptions) {
    this.#options = options;
  }

  /** @throws the error of the store's disk; errors of the source are results */
  async importFile(job: ImportJob): Promise<ImportResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#tryToImport(job);
        if (result !== undefined) return result;
      } catch (error) {
        if (error instanceof SourceError) return { reason: "unreadable", message: error.message };
        if (!(error instanceof StagedFileGone) || attempt === ATTEMPTS_MAX) throw error;
      }
      if (attempt === ATTEMPTS_MAX) {
        return {
          reason: "changed",
          message: "The file changed while it was read. Import it again when no program writes to it.",
        };
      }
    }
  }

  /** @returns undefined if the source changed while it was read */
  async #tryToImport(job: ImportJob): Promise<ImportResult | undefined> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const fd = ofSource(() => fs.openSync(job.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    let staged: StagedContent | undefined;
    try {
      const before = ofSource(() => fs.fstatSync(fd));
      if (!before.isFile()) return { reason: "not_a_file", message: "Not a regular file." };
      staged =
        before.size <= IN_MEMORY_BYTES_MAX ? this.#readSmall(fd, before.size, job) : this.#readLarge(fd, before, job);
      const after = ofSource(() => fs.fstatSync(fd));
      const isSame = after.size === before.size && after.mtimeMs === before.mtimeMs && after.ino === before.ino;
      if (!isSame || staged.sizeBytes !== before.size) return undefined;
      const { digest, sizeBytes, crc32: checksum, head } = staged;
      const mediaType = await detectMediaType(head, job.declaredType, job.name);
      const method = staged.commit(job.isForced);
      return { digest, sizeBytes, crc32: checksum, mediaType, modifiedAtMs: Math.floor(before.mtimeMs), method };
    } finally {
      staged?.abort();
      fs.closeSync(fd);
    }
  }

  /** @param size size from the file's metadata, which the caller compares again after reading */
  #readSmall(fd: number, size: number, job: ImportJob): StagedContent {
    const buffer = this.#small;
    let length = 0;
    for (let got = -1; got !== 0; ) {
      // One byte more, so that a file with more bytes than its size, such as those of /proc, is detected.
      got = ofSource(() => fs.readSync(fd, buffer, length, size + 1 - length, null));
      length += got;
      if (length >= size) break;
    }
    const bytes = buffer.subarray(0, length);
    const digest = toDigest(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
    let staged: string | undefined;
    return {
      digest,
      sizeBytes: length,
      crc32: crc32(bytes),
      // A copy: the buffer is used for the next file.
      head: new Uint8Array(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES)),
      commit: (isForced) => {
        if (job.how === "hash") return "hashed";
        if (job.how === "copy" && !isForced && this.#create(digest, bytes)) return "copied";
        if (!isForced && this.#isStored(digest, length)) return "there";
        const path = (staged = this.#stagingPath());
        const isLinked = job.how === "link" && this.#link(job.path, path, fd);
        if (!isLinked) this.#write(path, bytes, isForced);
        this.#rename(path, digest);
        staged = undefined;
        return isLinked ? "linked" : "copied";
      },
      abort: () => deleteStaged(staged),
    };
  }

  #readLarge(fd: number, source: fs.Stats, job: ImportJob): StagedContent {
    if (job.how === "hash") return this.#stagedContent(this.#hash(fd), undefined, "hashed");
    const staged = this.#stagingPath();
    try {
      if (job.how === "link" && this.#link(job.path, staged, fd)) {
        return this.#stagedContent(this.#hash(fd), staged, "linked");
      }
      if (this.#clone(fd, source.dev, staged)) {
        // Hashes the store's own file, which nobody changes.
        const own = fs.openSync(staged, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
        try {
          return this.#stagedContent(this.#hash(own), staged, "cloned");
        } finally {
          fs.closeSync(own);
        }
      }
      return this.#stagedContent(this.#copy(fd, staged), staged, "copied");
    } catch (error) {
      deleteStaged(staged);
      throw error;
    }
  }

  #stagedContent(
    read: Omit<StagedContent, "commit" | "abort">,
    staged: string | undefined,
    method: "hashed" | "cloned" | "copied" | "linked",
  ): StagedContent {
    const { digest, sizeBytes } = read;
    return {
      ...read,
      commit: (isForced) => {
        if (staged === undefined) return "hashed";
        if (!isForced && this.#isStored(digest, sizeBytes)) return "there";
        this.#rename(staged, digest);
        return method;
      },
      abort: () => deleteStaged(staged),
    };
  }

  /** Reads to the end. @param onBytes called with each buffer */
  #hash(fd: number, onBytes: (bytes: Uint8Array) => void = () => {}): Omit<StagedContent, "commit" | "abort"> {
    const hasher = new Bun.CryptoHasher("sha256");
    let checksum = 0;
    let sizeBytes = 0;
    let head: Uint8Array = new Uint8Array();
    for (;;) {
      const length = ofSource(() => fs.readSync(fd, this.#buffer, 0, BUFFER_BYTES, sizeBytes));
      if (length === 0) break;
      const bytes = this.#buffer.subarray(0, length);
      if (sizeBytes === 0) head = new Uint8Array(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES));
      hasher.update(bytes);
      checksum = crc32(bytes, checksum);
      sizeBytes += length;
      onBytes(bytes);
    }
    return { digest: toDigest(hasher.digest("hex")), sizeBytes, crc32: checksum, head };
  }

  #copy(fd: number, staged: string): Omit<StagedContent, "commit" | "abort"> {
    const target = fs.openSync(staged, CREATE, 0o600);
    try {
      const read = this.#hash(fd, (bytes) => writeAll(target, bytes));
      // Most bytes reach the device here, so that small files in the same sync don't wait for them.
      fs.fdatasyncSync(target);
      return read;
    } finally {
      fs.closeSync(target);
    }
  }

  /** Shares the blocks of an open file. @returns false if the file system can't */
  #clone(fd: number, device: number, staged: string): boolean {
    if (this.#unclonable.has(device)) return false;
    try {
      fs.copyFileSync(`/proc/self/fd/${fd}`, staged, fs.constants.COPYFILE_FICLONE_FORCE | fs.constants.COPYFILE_EXCL);
      fs.chmodSync(staged, 0o600);
      return true;
    } catch (error) {
      deleteStaged(staged);
      if (!CANNOT_CLONE.has(errorCode(error) ?? "") && errorCode(error) !== "ENOENT") throw error;
      this.#unclonable.add(device);
      return false;
    }
  }

  /** Gives a file a second name in the store. Only files of the same user: others could change the blob. */
  #link(path: string, staged: string, fd: number): boolean {
    const source = fs.fstatSync(fd);
    if (source.uid !== process.getuid?.()) return false;
    try {
      fs.linkSync(path, staged);
    } catch (error) {
      if (CANNOT_LINK.has(errorCode(error) ?? "")) return false;
      throw error;
    }
    const linked = fs.lstatSync(staged);
    if (linked.ino === source.ino && linked.dev === source.dev) return true;
    deleteStaged(staged); // another file was moved to this path
    return false;
  }

  /**
   * Writes a small blob at its final path, which costs less than a rename. An existing file is never changed.
   * @returns false if the store has a file at that path, or its folder was removed
   */
  #create(digest: Digest, bytes: Uint8Array): boolean {
    const { layout, isSyncingEach } = this.#options;
    const path = layout.blob(digest);
    const folders = layout.foldersOf(digest);
    const [leaf] = folders;
    if (!this.#knownFolders.has(leaf)) {
      fs.mkdirSync(leaf, { recursive: true, mode: 0o700 });
      this.#knownFolders.add(leaf);
    }
    const fd = tryCreate(path);
    if (fd === undefined) return false;
    let isWhole = false;
    try {
      writeAll(fd, bytes);
      if (isSyncingEach) fs.fdatasyncSync(fd);
      isWhole = true;
    } finally {
      if (!isWhole && isOpenAt(fd, path)) deleteStaged(path);
      fs.closeSync(fd);
    }
    if (isSyncingEach) for (const folder of folders) syncFolder(folder);
    return true;
  }

  #write(path: string, bytes: Uint8Array, isForced: boolean): void {
    const fd = fs.openSync(path, CREATE, 0o600);
    try {
      writeAll(fd, bytes);
      // A file that may replace another one is durable before it does.
      if (isForced || this.#options.isSyncingEach) fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  }

  #isStored(digest: Digest, sizeBytes: number): boolean {
    const stats = fs.lstatSync(this.#options.layout.blob(digest), { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size === sizeBytes;
  }

  #rename(staged: string, digest: Digest): void {
    const { layout, isSyncingEach } = this.#options;
    const target = layout.blob(digest);
    const folders = layout.foldersOf(digest);
    if (!tryRename(staged, target)) {
      fs.mkdirSync(folders[0], { recursive: true, mode: 0o700 });
      if (!tryRename(staged, target)) throw new StagedFileGone(`${staged} no longer exists.`);
    }
    if (isSyncingEach) for (const folder of folders) syncFolder(folder);
  }

  #stagingPath(): string {
    return `${this.#options.layout.staging}/${this.#options.label}-${++this.#staged}.part`;
  }
}

/** Whether a path still leads to the open file: a whole copy may have replaced a partial one in the meantime. */
function isOpenAt(fd: number, path: string): boolean {
  const own = fs.fstatSync(fd);
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  return found?.ino === own.ino && found.dev === own.dev;
}

/** @returns the descriptor of a new file; undefined if the path is taken, or its folder is missing */
function tryCreate(path: string): number | undefined {
  try {
    return fs.openSync(path, CREATE, 0o600);
  } catch (error) {
    if (errorCode(error) === "EEXIST" || errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** @returns false if the source or the folder of the target is missing */
function tryRename(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Deletes a staged file, if there is one. */
function deleteStaged(path: string | undefined): void {
  if (path !== undefined) fs.rmSync(path, { force: true });
}

function syncFolder(path: string): void {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function ofSource<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new SourceError(describeSourceError(errorCode(error)));
  }
}

/** Describes the system error of a file that could not be read. */
export function describeSourceError(code: string | undefined): string {
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "Permission denied. Change the file's permissions, or run the command as a user who can read it.";
    case "ENOENT":
      return "The file was deleted during the import.";
    case "ELOOP":
      return "The file was replaced by a symbolic link, which is not followed.";
    case "EIO":
      return "The disk could not read the file (EIO). Check the disk.";
    default:
      return `The file could not be read (${code ?? "unknown error"}).`;
  }
}
