/**
 * Landmarks in large folders, so that a page in the middle of a million files needs no walk of half a million entries:
 * the key of every 2,048th child in one sort, with the number of children from there to the next. They are made by the
 * reading thread, patched after each commit, and good only while `folders.children_rev` and the number of children say
 * so: a write by another process, or a defect here, makes a page slower and never wrong.
 */
import type { Database, Statement } from "bun:sqlite";
import { type Reader, rows } from "../../db/reader.ts";
import type { Log } from "../../lib/log.ts";
import { compareKeys, selectFrom, SORT_COLUMNS, SORTS, type SortKeys } from "../model/sorts.ts";
import type { SortField } from "../model/types.ts";

/** Children between two landmarks; a block twice as long is split when it is met. */
const BLOCK = 2_048;
/** Sets of landmarks kept, each of one folder, kind and sort: about 60 kB for a million children. */
const SETS_MAX = 16;
/** Changes kept for a set in the making; beyond it the set is given up. */
const PENDING_MAX = 10_000;

/** Which run of children: all of one kind in one folder, in one sort. */
export interface Run {
  readonly folderId: number;
  /** `nodes.kind` */
  readonly kind: number;
  readonly sort: SortField;
}

/** One child came, went or changed. `rev` is the folder's `children_rev` after it. */
export interface ChildChange {
  readonly folderId: number;
  readonly kind: number;
  readonly rev: number;
  readonly before: SortKeys | undefined;
  readonly after: SortKeys | undefined;
}

interface Block {
  /** Lower bound: everything from it on, up to the next block's, is in this block. */
  first: SortKeys;
  count: number;
}

interface AnchorSet {
  readonly run: Run;
  rev: number;
  /** Undefined while it is being made. */
  blocks: Block[] | undefined;
  pending: ChildChange[];
}

interface FolderRow {
  readonly children_rev: number;
  readonly child_folders: number;
  readonly child_files: number;
}

export class PageIndex {
  readonly #sqlite: Database;
  readonly #reader: Reader;
  readonly #log: Log;
  readonly #sets = new Map<string, AnchorSet>();
  /** How many sets each folder has. */
  readonly #watched = new Map<number, number>();
  readonly #making = new Set<Promise<void>>();
  readonly #splits = new Map<SortField, Statement<SortKeys>>();

  constructor(sqlite: Database, reader: Reader, log: Log) {
    this.#sqlite = sqlite;
    this.#reader = reader;
    this.#log = log;
  }

  /** Whether changes of this folder's children are to be told to `apply`. */
  watches(folderId: number): boolean {
    return this.#watched.has(folderId);
  }

  /**
   * The landmark at or before position `start` (ascending) of a run, and how far behind it `start` is. Undefined where
   * there is none yet, or none that is true any more.
   * @param rev the folder's `children_rev` now; `total` the number of children in the run now
   */
  locate(run: Run, rev: number, total: number, start: number): { from: SortKeys; offset: number } | undefined {
    const key = keyOf(run);
    const set = this.#sets.get(key);
    if (set?.blocks === undefined) return undefined;
    const counted = set.blocks.reduce((sum, block) => sum + block.count, 0);
    if (set.rev !== rev || counted !== total) {
      this.#forget(set);
      return undefined;
    }
    // Kept longest: what was asked for last.
    this.#sets.delete(key);
    this.#sets.set(key, set);
    return this.#find(run, set.blocks, start);
  }

  /** Has the landmarks of a run made in the background, unless there are some. */
  prepare(run: Run): void {
    if (!this.#sets.has(keyOf(run))) this.#make(run);
  }

  /** Takes a committed change over. Called in the order of the commits. */
  apply(change: ChildChange): void {
    for (const set of this.#sets.values()) {
      if (set.run.folderId !== change.folderId) continue;
      if (set.blocks === undefined) {
        set.pending.push(change);
        if (set.pending.length > PENDING_MAX) this.#forget(set);
      } else if (!patch(set, set.blocks, change)) this.#forget(set);
    }
  }

  /** Resolves when no set is in the making. */
  async settled(): Promise<void> {
    await Promise.all(this.#making);
  }

  #find(run: Run, blocks: Block[], start: number): { from: SortKeys; offset: number } | undefined {
    let rest = start;
    for (const [i, block] of blocks.entries()) {
      if (rest < block.count) {
        if (block.count > 2 * BLOCK) this.#split(run, blocks, i, block);
        return { from: block.first, offset: rest };
      }
      rest -= block.count;
    }
    return undefined;
  }

  #split(run: Run, blocks: Block[], i: number, block: Block): void {
    const middle = this.#splitStatement(run.sort).get(...boundary(run, block.first), BLOCK);
    if (middle === null) return;
    blocks.splice(i + 1, 0, { first: middle, count: block.count - BLOCK });
    block.count = BLOCK;
  }

  #splitStatement(sort: SortField): Statement<SortKeys> {
    const known = this.#splits.get(sort);
    if (known !== undefined) return known;
    const statement = this.#sqlite.prepare<SortKeys, (number | string)[]>(
      `SELECT ${SORT_COLUMNS} FROM (${selectFrom(sort, ">=", ["?3", "?4"])} LIMIT 1 OFFSET ?5) k
       CROSS JOIN nodes n ON n.id = k.id`,
    );
    this.#splits.set(sort, statement);
    return statement;
  }

  #make(run: Run): void {
    const oldest = this.#sets.values().next().value;
    if (this.#sets.size >= SETS_MAX && oldest !== undefined) this.#forget(oldest);
    const set: AnchorSet = { run, rev: 0, blocks: undefined, pending: [] };
    this.#sets.set(keyOf(run), set);
    this.#watched.set(run.folderId, (this.#watched.get(run.folderId) ?? 0) + 1);
    const counts = "SELECT children_rev, child_folders, child_files FROM folders WHERE node_id = ?1";
    const making = this.#reader
      .read([
        rows<FolderRow>(counts, [run.folderId]),
        rows<SortKeys>(pageStartsSql(run.sort), [run.folderId, run.kind, BLOCK - 1]),
      ])
      .then(([folder, pageStarts]) => {
        const isWanted = this.#sets.get(keyOf(run)) === set;
        if (isWanted && !this.#complete(set, folder, pageStarts)) this.#forget(set);
        return undefined;
      })
      .catch((error: unknown) => {
        this.#forget(set);
        this.#log.warn("Could not build the page index of a large folder; listing it stays slower.", { error });
      })
      .finally(() => this.#making.delete(making));
    this.#making.add(making);
  }

  /** Fills a set with what the thread read, and brings it up to what was committed since. */
  #complete(set: AnchorSet, [folder]: readonly FolderRow[], pageStarts: readonly SortKeys[]): boolean {
    if (folder === undefined) return false;
    const total = set.run.kind === 0 ? folder.child_folders : folder.child_files;
    const blocks = pageStarts.map((first, i) => ({ first, count: Math.min(BLOCK, total - i * BLOCK) }));
    set.rev = folder.children_rev;
    set.blocks = blocks;
    const missed = set.pending.filter((change) => change.rev > set.rev);
    set.pending = [];
    return blocks.length > 0 && missed.every((change) => patch(set, blocks, change));
  }

  #forget(set: AnchorSet): void {
    if (!this.#sets.delete(keyOf(set.run))) return;
    const sets = (this.#watched.get(set.run.folderId) ?? 0) - 1;
    if (sets > 0) this.#watched.set(set.run.folderId, sets);
    else this.#watched.delete(set.run.folderId);
  }
}

/** The values of {@link SORTS}' keys, behind folder and kind, as the paging statements bind them. */
export function boundary(run: Run, keys: SortKeys): [number, number, string | number, string | number] {
  const { folderId, kind, sort } = run;
  if (sort === "name") return [folderId, kind, keys.sort_key, keys.name];
  const values = { size: keys.size_bytes, createdAt: keys.created_at, modifiedAt: keys.modified_at };
  return [folderId, kind, values[sort], keys.id];
}

function keyOf({ folderId, kind, sort }: Run): string {
  return `${folderId}/${kind}/${sort}`;
}

/** False where the change does not follow the last one, or a count goes wrong. */
function patch(set: AnchorSet, blocks: readonly Block[], change: ChildChange): boolean {
  if (change.rev !== set.rev + 1) return false;
  set.rev = change.rev;
  if (change.kind !== set.run.kind) return true;
  const { before, after } = change;
  if (before !== undefined && !count(set.run.sort, blocks, before, -1)) return false;
  return after === undefined || count(set.run.sort, blocks, after, 1);
}

function count(sort: SortField, blocks: readonly Block[], keys: SortKeys, change: 1 | -1): boolean {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const block = blocks[middle];
    if (block !== undefined && compareKeys(sort, block.first, keys) <= 0) low = middle;
    else high = middle - 1;
  }
  const block = blocks[low];
  if (block === undefined || block.count + change < 0) return false;
  block.count += change;
  // What comes before all others lowers the bound of the first block.
  if (low === 0 && compareKeys(sort, keys, block.first) < 0) block.first = keys;
  return true;
}

/** Every block's first child: each step goes on behind the last one found, within the index. */
function pageStartsSql(sort: SortField): string {
  const { index, keys } = SORTS[sort];
  const order = keys.join(", ");
  return `WITH RECURSIVE landmark(id) AS (
      SELECT (SELECT id FROM nodes INDEXED BY ${index} WHERE parent_id = ?1 AND kind = ?2 ORDER BY ${order} LIMIT 1)
      UNION ALL
      SELECT (SELECT id FROM (${selectFrom(sort, ">", [lastPageStarts(keys[0]), lastPageStarts(keys[1])])} LIMIT 1 OFFSET ?3)) FROM landmark WHERE landmark.id IS NOT NULL)
    SELECT ${SORT_COLUMNS} FROM landmark CROSS JOIN nodes n ON n.id = landmark.id`;
}

function lastPageStarts(column: string): string {
  return `(SELECT ${column} FROM nodes WHERE id = landmark.id)`;
}
