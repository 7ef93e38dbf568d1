/**
 * The changes of an account since a position in its journal: the reading side of synchronization.
 *
 * The *effective number* of a node is the journal number at which a reader emits it. It is the number of the node's own
 * last change, or of the last rename or move of a folder above it, if that is larger. Moving a folder writes one journal
 * row, however much lies below; the reader expands that row into all nodes below whose effective number it is.
 *
 * A node has one effective number at any time, and a change only raises it. So a reader that goes up number by number
 * emits each node **once per run of pages**, in its latest state; a second time only if the node changed again.
 *
 * Example: 1 creates /a, 2 creates /a/x, 3 creates /a/y. A reader emits /a and x, and stops after row 2. Then 4 renames
 * /a. Now 4 is the effective number of all three. Row 3 is superseded and skipped. Row 4 is expanded into /a, x (both
 * again: their paths changed) and y (for the first time).
 *
 * One indexed query skips superseded rows. Within an expanded row the position is (folder, name): see moved-folders.ts.
 */
import { invariant } from "../../lib/invariant.ts";
import { FILE, FOLDER, isTrashed } from "../model/rows.ts";
import type { TreeNode } from "../model/types.ts";
import type { TreeStore } from "../tables/store.ts";
import { CreatedClassifier } from "./classify-created.ts";
import type { ChangeEntry, EmittedEntry } from "./entry.ts";
import { FolderMoves, type LatestMove } from "./folder-moves.ts";
import { type ExpansionPosition, ListMissing, MovedFolders, type NodeBelow } from "./moved-folders.ts";
import { type ChangePosition, continueRanges, knownUpTo, runHeadOf } from "./position.ts";

/** One page of changes and where the next one begins. */
export interface ChangePage {
  readonly entries: readonly ChangeEntry[];
  readonly next: ChangePosition;
  readonly hasMore: boolean;
}

/** A position without an entry: here a reader may stop. */
interface StepEnd {
  readonly entry?: undefined;
  readonly at: ChangePosition;
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

/** Which page is read. */
interface PageRequest {
  readonly accountId: number;
  readonly from: ChangePosition;
  readonly limit: number;
  readonly wantsFolders: boolean;
  /** Whether the folders below a moved one are listed on the main thread if they are not cached. */
  readonly isInPlace: boolean;
}

/** The context for reading one journal row. */
interface RowContext {
  readonly row: JournalRow;
  readonly request: PageRequest;
  readonly run: ChangePosition;
  /** Where to continue within the row's expansion; null for its beginning. */
  readonly within: ExpansionPosition | null;
  readonly latestMove: LatestMove;
}

/** Rows read together; their nodes may have 64 KiB of metadata each. */
const ROWS_PER_QUERY = 100;
/** Characters of paths and metadata in one page: the response is serialized at once, which blocks the event loop. */
const CHARACTERS_PER_PAGE_MAX = 1_000_000;
/** Superseded rows that are skipped in one step, which blocks the event loop. */
const ROWS_SKIPPED_PER_STEP = 500;
/** The same for groups of folders. */
const GROUPS_SKIPPED_PER_STEP = 8;
/** Steps per page: where most rows are superseded, a short page now is better than a full one later. */
const STEPS_PER_PAGE_MAX = 8;
/** Accounts with this many folders have those below a moved one listed in the reading thread. */
const LISTED_IN_READER_MIN = 5_000;

/** Reads changes. One for all accounts of a database. */
export class ChangeReader {
  readonly #store: TreeStore;
  readonly #moved: MovedFolders;
  readonly #moves: FolderMoves;
  readonly #classifier: CreatedClassifier;
  readonly #rows;
  readonly #firstFrom;
  readonly #floor;
  readonly #publicIds;

  constructor(store: TreeStore) {
    this.#store = store;
    const { sqlite } = store;
    this.#moved = new MovedFolders(sqlite);
    this.#moves = new FolderMoves(store);
    this.#classifier = new CreatedClassifier(store);
    this.#rows = sqlite.prepare<JournalRow, [number, number, number]>(
      `SELECT j.seq, j.node_id AS nodeId, n.parent_id AS parentId, n.seq AS nodeSeq, n.created_seq AS createdSeq, n.kind, f.path_seq AS pathSeq,
         t.public_id AS publicId, t.kind AS deletedKind, t.deleted_at AS deletedAtMs
       FROM journal j LEFT JOIN nodes n ON n.id = j.node_id LEFT JOIN folders f ON f.node_id = j.node_id
         LEFT JOIN tombstones t ON t.account_id = j.account_id AND t.seq = j.seq
       WHERE j.account_id = ?1 AND j.seq > ?2 AND (n.seq = j.seq OR f.path_seq = j.seq OR t.seq IS NOT NULL)
       ORDER BY j.seq LIMIT ?3`,
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
  }

  /** The number up to which deletions are no longer recorded. */
  floorSeq(accountId: number): number {
    return this.#floor.get(accountId)?.floorSeq ?? 0;
  }

  /**
   * The number before the first change at or after a time; the head if there is none. Times are by the account's own
   * clock, which never goes back. Takes about twenty index seeks.
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
   * The next changes after a position, as {@link read} returns them. Long reads run in the reading thread first.
   * @param isValid called each time right before changes are read, without an event-loop turn in between
   * @returns undefined if it is not valid (any more)
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
    const isInPlace = Math.max(folders, nodes) < LISTED_IN_READER_MIN;
    while (isValid()) {
      try {
        return await this.#readInSteps({ accountId, from, limit, wantsFolders, isInPlace }, isValid);
      } catch (error) {
        if (!(error instanceof ListMissing)) throw error;
        // Each round adds one list, and a page contains a few moved folders at most.
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
      // Changes since then belong to the next page: a page shows one state.
      if (accounts.headOf(request.accountId) !== head) return step.value;
    }
  }

  /** The next changes after a position: at most `limit`, fewer if their paths or metadata are long. */
  read(accountId: number, from: ChangePosition, limit: number, wantsFolders: boolean): ChangePage {
    const steps = this.#steps({ accountId, from, limit, wantsFolders, isInPlace: true });
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Reads a page. After each step but the last it yields the page as read so far. */
  *#steps(request: PageRequest): Generator<ChangePage, ChangePage> {
    const { accountId, from, limit } = request;
    const head = this.#store.accounts.headOf(accountId);
    if (from.seq === head && from.ranges.length === 0) return { entries: [], next: knownUpTo(head), hasMore: false };
    const run = { ...from, ranges: continueRanges(from, head) };
    const emitted: EmittedEntry[] = [];
    const pageUpTo = (next: ChangePosition, hasMore = true) => ({
      entries: this.#classifier.classify(accountId, run, emitted),
      next,
      hasMore,
    });
    let [characters, steps] = [0, 0];
    for (const one of this.#walk(request, run)) {
      if (one.entry === undefined) {
        const page = pageUpTo(one.at);
        if (++steps >= STEPS_PER_PAGE_MAX) return page;
        yield page;
      } else if (emitted.length >= limit || characters > CHARACTERS_PER_PAGE_MAX) {
        return pageUpTo(emitted.at(-1)?.at ?? run);
      } else {
        emitted.push(one);
        characters += charactersOf(one.entry);
      }
    }
    return pageUpTo(knownUpTo(head), false);
  }

  *#walk(request: PageRequest, run: ChangePosition): Generator<EmittedEntry | StepEnd> {
    const { accountId, limit } = request;
    let { within } = run;
    const latestMove = this.#moves.latestMove(accountId);
    // A position within a row means that this row is read again.
    let after = within === null ? run.seq : within.rowSeq - 1;
    const rowsPerQuery = Math.min(ROWS_PER_QUERY, limit + 1);
    for (let skipped = 0; ; ) {
      const rows = this.#rows.all(accountId, after, rowsPerQuery);
      const nodes = this.#effectiveNodes(rows, request.wantsFolders, latestMove);
      for (const row of rows) {
        let isSkipped = true;
        const rowWithin = within?.rowSeq === row.seq ? within : null;
        for (const one of this.#readRow({ row, request, run, within: rowWithin, latestMove }, nodes)) {
          isSkipped = false;
          yield one;
        }
        if (isSkipped) skipped++;
        within = null;
        after = row.seq;
      }
      if (rows.length < rowsPerQuery) return;
      if (skipped < ROWS_SKIPPED_PER_STEP) continue;
      yield { at: { ...run, seq: after, within: null } };
      skipped = 0;
    }
  }

  /** The nodes whose effective number is one of these rows, read together. */
  #effectiveNodes(rows: readonly JournalRow[], wantsFolders: boolean, latestMove: LatestMove) {
    const ids = rows.flatMap((row) => {
      const { seq, nodeId, parentId, kind } = row;
      const isCandidate = row.nodeSeq === seq && parentId !== null && (kind === FILE || wantsFolders);
      return isCandidate && latestMove(parentId) <= seq ? [nodeId] : [];
    });
    return new Map(ids.length === 0 ? [] : this.#store.findByIds(ids).map((node) => [node.id, node]));
  }

  *#readRow(context: RowContext, nodes: ReadonlyMap<number, TreeNode>): Generator<EmittedEntry | StepEnd> {
    const { row } = context;
    if (row.publicId !== null) yield* this.#emitDeletion(context);
    // A folder that was never renamed or moved was empty when it was made.
    else if (row.pathSeq === row.seq && row.pathSeq !== row.createdSeq) yield* this.#expandRow(context);
    else {
      // A folder whose metadata changed after it was made has two rows; the later one is its effective number.
      const node = row.nodeSeq === row.seq ? nodes.get(row.nodeId) : undefined;
      if (node !== undefined) yield { entry: { change: "updated", node }, at: positionAt(context, null) };
    }
  }

  /** A moved folder and all below it whose effective number is this row. */
  *#expandRow(context: RowContext): Generator<EmittedEntry | StepEnd> {
    const { row, request, latestMove } = context;
    if (latestMove(row.nodeId) !== row.seq || this.#store.paths.pathOf(row.nodeId) === undefined) return;
    let skipped = 0;
    for (const group of this.#below(context, (folderId) => latestMove(folderId) === row.seq)) {
      const [first] = group;
      if (first?.isSkipped === true) {
        if (++skipped % GROUPS_SKIPPED_PER_STEP === 0) yield { at: positionAt(context, first.at) };
        continue;
      }
      const requested = requestedBelow(group, request);
      const nodes = new Map(this.#store.findByIds(requested.map(({ id }) => id)).map((node) => [node.id, node]));
      for (const { id, at } of requested) {
        const node = nodes.get(id);
        if (node === undefined || node.seq > row.seq) continue;
        yield { entry: { change: "updated", node }, at: positionAt(context, at) };
      }
    }
  }

  /**
   * A deletion. It is emitted also for a node made after the reader's position: the device that made it knows it from its
   * own request. Only a reader that began blank skips deletions that are older than its run.
   */
  *#emitDeletion(context: RowContext): Generator<EmittedEntry> {
    const { row, request, run } = context;
    const { publicId, deletedKind, deletedAtMs } = row;
    invariant(publicId !== null && deletedAtMs !== null, "a tombstone is whole");
    if (run.beganBlank && row.seq <= runHeadOf(run)) return;
    // Trashing a folder writes one tombstone, which stands for all below it.
    if (isTrashed(row.parentId) && row.kind === FOLDER && row.nodeSeq === row.seq) {
      for (const group of this.#below(context, () => true)) yield* this.#emitTrashed(context, group, deletedAtMs);
      return;
    }
    const kind = deletedKind === FOLDER ? "folder" : "file";
    if (kind === "folder" && !request.wantsFolders) return;
    yield { entry: { change: "deleted", publicId, kind, deletedAtMs }, at: positionAt(context, null) };
  }

  /** Nodes below a folder in the trash, as deletions. */
  *#emitTrashed(context: RowContext, group: readonly NodeBelow[], deletedAtMs: number): Generator<EmittedEntry> {
    const requested = requestedBelow(group, context.request);
    const rows = this.#publicIds.all(JSON.stringify(requested.map(({ id }) => id)));
    const publicIds = new Map(rows.map(({ id, publicId }) => [id, publicId]));
    for (const { id, kind, at } of requested) {
      const publicId = publicIds.get(id);
      if (publicId === undefined) continue;
      yield { entry: { change: "deleted", publicId, kind, deletedAtMs }, at: positionAt(context, at) };
    }
  }

  /** The row's folder and the nodes below it, in groups, from where the context says. */
  #below({ row, request, within }: RowContext, isEffective: (folderId: number) => boolean) {
    const { wantsFolders, isInPlace, limit } = request;
    const list = { folderId: row.nodeId, rowSeq: row.seq, wantsFolders };
    const groupSize = Math.min(ROWS_PER_QUERY, limit + 1);
    return this.#moved.below({ list, after: within, groupSize, isInPlace, isEffective });
  }
}

/** The position of a reader that has read a row up to a place in its expansion, or all of it. */
function positionAt({ row, run }: RowContext, expansion: ExpansionPosition | null): ChangePosition {
  if (expansion === null) return { ...run, seq: row.seq, within: null };
  return { ...run, seq: row.seq - 1, within: { ...expansion, rowSeq: row.seq } };
}

/** The nodes of a group that a page includes, with their row ids. */
function requestedBelow(group: readonly NodeBelow[], { wantsFolders }: PageRequest) {
  return group
    .filter(({ fileId }) => wantsFolders || fileId !== null)
    .map(({ fileId, at }) => {
      const kind: "file" | "folder" = fileId === null ? "folder" : "file";
      return { id: fileId ?? at.folderId, kind, at };
    });
}

/** The characters of an entry that may be many; what is bounded to a few hundred is not counted. */
function charactersOf(entry: ChangeEntry): number {
  if (entry.change === "deleted") return 0;
  const { node } = entry;
  let characters = node.folder.length + (node.kind === "folder" ? node.path.length : 0);
  for (const key in node.metadata) characters += key.length + (node.metadata[key]?.length ?? 0);
  return characters;
}
