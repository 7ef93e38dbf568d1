/**
 * Removes camera metadata from photos: location, time, device, comments. Nothing is re-encoded. The segments of the
 * image stay unchanged, plus the orientation and the color profile. Only listed segments stay; everything unknown is
 * removed.
 */

/** The supported media types. */
const STRIPPERS = new Map([
  ["image/jpeg", stripJpeg],
  ["image/png", stripPng],
  ["image/apng", stripPng],
  ["image/webp", stripWebp],
]);

/** Whether a photo of this type can be sent without its metadata. @param mediaType lower-case, without parameters */
export function canStrip(mediaType: string): boolean {
  return STRIPPERS.has(mediaType);
}

/**
 * The parts of a photo without its metadata; undefined if it is of another type, or too damaged to be certain. The
 * parts are views of `bytes`.
 */
export function stripMetadata(bytes: Uint8Array, mediaType: string): Uint8Array[] | undefined {
  return STRIPPERS.get(mediaType)?.(bytes);
}

// ---- JPEG (ITU-T T.81, Annex B) ----

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
/** Tables, frames and scans, but no application segments (T.81 table B.1; 0xc8 is reserved). */
const isImageSegment = (marker: number) => marker >= 0xc0 && marker <= 0xdf && marker !== 0xc8;
/** A photo has a few dozen segments. Files with many more are rejected, because each costs time. */
const SEGMENTS_MAX = 10_000;

function stripJpeg(bytes: Uint8Array): Uint8Array[] | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) return undefined;
  const head: Uint8Array[] = [bytes.subarray(0, 2)];
  const rest: Uint8Array[] = [];
  /** The first orientation counts: readers ignore others. */
  let orientation: number | undefined;
  let hasPicture = false;
  let at = 2;
  for (let count = 0; ; count++) {
    if (bytes[at] !== 0xff || count > SEGMENTS_MAX) return undefined;
    while (bytes[at + 1] === 0xff) at++;
    const marker = bytes[at + 1];
    if (marker === undefined) return undefined;
    // Bytes after the end are another image (a larger preview, a video) with its own metadata.
    if (marker === EOI) {
      rest.push(bytes.subarray(at, at + 2));
      break;
    }
    if ((marker >= 0xd0 && marker <= 0xd7) || marker === 0x01) {
      rest.push(bytes.subarray(at, at + 2));
      at += 2;
      continue;
    }
    const length = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return undefined;
    const body = bytes.subarray(at + 4, end);
    if (marker === APP1 && hasAscii(body, "Exif\0\0")) orientation ??= readOrientation(body.subarray(6));
    const parts = keepSegment(marker, body, bytes.subarray(at, end));
    if (parts !== undefined) (marker === APP0 ? head : rest).push(parts);
    at = end;
    if (marker !== SOS) continue;
    hasPicture = true;
    const next = findMarker(bytes, at);
    rest.push(bytes.subarray(at, next));
    at = next;
    // A truncated photo is shown as far as possible.
    if (at >= bytes.length) break;
  }
  if (!hasPicture) return undefined;
  const orientationSegments = isUpright(orientation)
    ? []
    : [jpegSegment(APP1, Buffer.concat([EXIF_MARK, exifOf(orientation)]))];
  return [...head, ...orientationSegments, ...rest];
}

/** The part of a segment that stays: what decoding needs and the color profile, but no thumbnails. */
function keepSegment(marker: number, body: Uint8Array, whole: Uint8Array): Uint8Array | undefined {
  if (isImageSegment(marker)) return whole;
  if (marker === APP0 && hasAscii(body, "JFIF\0") && body.length >= 14) {
    // Without its thumbnail, which may show another photo.
    return jpegSegment(APP0, Buffer.concat([body.subarray(0, 12), Buffer.alloc(2)]));
  }
  if (marker === APP2 && hasAscii(body, "ICC_PROFILE\0")) return whole;
  if (marker === APP14 && hasAscii(body, "Adobe")) return whole;
  return undefined;
}

function jpegSegment(marker: number, body: Uint8Array): Uint8Array {
  const length = body.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), body]);
}

/** The next marker after coded data: 0xff that is neither stuffed, nor filled, nor a restart. */
function findMarker(bytes: Uint8Array, from: number): number {
  // Byte by byte: in a file filled with 0xff, a search that stops at each of them would take a second.
  for (let at = from; at < bytes.length - 1; at++) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

// ---- PNG (third edition, §5.3, §11) ----

/** Enough for 32 MiB in chunks of 2 KiB; encoders write chunks of 8 KiB and more. */
const CHUNKS_MAX = 16_384;
const PNG_SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const PNG_CHUNKS = new Set(
  "IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT acTL fcTL fdAT".split(" "),
);

function stripPng(bytes: Uint8Array): Uint8Array[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  const parts: Uint8Array[] = [buffer.subarray(0, 8)];
  let orientation: number | undefined;
  /** The orientation is inserted before the image data. */
  let insertAt = 0;
  for (let at = 8, count = 0; at + 12 <= buffer.length; count++) {
    const length = buffer.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > buffer.length || count > CHUNKS_MAX) return undefined;
    const name = buffer.toString("latin1", at + 4, at + 8);
    if (name === "eXIf") orientation ??= readOrientation(buffer.subarray(at + 8, end - 4));
    if (name === "IHDR") insertAt = parts.length + 1;
    if (PNG_CHUNKS.has(name)) parts.push(buffer.subarray(at, end));
    at = end;
    if (name !== "IEND") continue;
    if (insertAt === 0) return undefined;
    if (!isUpright(orientation)) parts.splice(insertAt, 0, pngChunk("eXIf", exifOf(orientation)));
    return parts;
  }
  return undefined;
}

function pngChunk(name: string, body: Uint8Array): Uint8Array {
  const chunk = Buffer.alloc(body.length + 12);
  chunk.writeUInt32BE(body.length, 0);
  chunk.write(name, 4, "latin1");
  chunk.set(body, 8);
  chunk.writeUInt32BE(Bun.hash.crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

// ---- WebP (RFC 9649 §2) ----

const WEBP_CHUNKS = new Set(["VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH", "ICCP"]);
const HAS_XMP = 0x04;
const HAS_EXIF = 0x08;

function stripWebp(bytes: Uint8Array): Uint8Array[] | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!hasAscii(buffer, "RIFF") || !hasAscii(buffer.subarray(8), "WEBP") || buffer.length < 20) return undefined;
  const parts: Buffer[] = [];
  let orientation: number | undefined;
  const riffEnd = Math.min(buffer.length, buffer.readUInt32LE(4) + 8);
  for (let at = 12, count = 0; at + 8 <= riffEnd; count++) {
    const name = buffer.toString("latin1", at, at + 4);
    const length = buffer.readUInt32LE(at + 4);
    const end = at + 8 + length + (length & 1);
    if (at + 8 + length > riffEnd || count > CHUNKS_MAX) return undefined;
    if (name === "ANMF" && !isPlainFrame(buffer.subarray(at + 8, at + 8 + length))) return undefined;
    if (name === "EXIF") orientation ??= readWebpOrientation(buffer.subarray(at + 8, at + 8 + length));
    if (WEBP_CHUNKS.has(name)) parts.push(padToEven(buffer.subarray(at, Math.min(end, riffEnd)), 8 + length));
    at = end;
  }
  const [first] = parts;
  if (first === undefined) return undefined;
  if (first.toString("latin1", 0, 4) === "VP8X") {
    const extended = Buffer.from(first);
    extended[8] = ((extended[8] ?? 0) & ~(HAS_XMP | HAS_EXIF)) | (isUpright(orientation) ? 0 : HAS_EXIF);
    parts[0] = extended;
    if (!isUpright(orientation)) parts.push(riffChunk("EXIF", exifOf(orientation)));
  }
  const header = Buffer.from(buffer.subarray(0, 12));
  header.writeUInt32LE(4 + parts.reduce((sum, { length }) => sum + length, 0), 4);
  return [header, ...parts];
}

const FRAME_HEAD_BYTES = 16;
const FRAME_CHUNKS = new Set(["VP8 ", "VP8L", "ALPH"]);

/** Whether a frame of an animation contains only its image. */
function isPlainFrame(frame: Buffer): boolean {
  for (let at = FRAME_HEAD_BYTES; at + 8 <= frame.length; ) {
    if (!FRAME_CHUNKS.has(frame.toString("latin1", at, at + 4))) return false;
    const length = frame.readUInt32LE(at + 4);
    at += 8 + length + (length & 1);
  }
  return true;
}

/** Some encoders put the marker of JPEG before the Exif data. */
function readWebpOrientation(body: Uint8Array): number | undefined {
  return readOrientation(hasAscii(body, "Exif\0\0") ? body.subarray(6) : body);
}

function riffChunk(name: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0, "latin1");
  head.writeUInt32LE(body.length, 4);
  return padToEven(Buffer.concat([head, body]), 8 + body.length);
}

/** A chunk of even length; its padding byte may be missing at the end of a file, or contain data. */
function padToEven(chunk: Buffer, lengthBytes: number): Buffer {
  return lengthBytes % 2 === 0 ? chunk : Buffer.concat([chunk.subarray(0, lengthBytes), Buffer.alloc(1)]);
}

// ---- Exif (CIPA DC-008 §4.5, §4.6): only the orientation ----

const ORIENTATION = 0x0112;
const SHORT = 3;
const EXIF_MARK = Buffer.from("Exif\0\0", "latin1");

/** @param tiff from the byte order mark on */
function readOrientation(tiff: Uint8Array): number | undefined {
  const buffer = Buffer.from(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  if (buffer.length < 14) return undefined;
  const order = buffer.toString("latin1", 0, 2);
  if (order !== "II" && order !== "MM") return undefined;
  const isLittle = order === "II";
  const short = (at: number) => (isLittle ? buffer.readUInt16LE(at) : buffer.readUInt16BE(at));
  const start = isLittle ? buffer.readUInt32LE(4) : buffer.readUInt32BE(4);
  if (start + 2 > buffer.length) return undefined;
  const count = short(start);
  for (let index = 0; index < count; index++) {
    const at = start + 2 + index * 12;
    if (at + 12 > buffer.length) return undefined;
    if (short(at) !== ORIENTATION || short(at + 2) !== SHORT) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

function isUpright(orientation: number | undefined): orientation is undefined | 1 {
  return orientation === undefined || orientation === 1;
}

/** Exif data with one entry. */
function exifOf(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM", 0, "latin1");
  tiff.writeUInt16BE(42, 2);
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(ORIENTATION, 10);
  tiff.writeUInt16BE(SHORT, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}

function hasAscii(bytes: Uint8Array, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
