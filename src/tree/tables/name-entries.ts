/**
 * The folded names of an account in memory, in one buffer: a search for any text, however short or frequent, reads a
 * million of them in about 10 ms. Entries are never changed: a changed node gets a new one.
 */
import { FOLDER } from "../model/rows.ts";

/** Nodes in the order of their ids. */
export interface NameRows {
  readonly ids: Float64Array;
  readonly parentIds: Float64Array;
  readonly kinds: Float64Array;
  /** UTF-8, with a NUL after each name but the last: no name contains one. */
  readonly names: Uint8Array;
}

/** Where to search: a folder, with or without what is below it. */
export interface NameScope {
  readonly folderId: number;
  readonly isRecursive: boolean;
}

const REMOVED = 255;
/** The folder number of entries that are in no tree. */
const NOWHERE = 0;

/** Entries are numbered: first those of the build in the order of their ids, then changed and new ones. */
export class NameEntries {
  #size = 0;
  #names = new Uint8Array(1 << 20);
  /** Where the name of each entry begins; the one after the last ends it. */
  #starts = new Uint32Array(1 << 12);
  #ids = new Float64Array(1 << 12);
  #kinds = new Uint8Array(1 << 12);
  #folders = new Int32Array(1 << 12);
  #found = new Int32Array(0);
  /** Folders have numbers of their own, so that arrays can refer to them. */
  readonly #folderNumbers = new Map<number, number>();
  readonly #parentOfFolder: number[] = [NOWHERE];

  /** The number of entries, including removed ones. */
  get size(): number {
    return this.#size;
  }

  /** The id of the node of an entry. */
  idOf(entry: number): number {
    return this.#ids[entry] ?? 0;
  }

  isFolder(entry: number): boolean {
    return this.#kinds[entry] === FOLDER;
  }

  isRemoved(entry: number): boolean {
    return this.#kinds[entry] === REMOVED;
  }

  /** Appends the entries of rows. */
  addRows({ ids, parentIds, kinds, names }: NameRows): void {
    this.#reserve(ids.length, names.length + 1);
    const base = this.#end;
    this.#names.set(names, base);
    this.#names[base + names.length] = 0;
    let from = 0;
    for (const [row, id] of ids.entries()) {
      const end = names.indexOf(0, from);
      from = (end < 0 ? names.length : end) + 1;
      this.#add(id, parentIds[row] ?? 0, kinds[row] ?? FOLDER, base + from);
    }
  }

  /** Appends one entry. @param parentId 0 or less if the node is in no folder */
  add(id: number, parentId: number, kind: number, name: string): number {
    const bytes = Buffer.from(name);
    this.#reserve(1, bytes.length + 1);
    const end = this.#end + bytes.length;
    this.#names.set(bytes, this.#end);
    this.#names[end] = 0;
    return this.#add(id, parentId, kind, end + 1);
  }

  /** Removes an entry. What is below a removed folder is out of reach until the folder gets a new entry. */
  remove(entry: number): void {
    if (this.#kinds[entry] === FOLDER) this.#parentOfFolder[this.#numberOf(this.idOf(entry))] = NOWHERE;
    this.#kinds[entry] = REMOVED;
  }

  /** The entry of a node among the first ones, which are in the order of their ids; -1 for none. */
  findFirst(id: number, count: number): number {
    let low = 0;
    let high = count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.idOf(middle);
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  /**
   * All entries whose name contains a text, of these kinds, within a scope; ascending. The next search overwrites the
   * result.
   */
  search(text: string, kinds: readonly number[], scope: NameScope): Int32Array {
    const isInside = this.#foldersWithin(scope);
    const isOfKind = new Uint8Array(256);
    for (const kind of kinds) isOfKind[kind] = 1;
    const needle = Buffer.from(text);
    // Locals, because this loop may run a million times.
    const [starts, kindOf, folders, end] = [this.#starts, this.#kinds, this.#folders, this.#end];
    const names = Buffer.from(this.#names.buffer, 0, end);
    const found = this.#found.length < this.#size ? new Int32Array(this.#ids.length) : this.#found;
    this.#found = found;
    let count = 0;
    let entry = 0;
    for (let at = names.indexOf(needle); at >= 0; at = names.indexOf(needle, starts[entry])) {
      while ((starts[entry + 1] ?? end) <= at) entry++;
      if (isOfKind[kindOf[entry] ?? REMOVED] === 1 && isInside[folders[entry] ?? NOWHERE] === 1) found[count++] = entry;
      if (++entry >= this.#size) break;
    }
    return found.subarray(0, count);
  }

  /** For each folder number, 1 if the folder is in the scope. */
  #foldersWithin({ folderId, isRecursive }: NameScope): Uint8Array {
    const parents = this.#parentOfFolder;
    const isInside = new Uint8Array(parents.length);
    const top = this.#folderNumbers.get(folderId);
    if (top === undefined) return isInside;
    isInside[top] = 1;
    if (!isRecursive) return isInside;
    const isKnown = new Uint8Array(parents.length);
    isKnown[NOWHERE] = isKnown[top] = 1;
    const path: number[] = [];
    for (let folder = 0; folder < parents.length; folder++) {
      let at = folder;
      for (; isKnown[at] !== 1; at = parents[at] ?? NOWHERE) {
        isKnown[at] = 1;
        path.push(at);
      }
      const found = isInside[at] ?? 0;
      for (const known of path) isInside[known] = found;
      path.length = 0;
    }
    return isInside;
  }

  /** The end of the last name, with its NUL. */
  get #end(): number {
    return this.#starts[this.#size] ?? 0;
  }

  /** The name is in the buffer already. */
  #add(id: number, parentId: number, kind: number, end: number): number {
    const entry = this.#size++;
    this.#starts[entry + 1] = end;
    this.#ids[entry] = id;
    this.#kinds[entry] = kind;
    const parent = parentId > 0 ? this.#numberOf(parentId) : NOWHERE;
    this.#folders[entry] = parent;
    if (kind === FOLDER) this.#parentOfFolder[this.#numberOf(id)] = parent;
    return entry;
  }

  #numberOf(folderId: number): number {
    let number = this.#folderNumbers.get(folderId);
    if (number === undefined) {
      number = this.#parentOfFolder.push(NOWHERE) - 1;
      this.#folderNumbers.set(folderId, number);
    }
    return number;
  }

  #reserve(entries: number, bytes: number): void {
    const size = this.#size + entries + 1;
    if (size > this.#ids.length) {
      const room = Math.max(size, Math.ceil(this.#ids.length * 1.25));
      this.#starts = grow(this.#starts, new Uint32Array(room));
      this.#ids = grow(this.#ids, new Float64Array(room));
      this.#kinds = grow(this.#kinds, new Uint8Array(room));
      this.#folders = grow(this.#folders, new Int32Array(room));
    }
    const used = this.#end + bytes;
    if (used <= this.#names.length) return;
    this.#names = grow(this.#names, new Uint8Array(Math.max(used, Math.ceil(this.#names.length * 1.25))));
  }
}

function grow<T extends Float64Array | Uint8Array | Int32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
