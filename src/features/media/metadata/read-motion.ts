/**
 * Reads what makes a photo a live one: the identifier that it shares with its video (Apple), or the video inside the file
 * itself (Motion Photo format 1.0 of Android, its predecessor MicroVideo, and Samsung's trailer).
 */
import type { FileHandle } from "node:fs/promises";
import type { LiveParts } from "./types.ts";

const APPLE_NOTE = Buffer.from("Apple iOS\0\0\x01MM", "latin1");
/** The tag of the content identifier in Apple's maker note. */
const CONTENT_ID_TAG = 0x11;
const ASCII = 2;
const TAGS_MAX = 500;
/** The type of the video in Samsung's trailer. */
const SAMSUNG_VIDEO = 0x0a30;
const SAMSUNG_TRAILER_MAX = 64 * 1024;
const XMP_MAX = 64 * 1024;

/** @param head the beginning of the file, with its metadata */
export async function readLiveParts(file: FileHandle, sizeBytes: number, head: Buffer): Promise<LiveParts> {
  const start = startFromXmp(head, sizeBytes) ?? (await startFromSamsung(file, sizeBytes));
  const isVideo = start !== undefined && (await isMovieAt(file, start.offset));
  return {
    contentId: contentIdOf(head) ?? null,
    motion: isVideo ? start : null,
  };
}

interface Part {
  readonly offset: number;
  readonly bytes: number;
}

/** The identifier in Apple's maker note: a small directory of its own, with offsets from its start. */
function contentIdOf(head: Buffer): string | undefined {
  const start = head.indexOf(APPLE_NOTE);
  if (start === -1) return undefined;
  const note = head.subarray(start);
  const entries = APPLE_NOTE.length + 2;
  if (note.length < entries) return undefined;
  const count = Math.min(note.readUInt16BE(APPLE_NOTE.length), TAGS_MAX);
  for (let at = entries; at < entries + count * 12 && at + 12 <= note.length; at += 12) {
    if (note.readUInt16BE(at) !== CONTENT_ID_TAG || note.readUInt16BE(at + 2) !== ASCII) continue;
    const [length, offset] = [note.readUInt32BE(at + 4), note.readUInt32BE(at + 8)];
    return readContentId(note.toString("latin1", offset, offset + Math.min(length, 100)));
  }
  return undefined;
}

/** An identifier as Apple writes it, a UUID; undefined for anything else. */
export function readContentId(text: string): string | undefined {
  return /^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/i.exec(text)?.[0].toUpperCase();
}

/** The video is at the end of the file. XMP says how long it is, in an attribute or an element. */
function startFromXmp(head: Buffer, sizeBytes: number): Part | undefined {
  const from = head.indexOf("<x:xmpmeta");
  if (from === -1) return undefined;
  const end = head.indexOf("</x:xmpmeta>", from);
  const xmp = head.toString("latin1", from, end === -1 ? from + XMP_MAX : end);
  const item = /<[\w:]*Item\b[^>]*Semantic="MotionPhoto"[^>]*>/.exec(xmp)?.[0];
  const length =
    /Length="(\d{1,15})"/.exec(item ?? "")?.[1] ?? /MicroVideoOffset(?:="|>)(\d{1,15})/.exec(xmp)?.[1] ?? "0";
  const bytes = Number(length);
  return bytes > 0 && bytes < sizeBytes ? { offset: sizeBytes - bytes, bytes } : undefined;
}

/** Samsung's trailer: entries, a directory of them ("SEFH"), its length, and "SEFT". */
async function startFromSamsung(file: FileHandle, sizeBytes: number): Promise<Part | undefined> {
  const end = await readAt(file, sizeBytes - 8, 8);
  if (end?.toString("latin1", 4) !== "SEFT") return undefined;
  const length = end.readUInt32LE(0);
  const start = sizeBytes - 8 - length;
  if (length > SAMSUNG_TRAILER_MAX || length < 12) return undefined;
  const directory = await readAt(file, start, length);
  if (directory?.toString("latin1", 0, 4) !== "SEFH") return undefined;
  for (let at = 12; at + 12 <= directory.length; at += 12) {
    if (directory.readUInt16LE(at + 2) !== SAMSUNG_VIDEO) continue;
    const [before, bytes] = [directory.readUInt32LE(at + 4), directory.readUInt32LE(at + 8)];
    const entry = await readAt(file, start - before, 8);
    if (entry === undefined) return undefined;
    // Each entry begins with its type, the length of its name, and the name.
    const header = 8 + entry.readUInt32LE(4);
    // An entry ends before the directory.
    return header < bytes && bytes <= before ? { offset: start - before + header, bytes: bytes - header } : undefined;
  }
  return undefined;
}

async function isMovieAt(file: FileHandle, offset: number): Promise<boolean> {
  return (await readAt(file, offset, 8))?.toString("latin1", 4) === "ftyp";
}

/** Undefined if the file does not have these bytes. */
async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer | undefined> {
  if (offset < 0) return undefined;
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}
