/**
 * Starting points in large folders, so that a page in the middle of a million files needs no scan of half a million
 * entries. For one sort, the index holds the key of every 2,048th child and the number of children up to the next one.
 * The reading thread builds it; each commit patches it. It is valid only while `folders.children_rev` and the number of
 * children match. A write by another process, or a defect here, makes a page slower and never wrong.
 */
import type { Database, Statement } from "bun:sqlite";
import { type Reader, rows } from "../../db/reader.ts";
import type { Log } from "../../lib/log.ts";
import { compareKeys, naturalKeyOf, selectFrom, SORT_COLUMNS, SORTS, type SortKeys } from "../model/sorts.ts";
import { FOLDER } from "../model/rows.ts";
import type { SortField } from "../model/types.ts";

/** Children per block; a block twice as long is split when it is used. */
const BLOCK = 2_048;
/** Indexes cached, each for one folder, kind and sort: about 60 kB for a million children. */
const SETS_MAX = 16;
/** Changes queued while an index is being built; beyond this number the build is dropped. */
const PENDING_MAX = 10_000;

/** Children of one kind in one folder, in one sort. */
export interface Run {
  readonly folderId: number;
  /** `nodes.kind` */
  readonly kind: number;
  readonly sort: SortField;
}

/** A child that was added, removed or changed. `rev` is the `children_rev` of the folder after it. */
interface ChildChange {
  readonly folderId: number;
  readonly kind: number;
  readonly rev: number;
  readonly before: SortKeys | undefined;
  readonly after: SortKeys | undefined;
}

interface Block {
  /** Lower bound: the block holds everything from it up to the next block. */
  first: SortKeys;
  count: number;
}

interface BlockIndex {
  readonly run: Run;
  rev: number;
  /** Undefined while it is being built. */
  blocks: Block[] | undefined;
  pending: ChildChange[];
}

interface FolderRow {
  readonly children_rev: number;
  readonly child_folders: number;
  readonly child_files: number;
  /** 1: children are missing in the natural index. */
  readonly isUnkeyed: number;
}

/** The page indexes of all large folders of a database. One for all readers and writers. */
export class PageIndex {
  readonly #sqlite: Database;
  readonly #reader: Reader;
  readonly #log: Log;
  readonly #sets = new Map<string, BlockIndex>();
  /** How many indexes each folder has. */
  readonly #watched = new Map<number, number>();
  readonly #building = new Set<Promise<void>>();
  readonly #splits = new Map<SortField, Statement<SortKeys>>();

  constructor(sqlite: Database, reader: Reader, log: Log) {
    this.#sqlite = sqlite;
    this.#reader = reader;
    this.#log = log;
  }

  /** Whether `apply` needs the changes of this folder's children. */
  watches(folderId: number): boolean {
    return this.#watched.has(folderId);
  }

  /**
   * The starting point at or before position `start` (ascending), and the distance from there. Undefined if there is no
   * valid index.
   * @param rev the current `children_rev` of the folder
   * @param total the current number of children of this kind
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
    // Evicted last: the one used last.
    this.#sets.delete(key);
    this.#sets.set(key, set);
    return this.#find(run, set.blocks, start);
  }

  /** Builds the index in the background, unless it exists. */
  prepare(run: Run): void {
    if (!this.#sets.has(keyOf(run))) this.#build(run);
  }

  /** Applies a committed change. Called in the order of the commits. */
  apply(change: ChildChange): void {
    for (const set of this.#sets.values()) {
      if (set.run.folderId !== change.folderId) continue;
      if (set.blocks === undefined) {
        set.pending.push(change);
        if (set.pending.length > PENDING_MAX) this.#forget(set);
      } else if (!patch(set, set.blocks, change)) this.#forget(set);
    }
  }

  /** Drops all indexes: rows moved in their order without a change of their folders. */
  clear(): void {
    for (const set of this.#sets.values()) this.#forget(set);
  }

  /** Resolves when no index is being built. */
  async whenBuilt(): Promise<void> {
    await Promise.all(this.#building);
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

  #build(run: Run): void {
    const oldest = this.#sets.values().next().value;
    if (this.#sets.size >= SETS_MAX && oldest !== undefined) this.#forget(oldest);
    const set: BlockIndex = { run, rev: 0, blocks: undefined, pending: [] };
    this.#sets.set(keyOf(run), set);
    this.#watched.set(run.folderId, (this.#watched.get(run.folderId) ?? 0) + 1);
    const counts = `SELECT children_rev, child_folders, child_files,
        EXISTS (SELECT 1 FROM nodes INDEXED BY nodes_unkeyed WHERE parent_id = ?1 AND kind = ?2 AND natural_key IS NULL)
          AS isUnkeyed FROM folders WHERE node_id = ?1`;
    const building = this.#reader
      .read([
        rows<FolderRow>(counts, [run.folderId, run.kind]),
        rows<SortKeys>(pageStartsSql(run.sort), [run.folderId, run.kind, BLOCK - 1]),
      ])
      .then(([folder, pageStarts]) => {
        const isCurrent = this.#sets.get(keyOf(run)) === set;
        if (isCurrent && !this.#complete(set, folder, pageStarts)) this.#forget(set);
        return undefined;
      })
      .catch((error: unknown) => {
        this.#forget(set);
        this.#log.warn("Could not build the page index of a large folder; listing it stays slower.", { error });
      })
      .finally(() => this.#building.delete(building));
    this.#building.add(building);
  }

  /** Fills an index with what the thread read, and applies what was committed since. */
  #complete(set: BlockIndex, [folder]: readonly FolderRow[], pageStarts: readonly SortKeys[]): boolean {
    if (folder === undefined || (set.run.sort === "natural" && folder.isUnkeyed === 1)) return false;
    const total = set.run.kind === FOLDER ? folder.child_folders : folder.child_files;
    const blocks = pageStarts.map((first, i) => ({ first, count: Math.min(BLOCK, total - i * BLOCK) }));
    set.rev = folder.children_rev;
    set.blocks = blocks;
    const missed = set.pending.filter((change) => change.rev > set.rev);
    set.pending = [];
    return blocks.length > 0 && missed.every((change) => patch(set, blocks, change));
  }

  #forget(set: BlockIndex): void {
    if (!this.#sets.delete(keyOf(set.run))) return;
    const sets = (this.#watched.get(set.run.folderId) ?? 0) - 1;
    if (sets > 0) this.#watched.set(set.run.folderId, sets);
    else this.#watched.delete(set.run.folderId);
  }
}

/** The values of the {@link SORTS} keys, after folder and kind, as the paging statements bind them. */
export function boundary(run: Run, keys: SortKeys): [number, number, string | number, string | number] {
  const { folderId, kind, sort } = run;
  if (sort === "name") return [folderId, kind, keys.sort_key, keys.name];
  if (sort === "natural") return [folderId, kind, naturalKeyOf(keys), keys.name];
  const values = {
    size: keys.size_bytes,
    createdAt: keys.created_at,
    modifiedAt: keys.modified_at,
    fileModifiedAt: keys.file_at,
  };
  return [folderId, kind, values[sort], keys.id];
}

function keyOf({ folderId, kind, sort }: Run): string {
  return `${folderId}/${kind}/${sort}`;
}

/** False if the change does not follow the last one, or a count becomes wrong. */
function patch(set: BlockIndex, blocks: readonly Block[], change: ChildChange): boolean {
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
  // A child that comes before all others lowers the bound of the first block.
  if (low === 0 && compareKeys(sort, keys, block.first) < 0) block.first = keys;
  return true;
}

/** SQL for the first child of every block. Each step continues after the last one found, within the index. */
function pageStartsSql(sort: SortField): string {
  const { index, keys, condition } = SORTS[sort];
  const order = keys.join(", ");
  const indexed = condition === undefined ? "" : `AND ${condition}`;
  return `WITH RECURSIVE block_start(id) AS (
      SELECT (SELECT id FROM nodes INDEXED BY ${index} WHERE parent_id = ?1 AND kind = ?2 ${indexed} ORDER BY ${order} LIMIT 1)
      UNION ALL
      SELECT (SELECT id FROM (${selectFrom(sort, ">", [lastPageStarts(keys[0]), lastPageStarts(keys[1])])} LIMIT 1 OFFSET ?3)) FROM block_start WHERE block_start.id IS NOT NULL)
    SELECT ${SORT_COLUMNS} FROM block_start CROSS JOIN nodes n ON n.id = block_start.id`;
}

function lastPageStarts(column: string): string {
  return `(SELECT ${column} FROM nodes WHERE id = block_start.id)`;
}
