/** Headers of TAR archives: POSIX.1-1988 (ustar), the long names of GNU, and the fields of POSIX.1-2001 (pax). */

/** A header and the content after it are multiples of this. */
export const BLOCK_BYTES = 512;

/** A header. */
export interface TarHeader {
  /** `extension`: its content describes the next header. */
  readonly kind: "file" | "other" | "extension";
  readonly path: string;
  readonly sizeBytes: number;
  /** Unix milliseconds. */
  readonly modifiedMs: number | undefined;
  /** What the content of an extension says of the next header. */
  readonly extend: (content: Buffer) => Partial<Pick<TarHeader, "path" | "sizeBytes" | "modifiedMs">>;
}

/** @throws Error if it is no header */
export function readHeader(block: Buffer): TarHeader {
  if (numberAt(block, 148, 8) !== checksumOf(block)) throw new Error("It is not a TAR archive, or it is damaged.");
  const sizeBytes = numberAt(block, 124, 12);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new Error("A size is not valid.");
  const type = String.fromCharCode(block[156] ?? 0);
  const isUstar = textAt(block, 257, 5) === "ustar";
  const [name, prefix] = [textAt(block, 0, 100), isUstar ? textAt(block, 345, 155) : ""];
  const seconds = numberAt(block, 136, 12);
  return {
    kind: "0\0".includes(type) ? "file" : "Lx".includes(type) ? "extension" : "other",
    path: prefix === "" ? name : `${prefix}/${name}`,
    sizeBytes,
    modifiedMs: Number.isSafeInteger(seconds * 1_000) ? seconds * 1_000 : undefined,
    extend: type === "L" ? (content) => ({ path: textAt(content, 0, content.length) }) : readPax,
  };
}

/** Records such as `26 path=Takeout/a.jpg`, each with its length in bytes. */
function readPax(content: Buffer): Partial<Pick<TarHeader, "path" | "sizeBytes">> {
  const found: { path?: string; sizeBytes?: number } = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(" ", at);
    const length = space < 0 ? Number.NaN : Number(content.toString("latin1", at, space));
    if (!(Number.isInteger(length) && length > space - at)) break;
    const record = content.toString("utf8", space + 1, at + length - 1);
    const [key, value] = [record.slice(0, record.indexOf("=")), record.slice(record.indexOf("=") + 1)];
    if (key === "path") found.path = value;
    const size = Number(value);
    if (key === "size" && Number.isSafeInteger(size) && size >= 0) found.sizeBytes = size;
    at += length;
  }
  return found;
}

function checksumOf(block: Buffer): number {
  let sum = 0;
  // The field of the checksum itself counts as spaces.
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 32 : byte;
  return sum;
}

/** An octal number; large ones are in binary, with the first bit set. */
function numberAt(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if ((first & 0x80) !== 0) return Number(block.readBigUInt64BE(start + length - 8));
  const text = textAt(block, start, length).trim();
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function textAt(block: Buffer, start: number, length: number): string {
  const end = block.indexOf(0, start);
  return block.toString("utf8", start, end < 0 || end > start + length ? start + length : end);
}
