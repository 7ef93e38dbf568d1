/**
 * Expands the journal row of a renamed or moved folder into the nodes below it, one group at a time. Folders come by row
 * id, each followed by its files by name. In this order the remaining nodes only become fewer while others write.
 */
import type { Database } from "bun:sqlite";
import { numbers, type Reader } from "../../db/reader.ts";

/** A position within the expansion of a row: after this folder itself, or after this file of it. */
export interface ExpansionPosition {
  readonly folderId: number;
  /** Null: the folder itself has been emitted, and none of its files. */
  readonly file: { readonly sortKey: string; readonly name: string } | null;
}

/** A folder below the moved one, or a file in such a folder, whose effective number (see changes.ts) is the row. */
export interface NodeBelow {
  /** Row id of the file; null for the folder itself. */
  readonly fileId: number | null;
  readonly at: ExpansionPosition;
  /** Nothing to emit: the folders up to this one have a later effective number. */
  readonly isSkipped?: true;
}

/** The folders below a moved one are not cached, and too many to read on the main thread. See {@link MovedFolders.fetch}. */
export class ListMissing extends Error {
  readonly list: ListRequest;

  constructor(list: ListRequest) {
    super("The folders below a moved folder must be read first.");
    this.list = list;
  }
}

/** Which folders are listed: those below `folderId` whose effective number is `rowSeq`. */
interface ListRequest {
  readonly folderId: number;
  readonly rowSeq: number;
  readonly wantsFolders: boolean;
}

/** Which part of an expansion is read. */
interface Expansion {
  /** Without `wantsFolders`, folders that hold no files are left out. */
  readonly list: ListRequest;
  /** Null for the beginning. */
  readonly after: ExpansionPosition | null;
  /** About how many nodes a group has. */
  readonly groupSize: number;
  /** Whether the folders are listed on the main thread if they are not cached. */
  readonly isInPlace: boolean;
  /** Whether the effective number of a folder is still this row. */
  readonly isEffective: (folderId: number) => boolean;
}

interface FileRow {
  readonly id: number;
  readonly folderId: number;
  readonly sortKey: string;
  readonly name: string;
}

/** Folders whose files are read together. */
const FOLDERS_PER_QUERY = 64;
/** Cached lists of folders, 8 bytes a folder. The latest list always stays; older ones go beyond these numbers. */
const LISTS_MAX = 8;
const LISTED_FOLDERS_MAX = 1_000_000;
/** Folders moved or made later are left out with all below them: their effective number is later. */
const FOLDERS_BELOW = `WITH RECURSIVE s(id, files) AS (SELECT node_id, child_files FROM folders WHERE node_id = ?1 UNION ALL
    SELECT n.id, f.child_files FROM s CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0
      CROSS JOIN folders f ON f.node_id = n.id WHERE f.path_seq < ?2)
  SELECT id FROM s WHERE files >= ?3 ORDER BY id`;
const NO_NAME = { sortKey: "", name: "" };

/** Reads what lies below moved folders. One for all accounts of a database. */
export class MovedFolders {
  readonly #foldersBelow;
  readonly #filesOf;
  readonly #filesIn;
  readonly #lists = new Map<string, Float64Array>();

  constructor(sqlite: Database) {
    this.#foldersBelow = sqlite.prepare<{ id: number }, [number, number, number]>(FOLDERS_BELOW);
    this.#filesOf = sqlite.prepare<FileRow, [number, number, string, string, number]>(
      `SELECT id, parent_id AS folderId, sort_key AS sortKey, name FROM nodes INDEXED BY nodes_name
       WHERE parent_id = ?1 AND kind = 1 AND seq < ?2 AND (sort_key, name) > (?3, ?4) ORDER BY sort_key, name LIMIT ?5`,
    );
    this.#filesIn = sqlite.prepare<FileRow & { rank: number }, [string, number, number]>(
      `SELECT j.key AS rank, n.id, n.parent_id AS folderId, n.sort_key AS sortKey, n.name
       FROM json_each(?1) j CROSS JOIN nodes n INDEXED BY nodes_name ON n.parent_id = j.value AND n.kind = 1
       WHERE n.seq < ?2 LIMIT ?3`,
    );
  }

  /**
   * The nodes of an expansion, in groups.
   * @throws ListMissing if the folders are not cached and may not be listed here
   */
  *below({ list, after, groupSize, isInPlace, isEffective }: Expansion): Generator<readonly NodeBelow[]> {
    const { rowSeq } = list;
    const folders = this.#list(list, isInPlace);
    let index = after === null ? 0 : firstFrom(folders, after.folderId);
    if (after !== null && folders[index] === after.folderId) {
      if (isEffective(after.folderId))
        yield* this.#filesAfter(after.folderId, rowSeq, after.file ?? NO_NAME, groupSize);
      index++;
    }
    for (; index < folders.length; index += FOLDERS_PER_QUERY) {
      const some = [...folders.subarray(index, index + FOLDERS_PER_QUERY)];
      const effective = some.filter(isEffective);
      const last = some.at(-1);
      if (effective.length > 0) yield* this.#groups(effective, rowSeq, groupSize);
      else if (last !== undefined) yield [{ fileId: null, at: { folderId: last, file: null }, isSkipped: true }];
    }
  }

  *#groups(folders: readonly number[], rowSeq: number, count: number): Generator<readonly NodeBelow[]> {
    for (let from = 0; from < folders.length; ) {
      const some = folders.slice(from);
      const files = this.#filesIn.all(JSON.stringify(some), rowSeq, count);
      const isWhole = files.length < count;
      // A group that was cut short ends within the last of these folders.
      const complete = isWhole ? some : some.slice(0, (files.at(-1)?.rank ?? 0) + 1);
      const byFolder = Map.groupBy(files, (file) => file.folderId);
      yield complete.flatMap((id) => [
        { fileId: null, at: { folderId: id, file: null } },
        ...below(byFolder.get(id) ?? []),
      ]);
      const last = files.at(-1);
      if (isWhole || last === undefined) return;
      yield* this.#filesAfter(last.folderId, rowSeq, last, count);
      from += complete.length;
    }
  }

  /** The files of one folder after a name. */
  *#filesAfter(
    folderId: number,
    rowSeq: number,
    after: { readonly sortKey: string; readonly name: string },
    count: number,
  ): Generator<readonly NodeBelow[]> {
    for (let last = after; ; ) {
      const files = this.#filesOf.all(folderId, rowSeq, last.sortKey, last.name, count);
      yield below(files);
      last = files.at(-1) ?? last;
      if (files.length < count) return;
    }
  }

  /** Reads a list in the reading thread and caches it for the next call of {@link below}. */
  async fetch(reader: Reader, list: ListRequest): Promise<void> {
    const { folderId, rowSeq, wantsFolders } = list;
    const sql = `SELECT group_concat(id) FROM (${FOLDERS_BELOW})`;
    const [ids] = await reader.read([numbers(sql, [folderId, rowSeq, wantsFolders ? 0 : 1])]);
    this.#cache(keyOf(list), ids);
  }

  /**
   * The folders below, in order. A cached list stays valid: `isEffective` finds out which folders have left it, and
   * nodes that came into it later have a later effective number.
   */
  #list(list: ListRequest, isInPlace: boolean): Float64Array {
    const { folderId, rowSeq, wantsFolders } = list;
    const key = keyOf(list);
    let ids = this.#lists.get(key);
    if (ids === undefined && !isInPlace) throw new ListMissing(list);
    ids ??= Float64Array.from(this.#foldersBelow.all(folderId, rowSeq, wantsFolders ? 0 : 1), ({ id }) => id);
    this.#cache(key, ids);
    return ids;
  }

  #cache(key: string, ids: Float64Array): void {
    this.#lists.delete(key);
    this.#lists.set(key, ids);
    let listed = 0;
    for (const { length } of this.#lists.values()) listed += length;
    for (const [oldest, { length }] of this.#lists) {
      if (oldest === key || (this.#lists.size <= LISTS_MAX && listed <= LISTED_FOLDERS_MAX)) return;
      this.#lists.delete(oldest);
      listed -= length;
    }
  }
}

function keyOf({ folderId, rowSeq, wantsFolders }: ListRequest): string {
  return `${folderId}:${rowSeq}:${wantsFolders}`;
}

function below(files: readonly FileRow[]): NodeBelow[] {
  return files.map(({ id, folderId, sortKey, name }) => ({ fileId: id, at: { folderId, file: { sortKey, name } } }));
}

/** Index of the first number in an ascending list that is not below another. */
function firstFrom(ascending: Float64Array, number: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
