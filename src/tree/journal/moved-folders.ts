/**
 * What a folder's rename or move brings with it: all below that is met at its row of the journal, a piece at a time. Folders
 * come by their row id, each followed by its files by name; in these orders what is left only shrinks while others write.
 */
import type { Database } from "bun:sqlite";
import { numbers, type Reader } from "../../db/reader.ts";

/** A place within a moved folder's row: after this folder itself, or after this file of it. */
export interface ExpansionPosition {
  readonly folderId: number;
  /** Null: the folder itself was met, none of its files. */
  readonly file: { readonly sortKey: string; readonly name: string } | null;
}

/** A folder below the moved one, or a file in it, whose place is the row. */
export interface BelowMoved {
  /** Row id of the file; null for the folder itself. */
  readonly fileId: number | null;
  readonly at: ExpansionPosition;
  /** Nothing is met here: the folders up to this one have their place later. */
  readonly isPassed?: true;
}

/** The folders below a moved one are not known yet, and are too many to be read in place. See {@link MovedFolders.fetch}. */
export class ListMissing extends Error {
  readonly list: ListRequest;

  constructor(list: ListRequest) {
    super("The folders below a moved folder are to be read first.");
    this.list = list;
  }
}

/** Which folders are listed: those whose place is the row of the moved one. */
export interface ListRequest {
  readonly folderId: number;
  readonly rowSeq: number;
  readonly wantsFolders: boolean;
}

interface FileRow {
  readonly id: number;
  readonly folderId: number;
  readonly sortKey: string;
  readonly name: string;
}

/** Folders whose files are read together. */
const FOLDERS_AT_ONCE = 64;
/** Lists of folders kept in memory, 8 bytes a folder: the latest in any case, others while all together are not more. */
const LISTS_MAX = 8;
const LISTED_FOLDERS_MAX = 1_000_000;
/** What was moved or made later has its place later, and all below it. */
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
   * What is met at the row `rowSeq` of a folder that has its place there, after a position, in pieces of about `count`.
   * @param isPlaced whether a folder still has its place at this row
   * @param list without `wantsFolders`, folders that hold no files are passed over
   * @param isInPlace whether the folders are read now, where they are not known
   * @throws ListMissing where they are not
   */
  *below(
    list: ListRequest,
    after: ExpansionPosition | null,
    count: number,
    isInPlace: boolean,
    isPlaced: (folderId: number) => boolean,
  ): Generator<readonly BelowMoved[]> {
    const { rowSeq } = list;
    const folders = this.#list(list, isInPlace);
    let index = after === null ? 0 : firstFrom(folders, after.folderId);
    if (after !== null && folders[index] === after.folderId) {
      if (isPlaced(after.folderId)) yield* this.#rest(after.folderId, rowSeq, after.file ?? NO_NAME, count);
      index++;
    }
    for (; index < folders.length; index += FOLDERS_AT_ONCE) {
      const some = [...folders.subarray(index, index + FOLDERS_AT_ONCE)];
      const placed = some.filter(isPlaced);
      const last = some.at(-1);
      if (placed.length > 0) yield* this.#pieces(placed, rowSeq, count);
      else if (last !== undefined) yield [{ fileId: null, at: { folderId: last, file: null }, isPassed: true }];
    }
  }

  *#pieces(folders: readonly number[], rowSeq: number, count: number): Generator<readonly BelowMoved[]> {
    for (let from = 0; from < folders.length; ) {
      const some = folders.slice(from);
      const files = this.#filesIn.all(JSON.stringify(some), rowSeq, count);
      const isWhole = files.length < count;
      // A piece that was cut short ends within the last of these folders.
      const met = isWhole ? some : some.slice(0, (files.at(-1)?.rank ?? 0) + 1);
      const byFolder = Map.groupBy(files, (file) => file.folderId);
      yield met.flatMap((id) => [{ fileId: null, at: { folderId: id, file: null } }, ...below(byFolder.get(id) ?? [])]);
      const last = files.at(-1);
      if (isWhole || last === undefined) return;
      yield* this.#rest(last.folderId, rowSeq, last, count);
      from += met.length;
    }
  }

  /** The files of one folder after a name. */
  *#rest(
    folderId: number,
    rowSeq: number,
    after: { readonly sortKey: string; readonly name: string },
    count: number,
  ): Generator<readonly BelowMoved[]> {
    for (let last = after; ; ) {
      const files = this.#filesOf.all(folderId, rowSeq, last.sortKey, last.name, count);
      yield below(files);
      last = files.at(-1) ?? last;
      if (files.length < count) return;
    }
  }

  /** Reads a list in the reading thread and keeps it for the next call of {@link below}. */
  async fetch(reader: Reader, list: ListRequest): Promise<void> {
    const { folderId, rowSeq, wantsFolders } = list;
    const sql = `SELECT group_concat(id) FROM (${FOLDERS_BELOW})`;
    const [ids] = await reader.read([numbers(sql, [folderId, rowSeq, wantsFolders ? 0 : 1])]);
    this.#keep(keyOf(list), ids);
  }

  /**
   * The folders below, in order. A list read before serves again: what has left it since tells so itself, and what came
   * into it or into one of its folders later has its place later.
   */
  #list(list: ListRequest, isInPlace: boolean): Float64Array {
    const { folderId, rowSeq, wantsFolders } = list;
    const key = keyOf(list);
    let ids = this.#lists.get(key);
    if (ids === undefined && !isInPlace) throw new ListMissing(list);
    ids ??= Float64Array.from(this.#foldersBelow.all(folderId, rowSeq, wantsFolders ? 0 : 1), ({ id }) => id);
    this.#keep(key, ids);
    return ids;
  }

  #keep(key: string, ids: Float64Array): void {
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

function below(files: readonly FileRow[]): BelowMoved[] {
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
