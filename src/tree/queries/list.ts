/**
 * A page of one folder. Folders and files are two ranges of an index, read for ids first and then for rows. A page is
 * read from the nearer end, in large folders from a starting point of the page index, so that page 5,000 costs no more
 * than page 1.
 */
import type { Statement } from "bun:sqlite";
import { naturalOrder, numbers, rows } from "../../db/reader.ts";
import { type NamedRow, sortNaturally } from "../../lib/natural-key.ts";
import { boundary, type Run } from "../tables/page-index.ts";
import { FILE, FOLDER, NODE_COLUMNS, type NodeRow, toNode } from "../model/rows.ts";
import { selectFrom, SORTS } from "../model/sorts.ts";
import type { TreeStore } from "../tables/store.ts";
import type { ListQuery, NodePage, SortField, TreeNode } from "../model/types.ts";

/** From this many children on, a page index is built. */
const INDEXED_MIN = 20_000;
/** Entries always scanned on the main thread (half a millisecond). */
const WALK_SHORT_MAX = 4_096;
/** Beyond this many entries (two milliseconds), the reading thread scans them if there is no page index yet. */
const WALK_IN_PLACE_MAX = 65_536;

/** Up to this many folders are sorted by what is below them (some milliseconds). More of them are listed by creation. */
const SIZED_MAX = 5_000;
/** Up to this many names are sorted on the main thread if natural keys are missing (two milliseconds). */
const SORTED_HERE_MAX = 1_000;
/** Others may create nodes while keys are stored; but from the first time on, new ones have keys. */
const CATCH_UPS = 3;

type ReadOrder = "asc" | "desc" | "from";

/** The entries of a page within a run, in ascending order. */
interface PageRange {
  /** How many entries come before and after it. */
  readonly before: number;
  readonly after: number;
  readonly count: number;
}

interface Count {
  readonly count: number;
}

interface FolderCounts {
  readonly children_rev: number;
  readonly child_folders: number;
  readonly child_files: number;
}

/** All children of one kind, sorted because natural keys are missing. */
interface SortedFolder {
  readonly folderId: number;
  readonly kind: number;
  readonly rev: number;
  readonly ids: Float64Array;
}

const NAMES_SQL = "SELECT id, kind, name FROM nodes INDEXED BY nodes_name WHERE parent_id = ?1 AND kind = ?2";

/** Lists folders. */
export class Lister {
  readonly #store: TreeStore;
  readonly #counts;
  readonly #byIds;
  readonly #folderIds;
  /** The last folder that the reading thread sorted by name. */
  #sorted: SortedFolder | undefined;
  readonly #pages = new Map<string, Statement<NodeRow>>();
  readonly #counters = new Map<SortField, Statement<Count>>();

  constructor(store: TreeStore) {
    this.#store = store;
    this.#counts = store.sqlite.prepare<FolderCounts, [number]>(
      "SELECT children_rev, child_folders, child_files FROM folders WHERE node_id = ?1",
    );
    this.#folderIds = store.sqlite.prepare<{ id: number }, [number]>(
      `SELECT id FROM nodes INDEXED BY nodes_size WHERE parent_id = ?1 AND kind = ${FOLDER}`,
    );
    this.#byIds = store.sqlite.prepare<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value`,
    );
  }

  /** One page of the folder's direct children. @see ListQuery */
  async list(query: ListQuery): Promise<NodePage> {
    const { folder, kind, around, limit } = query;
    const counts = this.#counts.get(folder.id);
    if (counts === null) return { nodes: [], total: 0 };
    const position = around === undefined ? undefined : await this.#positionOf(query, around, counts);
    const offset = position === undefined ? query.offset : position - (position % limit);
    const folders = kind === "file" ? 0 : counts.child_folders;
    const files = kind === "folder" ? 0 : counts.child_files;
    const end = offset + limit;
    const nodes = [
      ...(await this.#runPage(query, FOLDER, counts, offset, Math.min(end, folders))),
      ...(await this.#runPage(query, FILE, counts, Math.max(0, offset - folders), Math.min(end - folders, files))),
    ];
    return { nodes, total: folders + files, offset };
  }

  /**
   * How many entries of the listing come before one of them. Takes up to two milliseconds here, and for larger folders a
   * moment in the reading thread.
   */
  async #positionOf({ folder, kind, sort, order }: ListQuery, node: TreeNode, counts: FolderCounts): Promise<number> {
    const isFile = node.kind === "file";
    const total = isFile ? counts.child_files : counts.child_folders;
    const run: Run = { folderId: folder.id, kind: isFile ? FILE : FOLDER, sort };
    const sorted = await this.#sortedIds(folder.accountId, run, counts.children_rev, total);
    const before = sorted === undefined ? await this.#countBefore(run, node.id, total) : sorted.indexOf(node.id);
    const inRun = order === "asc" ? before : total - before - 1;
    return isFile && kind === undefined ? counts.child_folders + inRun : inRun;
  }

  async #countBefore({ folderId, kind, sort }: Run, nodeId: number, total: number): Promise<number> {
    const sql = countBeforeSql(sort);
    const parameters = [folderId, kind, nodeId];
    if (total <= WALK_IN_PLACE_MAX) return this.#before(sort, sql).get(...parameters)?.count ?? 0;
    return (await this.#store.reader.read([rows<Count>(sql, parameters)]))[0][0]?.count ?? 0;
  }

  /** Entries `start` to `end` of one kind, in the requested order. */
  async #runPage(
    query: ListQuery,
    kind: number,
    counts: FolderCounts,
    start: number,
    end: number,
  ): Promise<TreeNode[]> {
    const { folder, sort, order } = query;
    const count = end - start;
    if (count <= 0) return [];
    const run: Run = { folderId: folder.id, kind, sort };
    const total = kind === FOLDER ? counts.child_folders : counts.child_files;
    const before = order === "asc" ? start : total - end;
    const after = total - before - count;
    const ascending = await this.#ascending(folder.accountId, run, counts.children_rev, { before, after, count });
    if (order === "desc") ascending.reverse();
    return ascending.map((row) => toNode(row, folder.path));
  }

  async #ascending(accountId: number, run: Run, rev: number, range: PageRange): Promise<NodeRow[]> {
    const total = range.before + range.count + range.after;
    const sorted = await this.#sortedIds(accountId, run, rev, total);
    const ids = sorted?.slice(range.before, range.before + range.count);
    if (ids !== undefined) return this.#byIds.all(JSON.stringify([...ids]));
    if (total < INDEXED_MIN) return this.#walk(run, range);
    const page = this.#pageOfLarge(run, rev, total, range);
    // Built after this page is read: a reader of the first page may well request others, and in the reading thread this
    // page would wait for the build.
    this.#store.pageIndex.prepare(run);
    return page;
  }

  #pageOfLarge(run: Run, rev: number, total: number, range: PageRange): NodeRow[] | Promise<NodeRow[]> {
    const { before, after, count } = range;
    const walk = Math.min(before, after);
    if (walk <= WALK_SHORT_MAX) return this.#walk(run, range);
    const pageStart = this.#store.pageIndex.locate(run, rev, total, before);
    if (pageStart !== undefined) {
      const { from, offset } = pageStart;
      return this.#page(run, "from").all(...boundary(run, from), count, offset);
    }
    const isLong = walk > WALK_IN_PLACE_MAX;
    return isLong ? this.#walkInReader(run, range) : this.#walk(run, range);
  }

  #walk(run: Run, { before, after, count }: PageRange): NodeRow[] {
    const { folderId, kind } = run;
    if (before <= after) return this.#page(run, "asc").all(folderId, kind, count, before);
    return this.#page(run, "desc").all(folderId, kind, count, after).reverse();
  }

  /** The same scan in the reading thread, for the first deep page after startup. */
  async #walkInReader(run: Run, { before, after, count }: PageRange): Promise<NodeRow[]> {
    const isAscending = before <= after;
    const ids = idsSql(run.sort, isAscending ? "asc" : "desc");
    const parameters = [run.folderId, run.kind, count, isAscending ? before : after];
    const [found] = await this.#store.reader.read([numbers(`SELECT group_concat(id) FROM (${ids})`, parameters)]);
    const rows = this.#byIds.all(JSON.stringify([...found]));
    return isAscending ? rows : rows.reverse();
  }

  /** All children of one kind in order, where no index has this order; undefined where one has. */
  async #sortedIds(
    accountId: number,
    run: Run,
    rev: number,
    total: number,
  ): Promise<number[] | Float64Array | undefined> {
    if (run.sort === "natural") return this.#unkeyedIds(run, rev, total);
    const isBySize = run.sort === "size" && run.kind === FOLDER && total <= SIZED_MAX;
    return isBySize ? this.#idsBySize(accountId, run.folderId) : undefined;
  }

  #idsBySize(accountId: number, folderId: number): number[] {
    const ids = this.#folderIds.all(folderId).map(({ id }) => id);
    const sizes = this.#store.nodes.states.sizes(accountId, ids);
    return ids.toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0) || a - b);
  }

  /**
   * The sorted children of a folder in which natural keys are missing; undefined if none is missing, or none any more. A
   * few names are sorted here. Else the keys are stored, or, if that is not possible, the reading thread sorts.
   */
  async #unkeyedIds({ folderId, kind }: Run, rev: number, total: number): Promise<number[] | Float64Array | undefined> {
    const { naturalKeys } = this.#store;
    if (!naturalKeys.isMissingIn(folderId, kind)) return undefined;
    if (total <= SORTED_HERE_MAX) return this.#sortHere(folderId, kind);
    for (let attempt = 0; attempt < CATCH_UPS; attempt++) {
      if (!(await naturalKeys.catchUpIn(folderId, kind))) break;
      if (!naturalKeys.isMissingIn(folderId, kind)) return undefined;
    }
    const known = this.#sorted;
    const isKnown = known?.folderId === folderId && known.kind === kind && known.rev === rev;
    const ids = isKnown ? known.ids : await this.#sortInReader(folderId, kind);
    this.#sorted = { folderId, kind, rev, ids };
    return ids;
  }

  #sortHere(folderId: number, kind: number): number[] {
    const names = this.#store.sqlite.query<NamedRow, [number, number]>(NAMES_SQL).all(folderId, kind);
    return sortNaturally(names, "asc");
  }

  async #sortInReader(folderId: number, kind: number): Promise<Float64Array> {
    const [ids] = await this.#store.reader.read([naturalOrder(NAMES_SQL, [folderId, kind], "asc")]);
    return ids;
  }

  #before(sort: SortField, sql: string): Statement<Count> {
    const known = this.#counters.get(sort);
    if (known !== undefined) return known;
    const statement = this.#store.sqlite.prepare<Count, number[]>(sql);
    this.#counters.set(sort, statement);
    return statement;
  }

  #page(run: Run, way: ReadOrder): Statement<NodeRow> {
    const key = `${run.sort}/${way}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const sql = `SELECT ${NODE_COLUMNS} FROM (${idsSql(run.sort, way)}) k CROSS JOIN nodes n ON n.id = k.id`;
    const statement = this.#store.sqlite.prepare<NodeRow, (string | number)[]>(sql);
    this.#pages.set(key, statement);
    return statement;
  }
}

/** Counts the siblings before a node, from an index alone. Bound: folder, kind, node. */
function countBeforeSql(sort: SortField): string {
  const { index, keys, condition } = SORTS[sort];
  const columns = keys.join(", ");
  const indexed = condition === undefined ? "" : `AND ${condition}`;
  return `SELECT count(*) AS count FROM nodes INDEXED BY ${index}
    WHERE parent_id = ?1 AND kind = ?2 ${indexed} AND (${columns}) < (SELECT ${columns} FROM nodes WHERE id = ?3)`;
}

/**
 * The ids of a page from an index alone. Bound: folder, kind, then (`from`: the two keys to begin at,) count, offset.
 */
export function idsSql(sort: SortField, way: ReadOrder): string {
  if (way === "from") return `${selectFrom(sort, ">=", ["?3", "?4"])} LIMIT ?5 OFFSET ?6`;
  const { index, keys, condition } = SORTS[sort];
  const indexed = condition === undefined ? "" : `AND ${condition}`;
  const direction = way === "desc" ? " DESC" : "";
  const order = keys.map((key) => `${key}${direction}`).join(", ");
  return `SELECT id FROM nodes INDEXED BY ${index} WHERE parent_id = ?1 AND kind = ?2 ${indexed}
    ORDER BY ${order} LIMIT ?3 OFFSET ?4`;
}
