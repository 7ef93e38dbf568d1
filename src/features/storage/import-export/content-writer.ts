/**
 * Writes blobs of the store as plain files. Each is compared with its digest while it is written, and gets its name
 * only when it is whole. It is never the store's own file, so that changes of an exported file change no blob.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { writeSidecar } from "./sidecar-writer.ts";
import type { SidecarJob, SidecarResult, WriteJob, WriteResult } from "./types.ts";
import { errorCode } from "../../../lib/error.ts";
import { writeAll } from "../../../lib/write-all.ts";

/** Dependencies of {@link ContentWriter}. */
interface ContentWriterOptions {
  /** Unique among all concurrent writers: part of the names of unfinished files. */
  readonly label: string;
  /** Whether each file must be synced on its own, because the file system can't be synced as a whole. */
  readonly isSyncingEach: boolean;
}

/** Names of unfinished files. */
export const UNFINISHED = /^\.larder-\d+-\d+-\d+\.part$/;

const BUFFER_BYTES = 1024 * 1024;
/** Blocks of smaller files are copied: sharing them is not faster. */
const CLONE_BYTES_MIN = 512 * 1024;
const CANNOT_CLONE: ReadonlySet<string> = new Set([
  "ENOTSUP",
  "EOPNOTSUPP",
  "EXDEV",
  "EINVAL",
  "ENOSYS",
  "ENOTTY",
  "ENOENT",
]);
/** Errors of a target that can't store any more files. */
const FATAL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO", "ENODEV", "ENXIO"]);
const FILE_MODE = 0o666;

/** The blob is damaged or can't be read. */
class BlobError extends Error {}

/** Writes files. Synchronous: for a thread of its own. */
export class ContentWriter {
  readonly #options: ContentWriterOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #canClone = true;
  #staged = 0;

  constructor(options: ContentWriterOptions) {
    this.#options = options;
  }

  /** @throws the error of a target that can't store any more files; other errors are results */
  write(job: WriteJob): WriteResult {
    try {
      const written = this.#isWritten(job) ? "unchanged" : this.#replace(job);
      return { written, sidecar: job.sidecar && this.#writeSidecar(job.sidecar) };
    } catch (error) {
      if (error instanceof BlobError) return { reason: "content_damaged", message: error.message };
      const code = errorCode(error);
      if (code === undefined || FATAL.has(code)) throw error;
      return { reason: "unwritable", message: describeTargetError(code) };
    }
  }

  #writeSidecar(job: SidecarJob): SidecarResult {
    try {
      return writeSidecar(job, this.#stage(job.target), this.#options.isSyncingEach);
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined || FATAL.has(code)) throw error;
      return { state: "unwritable", message: describeTargetError(code) };
    }
  }

  /** A new path for the unfinished file of a target. */
  #stage(target: string): string {
    return `${dirname(target)}/.larder-${this.#options.label}-${++this.#staged}.part`;
  }

  #isWritten(job: WriteJob): boolean {
    const stats = fs.lstatSync(job.target, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile() || stats.size !== job.sizeBytes) return false;
    if (Math.floor(stats.mtimeMs) !== job.modifiedAtMs) return false;
    if (!job.isRereading) return true;
    const fd = fs.openSync(job.target, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      return this.#hash(fd) === job.digest;
    } finally {
      fs.closeSync(fd);
    }
  }

  #replace(job: WriteJob): "copied" | "cloned" {
    const staged = this.#stage(job.target);
    const source = openBlob(job);
    try {
      const how = job.sizeBytes >= CLONE_BYTES_MIN && this.#clone(source, staged) ? "cloned" : "copied";
      const flags =
        fs.constants.O_RDWR |
        fs.constants.O_NOFOLLOW |
        (how === "copied" ? fs.constants.O_CREAT | fs.constants.O_EXCL : 0);
      const target = fs.openSync(staged, flags, FILE_MODE);
      try {
        const digest = how === "cloned" ? this.#hash(target) : this.#hash(source, (bytes) => writeAll(target, bytes));
        if (digest !== job.digest) throw new BlobError("The stored file is damaged. To check: larder verify");
        setTime(target, job.modifiedAtMs);
        if (this.#options.isSyncingEach) fs.fsyncSync(target);
      } finally {
        fs.closeSync(target);
      }
      fs.renameSync(staged, job.target);
      return how;
    } catch (error) {
      fs.rmSync(staged, { force: true });
      throw error;
    } finally {
      fs.closeSync(source);
    }
  }

  /** Shares the blocks of a blob. @returns false if the file system can't */
  #clone(source: number, staged: string): boolean {
    if (!this.#canClone) return false;
    const { COPYFILE_FICLONE_FORCE, COPYFILE_EXCL } = fs.constants;
    try {
      fs.copyFileSync(`/proc/self/fd/${source}`, staged, COPYFILE_FICLONE_FORCE | COPYFILE_EXCL);
      fs.chmodSync(staged, FILE_MODE & ~process.umask());
      return true;
    } catch (error) {
      fs.rmSync(staged, { force: true });
      if (!CANNOT_CLONE.has(errorCode(error) ?? "")) throw error;
      this.#canClone = false;
      return false;
    }
  }

  #hash(fd: number, onBytes: (bytes: Uint8Array) => void = () => {}): string {
    const hasher = new Bun.CryptoHasher("sha256");
    for (let at = 0; ; ) {
      const length = readBlob(fd, this.#buffer, at);
      if (length === 0) return hasher.digest("hex");
      const bytes = this.#buffer.subarray(0, length);
      hasher.update(bytes);
      onBytes(bytes);
      at += length;
    }
  }
}

function openBlob({ source, sizeBytes }: WriteJob): number {
  let fd: number;
  try {
    fd = fs.openSync(source, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  } catch (error) {
    throw new BlobError(`The stored file cannot be opened (${errorCode(error)}). To check: larder verify`);
  }
  if (fs.fstatSync(fd).size === sizeBytes) return fd;
  fs.closeSync(fd);
  throw new BlobError("The stored file is damaged. To check: larder verify");
}

function readBlob(fd: number, into: Buffer, at: number): number {
  try {
    return fs.readSync(fd, into, 0, into.length, at);
  } catch (error) {
    throw new BlobError(`The stored file could not be read (${errorCode(error)}). Check the disk.`);
  }
}

function setTime(fd: number, ms: number): void {
  const time = new Date(ms);
  fs.futimesSync(fd, time, time);
}

/** Describes the system error of a file or folder that could not be written. */
export function describeTargetError(code: string | undefined): string {
  switch (code) {
    case "EISDIR":
    case "ENOTEMPTY":
    case "EEXIST":
    case "ENOTDIR":
      return "Another item with this name exists in the target. Move it, then export again.";
    case "ENAMETOOLONG":
      return "The name or path is too long for the target. Export a subfolder, or use another file system.";
    case "EACCES":
    case "EPERM":
      return "Permission denied in the target. Change its permissions.";
    default:
      return `The target could not store the file (${code ?? "unknown error"}).`;
  }
}
