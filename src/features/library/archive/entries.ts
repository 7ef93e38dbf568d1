/**
 * The entries of an archive in packed arrays: about 65 bytes plus the name per entry, at any depth. A million files take
 * about 90 MB while their archive is sent.
 */
import { type Digest, digestFromBytes } from "../../../blobs/digest.ts";
import { centralHeaderLength, localHeaderLength, type ZipEntry } from "./zip-format.ts";

/** An entry to be added. */
export interface NewEntry {
  /** Number of its folder; -1 at the top level. */
  readonly parent: number;
  /** Safe, without a slash. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly sizeBytes: number;
  readonly crc32: number;
  readonly modifiedSeconds: number;
  /** 32 bytes; null for folders. */
  readonly digest: Uint8Array | null;
}

const SLASH = 47;
const DIGEST_BYTES = 32;
const INITIAL_CAPACITY = 64;
const INITIAL_NAME_BYTES = 2_048;
/** Folder paths cached: the path of a folder is needed for each file in it. */
const CACHED_PATHS_MAX = 64;

/** Entries in the order of the archive, identified by number. */
export class Entries {
  #count = 0;
  #parents = new Int32Array(INITIAL_CAPACITY);
  /** End of each name in {@link #names}; it begins at the end of the previous one. */
  #nameEnds = new Uint32Array(INITIAL_CAPACITY);
  #names = new Uint8Array(INITIAL_NAME_BYTES);
  /** -1 for folders. */
  #sizes = new Float64Array(INITIAL_CAPACITY);
  #crcs = new Uint32Array(INITIAL_CAPACITY);
  #times = new Int32Array(INITIAL_CAPACITY);
  #digests = new Uint8Array(INITIAL_CAPACITY * DIGEST_BYTES);
  #offsets = new Float64Array(INITIAL_CAPACITY);
  /** Offset of the local header of the next entry. */
  #endOffset = 0;
  #centralBytes = 0;
  readonly #paths = new Map<number, Buffer>();

  get count(): number {
    return this.#count;
  }

  /** Bytes of all local headers and file content; the directory begins there. */
  get contentBytes(): number {
    return this.#endOffset;
  }

  /** Bytes of the directory. */
  get centralBytes(): number {
    return this.#centralBytes;
  }

  /** Adds the next entry. @returns its number */
  add(entry: NewEntry): number {
    const number = this.#count;
    if (number === this.#sizes.length) this.#grow();
    const name = Buffer.from(entry.name);
    const nameStart = number === 0 ? 0 : (this.#nameEnds[number - 1] ?? 0);
    this.#reserveNames(nameStart + name.length);
    this.#names.set(name, nameStart);
    this.#nameEnds[number] = nameStart + name.length;
    this.#parents[number] = entry.parent;
    this.#sizes[number] = entry.isFolder ? -1 : entry.sizeBytes;
    this.#crcs[number] = entry.crc32;
    this.#times[number] = entry.modifiedSeconds;
    if (entry.digest !== null) this.#digests.set(entry.digest, number * DIGEST_BYTES);
    this.#offsets[number] = this.#endOffset;
    this.#count++;
    const pathBytes = this.#folderPath(entry.parent).length + name.length + (entry.isFolder ? 1 : 0);
    this.#centralBytes += centralHeaderLength(pathBytes, entry.sizeBytes, this.#endOffset);
    this.#endOffset += localHeaderLength(pathBytes, entry.sizeBytes) + entry.sizeBytes;
    return number;
  }

  /** Bytes of the path of a folder in the archive; 0 for the top level. */
  pathBytes(number: number): number {
    return this.#folderPath(number).length;
  }

  /** The fields of the records of an entry. */
  get(number: number): ZipEntry {
    const size = this.#sizes[number] ?? 0;
    return {
      path: size < 0 ? this.#folderPath(number) : this.#pathOf(number),
      isFolder: size < 0,
      sizeBytes: Math.max(0, size),
      crc32: this.#crcs[number] ?? 0,
      modifiedSeconds: this.#times[number] ?? 0,
      offset: this.#offsets[number] ?? 0,
    };
  }

  /** The raw digest of a file's content. */
  digestBytes(number: number): Uint8Array {
    return this.#digests.subarray(number * DIGEST_BYTES, (number + 1) * DIGEST_BYTES);
  }

  digest(number: number): Digest {
    return digestFromBytes(this.digestBytes(number));
  }

  /** The entry whose header or content contains the byte at an offset before the directory. */
  at(offset: number): number {
    let low = 0;
    let high = this.#count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#offsets[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Length of an entry's record in the directory, without building the record. */
  centralLength(number: number): number {
    const size = Math.max(0, this.#sizes[number] ?? 0);
    const offset = this.#offsets[number] ?? 0;
    const next = number + 1 < this.#count ? (this.#offsets[number + 1] ?? 0) : this.#endOffset;
    const pathBytes = next - offset - size - localHeaderLength(0, size);
    return centralHeaderLength(pathBytes, size, offset);
  }

  #pathOf(number: number): Buffer {
    const name = this.#nameOf(number);
    const parent = this.#parents[number] ?? -1;
    return parent < 0 ? Buffer.from(name) : Buffer.concat([this.#folderPath(parent), name]);
  }

  /** With a slash at the end; empty for the top level. */
  #folderPath(number: number): Buffer {
    if (number < 0) return Buffer.alloc(0);
    const known = this.#paths.get(number);
    if (known !== undefined) return known;
    const ancestors: number[] = [];
    let at = number;
    for (; at >= 0 && !this.#paths.has(at); at = this.#parents[at] ?? -1) ancestors.push(at);
    const above = this.#paths.get(at) ?? Buffer.alloc(0);
    const below = ancestors.toReversed().flatMap((folder) => [this.#nameOf(folder), Buffer.of(SLASH)]);
    const path = Buffer.concat([above, ...below]);
    if (this.#paths.size >= CACHED_PATHS_MAX) this.#paths.clear();
    this.#paths.set(number, path);
    return path;
  }

  #nameOf(number: number): Uint8Array {
    return this.#names.subarray(number === 0 ? 0 : this.#nameEnds[number - 1], this.#nameEnds[number]);
  }

  #grow(): void {
    const capacity = this.#sizes.length * 2;
    this.#parents = new Int32Array(this.#parents.buffer.transfer(capacity * 4));
    this.#nameEnds = new Uint32Array(this.#nameEnds.buffer.transfer(capacity * 4));
    this.#sizes = new Float64Array(this.#sizes.buffer.transfer(capacity * 8));
    this.#crcs = new Uint32Array(this.#crcs.buffer.transfer(capacity * 4));
    this.#times = new Int32Array(this.#times.buffer.transfer(capacity * 4));
    this.#digests = new Uint8Array(this.#digests.buffer.transfer(capacity * DIGEST_BYTES));
    this.#offsets = new Float64Array(this.#offsets.buffer.transfer(capacity * 8));
  }

  #reserveNames(bytes: number): void {
    if (bytes <= this.#names.length) return;
    this.#names = new Uint8Array(this.#names.buffer.transfer(Math.max(bytes, this.#names.length * 2)));
  }
}
