/**
 * The records of a ZIP (APPNOTE 6.3.10) with stored entries. All lengths follow from names and sizes, so every byte
 * position is known before any file is read. No library offers ranges of such archives, so this one is our own. Names
 * are UTF-8 (flag 11). Times are in an extended timestamp in addition to the DOS one. CRCs are known in advance, so no
 * data descriptor is needed. Zip64 fields are used only for numbers that do not fit.
 */

/** The data in the records of an entry. */
export interface ZipEntry {
  /** UTF-8, `/`-separated; folders end with a slash. */
  readonly path: Uint8Array;
  readonly isFolder: boolean;
  /** 0 for folders. */
  readonly sizeBytes: number;
  readonly crc32: number;
  /** Seconds since 1970 UTC; within 32 bits, signed. */
  readonly modifiedSeconds: number;
  /** Offset of its local header. */
  readonly offset: number;
}

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const TIMESTAMP_BYTES = 9;
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;
const VERSION_ZIP64 = 45;
const VERSION_PLAIN = 20;
/** Made by Unix: the upper half of the external attributes contains permission bits. */
const MADE_BY = (3 << 8) | VERSION_ZIP64;
const FLAG_UTF8 = 1 << 11;
/** rw-r--r--: the tree does not record the executable bit. */
const FILE_MODE = 0o100_644;
const FOLDER_MODE = 0o040_755;
const DOS_FOLDER = 0x10;

/** Whether a size or offset does not fit into 32 bits. All ones mean "see the Zip64 field". */
function isLarge(number: number): boolean {
  return number >= MAX_32;
}

/** Length of an entry's local header. */
export function localHeaderLength(pathBytes: number, sizeBytes: number): number {
  return LOCAL_BYTES + pathBytes + TIMESTAMP_BYTES + (isLarge(sizeBytes) ? 20 : 0);
}

/** Length of an entry's record in the directory at the end. */
export function centralHeaderLength(pathBytes: number, sizeBytes: number, offset: number): number {
  const wide = (isLarge(sizeBytes) ? 16 : 0) + (isLarge(offset) ? 8 : 0);
  return CENTRAL_BYTES + pathBytes + TIMESTAMP_BYTES + (wide > 0 ? 4 + wide : 0);
}

/** The header before an entry's content (APPNOTE 4.3.7). */
export function localHeader(entry: ZipEntry): Buffer {
  const { path, sizeBytes } = entry;
  const isWide = isLarge(sizeBytes);
  const header = Buffer.allocUnsafe(localHeaderLength(path.length, sizeBytes));
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(isWide ? VERSION_ZIP64 : VERSION_PLAIN, 4);
  writeCommon(header, 6, entry, header.length - LOCAL_BYTES - path.length);
  header.set(path, LOCAL_BYTES);
  let at = writeTimestamp(header, LOCAL_BYTES + path.length, entry.modifiedSeconds);
  if (isWide) {
    at = writeZip64Head(header, at, 16);
    at = writeUint64(header, at, sizeBytes);
    writeUint64(header, at, sizeBytes);
  }
  return header;
}

/** An entry's record in the directory at the end (APPNOTE 4.3.12). */
export function centralHeader(entry: ZipEntry): Buffer {
  const { path, sizeBytes, offset, isFolder } = entry;
  const isWide = isLarge(sizeBytes);
  const isFar = isLarge(offset);
  const header = Buffer.allocUnsafe(centralHeaderLength(path.length, sizeBytes, offset));
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE(MADE_BY, 4);
  header.writeUInt16LE(isWide || isFar ? VERSION_ZIP64 : VERSION_PLAIN, 6);
  writeCommon(header, 8, entry, header.length - CENTRAL_BYTES - path.length);
  // No comment, first disk, no internal attributes.
  header.fill(0, 32, 38);
  const attributes = isFolder ? FOLDER_MODE * 0x1_0000 + DOS_FOLDER : FILE_MODE * 0x1_0000;
  header.writeUInt32LE(attributes, 38);
  header.writeUInt32LE(isFar ? MAX_32 : offset, 42);
  header.set(path, CENTRAL_BYTES);
  let at = writeTimestamp(header, CENTRAL_BYTES + path.length, entry.modifiedSeconds);
  if (isWide || isFar) at = writeZip64Head(header, at, (isWide ? 16 : 0) + (isFar ? 8 : 0));
  if (isWide) {
    at = writeUint64(header, at, sizeBytes);
    at = writeUint64(header, at, sizeBytes);
  }
  if (isFar) writeUint64(header, at, offset);
  return header;
}

/** The records after the directory (APPNOTE 4.3.14 to 4.3.16). */
export function endRecords(entries: number, centralOffset: number, centralBytes: number): Buffer {
  const isZip64 = entries >= MAX_16 || isLarge(centralOffset) || isLarge(centralBytes);
  const records = Buffer.alloc(isZip64 ? 56 + 20 + 22 : 22);
  let at = 0;
  if (isZip64) {
    records.writeUInt32LE(0x0606_4b50, 0);
    writeUint64(records, 4, 56 - 12);
    records.writeUInt16LE(MADE_BY, 12);
    records.writeUInt16LE(VERSION_ZIP64, 14);
    // Both disk numbers are 0.
    writeUint64(records, 24, entries);
    writeUint64(records, 32, entries);
    writeUint64(records, 40, centralBytes);
    writeUint64(records, 48, centralOffset);
    records.writeUInt32LE(0x0706_4b50, 56);
    writeUint64(records, 64, centralOffset + centralBytes);
    records.writeUInt32LE(1, 72);
    at = 76;
  }
  records.writeUInt32LE(0x0605_4b50, at);
  records.writeUInt16LE(Math.min(entries, MAX_16), at + 8);
  records.writeUInt16LE(Math.min(entries, MAX_16), at + 10);
  records.writeUInt32LE(Math.min(centralBytes, MAX_32), at + 12);
  records.writeUInt32LE(Math.min(centralOffset, MAX_32), at + 16);
  return records;
}

/** Writes flags, method, time, CRC, sizes and lengths, which are the same in both headers. */
function writeCommon(header: Buffer, at: number, entry: ZipEntry, extraBytes: number): void {
  const { path, sizeBytes, crc32, modifiedSeconds } = entry;
  const size = isLarge(sizeBytes) ? MAX_32 : sizeBytes;
  const { time, date } = dosTime(modifiedSeconds);
  header.writeUInt16LE(FLAG_UTF8, at);
  // Stored.
  header.writeUInt16LE(0, at + 2);
  header.writeUInt16LE(time, at + 4);
  header.writeUInt16LE(date, at + 6);
  header.writeUInt32LE(crc32, at + 8);
  header.writeUInt32LE(size, at + 12);
  header.writeUInt32LE(size, at + 16);
  header.writeUInt16LE(path.length, at + 20);
  header.writeUInt16LE(extraBytes, at + 22);
}

/** Writes the modification time in UTC as an extended timestamp of Info-ZIP. @returns the end offset */
function writeTimestamp(header: Buffer, at: number, seconds: number): number {
  header.writeUInt16LE(0x5455, at);
  header.writeUInt16LE(5, at + 2);
  header.writeUInt8(1, at + 4);
  return header.writeInt32LE(seconds, at + 5);
}

function writeZip64Head(header: Buffer, at: number, dataBytes: number): number {
  header.writeUInt16LE(0x0001, at);
  return header.writeUInt16LE(dataBytes, at + 2);
}

function writeUint64(header: Buffer, at: number, number: number): number {
  return header.writeBigUInt64LE(BigInt(number), at);
}

/** Two-second resolution, from 1980 to 2107, in UTC. Only tools that ignore the extended timestamp use it. */
function dosTime(seconds: number): { time: number; date: number } {
  const at = new Date(seconds * 1_000);
  const year = at.getUTCFullYear();
  if (year < 1980) return { time: 0, date: (1 << 5) | 1 };
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  };
}
