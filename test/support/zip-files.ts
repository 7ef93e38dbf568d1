// Makes ZIP files, also those that an attacker would make: every field of every header can be chosen.
import { crc32, deflateRawSync } from "node:zlib";

/** An entry; what is left out is correct. */
export interface MadeEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Stored as it is by default. */
  readonly isDeflated?: boolean;
  readonly method?: number;
  readonly flags?: number;
  readonly crc?: number;
  /** Sizes as the directory declares them. */
  readonly size?: number;
  readonly compressedSize?: number;
  /** The name in the entry's own header. */
  readonly localName?: string;
  /** Unix mode with its type bits. */
  readonly mode?: number;
  /** The position of an earlier entry, whose bytes are used again. */
  readonly offset?: number;
  readonly isZip64?: boolean;
  /** Date and time of DOS. */
  readonly date?: number;
}

const UTF8 = 0x800;
const DATE = ((2024 - 1980) << 9) | (5 << 5) | 17;

/** A ZIP file with these entries. */
export function makeZip(entries: readonly MadeEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let position = 0;
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "");
    const data = entry.isDeflated === true ? deflateRawSync(content) : content;
    const name = Buffer.from(entry.name);
    const flags = entry.flags ?? (typeof entry.name === "string" ? UTF8 : 0);
    const fields = {
      flags,
      method: entry.method ?? (entry.isDeflated === true ? 8 : 0),
      date: entry.date ?? DATE,
      crc: entry.crc ?? crc32(content),
      compressed: entry.compressedSize ?? data.length,
      size: entry.size ?? content.length,
    };
    const offset = entry.offset ?? position;
    if (entry.offset === undefined) {
      const localName = entry.localName === undefined ? name : Buffer.from(entry.localName);
      const local = header(0x04034b50, 30, fields, localName);
      parts.push(local, localName, data);
      position += local.length + localName.length + data.length;
    }
    directory.push(centralHeader(entry, fields, name, offset));
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(position, 16);
  return Buffer.concat([...parts, central, end]);
}

interface Fields {
  readonly flags: number;
  readonly method: number;
  readonly date: number;
  readonly crc: number;
  readonly compressed: number;
  readonly size: number;
}

function header(signature: number, bytes: number, fields: Fields, name: Buffer): Buffer {
  const made = Buffer.alloc(bytes);
  made.writeUInt32LE(signature, 0);
  // The directory has one more version field in front.
  const at = bytes === 46 ? 2 : 0;
  made.writeUInt16LE(20, 4 + at);
  made.writeUInt16LE(fields.flags, 6 + at);
  made.writeUInt16LE(fields.method, 8 + at);
  made.writeUInt16LE(fields.date, 12 + at);
  made.writeUInt32LE(fields.crc, 14 + at);
  made.writeUInt32LE(fields.compressed, 18 + at);
  made.writeUInt32LE(fields.size, 22 + at);
  made.writeUInt16LE(name.length, 26 + at);
  return made;
}

function centralHeader(entry: MadeEntry, fields: Fields, name: Buffer, offset: number): Buffer {
  const { isZip64 = false, mode = 0 } = entry;
  const declared = isZip64 ? { ...fields, compressed: 0xffffffff, size: 0xffffffff } : fields;
  const made = header(0x02014b50, 46, declared, name);
  made.writeUInt16LE((3 << 8) | 20, 4);
  made.writeUInt32LE((mode << 16) >>> 0, 38);
  made.writeUInt32LE(isZip64 ? 0xffffffff : offset, 42);
  if (!isZip64) return Buffer.concat([made, name]);
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(fields.size), 4);
  extra.writeBigUInt64LE(BigInt(fields.compressed), 12);
  extra.writeBigUInt64LE(BigInt(offset), 20);
  made.writeUInt16LE(extra.length, 30);
  return Buffer.concat([made, name, extra]);
}

/** Archives that must not be extracted, with the problem that is reported. */
export function hostileZips(): Readonly<Record<string, readonly [problem: string, zip: Buffer]>> {
  const one = (entry: MadeEntry) =>
    makeZip([
      { name: "fine.txt", content: "fine" },
      { content: "x", ...entry },
    ]);
  const zeros = Buffer.alloc(3 * 1024 * 1024);
  const same = { content: "shared bytes" };
  const bomb = makeZip([{ name: "a", content: Buffer.alloc(100_000), isDeflated: true }]);
  return {
    "parent folder": ["unsafe_name", one({ name: "../out.txt" })],
    "parent folder inside": ["unsafe_name", one({ name: "a/../../out.txt" })],
    "this folder": ["unsafe_name", one({ name: "./a.txt" })],
    "absolute path": ["unsafe_name", one({ name: "/etc/passwd" })],
    "two slashes": ["unsafe_name", one({ name: "a//b" })],
    "drive letter": ["unsafe_name", one({ name: "C:/a.txt" })],
    "drive without a slash": ["unsafe_name", one({ name: "c:a.txt" })],
    backslashes: ["unsafe_name", one({ name: "..\\out.txt" })],
    "share of Windows": ["unsafe_name", one({ name: "\\\\server\\share" })],
    "zero byte": ["unsafe_name", one({ name: "a\0.txt" })],
    "control character": ["unsafe_name", one({ name: "a\nb.txt" })],
    "empty name": ["unsafe_name", one({ name: "" })],
    "long name": ["unsafe_name", one({ name: "x".repeat(256) })],
    link: ["link", one({ name: "link", content: "/etc/passwd", mode: 0xa1ff })],
    device: ["special", one({ name: "tty", mode: 0x21ff })],
    "folder with content": ["special", one({ name: "folder/" })],
    "file that says it is a folder": ["special", one({ name: "folder", mode: 0x41ff })],
    encrypted: ["encrypted", one({ name: "secret", flags: 0x801 })],
    "AES method": ["encrypted", one({ name: "secret", method: 99 })],
    LZMA: ["compression", one({ name: "a", method: 14 })],
    bomb: ["ratio", one({ name: "zeros", content: zeros, isDeflated: true })],
    "a small bomb alone": ["ratio", makeZip([{ name: "a", content: zeros.subarray(0, 100_000), isDeflated: true }])],
    "many small bombs": [
      "ratio",
      makeZip(
        Array.from({ length: 8 }, (_, n) => ({
          name: `${n}`,
          content: zeros.subarray(0, 1024 * 1024),
          isDeflated: true,
        })),
      ),
    ],
    "same name": [
      "duplicate",
      makeZip([
        { name: "a", ...same },
        { name: "a", ...same },
      ]),
    ],
    "same name after normalization": ["duplicate", makeZip([{ name: "\u00e4" }, { name: "a\u0308" }])],
    "file and folder": ["duplicate", makeZip([{ name: "a" }, { name: "a/b" }])],
    "same folder": ["duplicate", makeZip([{ name: "a/" }, { name: "a/" }])],
    // As in the archives of David Fifield: two entries of the directory lead to the same bytes.
    overlap: ["overlap", overlapping()],
    "too deep": ["too_deep", one({ name: `${"a/".repeat(256)}b` })],
    // A few hundred files, each in folders of its own.
    "folders without number": ["too_many_entries", makeZip(manyFolders())],
    "another name in its header": ["damaged", one({ name: "a", localName: "b" })],
    "beyond the file": ["damaged", one({ name: "a", compressedSize: 5_000_000, size: 5_000_000 })],
    "stored with two sizes": ["damaged", one({ name: "a", size: 5 })],
    "cut off": ["damaged", bomb.subarray(0, -30)],
    "not an archive": ["damaged", Buffer.from("PK\u0003\u0004 but nothing else")],
  };
}

/** Files whose names imply 102,000 folders. */
function manyFolders(): MadeEntry[] {
  return Array.from({ length: 400 }, (_, n) => ({ name: `${n}/${"a/".repeat(254)}file` }));
}

/** The second entry is inside the content of the first. */
function overlapping(): Buffer {
  const inner = makeZip([{ name: "b", content: "inner" }]);
  return makeZip([
    { name: "a", content: inner },
    { name: "b", content: "inner", offset: 31 },
  ]);
}

/** Archives whose lies show only while they are extracted. */
export function lyingZips(): Readonly<Record<string, Buffer>> {
  const content = "the content of a file";
  const zeros = Buffer.alloc(2 * 1024 * 1024);
  return {
    "wrong checksum": makeZip([{ name: "fine" }, { name: "a", content, crc: 1 }]),
    "larger than declared": makeZip([{ name: "fine" }, { name: "a", content: zeros, isDeflated: true, size: 4_000 }]),
    "smaller than declared": makeZip([{ name: "fine" }, { name: "a", content, isDeflated: true, size: 400 }]),
    "not deflated": makeZip([{ name: "fine" }, { name: "a", content, method: 8 }]),
  };
}
