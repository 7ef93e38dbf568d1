/**
 * A page of one folder. Folders and files are two ranges of an index, read for ids first and then for rows. A page is
 * read from the nearer end, in large folders from a starting point of the page index, so that page 5,000 costs no more
 * than page 1.
 */
import type { Statement } from "bun:sqlite";
import { numbers, rows } from "../../db/reader.ts";
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

/** Lists folders. */
export class Lister {
  readonly #store: TreeStore;
  readonly #counts;
  readonly #byIds;
  readonly #pages = new Map<string, Statement<NodeRow>>();
  readonly #counters = new Map<SortField, Statement<Count>>();

  constructor(store: TreeStore) {
    this.#store = store;
    this.#counts = store.sqlite.prepare<FolderCounts, [number]>(
      "SELECT children_rev, child_folders, child_files FROM folders WHERE node_id = ?1",
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
    const parameters = [folder.id, isFile ? FILE : FOLDER, node.id];
    const sql = countBeforeSql(sort);
    const before =
      total <= WALK_IN_PLACE_MAX
        ? (this.#before(sort, sql).get(...parameters)?.count ?? 0)
        : ((await this.#store.reader.read([rows<Count>(sql, parameters)]))[0][0]?.count ?? 0);
    const inRun = order === "asc" ? before : total - before - 1;
    return isFile && kind === undefined ? counts.child_folders + inRun : inRun;
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
    const ascending = await this.#ascending(run, counts.children_rev, total, { before, after, count });
    if (order === "desc") ascending.reverse();
    return ascending.map((row) => toNode(row, folder.path));
  }

  async #ascending(run: Run, rev: number, total: number, range: PageRange): Promise<NodeRow[]> {
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
  const { index, keys } = SORTS[sort];
  const columns = keys.join(", ");
  return `SELECT count(*) AS count FROM nodes INDEXED BY ${index}
    WHERE parent_id = ?1 AND kind = ?2 AND (${columns}) < (SELECT ${columns} FROM nodes WHERE id = ?3)`;
}

/**
 * The ids of a page from an index alone. Bound: folder, kind, then (`from`: the two keys to begin at,) count, offset.
 */
export function idsSql(sort: SortField, way: ReadOrder): string {
  if (way === "from") return `${selectFrom(sort, ">=", ["?3", "?4"])} LIMIT ?5 OFFSET ?6`;
  const { index, keys } = SORTS[sort];
  const direction = way === "desc" ? " DESC" : "";
  const order = keys.map((key) => `${key}${direction}`).join(", ");
  return `SELECT id FROM nodes INDEXED BY ${index} WHERE parent_id = ?1 AND kind = ?2
    ORDER BY ${order} LIMIT ?3 OFFSET ?4`;
}
