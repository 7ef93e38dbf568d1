/**
 * What has changed in an account since a place in its journal: the reading side of synchronisation.
 *
 * A node's *place* is the journal number at which a reader meets it: that of its own last change, or of the last rename
 * or move of a folder above it, whichever is larger. A folder's move writes one row, whatever lies below; its row is
 * expanded here into all below whose place it is. Each node has one place at any time, and a change only moves it on. So
 * a reader that goes up from number to number meets each node once in its latest state, and again only if it changed
 * again; what moves on while it pages is met later. Nothing is met twice, nothing is passed over.
 *
 * The journal's rows that later ones have superseded are skipped in one indexed query; within an expanded row the
 * position is (folder, name), in orders that only shrink while others write.
 */
import type { Database } from "bun:sqlite";
import { invariant } from "../../lib/invariant.ts";
import type { TreeStore } from "./store.ts";
import type { TreeNode } from "./types.ts";

/** A place within the expansion of a moved folder's row: after this folder itself, or after this file of it. */
export interface ExpansionPosition {
  readonly folderId: number;
  /** Null: the folder itself was met, none of its files. */
  readonly file: { readonly sortKey: string; readonly name: string } | null;
}

/** How far a reader has come. */
export interface ChangePosition {
  /** All places up to this number were met. */
  readonly seq: number;
  /** Where in the expansion of the next row it stopped; that row's number is `seq + 1` or more. */
  readonly within: (ExpansionPosition & { readonly rowSeq: number }) | null;
  /** What existed at this number was known when the run began. */
  readonly knownSeq: number;
  /** The journal's head when the run began: what has its place up to here was not met before in this run. */
  readonly runHeadSeq: number;
}

/** What a reader meets. */
export type ChangeEntry =
  | { readonly change: "created" | "updated"; readonly node: TreeNode }
  | {
      readonly change: "deleted";
      readonly publicId: string;
      readonly kind: "file" | "folder";
      readonly deletedAtMs: number;
    };

/** One page of changes and where the next one begins. */
export interface ChangePage {
  readonly entries: readonly ChangeEntry[];
  readonly next: ChangePosition;
  readonly hasMore: boolean;
}

interface JournalRow {
  readonly seq: number;
  readonly nodeId: number;
  readonly parentId: number | null;
  readonly nodeSeq: number | null;
  readonly createdSeq: number | null;
  readonly kind: number | null;
  readonly pathSeq: number | null;
  readonly publicId: string | null;
  readonly deletedKind: number | null;
  readonly deletedCreatedSeq: number | null;
  readonly deletedAtMs: number | null;
}

interface FolderLink {
  readonly parentId: number | null;
  readonly pathSeq: number;
}

interface BelowRow {
  readonly id: number;
  readonly sortKey: string;
  readonly name: string;
}

/** What was met and where; without an entry only how far the walk has come. */
interface Met {
  readonly entry?: ChangeEntry;
  readonly at: ChangePosition;
}

const ROWS_AT_ONCE = 500;
/** So many rows of the journal are looked at for one page: where most have moved on, a page is short rather than late. */
const ROWS_A_PAGE_MAX = 20_000;

/** Where a reader stands that knows everything up to a number. */
export function knownUpTo(seq: number): ChangePosition {
  return { seq, within: null, knownSeq: seq, runHeadSeq: seq };
}

/** Reads changes. One for all accounts of a database. */
export class ChangeReader {
  readonly #store: TreeStore;
  readonly #rows;
  readonly #link;
  readonly #foldersBelow;
  readonly #filesOf;
  readonly #firstFrom;
  readonly #floor;
  readonly #ownSeqs;

  constructor(store: TreeStore) {
    this.#store = store;
    const { sqlite } = store;
    this.#rows = sqlite.prepare<JournalRow, [number, number, number]>(
      `SELECT j.seq, j.node_id AS nodeId, n.parent_id AS parentId, n.seq AS nodeSeq, n.created_seq AS createdSeq, n.kind, f.path_seq AS pathSeq,
         t.public_id AS publicId, t.kind AS deletedKind, t.created_seq AS deletedCreatedSeq, t.deleted_at AS deletedAtMs
       FROM journal j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN folders f ON f.node_id = j.node_id
         LEFT JOIN tombstones t ON t.account_id = j.account_id AND t.seq = j.seq
       WHERE j.account_id = ?1 AND j.seq > ?2 AND (n.seq = j.seq OR f.path_seq = j.seq OR t.seq IS NOT NULL)
       ORDER BY j.seq LIMIT ?3`,
    );
    this.#link = sqlite.prepare<FolderLink, [number]>(
      `SELECT n.parent_id AS parentId, f.path_seq AS pathSeq FROM nodes n JOIN folders f ON f.node_id = n.id
       WHERE n.id = ?1`,
    );
    this.#foldersBelow = sqlite.prepare<{ id: number }, [number]>(
      `WITH RECURSIVE s(id) AS (SELECT ?1 UNION ALL
         SELECT n.id FROM s JOIN nodes n INDEXED BY nodes_name ON n.parent_id = s.id AND n.kind = 0)
       SELECT id FROM s ORDER BY id`,
    );
    this.#filesOf = sqlite.prepare<BelowRow, [number, number, string, string, number]>(
      `SELECT id, sort_key AS sortKey, name FROM nodes INDEXED BY nodes_name
       WHERE parent_id = ?1 AND kind = 1 AND seq < ?2 AND (sort_key, name) > (?3, ?4) ORDER BY sort_key, name LIMIT ?5`,
    );
    this.#firstFrom = sqlite.prepare<{ seq: number; at: number }, [number, number]>(
      "SELECT seq, at FROM journal WHERE account_id = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1",
    );
    this.#floor = sqlite.prepare<{ floorSeq: number }, [number]>(
      "SELECT floor_seq AS floorSeq FROM accounts WHERE id = ?1",
    );
    this.#ownSeqs = sqlite.prepare<{ nodeId: number; seq: number }, [number, number, number, string]>(
      `SELECT node_id AS nodeId, seq FROM journal WHERE account_id = ?1 AND seq BETWEEN ?2 AND ?3
         AND node_id IN (SELECT value FROM json_each(?4)) ORDER BY seq`,
    );
  }

  /** Deletions up to this number are remembered no more. */
  floorOf(accountId: number): number {
    return this.#floor.get(accountId)?.floorSeq ?? 0;
  }

  /**
   * The number before the first change at or after an instant, in the account's own time, which never goes back; the
   * head where there is none. About twenty index seeks.
   */
  seqBefore(accountId: number, atMs: number): number {
    const head = this.#store.accounts.headOf(accountId);
    let low = 1;
    let high = head + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#firstFrom.get(accountId, middle);
      if (row === null || row.seq >= high || row.at >= atMs) high = middle;
      else low = row.seq + 1;
    }
    return low - 1;
  }

  /** The next changes after a place, at most `limit` of the wanted kinds. */
  read(accountId: number, from: ChangePosition, limit: number, wantsFolders: boolean): ChangePage {
    const head = this.#store.accounts.headOf(accountId);
    const start = from.within === null && from.seq === from.runHeadSeq && from.seq === from.knownSeq;
    const run = start ? { ...from, runHeadSeq: head } : from;
    const met: Met[] = [];
    for (const one of this.#walk(accountId, run, limit, wantsFolders)) {
      met.push(one);
      if (met.length > limit || one.entry === undefined) break;
    }
    const last = met.at(-1);
    const isPaused = last !== undefined && last.entry === undefined;
    const hasMore = isPaused || met.length > limit;
    const page = hasMore ? met.slice(0, -1) : met;
    const next = isPaused ? last.at : hasMore ? (page.at(-1)?.at ?? run) : knownUpTo(head);
    return { entries: this.#settle(accountId, run, page), next, hasMore };
  }

  *#walk(accountId: number, run: ChangePosition, limit: number, wantsFolders: boolean): Generator<Met> {
    let { within } = run;
    const links = new Map<number, FolderLink | null>();
    // A position within a row means that this row comes again.
    let after = within === null ? run.seq : within.rowSeq - 1;
    const rowsAtOnce = Math.min(ROWS_AT_ONCE, limit + 1);
    for (let looked = 0; looked < ROWS_A_PAGE_MAX; looked += rowsAtOnce) {
      const rows = this.#rows.all(accountId, after, rowsAtOnce);
      const nodes = this.#nodesOf(rows, wantsFolders, links);
      for (const row of rows) {
        yield* this.#meet(row, run, within?.rowSeq === row.seq ? within : null, wantsFolders, links, nodes);
        within = null;
        after = row.seq;
      }
      if (rows.length < rowsAtOnce) return;
    }
    yield { at: { ...run, seq: after, within: null } };
  }

  /** The nodes that have their place at one of these rows, read together. */
  #nodesOf(rows: readonly JournalRow[], wantsFolders: boolean, links: Map<number, FolderLink | null>) {
    const ids = rows.flatMap((row) => {
      const { seq, nodeId, parentId, kind } = row;
      const isPlaced = row.nodeSeq === seq && parentId !== null && (kind === 1 || wantsFolders);
      return isPlaced && this.#latestMoveAbove(parentId, links) <= seq ? [nodeId] : [];
    });
    return new Map(this.#store.findByIds(ids).map((node) => [node.id, node]));
  }

  *#meet(
    row: JournalRow,
    run: ChangePosition,
    within: ExpansionPosition | null,
    wantsFolders: boolean,
    links: Map<number, FolderLink | null>,
    nodes: ReadonlyMap<number, TreeNode>,
  ): Generator<Met> {
    const at = (position: ExpansionPosition | null): ChangePosition => ({
      ...run,
      seq: position === null ? row.seq : row.seq - 1,
      within: position === null ? null : { ...position, rowSeq: row.seq },
    });
    if (row.publicId !== null) {
      const entry = this.#deletion(row, run);
      if (entry !== undefined && (wantsFolders || entry.kind === "file")) yield { entry, at: at(null) };
      return;
    }
    // A folder that was never renamed or moved held nothing when it was made.
    const isExpanded = row.pathSeq === row.seq && row.pathSeq !== row.createdSeq;
    if (!isExpanded) {
      const node = nodes.get(row.nodeId);
      if (node !== undefined) yield { entry: { change: "updated", node }, at: at(null) };
      return;
    }
    if (this.#latestMoveAbove(row.nodeId, links) !== row.seq) return;
    if (this.#store.paths.pathOf(row.nodeId) === undefined) return;
    for (const { id } of this.#foldersBelow.all(row.nodeId)) {
      if (within !== null && id < within.folderId) continue;
      if (this.#latestMoveAbove(id, links) !== row.seq) continue;
      const isResumed = within !== null && id === within.folderId;
      if (wantsFolders && !isResumed) {
        const folder = this.#store.findById(id);
        if (folder !== undefined && folder.seq <= row.seq) {
          yield { entry: { change: "updated", node: folder }, at: at({ folderId: id, file: null }) };
        }
      }
      let last = (isResumed ? within?.file : null) ?? { sortKey: "", name: "" };
      for (;;) {
        const files = this.#filesOf.all(id, row.seq, last.sortKey, last.name, ROWS_AT_ONCE);
        const found = new Map(this.#store.findByIds(files.map((file) => file.id)).map((node) => [node.id, node]));
        for (const { id: fileId, sortKey, name } of files) {
          const node = found.get(fileId);
          last = { sortKey, name };
          if (node !== undefined) yield { entry: { change: "updated", node }, at: at({ folderId: id, file: last }) };
        }
        if (files.length < ROWS_AT_ONCE) break;
      }
    }
  }

  /** A deletion, unless the reader can't know what was deleted. */
  #deletion(row: JournalRow, run: ChangePosition): Extract<ChangeEntry, { change: "deleted" }> | undefined {
    const { publicId, deletedKind, deletedCreatedSeq, deletedAtMs } = row;
    invariant(publicId !== null && deletedCreatedSeq !== null && deletedAtMs !== null, "a tombstone is whole");
    const wasKnown = deletedCreatedSeq <= run.knownSeq;
    // Made and deleted since the run began: it may have been met in between.
    const mayBeMet = deletedCreatedSeq <= run.seq && row.seq > run.runHeadSeq;
    if (!wasKnown && !mayBeMet) return undefined;
    return { change: "deleted", publicId, kind: deletedKind === 0 ? "folder" : "file", deletedAtMs };
  }

  /** The largest number of a rename or move of a folder or of any above it. */
  #latestMoveAbove(folderId: number, links: Map<number, FolderLink | null>): number {
    let latest = 0;
    for (let id: number | null = folderId; id !== null; ) {
      let link = links.get(id);
      if (link === undefined) {
        link = this.#link.get(id);
        links.set(id, link);
      }
      if (link === null) break;
      latest = Math.max(latest, link.pathSeq);
      id = link.parentId;
    }
    return latest;
  }

  /**
   * Tells what is new to the reader. What has its place within the journal as it was when the run began was not met
   * before in this run; for what moved on since, its own earlier rows tell where the reader must have met it.
   */
  #settle(accountId: number, run: ChangePosition, page: readonly Met[]): ChangeEntry[] {
    const createdSeqs = this.#createdSeqs(page);
    const moved: number[] = [];
    for (const { entry, at } of page) {
      if (entry === undefined || entry.change === "deleted") continue;
      const place = at.within?.rowSeq ?? at.seq;
      const created = createdSeqs.get(entry.node.id) ?? 0;
      if (created > run.knownSeq && created <= run.seq && place > run.runHeadSeq) moved.push(entry.node.id);
    }
    const wereMet = this.#metBefore(accountId, run, moved);
    return page.flatMap(({ entry }): ChangeEntry[] => {
      if (entry === undefined) return [];
      if (entry.change === "deleted") return [entry];
      const isKnown = (createdSeqs.get(entry.node.id) ?? 0) <= run.knownSeq || wereMet.has(entry.node.id);
      return [{ ...entry, change: isKnown ? "updated" : "created" }];
    });
  }

  /** Which of these nodes, all made since the run began, had an earlier place that the reader has passed. */
  #metBefore(accountId: number, run: ChangePosition, nodeIds: readonly number[]): Set<number> {
    const met = new Set<number>();
    if (nodeIds.length === 0) return met;
    const until = Math.max(run.runHeadSeq, run.seq);
    const rows = this.#ownSeqs.all(accountId, run.knownSeq + 1, until, JSON.stringify(nodeIds));
    const atRunHead = new Map<number, number>();
    for (const { nodeId, seq } of rows) {
      if (seq <= run.runHeadSeq) atRunHead.set(nodeId, seq);
      else if (seq <= run.seq) met.add(nodeId);
    }
    for (const [nodeId, seq] of atRunHead) if (seq <= run.seq) met.add(nodeId);
    return met;
  }

  #createdSeqs(page: readonly Met[]): Map<number, number> {
    const ids = page.flatMap(({ entry }) => (entry === undefined || entry.change === "deleted" ? [] : [entry.node.id]));
    const rows = this.#store.sqlite
      .query<{ id: number; createdSeq: number }, [string]>(
        "SELECT n.id, n.created_seq AS createdSeq FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value",
      )
      .all(JSON.stringify(ids));
    return new Map(rows.map(({ id, createdSeq }) => [id, createdSeq]));
  }
}

/** How much of a journal one step of the sweep looks at. */
const SWEEP_SEQS = 1_000;

/**
 * Forgets what no reader may ask for any more: tombstones older than the time, and rows that later changes superseded. One
 * bounded step of an account; a deed. @returns where to go on, 0 at the end
 */
export function sweepJournal(sqlite: Database, accountId: number, olderThanMs: number, afterSeq: number): number {
  const until = sqlite
    .query<{ seq: number | null }, [number, number, number, number]>(
      `SELECT max(seq) AS seq FROM (SELECT seq, at FROM journal WHERE account_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?4)
       WHERE at < ?3`,
    )
    .get(accountId, afterSeq, olderThanMs, SWEEP_SEQS)?.seq;
  if (until === null || until === undefined) return 0;
  const removed = sqlite
    .query<{ seq: number }, [number, number, number]>(
      "DELETE FROM tombstones WHERE account_id = ?1 AND seq > ?2 AND seq <= ?3 RETURNING seq",
    )
    .all(accountId, afterSeq, until);
  const floor = removed.reduce((highest, { seq }) => Math.max(highest, seq), 0);
  if (floor > 0) sqlite.run("UPDATE accounts SET floor_seq = max(floor_seq, ?2) WHERE id = ?1", [accountId, floor]);
  sqlite.run(
    `DELETE FROM journal WHERE account_id = ?1 AND seq IN (
       SELECT j.seq FROM journal j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN folders f ON f.node_id = j.node_id
       WHERE j.account_id = ?1 AND j.seq > ?2 AND j.seq <= ?3 AND (n.id IS NULL OR n.seq <> j.seq)
         AND (f.node_id IS NULL OR f.path_seq <> j.seq))`,
    [accountId, afterSeq, until],
  );
  return until;
}
