/**
 * Reads size, duration, time and place from the header of an ISO or QuickTime video (ISO 14496-12, QuickTime File
 * Format). Only the box `moov` is read, at any position, up to a size limit.
 */
import type { FileHandle } from "node:fs/promises";
import { readContentId } from "./read-motion.ts";

/** Metadata of a video; null for what it does not contain. */
export interface Movie {
  readonly width: number | null;
  readonly height: number | null;
  readonly durationMs: number | null;
  readonly takenAt: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** The identifier that the video of a Live Photo shares with its photo (Apple). */
  readonly contentId: string | null;
}

/** The header of a one-hour video has about a megabyte. */
const HEAD_BYTES_MAX = 16 * 1024 * 1024;
const BOXES_MAX = 4_096;
/** 1904-01-01 to 1970-01-01: QuickTime's clock. */
const EPOCH_SECONDS = 2_082_844_800;

/** Undefined if the file has no readable header. */
export async function readMovie(file: FileHandle, sizeBytes: number): Promise<Movie | undefined> {
  const head = await readHead(file, sizeBytes);
  if (head === undefined) return undefined;
  let size = { width: 0, height: 0 };
  let mvhd: Buffer | undefined;
  let contentId: string | null = null;
  for (const box of boxesIn(head)) {
    if (box.type === "mvhd") mvhd = box.body;
    if (box.type === "meta") contentId = contentIdOf(box.body) ?? contentId;
    if (box.type !== "trak") continue;
    for (const inner of boxesIn(box.body)) {
      if (inner.type !== "tkhd") continue;
      const track = sizeOf(inner.body);
      if (track.width * track.height > size.width * size.height) size = track;
    }
  }
  const text = head.toString("latin1");
  const position = /([+-]\d{1,2}\.\d{2,8})([+-]\d{1,3}\.\d{2,8})(?:[+-]\d|\/)/.exec(text);
  const local = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}/.exec(text)?.[0];
  return {
    width: size.width > 0 ? size.width : null,
    height: size.height > 0 ? size.height : null,
    ...readClock(mvhd, local),
    latitude: position?.[1] === undefined ? null : Number(position[1]),
    longitude: position?.[2] === undefined ? null : Number(position[2]),
    contentId,
  };
}

/** The content of `moov`. */
async function readHead(file: FileHandle, sizeBytes: number): Promise<Buffer | undefined> {
  const header = Buffer.alloc(16);
  for (let at = 0, count = 0; at + 8 <= sizeBytes && count < BOXES_MAX; count++) {
    const { bytesRead } = await file.read(header, 0, 16, at);
    if (bytesRead < 8) return undefined;
    const short = header.readUInt32BE(0);
    const isLong = short === 1 && bytesRead === 16;
    const length = isLong ? Number(header.readBigUInt64BE(8)) : short === 0 ? sizeBytes - at : short;
    const start = isLong ? 16 : 8;
    if (length < start) return undefined;
    if (header.toString("latin1", 4, 8) === "moov") {
      const body = Buffer.alloc(Math.min(length - start, sizeBytes - at - start, HEAD_BYTES_MAX));
      const read = await file.read(body, 0, body.length, at + start);
      return body.subarray(0, read.bytesRead);
    }
    at += length;
  }
  return undefined;
}

function* boxesIn(body: Buffer): Generator<{ type: string; body: Buffer }> {
  for (let at = 0, count = 0; at + 8 <= body.length && count < BOXES_MAX; count++) {
    const length = body.readUInt32BE(at);
    if (length < 8) return;
    yield { type: body.toString("latin1", at + 4, at + 8), body: body.subarray(at + 8, at + length) };
    at += length;
  }
}

/** The content identifier in the metadata of QuickTime: names of keys, then values by the number of their key. */
function contentIdOf(meta: Buffer): string | undefined {
  const boxes = [...boxesIn(meta)];
  const keys = boxes.find(({ type }) => type === "keys")?.body;
  const values = boxes.find(({ type }) => type === "ilst")?.body;
  if (keys === undefined || values === undefined) return undefined;
  const names = [...boxesIn(keys.subarray(8))].map(({ body }) => body.toString("latin1"));
  const number = names.indexOf("com.apple.quicktime.content.identifier") + 1;
  for (const { type, body } of boxesIn(values)) {
    const isIdentifier = number > 0 && Buffer.from(type, "latin1").readUInt32BE(0) === number;
    // A box of its own, which begins with the kind and the language of the text.
    if (isIdentifier) return readContentId(body.toString("latin1", 16));
  }
  return undefined;
}

/** Width and height of a track, rotated according to its matrix. */
function sizeOf(tkhd: Buffer): { width: number; height: number } {
  const start = tkhd[0] === 1 ? 52 : 40;
  if (tkhd.length < start + 44) return { width: 0, height: 0 };
  const width = Math.round(tkhd.readUInt32BE(start + 36) / 65_536);
  const height = Math.round(tkhd.readUInt32BE(start + 40) / 65_536);
  const isTurned = tkhd.readInt32BE(start) === 0 && tkhd.readInt32BE(start + 4) !== 0;
  return isTurned ? { width: height, height: width } : { width, height };
}

/** @param local the time with its offset that phones write in addition; it takes precedence */
function readClock(mvhd: Buffer | undefined, local: string | undefined): Pick<Movie, "durationMs" | "takenAt"> {
  const written = local === undefined ? undefined : `${local.slice(0, -2)}:${local.slice(-2)}`;
  const takenAt = written !== undefined && !Number.isNaN(Date.parse(written)) ? written : null;
  const isLong = mvhd?.[0] === 1;
  if (mvhd === undefined || mvhd.length < (isLong ? 32 : 20)) return { durationMs: null, takenAt };
  const created = isLong ? Number(mvhd.readBigUInt64BE(4)) : mvhd.readUInt32BE(4);
  const scale = mvhd.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(mvhd.readBigUInt64BE(24)) : mvhd.readUInt32BE(16);
  const seconds = created - EPOCH_SECONDS;
  // Before 1990 there were no such files: the clock was never set.
  const isSet = seconds > 631_152_000 && seconds < 4_102_444_800;
  const durationMs = scale === 0 || duration === 0 ? null : Math.round((duration / scale) * 1000);
  return {
    durationMs: durationMs !== null && durationMs < Number.MAX_SAFE_INTEGER ? durationMs : null,
    takenAt: takenAt ?? (isSet ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z") : null),
  };
}
