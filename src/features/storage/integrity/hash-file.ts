/** Reading a stored content again, piece by piece, and what can be wrong with it. Blocks: threads and commands call it. */
import * as fs from "node:fs";
import { errorCode } from "../../../blobs/disk.ts";
import { dropFromCache, readAhead } from "./page-cache.ts";

/** What is to be read. */
export interface WantedContent {
  readonly path: string;
  readonly sizeBytes: number;
  /** 64 hex digits. */
  readonly digest: string;
}

/** What is wrong with a content. */
export interface ContentFault {
  readonly kind: "damaged" | "missing" | "unreadable";
  /** In words, without the name of any file. */
  readonly detail: string;
}

/** How it is read. */
export interface ReadingOptions {
  /** Compares only sizes. */
  readonly isQuick: boolean;
  /** Lets the system's cache go of what was read, where that can be done: what others use must stay in it. */
  readonly isSparing: boolean;
  /** Called after each piece with its bytes: to slow down, or to end by throwing. */
  readonly onBytes: (bytes: number) => void;
}

/** Places in the memory that a reading thread shares with who asks it, each 32 bits: bytes a millisecond, 0 for no bound; whether to give way. */
export const CONTROL = { bytesPerMs: 0, isWaiting: 1, length: 2 } as const;

/** Read at once. */
export const BUFFER_BYTES = 1024 * 1024;
/** Smaller ones are not worth two more calls of the system. */
const SPARED_BYTES_MIN = 256 * 1024;
/** Faults of this process, not of the content. */
const OWN_FAULTS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"]);

const piece = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * Reads a content and compares it with its digest. One of another length is damaged without being read.
 * @returns what is wrong; undefined where it is whole
 * @throws the system's error where this process, not the content, is at fault; whatever `onBytes` throws
 */
export function readContent(wanted: WantedContent, options: ReadingOptions): ContentFault | undefined {
  let fd: number;
  try {
    // A link counts as nothing (D49). NONBLOCK: a pipe in a file's place must not be waited for.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    fd = fs.openSync(wanted.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return faultOf(error);
  }
  let fault: ContentFault | undefined;
  let isReplaced: boolean;
  try {
    fault = compare(fd, wanted, options);
    isReplaced = fault !== undefined && wasReplaced(fd, wanted.path);
  } finally {
    fs.closeSync(fd);
  }
  return isReplaced ? readContent(wanted, options) : fault;
}

/** Whether another file lies in the place of an open one now: a good copy was put there meanwhile. */
function wasReplaced(fd: number, path: string): boolean {
  try {
    return fs.fstatSync(fd).ino !== fs.lstatSync(path).ino;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function compare(fd: number, { sizeBytes, digest }: WantedContent, options: ReadingOptions): ContentFault | undefined {
  let stats: fs.Stats;
  try {
    stats = fs.fstatSync(fd);
  } catch (error) {
    return faultOf(error);
  }
  if (!stats.isFile()) return { kind: "missing", detail: "not a regular file" };
  if (stats.size !== sizeBytes)
    return { kind: "damaged", detail: `it has ${stats.size} bytes instead of ${sizeBytes}` };
  if (options.isQuick) return undefined;
  const actual = digestOf(fd, sizeBytes, options);
  if (typeof actual !== "string") return actual;
  return actual === digest ? undefined : { kind: "damaged", detail: `checksum is sha256:${actual}` };
}

/** The digest of an open file, or what keeps it from being read. */
function digestOf(fd: number, sizeBytes: number, { isSparing, onBytes }: ReadingOptions): string | ContentFault {
  const isSpared = isSparing && sizeBytes >= SPARED_BYTES_MIN;
  if (sizeBytes > BUFFER_BYTES) readAhead(fd);
  const hasher = new Bun.CryptoHasher("sha256");
  for (let at = 0; at < sizeBytes; ) {
    let got: number;
    try {
      got = fs.readSync(fd, piece, 0, BUFFER_BYTES, at);
    } catch (error) {
      return faultOf(error, at);
    }
    if (got === 0) break;
    hasher.update(got === BUFFER_BYTES ? piece : piece.subarray(0, got));
    if (isSpared) dropFromCache(fd, at, got);
    at += got;
    onBytes(got);
  }
  return hasher.digest("hex");
}

function faultOf(error: unknown, at?: number): ContentFault {
  const code = errorCode(error) ?? "EIO";
  if (OWN_FAULTS.has(code)) throw error;
  if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) {
    return { kind: "missing", detail: code === "ELOOP" ? "replaced by a symbolic link" : "the file is missing" };
  }
  return { kind: "unreadable", detail: `read error ${code}${at === undefined ? "" : ` at byte ${at}`}` };
}
