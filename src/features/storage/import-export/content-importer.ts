/**
 * Brings the contents of foreign files into the store: reads each once, never follows a link, and never stores what
 * changed while it was read. Where the file system can share blocks (reflinks of Btrfs, XFS, ZFS and others) large
 * contents are shared, not copied. What it places is durable only after the next sync of the store's file system.
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";
import { type Digest, toDigest } from "../../../blobs/digest.ts";
import { errorCode } from "../../../blobs/disk.ts";
import type { Layout } from "../../../blobs/layout.ts";
import { detectMediaType, MEDIA_TYPE_HEAD_BYTES } from "../../library/files/media-type.ts";
import type { TakeJob, TakeResult } from "./types.ts";

/** What a {@link ContentImporter} works with. */
export interface ContentImporterOptions {
  readonly layout: Layout;
  /** Unique among all that write to the store at the same time: part of the names of unfinished files. */
  readonly label: string;
  /** Whether each content must be synced by itself, because the file system can't be synced as a whole. */
  readonly isSyncingEach: boolean;
}

/** Contents up to this size are read at once, hashed in memory, and written only where they are not there yet. */
const IN_MEMORY_BYTES_MAX = 512 * 1024;
const BUFFER_BYTES = 1024 * 1024;
const ATTEMPTS_MAX = 3;
/** What a file system says that can't share blocks, or not between these two places. */
const CANNOT_CLONE: ReadonlySet<string> = new Set(["ENOTSUP", "EOPNOTSUPP", "EXDEV", "EINVAL", "ENOSYS", "ENOTTY"]);
/** What it says where a file gets no second name there. */
const CANNOT_LINK: ReadonlySet<string> = new Set(["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOENT"]);

/** The source, not the store, is to blame. */
class SourceError extends Error {}

/** Somebody else took an unfinished file away: a server that starts cleans up. It is written again. */
class StagingGone extends Error {}

/** A content that was read and lies ready, or is in memory still. */
interface Draft {
  readonly digest: Digest;
  readonly sizeBytes: number;
  readonly crc32: number;
  readonly head: Uint8Array;
  /** Gives it its place. */
  place(isForced: boolean): "there" | "copied" | "cloned" | "linked" | "hashed";
  discard(): void;
}

/** See the head of this file. Synchronous inside: for a thread of its own. */
export class ContentImporter {
  readonly #options: ContentImporterOptions;
  readonly #piece = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #small = Buffer.allocUnsafeSlow(IN_MEMORY_BYTES_MAX + 1);
  /** Devices of sources that share no blocks with the store. */
  readonly #unclonable = new Set<number>();
  #staged = 0;

  constructor(options: ContentImporterOptions) {
    this.#options = options;
  }

  /** @throws what the store's disk says; complaints about the source are results */
  async take(job: TakeJob): Promise<TakeResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await this.#tryToTake(job);
        if (result !== undefined) return result;
      } catch (error) {
        if (error instanceof SourceError) return { reason: "unreadable", message: error.message };
        if (!(error instanceof StagingGone) || attempt === ATTEMPTS_MAX) throw error;
      }
      if (attempt === ATTEMPTS_MAX) {
        return {
          reason: "changed",
          message: "The file changed while it was read. Import it again when no program writes to it.",
        };
      }
    }
  }

  /** @returns undefined where the source was changed meanwhile */
  async #tryToTake(job: TakeJob): Promise<TakeResult | undefined> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const fd = ofSource(() => fs.openSync(job.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    let draft: Draft | undefined;
    try {
      const before = ofSource(() => fs.fstatSync(fd));
      if (!before.isFile()) return { reason: "not_a_file", message: "Not a regular file." };
      draft =
        before.size <= IN_MEMORY_BYTES_MAX ? this.#readSmall(fd, before.size, job) : this.#readLarge(fd, before, job);
      const after = ofSource(() => fs.fstatSync(fd));
      const isSame = after.size === before.size && after.mtimeMs === before.mtimeMs && after.ino === before.ino;
      if (!isSame || draft.sizeBytes !== before.size) return undefined;
      const { digest, sizeBytes, crc32: sum, head } = draft;
      const mediaType = await detectMediaType(head, undefined, job.name);
      const placed = draft.place(job.isForced);
      return { digest, sizeBytes, crc32: sum, mediaType, modifiedAtMs: Math.floor(before.mtimeMs), placed };
    } finally {
      draft?.discard();
      fs.closeSync(fd);
    }
  }

  /** @param size what the file holds by what the system says; whoever calls looks at that again afterwards */
  #readSmall(fd: number, size: number, job: TakeJob): Draft {
    const buffer = this.#small;
    let length = 0;
    for (let got = -1; got !== 0; ) {
      // One byte more: what holds more than it should, as files of /proc do, shows.
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
      // The buffer serves the next file, too.
      head: new Uint8Array(bytes.subarray(0, MEDIA_TYPE_HEAD_BYTES)),
      place: (isForced) => {
        if (job.how === "hash") return "hashed";
        if (!isForced && this.#isThere(digest, length)) return "there";
        const path = (staged = this.#stagingPath());
        const isLinked = job.how === "link" && this.#link(job.path, path, fd);
        if (!isLinked) this.#write(path, bytes, isForced);
        this.#rename(path, digest);
        staged = undefined;
        return isLinked ? "linked" : "copied";
      },
      discard: () => dropStaged(staged),
    };
  }

  #readLarge(fd: number, source: fs.Stats, job: TakeJob): Draft {
    if (job.how === "hash") return this.#draftOf(this.#hash(fd), undefined, "hashed");
    const staged = this.#stagingPath();
    try {
      if (job.how === "link" && this.#link(job.path, staged, fd)) {
        return this.#draftOf(this.#hash(fd), staged, "linked");
      }
      if (this.#clone(fd, source.dev, staged)) {
        // What is hashed is the store's own, which nobody changes.
        const own = fs.openSync(staged, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
        try {
          return this.#draftOf(this.#hash(own), staged, "cloned");
        } finally {
          fs.closeSync(own);
        }
      }
      return this.#draftOf(this.#copy(fd, staged), staged, "copied");
    } catch (error) {
      dropStaged(staged);
      throw error;
    }
  }

  #draftOf(
    read: Omit<Draft, "place" | "discard">,
    staged: string | undefined,
    placed: "hashed" | "cloned" | "copied" | "linked",
  ): Draft {
    const { digest, sizeBytes } = read;
    return {
      ...read,
      place: (isForced) => {
        if (staged === undefined) return "hashed";
        if (!isForced && this.#isThere(digest, sizeBytes)) return "there";
        this.#rename(staged, digest);
        return placed;
      },
      discard: () => dropStaged(staged),
    };
  }

  /** Reads to the end, hands each piece on, and tells what it was. */
  #hash(fd: number, onBytes: (piece: Uint8Array) => void = () => {}): Omit<Draft, "place" | "discard"> {
    const hasher = new Bun.CryptoHasher("sha256");
    let sum = 0;
    let sizeBytes = 0;
    let head: Uint8Array = new Uint8Array();
    for (;;) {
      const got = ofSource(() => fs.readSync(fd, this.#piece, 0, BUFFER_BYTES, sizeBytes));
      if (got === 0) break;
      const piece = this.#piece.subarray(0, got);
      if (sizeBytes === 0) head = new Uint8Array(piece.subarray(0, MEDIA_TYPE_HEAD_BYTES));
      hasher.update(piece);
      sum = crc32(piece, sum);
      sizeBytes += got;
      onBytes(piece);
    }
    return { digest: toDigest(hasher.digest("hex")), sizeBytes, crc32: sum, head };
  }

  #copy(fd: number, staged: string): Omit<Draft, "place" | "discard"> {
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const target = fs.openSync(staged, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      const read = this.#hash(fd, (piece) => writeAll(target, piece));
      // The bulk reaches the device here, so that the sync that it shares with small files does not wait for it.
      fs.fdatasyncSync(target);
      return read;
    } finally {
      fs.closeSync(target);
    }
  }

  /** Shares the blocks of an open file. @returns false where that can't be */
  #clone(fd: number, device: number, staged: string): boolean {
    if (this.#unclonable.has(device)) return false;
    try {
      fs.copyFileSync(`/proc/self/fd/${fd}`, staged, fs.constants.COPYFILE_FICLONE_FORCE | fs.constants.COPYFILE_EXCL);
      fs.chmodSync(staged, 0o600);
      return true;
    } catch (error) {
      dropStaged(staged);
      if (!CANNOT_CLONE.has(errorCode(error) ?? "") && errorCode(error) !== "ENOENT") throw error;
      this.#unclonable.add(device);
      return false;
    }
  }

  /** Gives a file a second name in the store; only to one's own, whose rights are those of the store's files. */
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
    dropStaged(staged); // another file has come to this path since
    return false;
  }

  #write(path: string, bytes: Uint8Array, isForced: boolean): void {
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = fs.constants;
    const fd = fs.openSync(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    try {
      writeAll(fd, bytes);
      // What may take the place of another file is durable before it does.
      if (isForced || this.#options.isSyncingEach) fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  }

  #isThere(digest: Digest, sizeBytes: number): boolean {
    const stats = fs.lstatSync(this.#options.layout.blob(digest), { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size === sizeBytes;
  }

  #rename(staged: string, digest: Digest): void {
    const { layout, isSyncingEach } = this.#options;
    const target = layout.blob(digest);
    const folders = layout.foldersOf(digest);
    if (!tryRename(staged, target)) {
      fs.mkdirSync(folders[0], { recursive: true, mode: 0o700 });
      if (!tryRename(staged, target)) throw new StagingGone(`${staged} no longer exists.`);
    }
    if (isSyncingEach) for (const folder of folders) syncFolder(folder);
  }

  #stagingPath(): string {
    return `${this.#options.layout.staging}/${this.#options.label}-${++this.#staged}.part`;
  }
}

/** @returns false where the source or the folder of the target is missing */
function tryRename(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Takes an unfinished file away, where there is one. */
function dropStaged(path: string | undefined): void {
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

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += fs.writeSync(fd, bytes, written);
}

function ofSource<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new SourceError(describeSourceError(errorCode(error)));
  }
}

/** What the system says of a file that could not be read. */
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
