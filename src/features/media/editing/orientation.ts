/**
 * Rotates a picture by its orientation tag alone. No pixel changes, and nothing is lost: JPEG and TIFF have the tag of
 * Exif, HEIC and AVIF a property of the container. The result is described as parts of the old file and new bytes, so
 * that a large file is copied as a stream.
 */

/** Degrees clockwise. */
export type Quarter = 90 | 180 | 270;

/** A part of the new file: bytes of the old file, or new ones. */
export type FilePart = { readonly from: number; readonly lengthBytes: number } | { readonly bytes: Uint8Array };

/** Reads a range of the old file; shorter at its end. */
export type ReadRange = (offset: number, lengthBytes: number) => Promise<Buffer>;

/** Segments before the image data, and the `meta` box, are smaller in real photos. */
const HEAD_BYTES_MAX = 4 * 1024 * 1024;
const SEGMENTS_MAX = 1_000;

/**
 * The parts of the rotated file; undefined if the file has no orientation that could be changed.
 * @param mediaType lower-case, without parameters
 */
export async function rotateByTag(
  read: ReadRange,
  sizeBytes: number,
  mediaType: string,
  quarter: Quarter,
): Promise<FilePart[] | undefined> {
  const whole: OldFile = { read, sizeBytes };
  if (mediaType === "image/jpeg") return rotateJpeg(whole, quarter);
  if (mediaType === "image/tiff") return rotateTiff(whole, quarter);
  if (/^image\/(heic|heif|avif)$/.test(mediaType)) return rotateHeif(whole, quarter);
  return undefined;
}

interface OldFile {
  readonly read: ReadRange;
  readonly sizeBytes: number;
}

// ---- JPEG (ITU-T T.81, Annex B; CIPA DC-008 §4.5.4) ----

const EXIF_MARK = Buffer.from("Exif\0\0", "latin1");
const SEGMENT_BYTES_MAX = 65_535;

async function rotateJpeg(file: OldFile, quarter: Quarter): Promise<FilePart[] | undefined> {
  const head = await file.read(0, Math.min(file.sizeBytes, HEAD_BYTES_MAX));
  if (head[0] !== 0xff || head[1] !== 0xd8) return undefined;
  /** After the start and the JFIF segment, which comes first if it is there (JFIF 1.02). */
  let insertAt = 2;
  for (let at = 2, count = 0; count < SEGMENTS_MAX && at + 4 <= head.length; count++) {
    if (head[at] !== 0xff) return undefined;
    const marker = head[at + 1] ?? 0;
    const end = at + 2 + head.readUInt16BE(at + 2);
    if (marker === 0xe1 && head.subarray(at + 4, at + 10).equals(EXIF_MARK)) {
      if (end > head.length) return undefined;
      const tiff = withOrientation(head.subarray(at + 10, end), quarter);
      return tiff && replaced(file, at, end, exifSegment(tiff));
    }
    // Start of scan: the metadata has ended. Without Exif, the picture is shown as it is stored.
    if (marker === 0xda) return replaced(file, insertAt, insertAt, exifSegment(newExif(ROTATED[quarter][1] ?? 1)));
    if (marker === 0xe0) insertAt = end;
    at = end;
  }
  return undefined;
}

function exifSegment(tiff: Uint8Array): Uint8Array | undefined {
  const lengthBytes = 2 + EXIF_MARK.length + tiff.length;
  if (lengthBytes > SEGMENT_BYTES_MAX) return undefined;
  return Buffer.concat([Buffer.from([0xff, 0xe1, lengthBytes >> 8, lengthBytes & 0xff]), EXIF_MARK, tiff]);
}

function replaced(file: OldFile, start: number, end: number, bytes: Uint8Array | undefined): FilePart[] | undefined {
  if (bytes === undefined) return undefined;
  return [{ from: 0, lengthBytes: start }, { bytes }, { from: end, lengthBytes: file.sizeBytes - end }];
}

// ---- TIFF and Exif (TIFF 6.0 §2; CIPA DC-008 §4.6) ----

const ORIENTATION = 0x0112;
const SHORT = 3;
const ENTRY_BYTES = 12;
const ENTRIES_MAX = 1_000;

/**
 * Orientation values after a rotation, by the value before. 1 to 8: upright, mirrored, upside down, flipped, and the
 * four with exchanged sides.
 */
const ROTATED: Readonly<Record<Quarter, readonly number[]>> = {
  90: [1, 6, 7, 8, 5, 2, 3, 4, 1],
  180: [1, 3, 4, 1, 2, 7, 8, 5, 6],
  270: [1, 8, 5, 6, 7, 4, 1, 2, 3],
};

interface TiffHeader {
  readonly isLittle: boolean;
  /** The position of the first directory. */
  readonly directoryAt: number;
}

async function rotateTiff(file: OldFile, quarter: Quarter): Promise<FilePart[] | undefined> {
  const header = readTiffHeader(await file.read(0, 8));
  if (header === undefined) return undefined;
  const { isLittle, directoryAt } = header;
  const directory = await file.read(directoryAt, 2 + ENTRIES_MAX * ENTRY_BYTES + 4);
  const entryAt = findEntry(directory, 0, isLittle);
  if (entryAt === undefined) return undefined;
  if (entryAt >= 0) {
    const value = Buffer.alloc(2);
    const rotated = ROTATED[quarter][readShort(directory, entryAt + 8, isLittle)] ?? ROTATED[quarter][1] ?? 1;
    writeShort(value, 0, rotated, isLittle);
    return replaced(file, directoryAt + entryAt + 8, directoryAt + entryAt + 10, value);
  }
  // A new directory at the end, with one more entry. Offsets of values are positions in the file, so they stay right.
  const start = file.sizeBytes + (file.sizeBytes % 2);
  if (start + directory.length > 0xffff_ffff) return undefined;
  const offset = Buffer.alloc(4);
  writeLong(offset, 0, start, isLittle);
  return [
    { from: 0, lengthBytes: 4 },
    { bytes: offset },
    { from: 8, lengthBytes: file.sizeBytes - 8 },
    { bytes: Buffer.alloc(start - file.sizeBytes) },
    { bytes: directoryWith(directory, 0, ROTATED[quarter][1] ?? 1, isLittle) },
  ];
}

/** Exif data with a rotated orientation. The tag is added if it is missing. */
function withOrientation(old: Uint8Array, quarter: Quarter): Uint8Array | undefined {
  const tiff = Buffer.from(old);
  const header = readTiffHeader(tiff);
  if (header === undefined) return undefined;
  const { isLittle, directoryAt } = header;
  const entryAt = findEntry(tiff, directoryAt, isLittle);
  if (entryAt === undefined) return undefined;
  if (entryAt >= 0) {
    const rotated = ROTATED[quarter][readShort(tiff, entryAt + 8, isLittle)] ?? ROTATED[quarter][1] ?? 1;
    writeShort(tiff, entryAt + 8, rotated, isLittle);
    return tiff;
  }
  const start = tiff.length + (tiff.length % 2);
  const directory = directoryWith(tiff, directoryAt, ROTATED[quarter][1] ?? 1, isLittle);
  writeLong(tiff, 4, start, isLittle);
  return Buffer.concat([tiff, Buffer.alloc(start - tiff.length), directory]);
}

function readTiffHeader(tiff: Buffer): TiffHeader | undefined {
  if (tiff.length < 8) return undefined;
  const order = tiff.toString("latin1", 0, 2);
  const isLittle = order === "II";
  if ((order !== "II" && order !== "MM") || readShort(tiff, 2, isLittle) !== 42) return undefined;
  const directoryAt = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  return directoryAt >= 8 ? { isLittle, directoryAt } : undefined;
}

/** The position of the orientation in a directory; -1 if it has none, undefined if the directory is damaged. */
function findEntry(buffer: Buffer, directoryAt: number, isLittle: boolean): number | undefined {
  if (directoryAt + 2 > buffer.length) return undefined;
  const count = readShort(buffer, directoryAt, isLittle);
  if (count > ENTRIES_MAX || directoryAt + 2 + count * ENTRY_BYTES + 4 > buffer.length) return undefined;
  for (let index = 0; index < count; index++) {
    const at = directoryAt + 2 + index * ENTRY_BYTES;
    if (readShort(buffer, at, isLittle) !== ORIENTATION) continue;
    return readShort(buffer, at + 2, isLittle) === SHORT ? at : undefined;
  }
  return -1;
}

/** A copy of a directory with an orientation, at its place in the order of the tags. */
function directoryWith(buffer: Buffer, directoryAt: number, orientation: number, isLittle: boolean): Buffer {
  const count = readShort(buffer, directoryAt, isLittle);
  const entries = Array.from({ length: count }, (_, index) => {
    const at = directoryAt + 2 + index * ENTRY_BYTES;
    return buffer.subarray(at, at + ENTRY_BYTES);
  });
  const entry = Buffer.alloc(ENTRY_BYTES);
  writeShort(entry, 0, ORIENTATION, isLittle);
  writeShort(entry, 2, SHORT, isLittle);
  writeLong(entry, 4, 1, isLittle);
  writeShort(entry, 8, orientation, isLittle);
  const after = entries.findIndex((known) => readShort(known, 0, isLittle) > ORIENTATION);
  entries.splice(after < 0 ? entries.length : after, 0, entry);
  const size = Buffer.alloc(2);
  writeShort(size, 0, entries.length, isLittle);
  const nextAt = directoryAt + 2 + count * ENTRY_BYTES;
  return Buffer.concat([size, ...entries, buffer.subarray(nextAt, nextAt + 4)]);
}

/** Exif data with an orientation and nothing else. */
function newExif(orientation: number): Buffer {
  const header = Buffer.from("MM\0\x2a\0\0\0\x08", "latin1");
  return Buffer.concat([header, directoryWith(Buffer.alloc(6), 0, orientation, false)]);
}

function readShort(buffer: Buffer, at: number, isLittle: boolean): number {
  return isLittle ? buffer.readUInt16LE(at) : buffer.readUInt16BE(at);
}

function writeShort(buffer: Buffer, at: number, value: number, isLittle: boolean): void {
  if (isLittle) buffer.writeUInt16LE(value, at);
  else buffer.writeUInt16BE(value, at);
}

function writeLong(buffer: Buffer, at: number, value: number, isLittle: boolean): void {
  if (isLittle) buffer.writeUInt32LE(value, at);
  else buffer.writeUInt32BE(value, at);
}

// ---- HEIF (ISO/IEC 23008-12 §6.5.10: `irot`, in ISO/IEC 14496-12 boxes) ----

interface Box {
  readonly type: string;
  /** Positions in the buffer. */
  readonly bodyAt: number;
  readonly end: number;
}

/** Turns every rotation property: the picture, its thumbnails and its depth map are rotated by the same amount. */
async function rotateHeif(file: OldFile, quarter: Quarter): Promise<FilePart[] | undefined> {
  const head = await file.read(0, Math.min(file.sizeBytes, HEAD_BYTES_MAX));
  const meta = boxesOf(head, 0, head.length).find(({ type }) => type === "meta");
  if (meta === undefined || meta.end > head.length) return undefined;
  const iprp = boxesOf(head, meta.bodyAt + 4, meta.end).find(({ type }) => type === "iprp");
  const ipco = iprp && boxesOf(head, iprp.bodyAt, iprp.end).find(({ type }) => type === "ipco");
  const properties = ipco === undefined ? [] : boxesOf(head, ipco.bodyAt, ipco.end);
  const rotations = properties.filter(({ type }) => type === "irot");
  // A mirror that follows the rotation would reverse its direction.
  if (rotations.length === 0 || properties.some(({ type }) => type === "imir")) return undefined;
  const parts: FilePart[] = [];
  let at = 0;
  for (const { bodyAt } of rotations) {
    // The angle counts quarters anticlockwise.
    const angle = ((head[bodyAt] ?? 0) + 4 - quarter / 90) % 4;
    parts.push({ from: at, lengthBytes: bodyAt - at }, { bytes: Uint8Array.of(angle) });
    at = bodyAt + 1;
  }
  return [...parts, { from: at, lengthBytes: file.sizeBytes - at }];
}

function boxesOf(buffer: Buffer, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  // A damaged box may claim to be longer than the one around it.
  const last = Math.min(end, buffer.length);
  for (let at = start; at + 8 <= last && boxes.length < SEGMENTS_MAX; ) {
    const size = buffer.readUInt32BE(at);
    // Boxes with 64-bit sizes, and boxes up to the end of the file, hold media data.
    if (size < 8) break;
    boxes.push({ type: buffer.toString("latin1", at + 4, at + 8), bodyAt: at + 8, end: Math.min(at + size, end) });
    at += size;
  }
  return boxes;
}
