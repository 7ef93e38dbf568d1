/** Produces any byte range of an archive. */
import { crc32 } from "node:zlib";
import { AppError } from "../../../errors.ts";
import { invariant } from "../../../lib/invariant.ts";
import { say } from "../../../translations/say.ts";
import type { Entries } from "./entries.ts";
import type { ContentSource } from "./types.ts";
import { centralHeader, endRecords, localHeader } from "./zip-format.ts";

/** Headers and small files are joined into chunks of about this size. Larger chunks are sent unchanged. */
const BUFFER_BYTES = 64 * 1024;
const GATHER_BYTES = 2 * BUFFER_BYTES;
/** How long chunks may be produced before the event loop gets a turn: small files are read synchronously. */
const SLICE_MS_MAX = 4;

/** Joins small chunks, so that ten thousand small files do not cause twenty thousand writes. */
class ChunkBuffer {
  #bytes = Buffer.allocUnsafe(GATHER_BYTES);
  #length = 0;

  get isFull(): boolean {
    return this.#length >= BUFFER_BYTES;
  }

  add(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The joined bytes, in a buffer of their own; undefined if there are none. */
  take(): Uint8Array | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(GATHER_BYTES);
    this.#length = 0;
    return taken;
  }
}

/** Size of the archive of these entries. */
export function archiveBytes(entries: Entries): number {
  return entries.contentBytes + entries.centralBytes + endRecordsOf(entries).length;
}

/**
 * Bytes `start` to `end` (exclusive) of the archive of these entries.
 * @throws AppError content_missing | content_damaged if a file does not match its entry
 */
export async function* archiveChunks(
  entries: Entries,
  source: ContentSource,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = new ChunkBuffer();
  let sliceStartMs = performance.now();
  for await (const chunk of rawChunks(entries, source, start, end)) {
    const isLarge = chunk.length >= BUFFER_BYTES;
    if (!isLarge) buffer.add(chunk);
    if (!isLarge && !buffer.isFull) continue;
    const joined = buffer.take();
    if (joined !== undefined) yield joined;
    if (isLarge) yield chunk;
    if (performance.now() - sliceStartMs < SLICE_MS_MAX) continue;
    await new Promise(setImmediate);
    sliceStartMs = performance.now();
  }
  const rest = buffer.take();
  if (rest !== undefined) yield rest;
}

async function* rawChunks(
  entries: Entries,
  source: ContentSource,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { contentBytes, centralBytes } = entries;
  if (start < Math.min(end, contentBytes)) {
    yield* entryChunks(entries, source, start, Math.min(end, contentBytes));
  }
  const directoryEnd = contentBytes + centralBytes;
  if (end > contentBytes && start < directoryEnd) {
    yield* directoryChunks(entries, Math.max(0, start - contentBytes), Math.min(end, directoryEnd) - contentBytes);
  }
  if (end > directoryEnd) yield endRecordsOf(entries).subarray(Math.max(0, start - directoryEnd), end - directoryEnd);
}

/** Local headers and file content. */
async function* entryChunks(entries: Entries, source: ContentSource, start: number, end: number) {
  for (let number = entries.at(start); number < entries.count; number++) {
    const entry = entries.get(number);
    if (entry.offset >= end) return;
    const header = localHeader(entry);
    const contentOffset = entry.offset + header.length;
    if (start < contentOffset) yield header.subarray(Math.max(0, start - entry.offset), end - entry.offset);
    const from = Math.max(0, start - contentOffset);
    const to = Math.min(entry.sizeBytes, end - contentOffset);
    if (from < to) yield* contentChunks(entries, number, source, from, to);
  }
}

/** A range of a file. A file sent as a whole is checked against its CRC before its last byte is sent. */
async function* contentChunks(entries: Entries, number: number, source: ContentSource, from: number, to: number) {
  const { sizeBytes, crc32: expectedCrc } = entries.get(number);
  const lengthBytes = to - from;
  const opening = source.open({ digest: entries.digest(number), sizeBytes, offset: from, lengthBytes });
  const opened = opening instanceof Promise ? await opening : opening;
  const isWhole = lengthBytes === sizeBytes;
  let crc = 0;
  let sent = 0;
  for await (const chunk of opened instanceof Uint8Array ? [opened] : opened) {
    sent += chunk.length;
    if (isWhole) crc = crc32(chunk, crc);
    if (sent > lengthBytes || (isWhole && sent === sizeBytes && crc !== expectedCrc)) throw damaged();
    yield chunk;
  }
  if (sent !== lengthBytes) throw damaged();
}

function* directoryChunks(entries: Entries, start: number, end: number): Generator<Uint8Array, void, undefined> {
  let at = 0;
  for (let number = 0; number < entries.count && at < end; number++) {
    // Skipping a million records takes about ten milliseconds; building them would take a second.
    const length = entries.centralLength(number);
    if (at + length > start) {
      const header = centralHeader(entries.get(number));
      invariant(header.length === length, "a record of the directory is as long as was planned");
      yield header.subarray(Math.max(0, start - at), end - at);
    }
    at += length;
  }
}

function endRecordsOf(entries: Entries): Buffer {
  return endRecords(entries.count, entries.contentBytes, entries.centralBytes);
}

function damaged(): AppError {
  return new AppError(
    "content_damaged",
    say`A file in this archive is damaged: its checksum does not match. Ask your administrator to restore it.`,
  );
}
