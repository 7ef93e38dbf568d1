/**
 * Searches the names of one account in memory: any text, any sort, any page, in about 20 ms for a million files. Runs in
 * a thread of its own.
 *
 * Every search first reads the changes since the last one from the journal, so it finds all that was committed before.
 * The order of each sort is read once from the database, for the entries of the build. For later ones, the position among
 * those is found by comparing rows.
 */
import type { Database, Statement } from "bun:sqlite";
import { parseNumbers } from "../../db/parse-numbers.ts";
import { FILE, FOLDER } from "../model/rows.ts";
import { compareKeys, orderBy, SORT_COLUMNS, type SortKeys } from "../model/sorts.ts";
import type { SortField, SortOrder } from "../model/types.ts";
import { NameEntries, type NameScope } from "./name-entries.ts";

/** A search for a text in names. */
export interface NameSearch extends NameScope {
  /** Folded. */
  readonly text: string;
  readonly kinds: readonly number[];
  readonly sort: SortField;
  readonly order: SortOrder;
  readonly offset: number;
  readonly limit: number;
}

/** The ids of one page, and the number of all matches. */
export interface NamePage {
  readonly total: number;
  readonly ids: readonly number[];
}

const ROWS_AT_ONCE = 50_000;
/** Sorts in memory: 8 MB each for a million files. */
const RANKINGS_MAX = 3;
/** With more changed entries, the index should be built again: each costs some steps in each search. */
const CHANGED_MAX = 20_000;

interface ChangedRow extends SortKeys {
  readonly kind: number;
  readonly parent_id: number | null;
}

/** The entries of the build in the order of a sort: folders first. */
interface Ranking {
  readonly entries: Int32Array;
  /** For each entry, its position in `entries`. */
  readonly ranks: Int32Array;
  readonly folders: number;
}

/** An entry made after the build. It comes before the built entry of this rank. */
interface LaterEntry {
  readonly row: ChangedRow;
  readonly rank: number;
}

/** The names of one account. Every method runs in its own read transaction. */
export class NameIndex {
  readonly #sqlite: Database;
  readonly #accountId: number;
  readonly #head: Statement<{ seq: number; floor: number }, [number]>;
  readonly #changes: Statement<ChangedRow & { readonly node_id: number }, [number, number]>;
  readonly #row: Statement<ChangedRow, [number]>;
  readonly #rankings = new Map<SortField, Ranking>();
  /** The rows of entries made after the build, by entry. */
  readonly #changed = new Map<number, ChangedRow>();
  /** The last entry of each node that changed since the build. */
  readonly #entryOf = new Map<number, number>();
  readonly #ranksOfLater = new Map<SortField, Map<number, number>>();
  #lastHits: { readonly key: string; readonly hits: Int32Array } | undefined;
  readonly #entries = new NameEntries();
  #built = 0;
  #seq = 0;

  constructor(sqlite: Database, accountId: number) {
    this.#sqlite = sqlite;
    this.#accountId = accountId;
    this.#head = sqlite.prepare("SELECT seq, floor_seq AS floor FROM accounts WHERE id = ?1");
    this.#row = sqlite.prepare(`SELECT n.kind, n.parent_id, ${SORT_COLUMNS} FROM nodes n WHERE n.id = ?1`);
    this.#changes = sqlite.prepare(
      `SELECT j.node_id, n.kind, n.parent_id, ${SORT_COLUMNS}
       FROM (SELECT DISTINCT node_id FROM journal WHERE account_id = ?1 AND seq > ?2 LIMIT ${CHANGED_MAX + 1}) j
       LEFT JOIN nodes n ON n.id = j.node_id`,
    );
  }

  /** The sorts that searches can have. */
  get sorts(): SortField[] {
    return [...this.#rankings.keys()];
  }

  /** Reads all names. */
  build(): void {
    this.#inTransaction(() => {
      this.#seq = this.#head.get(this.#accountId)?.seq ?? 0;
      const statement = this.#sqlite.prepare<
        { ids: string | null; parents: string; kinds: string; names: Uint8Array },
        [number, number, number]
      >(
        `SELECT group_concat(id) AS ids, group_concat(max(0, ifnull(parent_id, 0))) AS parents, group_concat(kind) AS kinds,
           CAST(group_concat(sort_key, char(0)) AS BLOB) AS names
         FROM (SELECT id, parent_id, kind, sort_key FROM nodes NOT INDEXED WHERE account_id = ?1 AND id > ?2
           ORDER BY id LIMIT ?3)`,
      );
      for (let after = 0; ; ) {
        const found = statement.get(this.#accountId, after, ROWS_AT_ONCE);
        if (found === null || found.ids === null) break;
        const ids = parseNumbers(found.ids);
        const [parentIds, kinds] = [parseNumbers(found.parents), parseNumbers(found.kinds)];
        this.#entries.addRows({ ids, parentIds, kinds, names: found.names });
        after = ids.at(-1) ?? after;
      }
      statement.finalize();
      this.#built = this.#entries.size;
    });
  }

  /** Prepares searches in the order of a sort. @returns false if natural keys are missing, or the index is outdated */
  rank(sort: SortField): boolean {
    return this.#inTransaction(() => {
      if (!this.#catchUp()) return false;
      const unkeyed = "SELECT 1 FROM nodes INDEXED BY nodes_unkeyed WHERE natural_key IS NULL LIMIT 1";
      if (sort === "natural" && this.#sqlite.query(unkeyed).get() !== null) return false;
      const found = this.#sqlite
        .query<{ ids: string | null }, [number]>(
          `SELECT group_concat(id) AS ids
           FROM (SELECT n.id FROM nodes n NOT INDEXED WHERE n.account_id = ?1 ${orderBy(sort, "asc")})`,
        )
        .get(this.#accountId);
      const entries = new Int32Array(this.#built);
      const ranks = new Int32Array(this.#built);
      let count = 0;
      let folders = 0;
      for (const id of parseNumbers(found?.ids)) {
        const entry = this.#entryOf.has(id) ? -1 : this.#entries.findFirst(id, this.#built);
        if (entry < 0) continue;
        if (this.#entries.isFolder(entry)) folders++;
        ranks[entry] = count;
        entries[count++] = entry;
      }
      const [oldest] = this.#rankings.keys();
      if (this.#rankings.size >= RANKINGS_MAX && oldest !== undefined) {
        this.#rankings.delete(oldest);
        this.#ranksOfLater.delete(oldest);
      }
      this.#rankings.set(sort, { entries: entries.subarray(0, count), ranks, folders });
      return true;
    });
  }

  /** One page of the matches; undefined if this index is outdated, or not prepared for the sort. */
  find(search: NameSearch): NamePage | undefined {
    return this.#inTransaction(() => {
      const ranking = this.#rankings.get(search.sort);
      if (ranking === undefined || !this.#catchUp()) return undefined;
      const hits = this.#hits(search);
      // Those of later entries are the last ones.
      let built = hits.length;
      while (built > 0 && (hits[built - 1] ?? 0) >= this.#built) built--;
      const isHit = new Uint8Array(ranking.entries.length);
      const { ranks } = ranking;
      for (let hit = 0; hit < built; hit++) isHit[ranks[hits[hit] ?? 0] ?? 0] = 1;
      const later = Array.from(hits.subarray(built)).flatMap(
        (entry) => this.#locate(entry, search.sort, ranking) ?? [],
      );
      return { total: hits.length, ids: this.#page(search, ranking, isHit, later) };
    });
  }

  /** The entries that match, also for the following pages. */
  #hits({ text, kinds, folderId, isRecursive }: NameSearch): Int32Array {
    const key = JSON.stringify([this.#seq, text, kinds, folderId, isRecursive]);
    if (this.#lastHits?.key === key) return this.#lastHits.hits;
    const hits = this.#entries.search(text, kinds, { folderId, isRecursive });
    this.#lastHits = { key, hits };
    return hits;
  }

  #page(search: NameSearch, { entries, folders }: Ranking, isHit: Uint8Array, later: LaterEntry[]): number[] {
    const { sort, order, offset, limit } = search;
    later.sort((a, b) => a.rank - b.rank || compareKeys(sort, a.row, b.row) || a.row.id - b.row.id);
    const ids: number[] = [];
    let skip = offset;
    const take = (id: number): void => {
      if (skip > 0) skip--;
      else if (ids.length < limit) ids.push(id);
    };
    const step = order === "asc" ? 1 : -1;
    let rank = 0;
    const takeBuiltUntil = (end: number): void => {
      for (; skip > 0 && rank !== end; rank += step) skip -= isHit[rank] ?? 0;
      for (; rank !== end && ids.length < limit; rank += step) {
        if (isHit[rank] === 1) ids.push(this.#entries.idOf(entries[rank] ?? 0));
      }
    };
    for (const [kind, from, to] of [
      [FOLDER, 0, folders],
      [FILE, folders, entries.length],
    ] as const) {
      const changed = later.filter(({ row }) => row.kind === kind);
      if (step < 0) changed.reverse();
      rank = step > 0 ? from : to - 1;
      for (const { row, rank: next } of changed) {
        takeBuiltUntil(step > 0 ? next : next - 1);
        take(row.id);
      }
      takeBuiltUntil(step > 0 ? to : from - 1);
    }
    return ids;
  }

  /** Finds the place of a changed entry among the built ones, once for each sort. */
  #locate(entry: number, sort: SortField, { entries, folders }: Ranking): LaterEntry | undefined {
    const row = this.#changed.get(entry);
    if (row === undefined) return undefined;
    const known = this.#ranksOfLater.get(sort) ?? new Map<number, number>();
    this.#ranksOfLater.set(sort, known);
    let rank = known.get(entry);
    if (rank !== undefined) return { row, rank };
    let [low, high] = row.kind === FOLDER ? [0, folders] : [folders, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      // The rows of removed entries are gone or have other values.
      let probe = middle;
      while (probe < high && this.#entries.isRemoved(entries[probe] ?? 0)) probe++;
      const other = probe < high ? this.#row.get(this.#entries.idOf(entries[probe] ?? 0)) : null;
      if (other === null) high = middle;
      else if ((compareKeys(sort, row, other) || row.id - other.id) < 0) high = middle;
      else low = probe + 1;
    }
    rank = low;
    known.set(entry, rank);
    return { row, rank };
  }

  /** Reads the changes since the last time. @returns false if there were too many, or the journal lacks some */
  #catchUp(): boolean {
    const { seq, floor } = this.#head.get(this.#accountId) ?? { seq: 0, floor: 0 };
    if (seq === this.#seq) return true;
    if (floor > this.#seq || seq < this.#seq) return false;
    const changes = this.#changes.all(this.#accountId, this.#seq);
    if (this.#entries.size - this.#built + changes.length > CHANGED_MAX) return false;
    for (const row of changes) this.#replace(row.node_id, row);
    this.#seq = seq;
    return true;
  }

  /** @param row its id is null for a deleted node */
  #replace(nodeId: number, row: ChangedRow): void {
    const last = this.#entryOf.get(nodeId) ?? this.#entries.findFirst(nodeId, this.#built);
    if (last >= 0) {
      this.#entries.remove(last);
      this.#changed.delete(last);
      for (const known of this.#ranksOfLater.values()) known.delete(last);
    }
    if ((row.id as number | null) === null) {
      this.#entryOf.set(nodeId, -1);
      return;
    }
    const entry = this.#entries.add(nodeId, row.parent_id ?? 0, row.kind, row.sort_key);
    this.#entryOf.set(nodeId, entry);
    this.#changed.set(entry, row);
  }

  #inTransaction<T>(body: () => T): T {
    this.#sqlite.run("BEGIN");
    try {
      return body();
    } finally {
      this.#sqlite.run("ROLLBACK");
    }
  }
}
