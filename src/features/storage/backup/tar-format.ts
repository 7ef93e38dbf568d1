/**
 * Headers of tar archives in the POSIX format (ustar and pax, IEEE Std 1003.1), which every tar reads. Our names are
 * short; a size that does not fit into ustar's octal digits is written in an extended header.
 */

/** A member of an archive. */
interface TarEntry {
  readonly name: string;
  readonly sizeBytes: number;
  readonly kind: "file" | "folder";
}

/** An invalid header, or a kind of member that backups don't have. */
export class TarError extends Error {
  override readonly name = "TarError";
}

/** Headers and members start at multiples of this. */
export const BLOCK_BYTES = 512;
/** An archive ends with two blocks of zeros. */
export const TAR_END = new Uint8Array(2 * BLOCK_BYTES);
const NAME_BYTES_MAX = 100;
const OCTAL_SIZE_MAX = 0o77777777777;
const CHECKSUM_AT = 148;
const TYPES = { file: "0", folder: "5", extended: "x", extendedForAll: "g" };

/**
 * The header of a member, after an extended header if its size needs one.
 * @throws TarError for a name that is too long
 */
export function writeHeader({ name, sizeBytes, kind }: TarEntry, mtimeMs: number): Uint8Array {
  const type = TYPES[kind];
  if (sizeBytes <= OCTAL_SIZE_MAX) return block(name, sizeBytes, type, mtimeMs);
  const record = paxRecord("size", String(sizeBytes));
  return Buffer.concat([
    block(`${name}.pax`, record.byteLength, TYPES.extended, mtimeMs),
    record,
    Buffer.alloc(paddingOf(record.byteLength)),
    block(name, 0, type, mtimeMs),
  ]);
}

/** The number of zeros after a member of this size. */
export function paddingOf(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The content of a header block: a member, an extended header (its records follow), or the end of the archive. */
export type Header = TarEntry | { readonly kind: "extended"; readonly sizeBytes: number } | { readonly kind: "end" };

/** Reads a header block. @throws TarError */
export function readHeader(bytes: Uint8Array): Header {
  const text = (from: number, length: number) => {
    const field = Buffer.from(bytes.buffer, bytes.byteOffset + from, length);
    const end = field.indexOf(0);
    return field.toString("utf8", 0, end === -1 ? length : end);
  };
  if (bytes.every((byte) => byte === 0)) return { kind: "end" };
  const checksum = Number.parseInt(text(CHECKSUM_AT, 8).trim(), 8);
  if (checksum !== computeChecksum(bytes)) throw new TarError("This is not a tar archive, or it is damaged.");
  const sizeBytes = readSize(bytes, text(124, 12));
  const type = text(156, 1);
  if (type === TYPES.extended || type === TYPES.extendedForAll) return { kind: "extended", sizeBytes };
  const prefix = text(257, 5) === "ustar" ? text(345, 155) : "";
  const name = (prefix === "" ? "" : `${prefix}/`) + text(0, NAME_BYTES_MAX);
  if (type === TYPES.file || type === "") return { kind: "file", name, sizeBytes };
  if (type === TYPES.folder) return { kind: "folder", name, sizeBytes: 0 };
  throw new TarError(`The archive has an entry of a type that a backup does not have: ${name}`);
}

/** The path and size in the records of an extended header, if present. */
export function readPax(bytes: Uint8Array): { path?: string; size?: number } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < text.byteLength; ) {
    const space = text.indexOf(0x20, at);
    const length = Number(text.toString("utf8", at, space));
    if (space === -1 || !Number.isInteger(length) || length <= space - at)
      throw new TarError("The archive has a damaged pax header.");
    const [key = "", ...value] = text.toString("utf8", space + 1, at + length - 1).split("=");
    if (key === "path") found.path = value.join("=");
    if (key === "size") found.size = Number(value.join("="));
    at += length;
  }
  return found;
}

function block(name: string, sizeBytes: number, type: string, mtimeMs: number): Buffer {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new TarError(`A name is too long for the archive: ${name}`);
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number) =>
    header.write(
      `${Math.floor(value)
        .toString(8)
        .padStart(length - 1, "0")}\0`,
      at,
    );
  header.write(name, 0);
  octal(type === TYPES.folder ? 0o700 : 0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(sizeBytes, 124, 12);
  octal(mtimeMs / 1000, 136, 12);
  header.write(type, 156);
  header.write("ustar\x0000", 257);
  header.write(`${computeChecksum(header).toString(8).padStart(6, "0")}\0 `, CHECKSUM_AT);
  return header;
}

/** The sum of all bytes of the header, with spaces in place of the checksum. */
function computeChecksum(header: Uint8Array): number {
  let total = 0;
  for (const [index, byte] of header.entries()) total += index >= CHECKSUM_AT && index < CHECKSUM_AT + 8 ? 0x20 : byte;
  return total;
}

/** Parses a size: octal digits, or a binary number if the first bit is set, like GNU tar writes large sizes. */
function readSize(header: Uint8Array, octal: string): number {
  if (((header[124] ?? 0) & 0x80) === 0) return Number.parseInt(octal.trim() || "0", 8);
  let size = 0;
  for (const byte of header.subarray(125, 136)) size = size * 256 + byte;
  return size;
}

function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  // The length includes its own digits.
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(`${length}${rest}`);
}
