/**
 * Keeps the index of words behind the trees of all accounts. Nobody who writes waits for it: it follows each account's
 * journal, in which every change has a number, in transactions of a few milliseconds, and writes with each how far it has come.
 * So after a crash it goes on where it was, and a database that never had an index gets one the same way: what is there at
 * the first start is gone through by id, what changes meanwhile is told by the journals.
 *
 * It looks once a second whether anything was written, waits while others write, and goes on a little at a time where they
 * never stop. A search lets it catch up with the one account first ({@link SearchIndexer.catchUp}).
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { PendingRow, SearchTables } from "./queries.ts";

/** What {@link SearchIndexer} works with. */
export interface SearchIndexerOptions {
  readonly tables: SearchTables;
  readonly writer: Writer;
  readonly log: Log;
  /** The last journal number of an account. */
  readonly headOf: (accountId: number) => number;
  /** Reported of each content that is indexed and was not yet asked what it tells of itself; inside a transaction. */
  readonly noteContent?: (tx: Transaction, digest: Uint8Array, mediaType: string) => void;
}

/** Rows of a journal, or nodes, that one transaction takes on at most, */
const ROWS_PER_TRANSACTION = 64;
/** and how long it goes on with them. */
const TRANSACTION_MS = 3;
const TICK_MS = 1_000;
/** Nodes that a search goes through itself where the index is still being filled. */
const BACKFILL_BATCH_MAX = 2_000;
/** Between two transactions while nobody else writes. */
const REST_MS = 4;
/** How long it waits for others to stop writing, and how long it rests between transactions where they don't. */
const PATIENCE_MS = 10_000;
const BUSY_REST_MS = 200;
/** After a failure, a full disk for instance. */
const FAILURE_REST_MS = 30_000;

/** See the head of this file. One for each database, in the server alone. */
export class SearchIndexer {
  readonly #options: SearchIndexerOptions;
  readonly #catching = new Map<number, Promise<void>>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #seenMark = "";
  #seenTotal: number | undefined;
  #restsUntilMs = 0;
  #busySinceMs: number | undefined;
  #revision = 0;

  constructor(options: SearchIndexerOptions) {
    this.#options = options;
  }

  /** Begins to follow; returns at once. */
  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Ends after the transaction that is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    await this.#working;
    await Promise.allSettled(this.#catching.values());
  }

  /** Moves on where entries changed without a change in any journal. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether all that an account holds now can be found. */
  isCaughtUp(accountId: number): boolean {
    return this.#reaches(accountId, this.#options.headOf(accountId));
  }

  /**
   * Indexes what an account has changed up to this call, within `waitMs`; the rest follows in the background. A pass that
   * runs already may have begun before the last change: where it ends too early, another one follows.
   * @returns the journal number up to which everything can be found; undefined where the time did not suffice
   */
  async catchUp(accountId: number, waitMs: number): Promise<number | undefined> {
    const wantedSeq = this.#options.headOf(accountId);
    const untilMs = performance.now() + waitMs;
    while (!this.#reaches(accountId, wantedSeq)) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || this.#isStopped) return undefined;
      const running = this.#catching.get(accountId);
      const before = this.#progressOf(accountId);
      await Promise.race([running ?? this.#beginPass(accountId, untilMs), Bun.sleep(leftMs)]);
      // It failed, or what is left is more than a search waits for.
      if (running === undefined && this.#progressOf(accountId) === before) return undefined;
    }
    return wantedSeq;
  }

  #beginPass(accountId: number, untilMs: number): Promise<void> {
    const pass = this.#follow(accountId, untilMs).finally(() => this.#catching.delete(accountId));
    this.#catching.set(accountId, pass);
    return pass;
  }

  #reaches(accountId: number, seq: number): boolean {
    const { tables } = this.#options;
    const fill = tables.backfillState();
    return fill !== undefined && fill.nextId > fill.untilId && tables.cursorOf(accountId) >= seq;
  }

  #progressOf(accountId: number): string {
    const { tables } = this.#options;
    return `${tables.cursorOf(accountId)} ${tables.backfillState()?.nextId}`;
  }

  /** Does all that there is to do, without a rest: for tests and commands. */
  async drain(): Promise<void> {
    while (await this.#step());
  }

  async #follow(accountId: number, untilMs: number): Promise<void> {
    const { tables, headOf, log } = this.#options;
    try {
      if (tables.backfillState() === undefined) await this.#begin();
      const head = headOf(accountId);
      while (tables.cursorOf(accountId) < head && performance.now() < untilMs && !this.#isStopped) {
        await this.#followSome(accountId);
      }
      await this.#endBackfill(untilMs);
    } catch (error) {
      log.error("Search indexing failed; will retry.", { error });
    }
  }

  /** Goes through the last of what was there before the index; where much is left, nobody is to wait for it. */
  async #endBackfill(untilMs: number): Promise<void> {
    const { tables, writer } = this.#options;
    for (let fill = tables.backfillState(); fill !== undefined; fill = tables.backfillState()) {
      const left = fill.untilId - fill.nextId + 1;
      if (left <= 0 || left > BACKFILL_BATCH_MAX || performance.now() > untilMs || this.#isStopped) return;
      await writer.run((tx) => this.#backfillSome(tx));
    }
  }

  #tick(): void {
    if (this.#working !== undefined || this.#isStopped || performance.now() < this.#restsUntilMs) return;
    const mark = this.#options.tables.changeMark();
    if (mark === this.#seenMark && this.#busySinceMs === undefined) return;
    this.#working = this.#work()
      .catch((error: unknown) => {
        this.#restsUntilMs = performance.now() + FAILURE_REST_MS;
        this.#options.log.error("Search indexing failed; will retry.", { error });
      })
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** Works until all is done or others change files. */
  async #work(): Promise<void> {
    const { tables, writer } = this.#options;
    let total = tables.journalTotal();
    // What was changed since the last look is fresh: more may be on its way.
    let isBusy = total !== (this.#seenTotal ?? total);
    for (let isMore = true; isMore && !this.#isStopped; ) {
      if (isBusy || writer.waiting > 0) {
        this.#busySinceMs ??= performance.now();
        if (performance.now() - this.#busySinceMs < PATIENCE_MS) {
          this.#seenTotal = total;
          return;
        }
        await Bun.sleep(BUSY_REST_MS);
      } else await Bun.sleep(REST_MS);
      const before = total;
      total = tables.journalTotal();
      isBusy = total !== before;
      isMore = await this.#step();
    }
    this.#busySinceMs = undefined;
    this.#seenTotal = total;
    this.#seenMark = tables.changeMark();
  }

  /** One transaction of whatever is to be done. @returns whether there may be more */
  async #step(): Promise<boolean> {
    const { tables, writer } = this.#options;
    const fill = tables.backfillState();
    if (fill === undefined) {
      await this.#begin();
      return true;
    }
    const [behind] = tables.accountsBehind();
    if (behind !== undefined) {
      await this.#followSome(behind);
      return true;
    }
    if (tables.nextRescan() !== undefined) {
      await writer.run((tx) => this.#runRescan(tx));
      this.#revision++;
      return true;
    }
    if (fill.nextId <= fill.untilId) {
      await writer.run((tx) => this.#backfillSome(tx));
      return true;
    }
    return (await writer.run(() => tables.dropErased(ROWS_PER_TRANSACTION))) > 0;
  }

  #begin(): Promise<void> {
    const { tables, writer } = this.#options;
    return writer.run(() => {
      if (tables.backfillState() === undefined) tables.beginBackfill();
    });
  }

  #backfillSome(tx: Transaction): void {
    const { tables } = this.#options;
    const fill = tables.backfillState();
    if (fill === undefined) return;
    const rows = tables.nodesFrom(fill, ROWS_PER_TRANSACTION);
    // An erased account's are not followed any more.
    const wanted = rows.filter(({ account_id: accountId }) => tables.isFollowed(accountId));
    const last =
      this.#index(tx, wanted) ??
      (rows.length < ROWS_PER_TRANSACTION ? fill.untilId : (rows.at(-1)?.id ?? fill.untilId));
    tables.setBackfill(last + 1);
  }

  #runRescan(tx: Transaction): void {
    const { tables } = this.#options;
    const again = tables.nextRescan();
    if (again === undefined) return;
    const rows = tables.nodesToRescan(again, ROWS_PER_TRANSACTION);
    const stoppedAt = this.#index(tx, rows);
    tables.continueRescan(
      again,
      stoppedAt === undefined ? rows.at(ROWS_PER_TRANSACTION - 1) : rows.find(({ id }) => id === stoppedAt),
    );
  }

  #followSome(accountId: number): Promise<void> {
    const { tables, writer, headOf } = this.#options;
    return writer.run((tx) => {
      const head = headOf(accountId);
      const changes = tables.journalAfter(accountId, tables.cursorOf(accountId), ROWS_PER_TRANSACTION);
      const ids = [...new Set(changes.map(({ nodeId }) => nodeId))];
      const rows = tables.nodes(ids);
      const there = new Set(rows.map(({ id }) => id));
      for (const id of ids) if (!there.has(id)) tables.drop(accountId, id);
      const stoppedAt = this.#index(tx, rows);
      tables.setCursor(accountId, stoppedAt === undefined ? endOf(changes, head) : seqBehind(changes, rows, stoppedAt));
    });
  }

  /** Indexes rows for some milliseconds, at least one. @returns the id of the last one done; undefined for all */
  #index(tx: Transaction, rows: readonly PendingRow[]): number | undefined {
    const { tables, noteContent } = this.#options;
    const startedMs = performance.now();
    for (const [index, row] of rows.entries()) {
      tables.index(row);
      const { digest, media_type: mediaType, parent_id: parentId } = row;
      if (digest !== null && mediaType !== null && (parentId ?? 0) > 0 && row.isRead === 0) {
        noteContent?.(tx, digest, mediaType);
      }
      if (index < rows.length - 1 && performance.now() - startedMs > TRANSACTION_MS) return row.id;
    }
    return undefined;
  }
}

type Change = { readonly seq: number; readonly nodeId: number };

/** Where the journal is known to up to: what it has no row for was no change of a node. */
function endOf(changes: readonly Change[], head: number): number {
  return changes.length < ROWS_PER_TRANSACTION ? head : (changes.at(-1)?.seq ?? head);
}

/** The number up to which all changes are of nodes that were indexed. */
function seqBehind(changes: readonly Change[], rows: readonly PendingRow[], lastId: number): number {
  const left = new Set(rows.slice(rows.findIndex(({ id }) => id === lastId) + 1).map(({ id }) => id));
  const next = changes.find(({ nodeId }) => left.has(nodeId));
  return (next?.seq ?? 1) - 1;
}
