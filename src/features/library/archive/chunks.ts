/** The bytes of an archive, from any place to any other, as they are needed. */
import { crc32 } from "node:zlib";
import { AppError } from "../../../errors.ts";
import { invariant } from "../../../lib/invariant.ts";
import type { Entries } from "./entries.ts";
import type { ContentSource } from "./types.ts";
import { centralHeader, endRecords, localHeader } from "./zip-format.ts";

/** Headers and small contents go out together in pieces of about this size; what is this long by itself, alone. */
const BUFFER_BYTES = 64 * 1024;
const GATHER_BYTES = 2 * BUFFER_BYTES;
/** How long the making of pieces may hold the event loop at a time: small contents are read in place. */
const SLICE_MS_MAX = 4;

/** Gathers what is small, so that ten thousand little files are no twenty thousand writes. */
class Gatherer {
  #bytes = Buffer.allocUnsafe(GATHER_BYTES);
  #length = 0;

  get isFull(): boolean {
    return this.#length >= BUFFER_BYTES;
  }

  add(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** What was gathered, in a memory of its own; undefined where that is nothing. */
  take(): Uint8Array | undefined {
    if (this.#length === 0) return undefined;
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(GATHER_BYTES);
    this.#length = 0;
    return taken;
  }
}

/** Total length of the archive of these entries. */
export function archiveBytes(entries: Entries): number {
  return entries.contentBytes + entries.centralBytes + endOf(entries).length;
}

/**
 * Bytes `start` up to, not including, `end` of the archive of these entries.
 * @throws AppError content_missing | content_damaged where a content is not what its entry says
 */
export async function* archivePieces(
  entries: Entries,
  source: ContentSource,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const gatherer = new Gatherer();
  let sliceStartMs = performance.now();
  for await (const piece of rawPieces(entries, source, start, end)) {
    const isLarge = piece.length >= BUFFER_BYTES;
    if (!isLarge) gatherer.add(piece);
    if (!isLarge && !gatherer.isFull) continue;
    const gathered = gatherer.take();
    if (gathered !== undefined) yield gathered;
    if (isLarge) yield piece;
    if (performance.now() - sliceStartMs < SLICE_MS_MAX) continue;
    await new Promise(setImmediate);
    sliceStartMs = performance.now();
  }
  const rest = gatherer.take();
  if (rest !== undefined) yield rest;
}

async function* rawPieces(
  entries: Entries,
  source: ContentSource,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { contentBytes, centralBytes } = entries;
  if (start < Math.min(end, contentBytes)) {
    yield* entryPieces(entries, source, start, Math.min(end, contentBytes));
  }
  const directoryEnd = contentBytes + centralBytes;
  if (end > contentBytes && start < directoryEnd) {
    yield* directoryPieces(entries, Math.max(0, start - contentBytes), Math.min(end, directoryEnd) - contentBytes);
  }
  if (end > directoryEnd) yield endOf(entries).subarray(Math.max(0, start - directoryEnd), end - directoryEnd);
}

/** Local headers and contents. */
async function* entryPieces(entries: Entries, source: ContentSource, start: number, end: number) {
  for (let number = entries.at(start); number < entries.count; number++) {
    const entry = entries.get(number);
    if (entry.offset >= end) return;
    const header = localHeader(entry);
    const contentOffset = entry.offset + header.length;
    if (start < contentOffset) yield header.subarray(Math.max(0, start - entry.offset), end - entry.offset);
    const from = Math.max(0, start - contentOffset);
    const to = Math.min(entry.sizeBytes, end - contentOffset);
    if (from < to) yield* contentPieces(entries, number, source, from, to);
  }
}

/** A file's content from one place to another. What is sent whole is compared with its CRC before its last byte goes. */
async function* contentPieces(entries: Entries, number: number, source: ContentSource, from: number, to: number) {
  const { sizeBytes, crc32: wanted } = entries.get(number);
  const lengthBytes = to - from;
  const opening = source.open({ digest: entries.digest(number), sizeBytes, offset: from, lengthBytes });
  const opened = opening instanceof Promise ? await opening : opening;
  const isWhole = lengthBytes === sizeBytes;
  let crc = 0;
  let sent = 0;
  for await (const piece of opened instanceof Uint8Array ? [opened] : opened) {
    sent += piece.length;
    if (isWhole) crc = crc32(piece, crc);
    if (sent > lengthBytes || (isWhole && sent === sizeBytes && crc !== wanted)) throw damaged();
    yield piece;
  }
  if (sent !== lengthBytes) throw damaged();
}

function* directoryPieces(entries: Entries, start: number, end: number): Generator<Uint8Array, void, undefined> {
  let at = 0;
  for (let number = 0; number < entries.count && at < end; number++) {
    // Passing over a million records takes some ten milliseconds; making them would take a second.
    const length = entries.centralLength(number);
    if (at + length > start) {
      const header = centralHeader(entries.get(number));
      invariant(header.length === length, "a record of the directory is as long as was planned");
      yield header.subarray(Math.max(0, start - at), end - at);
    }
    at += length;
  }
}

function endOf(entries: Entries): Buffer {
  return endRecords(entries.count, entries.contentBytes, entries.centralBytes);
}

function damaged(): AppError {
  return new AppError(
    "content_damaged",
    "A file in this archive is damaged: its checksum does not match. Ask your administrator to restore it.",
  );
}
