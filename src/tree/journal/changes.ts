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
 * position is (folder, name); see moved-folders.ts.
 */
import type { Database } from "bun:sqlite";
import { invariant } from "../../lib/invariant.ts";
import { IN_TRASH } from "../tables/history.ts";
import { type BelowMoved, type ExpansionPosition, ListMissing, MovedFolders } from "./moved-folders.ts";
import type { TreeStore } from "../tables/store.ts";
import type { TreeNode } from "../model/types.ts";

/**
 * A stretch of the journal that a reader went through in this run: from a number to where the next stretch begins, or to
 * where it stands. The journal's head was `headSeq` at that time.
 */
export interface JournalRange {
  readonly fromSeq: number;
  readonly headSeq: number;
}

/** How far a reader has come. */
export interface ChangePosition {
  /** All places up to this number were met. */
  readonly seq: number;
  /** Where in the expansion of the next row it stopped; that row's number is `seq + 1` or more. */
  readonly within: (ExpansionPosition & { readonly rowSeq: number }) | null;
  /** What it went through in this run; empty where none has begun and all up to `seq` is known. */
  readonly stretches: readonly JournalRange[];
  /** It knew nothing when the run began, so that there is nothing to be deleted but what it met in the run. */
  readonly beganBlank: boolean;
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
  readonly deletedAtMs: number | null;
}

interface FolderLink {
  readonly id: number;
  readonly parentId: number | null;
  readonly pathSeq: number;
}

/** The largest number of a rename or move of a folder or of any above it, for the folders that were asked about. */
type LatestMoves = Map<number, number>;

/** What was met and where. */
interface Met {
  readonly entry: ChangeEntry;
  readonly at: ChangePosition;
}

/** Where a step of the walk ends. */
interface StepEnd {
  readonly entry?: undefined;
  readonly at: ChangePosition;
}

/** Which page is read. */
interface PageRequest {
  readonly accountId: number;
  readonly from: ChangePosition;
  readonly limit: number;
  readonly wantsFolders: boolean;
  /** Whether the folders below a moved one are listed in place, where they are not known. */
  readonly isInPlace: boolean;
}

/** A node that was made since the run began, and where it is met now. */
interface Moved {
  readonly createdSeq: number;
  readonly placeSeq: number;
}

/** Rows read together; their nodes may have 64 KiB of metadata each. */
const ROWS_AT_ONCE = 100;
/** Characters of paths and metadata in one page: the answer is made of them in one piece, while the event loop waits. */
const CHARACTERS_A_PAGE_MAX = 1_000_000;
/** So far back from the journal's head it is looked up whether a node had moved on when the reader passed it. */
const OWN_ROWS_LOOKED_AT = 50_000;
/** Rows of the journal of what has moved on that are passed over in one step; the event loop waits for it. */
const ROWS_PASSED_A_STEP = 500;
/** The same for groups of folders. */
const GROUPS_PASSED_A_STEP = 8;
/** Steps for one page: where most have moved on, a page is short rather than late. */
const STEPS_A_PAGE_MAX = 8;
/** From here on a way up is read many levels at a time. */
const SHORT_WAY = 16;
const LEVELS_AT_ONCE = 1_000;
/** Folders whose latest move is remembered, some 50 bytes each. */
const KNOWN_MAX = 100_000;
/** Accounts with so many folders have those below a moved one listed in the reading thread. */
const LISTED_ELSEWHERE_MIN = 5_000;
/** A stretch ends where others write between two pages; beyond this number the first ones are put together. */
const RANGES_MAX = 12;

/** Where a reader stands that knows everything up to a number. */
export function knownUpTo(seq: number): ChangePosition {
  return { seq, within: null, stretches: [], beganBlank: false };
}

/** Where a reader stands that knows nothing and wants everything. */
export const NOTHING_KNOWN: ChangePosition = { seq: 0, within: null, stretches: [], beganBlank: true };

/** The number up to which a reader knew everything when its run began. */
function knownSeqOf({ seq, stretches: [first] }: ChangePosition): number {
  return first?.fromSeq ?? seq;
}

/** The journal's head when a reader's run began. */
export function runHeadOf({ seq, stretches: [first] }: ChangePosition): number {
  return first?.headSeq ?? seq;
}

/** Reads changes. One for all accounts of a database. */
export class ChangeReader {
  readonly #store: TreeStore;
  readonly #rows;
  readonly #link;
  readonly #linksAbove;
  /** What was found for the last page, for as long as the account stays as it was. */
  #known: { readonly accountId: number; readonly headSeq: number; readonly latest: LatestMoves } | undefined;
  readonly #moved;
  readonly #firstFrom;
  readonly #floor;
  readonly #ownSeqs;
  readonly #publicIds;
  readonly #hasReturns;
  readonly #placeAt;

  constructor(store: TreeStore) {
    this.#store = store;
    const { sqlite } = store;
    this.#moved = new MovedFolders(sqlite);
    this.#rows = sqlite.prepare<JournalRow, [number, number, number]>(
      `SELECT j.seq, j.node_id AS nodeId, n.parent_id AS parentId, n.seq AS nodeSeq, n.created_seq AS createdSeq, n.kind, f.path_seq AS pathSeq,
         t.public_id AS publicId, t.kind AS deletedKind, t.deleted_at AS deletedAtMs
       FROM journal j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN folders f ON f.node_id = j.node_id
         LEFT JOIN tombstones t ON t.account_id = j.account_id AND t.seq = j.seq
       WHERE j.account_id = ?1 AND j.seq > ?2 AND (n.seq = j.seq OR f.path_seq = j.seq OR t.seq IS NOT NULL)
       ORDER BY j.seq LIMIT ?3`,
    );
    this.#link = sqlite.prepare<FolderLink, [number]>(
      `SELECT n.id, n.parent_id AS parentId, f.path_seq AS pathSeq FROM nodes n JOIN folders f ON f.node_id = n.id
       WHERE n.id = ?1`,
    );
    this.#linksAbove = sqlite.prepare<FolderLink, [number, number]>(
      `WITH RECURSIVE up(id, parent_id) AS (SELECT id, parent_id FROM nodes WHERE id = ?1
         UNION ALL SELECT n.id, n.parent_id FROM up JOIN nodes n ON n.id = up.parent_id)
       SELECT up.id, up.parent_id AS parentId, f.path_seq AS pathSeq FROM up CROSS JOIN folders f ON f.node_id = up.id
       LIMIT ?2`,
    );
    this.#firstFrom = sqlite.prepare<{ seq: number; at: number }, [number, number]>(
      "SELECT seq, at FROM journal WHERE account_id = ?1 AND seq >= ?2 ORDER BY seq LIMIT 1",
    );
    this.#floor = sqlite.prepare<{ floorSeq: number }, [number]>(
      "SELECT floor_seq AS floorSeq FROM accounts WHERE id = ?1",
    );
    this.#publicIds = sqlite.prepare<{ id: number; publicId: string }, [string]>(
      "SELECT n.id, n.public_id AS publicId FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value",
    );
    this.#hasReturns = sqlite.prepare<{ found: number }, [number, number, number]>(
      `SELECT 1 AS found FROM former_places INDEXED BY former_places_folder
       WHERE parent_id = ?1 AND seq > ?2 AND account_id = ?3 LIMIT 1`,
    );
    // Where a node was when a number had been given, and the change by which it left that place: 0 for none.
    this.#placeAt = sqlite.prepare<{ parentId: number | null; leftSeq: number }, [number, number]>(
      `SELECT * FROM (SELECT parent_id AS parentId, seq AS leftSeq FROM former_places
         WHERE node_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1)
       UNION ALL SELECT parent_id, 0 FROM nodes WHERE id = ?1 LIMIT 1`,
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

  /**
   * The next changes after a place, as {@link read} gives them; what is long to read is read off the event loop first.
   * @param isValid asked again, each time before the changes are read, in the same instant
   * @returns undefined where it is not valid (any more)
   */
  async readNext(
    accountId: number,
    from: ChangePosition,
    limit: number,
    wantsFolders: boolean,
    isValid: () => boolean,
  ): Promise<ChangePage | undefined> {
    const { accounts, reader } = this.#store;
    const { folders, nodes } = accounts.usage(accountId);
    const isInPlace = Math.max(folders, nodes) < LISTED_ELSEWHERE_MIN;
    while (isValid()) {
      try {
        return await this.#readInSteps({ accountId, from, limit, wantsFolders, isInPlace }, isValid);
      } catch (error) {
        if (!(error instanceof ListMissing)) throw error;
        // Each round adds a list, and a page meets a few moved folders at most.
        await this.#moved.fetch(reader, error.list);
      }
    }
    return undefined;
  }

  async #readInSteps(request: PageRequest, isValid: () => boolean): Promise<ChangePage | undefined> {
    const { accounts } = this.#store;
    const head = accounts.headOf(request.accountId);
    const steps = this.#steps(request);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) return step.value;
      await new Promise(setImmediate);
      if (!isValid()) return undefined;
      // What has changed since is for the next page: a page shows one state.
      if (accounts.headOf(request.accountId) !== head) return step.value;
    }
  }

  /** The next changes after a place, at most `limit` of the wanted kinds; fewer where their paths or metadata are long. */
  read(accountId: number, from: ChangePosition, limit: number, wantsFolders: boolean): ChangePage {
    const steps = this.#steps({ accountId, from, limit, wantsFolders, isInPlace: true });
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Reads a page. Yields it as far as it has come, after each step but the last. */
  *#steps(request: PageRequest): Generator<ChangePage, ChangePage> {
    const { accountId, from, limit } = request;
    const head = this.#store.accounts.headOf(accountId);
    if (from.seq === head && from.stretches.length === 0) return { entries: [], next: knownUpTo(head), hasMore: false };
    const run = { ...from, stretches: withHead(from, head) };
    const met: Met[] = [];
    const pageUpTo = (next: ChangePosition, hasMore = true) => ({
      entries: this.#settle(accountId, run, met),
      next,
      hasMore,
    });
    let [characters, steps] = [0, 0];
    for (const one of this.#walk(request, run)) {
      if (one.entry === undefined) {
        const page = pageUpTo(one.at);
        if (++steps >= STEPS_A_PAGE_MAX) return page;
        yield page;
      } else if (met.length >= limit || characters > CHARACTERS_A_PAGE_MAX) return pageUpTo(met.at(-1)?.at ?? run);
      else {
        met.push(one);
        characters += charactersOf(one.entry);
      }
    }
    return pageUpTo(knownUpTo(head), false);
  }

  *#walk(request: PageRequest, run: ChangePosition): Generator<Met | StepEnd> {
    const { accountId, limit, wantsFolders } = request;
    let { within } = run;
    const latest = this.#latestOf(accountId);
    // A position within a row means that this row comes again.
    let after = within === null ? run.seq : within.rowSeq - 1;
    const rowsAtOnce = Math.min(ROWS_AT_ONCE, limit + 1);
    for (let passed = 0; ; ) {
      const rows = this.#rows.all(accountId, after, rowsAtOnce);
      const nodes = this.#nodesOf(rows, wantsFolders, latest);
      for (const row of rows) {
        let isPassed = true;
        for (const one of this.#meet(row, run, within?.rowSeq === row.seq ? within : null, request, latest, nodes)) {
          isPassed = false;
          yield one;
        }
        if (isPassed) passed++;
        within = null;
        after = row.seq;
      }
      if (rows.length < rowsAtOnce) return;
      if (passed < ROWS_PASSED_A_STEP) continue;
      yield { at: { ...run, seq: after, within: null } };
      passed = 0;
    }
  }

  /** The nodes that have their place at one of these rows, read together. */
  #nodesOf(rows: readonly JournalRow[], wantsFolders: boolean, latest: LatestMoves) {
    const ids = rows.flatMap((row) => {
      const { seq, nodeId, parentId, kind } = row;
      const isPlaced = row.nodeSeq === seq && parentId !== null && (kind === 1 || wantsFolders);
      return isPlaced && this.#latestMoveAbove(parentId, latest) <= seq ? [nodeId] : [];
    });
    return new Map(ids.length === 0 ? [] : this.#store.findByIds(ids).map((node) => [node.id, node]));
  }

  *#meet(
    row: JournalRow,
    run: ChangePosition,
    within: ExpansionPosition | null,
    { wantsFolders, isInPlace, limit }: PageRequest,
    latest: LatestMoves,
    placed: ReadonlyMap<number, TreeNode>,
  ): Generator<Met | StepEnd> {
    const count = Math.min(ROWS_AT_ONCE, limit + 1);
    const at = (position: ExpansionPosition | null): ChangePosition => ({
      ...run,
      seq: position === null ? row.seq : row.seq - 1,
      within: position === null ? null : { ...position, rowSeq: row.seq },
    });
    if (row.publicId !== null) {
      const entry = this.#deletion(row, run);
      const { parentId } = row;
      if (entry === undefined) return;
      // A folder that lies in the trash went with all below it, of which nothing else tells.
      if (parentId !== null && parentId < 0 && row.kind === 0 && row.nodeSeq === row.seq) {
        const list = { folderId: row.nodeId, rowSeq: row.seq, wantsFolders };
        for (const piece of this.#moved.below(list, within, count, isInPlace, () => true)) {
          yield* this.#goneBelow(piece, wantsFolders, entry.deletedAtMs, at);
        }
      } else if (wantsFolders || entry.kind === "file") yield { entry, at: at(null) };
      return;
    }
    // A folder that was never renamed or moved held nothing when it was made.
    const isExpanded = row.pathSeq === row.seq && row.pathSeq !== row.createdSeq;
    if (!isExpanded) {
      // Described after it was made: this row is still the one of its path, and its place is the later one.
      const node = row.nodeSeq === row.seq ? placed.get(row.nodeId) : undefined;
      if (node !== undefined) yield { entry: { change: "updated", node }, at: at(null) };
      return;
    }
    if (this.#latestMoveAbove(row.nodeId, latest) !== row.seq) return;
    if (this.#store.paths.pathOf(row.nodeId) === undefined) return;
    const isPlaced = (folderId: number) => this.#latestMoveAbove(folderId, latest) === row.seq;
    const list = { folderId: row.nodeId, rowSeq: row.seq, wantsFolders };
    let passed = 0;
    for (const piece of this.#moved.below(list, within, count, isInPlace, isPlaced)) {
      const [first] = piece;
      if (first?.isPassed === true) {
        if (++passed % GROUPS_PASSED_A_STEP === 0) yield { at: at(first.at) };
        continue;
      }
      const wanted = piece.filter(({ fileId }) => wantsFolders || fileId !== null);
      const found = this.#store.findByIds(wanted.map(({ fileId, at: { folderId } }) => fileId ?? folderId));
      const nodes = new Map(found.map((node) => [node.id, node]));
      for (const { fileId, at: position } of wanted) {
        const node = nodes.get(fileId ?? position.folderId);
        if (node !== undefined && node.seq <= row.seq) yield { entry: { change: "updated", node }, at: at(position) };
      }
    }
  }

  /** What lies below a folder in the trash, as deletions. */
  *#goneBelow(
    piece: readonly BelowMoved[],
    wantsFolders: boolean,
    deletedAtMs: number,
    at: (position: ExpansionPosition) => ChangePosition,
  ): Generator<Met> {
    const wanted = piece.filter(({ fileId }) => wantsFolders || fileId !== null);
    const ids = wanted.map(({ fileId, at: { folderId } }) => fileId ?? folderId);
    const publicIds = new Map(this.#publicIds.all(JSON.stringify(ids)).map(({ id, publicId }) => [id, publicId]));
    for (const { fileId, at: position } of wanted) {
      const publicId = publicIds.get(fileId ?? position.folderId);
      if (publicId === undefined) continue;
      const kind = fileId === null ? "folder" : "file";
      yield { entry: { change: "deleted", publicId, kind, deletedAtMs }, at: at(position) };
    }
  }

  /**
   * A deletion. One of a node that was made after the cursor is told, too: the device that made it knows it from its own
   * request, before it met it here. Only who began with nothing needs none of those that were over by then.
   */
  #deletion(row: JournalRow, run: ChangePosition): Extract<ChangeEntry, { change: "deleted" }> | undefined {
    const { publicId, deletedKind, deletedAtMs } = row;
    invariant(publicId !== null && deletedAtMs !== null, "a tombstone is whole");
    if (run.beganBlank && row.seq <= runHeadOf(run)) return undefined;
    return { change: "deleted", publicId, kind: deletedKind === 0 ? "folder" : "file", deletedAtMs };
  }

  #latestOf(accountId: number): LatestMoves {
    const headSeq = this.#store.accounts.headOf(accountId);
    const known = this.#known;
    const isKnown = known?.accountId === accountId && known.headSeq === headSeq && known.latest.size < KNOWN_MAX;
    if (isKnown) return known.latest;
    const latest: LatestMoves = new Map();
    this.#known = { accountId, headSeq, latest };
    return latest;
  }

  /** See {@link LatestMoves}. Each folder is read once, however many lie below it. */
  #latestMoveAbove(folderId: number | null, latest: LatestMoves): number {
    const way: FolderLink[] = [];
    let id = folderId;
    let found: number | undefined;
    while (id !== null && found === undefined) {
      found = latest.get(id);
      if (found !== undefined) break;
      const links = way.length < SHORT_WAY ? [this.#link.get(id)] : this.#linksAbove.all(id, LEVELS_AT_ONCE);
      id = null;
      for (const link of links) {
        if (link === null) break;
        found = latest.get(link.id);
        if (found !== undefined) break;
        way.push(link);
        id = link.parentId;
      }
    }
    found ??= 0;
    for (const above of way.reverse()) {
      found = Math.max(found, above.pathSeq);
      latest.set(above.id, found);
    }
    return found;
  }

  /**
   * Tells what is new to the reader: made after what it knew when the run began, and not met in the run. What has its place
   * within the journal as it was then can't have been met; of what moved on since, its own earlier rows tell where it stood
   * while the reader passed by.
   *
   * Promised: nothing that the reader knows is told as created. What it does not know is told as created, but for nodes
   * that changed again after the run began: of those, one whose folder had been renamed or moved before the reader passed
   * it is told as updated, since where it stood in between is not written down; and so are some of very long runs.
   */
  #settle(accountId: number, run: ChangePosition, page: readonly Met[]): ChangeEntry[] {
    const knownSeq = knownSeqOf(run);
    const newSince = this.#newSince(accountId, knownSeq, page);
    const moved = new Map<number, Moved>();
    for (const { entry, at } of page) {
      if (entry.change === "deleted") continue;
      const placeSeq = at.within?.rowSeq ?? at.seq;
      const createdSeq = newSince.get(entry.node.id);
      if (createdSeq !== undefined && createdSeq <= passedSeqOf(run) && placeSeq > runHeadOf(run)) {
        moved.set(entry.node.id, { createdSeq, placeSeq });
      }
    }
    const wereMet = this.#metBefore(accountId, run, moved);
    return page.map(({ entry }): ChangeEntry => {
      if (entry.change === "deleted") return entry;
      const isKnown = !newSince.has(entry.node.id) || wereMet.has(entry.node.id);
      return { ...entry, change: isKnown ? "updated" : "created" };
    });
  }

  /**
   * Which of these nodes, all made since the run began, the reader passed where they stood. That is so where at the end of
   * some stretch no change of the node was ahead, up to what was the journal's head then.
   */
  #metBefore(accountId: number, run: ChangePosition, moved: ReadonlyMap<number, Moved>): Set<number> {
    const met = new Set<number>();
    if (moved.size === 0) return met;
    const headSeq = run.stretches.at(-1)?.headSeq ?? run.seq;
    const lookedFrom = Math.max(knownSeqOf(run) + 1, headSeq - OWN_ROWS_LOOKED_AT);
    const rows = this.#ownSeqs.all(accountId, lookedFrom, headSeq, JSON.stringify([...moved.keys()]));
    const seqs = Map.groupBy(rows, ({ nodeId }) => nodeId);
    for (const [nodeId, { createdSeq, placeSeq }] of moved) {
      const own = seqs.get(nodeId) ?? [];
      const isMet = run.stretches.some((stretch, index) => {
        const endSeq = run.stretches[index + 1]?.fromSeq ?? passedSeqOf(run);
        if (createdSeq > endSeq || placeSeq <= stretch.headSeq) return false;
        return endSeq < lookedFrom - 1 || !own.some(({ seq }) => seq > endSeq && seq <= stretch.headSeq);
      });
      if (isMet) met.add(nodeId);
    }
    return met;
  }

  /**
   * What was made, or came out of the trash, after a reader knew everything up to a number, by row id: at which number.
   * What lay in the trash then is new to the reader again.
   */
  #newSince(accountId: number, knownSeq: number, page: readonly Met[]): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const hasReturns = this.#hasReturns.get(IN_TRASH, knownSeq, accountId) !== null;
    const returns = new Map<number, number | undefined>();
    for (const [nodeId, createdSeq] of this.#createdSeqs(page)) {
      const newSeq =
        createdSeq > knownSeq ? createdSeq : hasReturns ? this.#returnOf(nodeId, knownSeq, returns) : undefined;
      if (newSeq !== undefined) found.set(nodeId, newSeq);
    }
    return found;
  }

  /**
   * The number by which a node that lay in the trash at another, itself or with a folder above it, came out of it.
   * @param returns what is known of folders by now
   */
  #returnOf(nodeId: number, knownSeq: number, returns: Map<number, number | undefined>): number | undefined {
    const way: number[] = [];
    let found: number | undefined;
    for (let id: number | null = nodeId; id !== null; ) {
      if (returns.has(id)) {
        found = returns.get(id);
        break;
      }
      way.push(id);
      const place: { parentId: number | null; leftSeq: number } | null = this.#placeAt.get(id, knownSeq);
      if (place?.parentId === IN_TRASH) {
        found = place.leftSeq;
        break;
      }
      id = place?.parentId ?? null;
    }
    for (const id of way) returns.set(id, found);
    return found;
  }

  #createdSeqs(page: readonly Met[]): Map<number, number> {
    const ids = page.flatMap(({ entry }) => (entry.change === "deleted" ? [] : [entry.node.id]));
    const rows = this.#store.sqlite
      .query<{ id: number; createdSeq: number }, [string]>(
        `SELECT n.id, CASE WHEN n.created_seq >= 0 THEN n.created_seq
           ELSE ifnull((SELECT s.created_seq FROM nodes s WHERE s.id = -n.created_seq), 0) END AS createdSeq
         FROM json_each(?1) j CROSS JOIN nodes n ON n.id = j.value`,
      )
      .all(JSON.stringify(ids));
    return new Map(rows.map(({ id, createdSeq }) => [id, createdSeq]));
  }
}

/** How much of an answer an entry makes; what is bounded to some hundred characters is not counted. */
function charactersOf(entry: ChangeEntry): number {
  if (entry.change === "deleted") return 0;
  const { node } = entry;
  let characters = node.folder.length + (node.kind === "folder" ? node.path.length : 0);
  for (const key in node.metadata) characters += key.length + (node.metadata[key]?.length ?? 0);
  return characters;
}

/** How far a reader may have met things; of a moved folder's row the folder itself. */
function passedSeqOf({ seq, within }: ChangePosition): number {
  return within?.rowSeq ?? seq;
}

/** What a reader has gone through once it goes on with the journal's head where it is now. */
function withHead(position: ChangePosition, headSeq: number): readonly JournalRange[] {
  const { stretches } = position;
  if (stretches.at(-1)?.headSeq === headSeq) return stretches;
  const all = [...stretches, { fromSeq: passedSeqOf(position), headSeq }];
  const [first, , ...others] = all;
  // The first two together: as if the head had been the earlier one all the time. That only takes more for met.
  return all.length <= RANGES_MAX || first === undefined ? all : [first, ...others];
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
