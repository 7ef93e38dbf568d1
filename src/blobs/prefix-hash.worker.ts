/**
 * The thread that hashes growing files. It stores the state of each file's hash at the end of the bytes it has read, and
 * continues from there. Usually it reads from the page cache, because the bytes have just arrived. Files take turns, so that
 * a long one does not delay the others.
 */
import * as fs from "node:fs";
import { crc32 } from "node:zlib";

/**
 * `ahead`: hash this file up to `toBytes`, without a reply. `whole`: hash the rest of it, up to its end at `toBytes`, and
 * reply. `forget`: drop the state of its hash.
 */
export type PrefixRequest =
  | { readonly kind: "ahead"; readonly key: string; readonly path: string; readonly toBytes: number }
  | {
      readonly kind: "whole";
      readonly key: string;
      readonly path: string;
      readonly toBytes: number;
      readonly id: number;
    }
  | { readonly kind: "forget"; readonly key: string };

/** Digest (64 hex digits) and CRC-32 of a whole file, or the error. `ready` is sent once, before all others. */
export type PrefixReply =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly id: number; readonly digest: string; readonly crc32: number }
  | { readonly kind: "failed"; readonly id: number; readonly error: string; readonly code: string };

interface Prefix {
  readonly hasher: Bun.CryptoHasher;
  crc32: number;
  bytes: number;
}

/** All requests for one file. */
interface Job {
  readonly key: string;
  readonly path: string;
  toBytes: number;
  /** Requests that wait for the hashes of the whole file. */
  readonly ids: number[];
  fd: number | undefined;
}

declare const self: Worker;

/** A turn reads {@link BUFFERS_PER_TURN} buffers of this size. */
const BUFFER_BYTES = 1024 * 1024;
const BUFFERS_PER_TURN = 8;
/** Stored hash states. Beyond it the least recently used one is dropped, and its file is read from the start again. */
const PREFIXES_MAX = 1_000;

const prefixes = new Map<string, Prefix>();
/** By key, in the order of their turns. */
const jobs = new Map<string, Job>();
const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
let isRunning = false;

self.onmessage = (event: MessageEvent<PrefixRequest>) => {
  const request = event.data;
  const { key } = request;
  if (request.kind === "forget") {
    forget(key);
    return;
  }
  const job = jobs.get(key) ?? { key, path: request.path, toBytes: 0, ids: [], fd: undefined };
  job.toBytes = Math.max(job.toBytes, request.toBytes);
  if (request.kind === "whole") job.ids.push(request.id);
  jobs.set(key, job);
  if (!isRunning) void run();
};
self.postMessage({ kind: "ready" } satisfies PrefixReply);

async function run(): Promise<void> {
  isRunning = true;
  while (jobs.size > 0) {
    for (const job of jobs.values()) {
      if (takeTurn(job)) jobs.delete(job.key);
      // Lets messages in that were sent during this turn.
      await new Promise(setImmediate);
    }
  }
  isRunning = false;
}

/** Hashes one turn of a file. @returns whether the job is done, and replied to */
function takeTurn(job: Job): boolean {
  try {
    const prefix = prefixOf(job.key);
    job.fd ??= fs.openSync(job.path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    for (let count = 0; count < BUFFERS_PER_TURN && prefix.bytes < job.toBytes; count++) {
      const length = Math.min(BUFFER_BYTES, job.toBytes - prefix.bytes);
      const got = fs.readSync(job.fd, buffer, 0, length, prefix.bytes);
      if (got === 0) throw new Error("the file is shorter than the bytes that arrived");
      const read = buffer.subarray(0, got);
      prefix.hasher.update(read);
      prefix.crc32 = crc32(read, prefix.crc32);
      prefix.bytes += got;
    }
    if (prefix.bytes < job.toBytes) return false;
    if (job.ids.length > 0) {
      const digest = prefix.hasher.copy().digest("hex");
      for (const id of job.ids)
        self.postMessage({ kind: "done", id, digest, crc32: prefix.crc32 } satisfies PrefixReply);
    }
  } catch (error) {
    // The state may cover a part of the failed read: start from the beginning the next time.
    prefixes.delete(job.key);
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EIO";
    for (const id of job.ids) {
      self.postMessage({ kind: "failed", id, error: String(error), code } satisfies PrefixReply);
    }
  }
  if (job.fd !== undefined) fs.closeSync(job.fd);
  return true;
}

/** Drops the state of a file, and its job where nobody waits for the hashes of the whole file. */
function forget(key: string): void {
  prefixes.delete(key);
  const job = jobs.get(key);
  if (job === undefined || job.ids.length > 0) return;
  jobs.delete(key);
  if (job.fd !== undefined) fs.closeSync(job.fd);
}

function prefixOf(key: string): Prefix {
  const prefix = prefixes.get(key) ?? { hasher: new Bun.CryptoHasher("sha256"), crc32: 0, bytes: 0 };
  prefixes.delete(key);
  prefixes.set(key, prefix);
  if (prefixes.size > PREFIXES_MAX) {
    for (const oldest of prefixes.keys()) {
      prefixes.delete(oldest);
      break;
    }
  }
  return prefix;
}
