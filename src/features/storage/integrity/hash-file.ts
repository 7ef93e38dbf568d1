/** Reads a blob and compares it with its digest. Blocks while it reads: for threads and commands. */
import * as fs from "node:fs";
import { dropFromCache, readAhead } from "./page-cache.ts";
import { errorCode } from "../../../lib/error.ts";

/** A blob to be read. */
export interface StoredFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** 64 hex digits. */
  readonly digest: string;
}

/** Why a blob is not whole. */
export interface ContentFault {
  readonly kind: "damaged" | "missing" | "unreadable";
  /** A description without the names of files. */
  readonly detail: string;
}

/** Options of {@link readContent}. */
interface ReadingOptions {
  /** Compares only the size. */
  readonly isQuick: boolean;
  /** Removes the bytes from the page cache after reading, so that files in use stay in it. */
  readonly isSparing: boolean;
  /** Called after each buffer with its size: to slow down, or to end by throwing. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Indexes into the 32-bit numbers that a reading thread shares with its caller: bytes per millisecond (0 for no limit);
 * whether to pause.
 */
export const CONTROL = { bytesPerMs: 0, isWaiting: 1, length: 2 } as const;

/** Size of a read. */
export const BUFFER_BYTES = 1024 * 1024;
/** Smaller blobs are not worth two more system calls. */
const SPARED_BYTES_MIN = 256 * 1024;
/** Errors of this process, not of the blob. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"]);

const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * Reads a blob and compares it with its digest. One of another size is damaged and not read.
 * @returns the fault; undefined if the blob is whole
 * @throws the system's error if this process, not the blob, is at fault; errors of `onBytes`
 */
export function readContent(blob: StoredFile, options: ReadingOptions): ContentFault | undefined {
  let fd: number;
  try {
    // A symbolic link counts as missing. O_NONBLOCK: a pipe in place of the file must not block.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    fd = fs.openSync(blob.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return toFault(error);
  }
  let fault: ContentFault | undefined;
  let isReplaced: boolean;
  try {
    fault = compare(fd, blob, options);
    isReplaced = fault !== undefined && wasReplaced(fd, blob.path);
  } finally {
    fs.closeSync(fd);
  }
  return isReplaced ? readContent(blob, options) : fault;
}

/** Whether the path of an open file has another file now: a good copy replaced it. */
function wasReplaced(fd: number, path: string): boolean {
  try {
    return fs.fstatSync(fd).ino !== fs.lstatSync(path).ino;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function compare(fd: number, { sizeBytes, digest }: StoredFile, options: ReadingOptions): ContentFault | undefined {
  let stats: fs.Stats;
  try {
    stats = fs.fstatSync(fd);
  } catch (error) {
    return toFault(error);
  }
  if (!stats.isFile()) return { kind: "missing", detail: "not a regular file" };
  if (stats.size !== sizeBytes)
    return { kind: "damaged", detail: `it has ${stats.size} bytes instead of ${sizeBytes}` };
  if (options.isQuick) return undefined;
  const actual = hashOpenFile(fd, sizeBytes, options);
  if (typeof actual !== "string") return actual;
  return actual === digest ? undefined : { kind: "damaged", detail: `checksum is sha256:${actual}` };
}

/** The digest of an open file, or the fault that ends the read. */
function hashOpenFile(fd: number, sizeBytes: number, { isSparing, onBytes }: ReadingOptions): string | ContentFault {
  const isSpared = isSparing && sizeBytes >= SPARED_BYTES_MIN;
  if (sizeBytes > BUFFER_BYTES) readAhead(fd);
  const hasher = new Bun.CryptoHasher("sha256");
  for (let at = 0; at < sizeBytes; ) {
    let length: number;
    try {
      length = fs.readSync(fd, buffer, 0, BUFFER_BYTES, at);
    } catch (error) {
      return toFault(error, at);
    }
    if (length === 0) break;
    hasher.update(length === BUFFER_BYTES ? buffer : buffer.subarray(0, length));
    if (isSpared) dropFromCache(fd, at, length);
    at += length;
    onBytes(length);
  }
  return hasher.digest("hex");
}

function toFault(error: unknown, at?: number): ContentFault {
  const code = errorCode(error) ?? "EIO";
  if (OWN_FAULTS.has(code)) throw error;
  if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) {
    return { kind: "missing", detail: code === "ELOOP" ? "replaced by a symbolic link" : "the file is missing" };
  }
  return { kind: "unreadable", detail: `read error ${code}${at === undefined ? "" : ` at byte ${at}`}` };
}
