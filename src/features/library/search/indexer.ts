/**
 * Keeps the search index up to date with the trees of all accounts. Writers do not wait for it: it follows the numbered
 * journal of each account in transactions of a few milliseconds, and records its progress in each. After a crash it
 * resumes there. A database without an index gets one the same way: nodes that exist at the first start are indexed by
 * id, later changes through the journals.
 *
 * It checks once a second whether anything was written, waits while others write, and continues in small steps if they
 * never stop. A search first lets it catch up with one account ({@link SearchIndexer.catchUp}).
 */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import type { Log } from "../../../lib/log.ts";
import type { PendingRow, SearchTables } from "./queries.ts";

/** Dependencies of {@link SearchIndexer}. */
export interface SearchIndexerOptions {
  readonly tables: SearchTables;
  readonly writer: Writer;
  readonly log: Log;
  /** The last journal number of an account. */
  readonly headOf: (accountId: number) => number;
  /** Called for each indexed blob whose metadata is not read yet; inside a transaction. */
  readonly noteContent?: (tx: Transaction, digest: Uint8Array, mediaType: string) => void;
}

/** Journal rows or nodes per transaction, */
const ROWS_PER_TRANSACTION = 64;
/** and the time per transaction. */
const TRANSACTION_MS = 3;
const TICK_MS = 1_000;
/** Nodes that a search indexes itself if the backfill is not finished. */
const BACKFILL_BATCH_MAX = 2_000;
/** Pause between two transactions while nobody else writes. */
const REST_MS = 4;
/** How long it waits for others to stop writing, and its pause between transactions if they do not stop. */
const PATIENCE_MS = 10_000;
const BUSY_REST_MS = 200;
/** Pause after a failure, such as a full disk. */
const FAILURE_REST_MS = 30_000;

/** One per database, only in the server. */
export class SearchIndexer {
  readonly #options: SearchIndexerOptions;
  readonly #passes = new Map<number, Promise<void>>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #working: Promise<void> | undefined;
  #isStopped = false;
  #seenChangeMark = "";
  #seenTotal: number | undefined;
  #restsUntilMs = 0;
  #busySinceMs: number | undefined;
  #revision = 0;

  constructor(options: SearchIndexerOptions) {
    this.#options = options;
  }

  /** Starts following the journals; returns at once. */
  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Ends after the current transaction. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    await this.#working;
    await Promise.allSettled(this.#passes.values());
  }

  /** Changes when entries changed without a change in any journal. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether all current files of an account can be found. */
  isCaughtUp(accountId: number): boolean {
    return this.#isIndexedTo(accountId, this.#options.headOf(accountId));
  }

  /**
   * Indexes what an account has changed up to this call, within `waitMs`; the rest follows in the background.
   *
   * A running pass may have read the journal's head before the last change. So the loop compares the cursor with the head
   * that this call read, and starts another pass within the same time.
   * @returns the journal number up to which everything can be found; undefined if the time was too short
   */
  async catchUp(accountId: number, waitMs: number): Promise<number | undefined> {
    const headSeq = this.#options.headOf(accountId);
    const untilMs = performance.now() + waitMs;
    while (!this.#isIndexedTo(accountId, headSeq)) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || this.#isStopped) return undefined;
      const running = this.#passes.get(accountId);
      const before = this.#progressOf(accountId);
      await Promise.race([running ?? this.#beginPass(accountId, untilMs), Bun.sleep(leftMs)]);
      // This pass failed, or more is left than a search waits for.
      if (running === undefined && this.#progressOf(accountId) === before) return undefined;
    }
    return headSeq;
  }

  #beginPass(accountId: number, untilMs: number): Promise<void> {
    const pass = this.#follow(accountId, untilMs).finally(() => this.#passes.delete(accountId));
    this.#passes.set(accountId, pass);
    return pass;
  }

  #isIndexedTo(accountId: number, seq: number): boolean {
    const { tables } = this.#options;
    const backfill = tables.backfillState();
    return backfill !== undefined && backfill.nextId > backfill.untilId && tables.cursorOf(accountId) >= seq;
  }

  #progressOf(accountId: number): string {
    const { tables } = this.#options;
    return `${tables.cursorOf(accountId)} ${tables.backfillState()?.nextId}`;
  }

  /** Completes all work without pauses: for tests and commands. */
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

  /** Completes the backfill if little is left; nobody waits for more. */
  async #endBackfill(untilMs: number): Promise<void> {
    const { tables, writer } = this.#options;
    for (let backfill = tables.backfillState(); backfill !== undefined; backfill = tables.backfillState()) {
      const left = backfill.untilId - backfill.nextId + 1;
      if (left <= 0 || left > BACKFILL_BATCH_MAX || performance.now() > untilMs || this.#isStopped) return;
      await writer.run((tx) => this.#backfillSome(tx));
    }
  }

  #tick(): void {
    if (this.#working !== undefined || this.#isStopped || performance.now() < this.#restsUntilMs) return;
    const changeMark = this.#options.tables.changeMark();
    if (changeMark === this.#seenChangeMark && this.#busySinceMs === undefined) return;
    this.#working = this.#work()
      .catch((error: unknown) => {
        this.#restsUntilMs = performance.now() + FAILURE_REST_MS;
        this.#options.log.error("Search indexing failed; will retry.", { error });
      })
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** Works until everything is done or others change files. */
  async #work(): Promise<void> {
    const { tables, writer } = this.#options;
    let total = tables.journalTotal();
    // After a recent change more may follow.
    let isBusy = total !== (this.#seenTotal ?? total);
    let changeMark = "";
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
      // Before the step: a change may be committed together with the last step, which has not seen it.
      changeMark = tables.changeMark();
      isMore = await this.#step();
    }
    this.#busySinceMs = undefined;
    this.#seenTotal = total;
    this.#seenChangeMark = changeMark;
  }

  /** One transaction of the next kind of work. @returns whether there may be more */
  async #step(): Promise<boolean> {
    const { tables, writer } = this.#options;
    const backfill = tables.backfillState();
    if (backfill === undefined) {
      await this.#begin();
      return true;
    }
    const [lagging] = tables.laggingAccounts();
    if (lagging !== undefined) {
      await this.#followSome(lagging);
      return true;
    }
    if (tables.nextRescan() !== undefined) {
      await writer.run((tx) => this.#runRescan(tx));
      this.#revision++;
      return true;
    }
    if (backfill.nextId <= backfill.untilId) {
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
    const backfill = tables.backfillState();
    if (backfill === undefined) return;
    const rows = tables.nodesFrom(backfill, ROWS_PER_TRANSACTION);
    // Nodes of erased accounts are no longer indexed.
    const followed = rows.filter(({ account_id: accountId }) => tables.isFollowed(accountId));
    const last =
      this.#index(tx, followed) ??
      (rows.length < ROWS_PER_TRANSACTION ? backfill.untilId : (rows.at(-1)?.id ?? backfill.untilId));
    tables.setBackfill(last + 1);
  }

  #runRescan(tx: Transaction): void {
    const { tables } = this.#options;
    const rescan = tables.nextRescan();
    if (rescan === undefined) return;
    const rows = tables.nodesToRescan(rescan, ROWS_PER_TRANSACTION);
    const stoppedAt = this.#index(tx, rows);
    tables.continueRescan(
      rescan,
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
      const existing = new Set(rows.map(({ id }) => id));
      for (const id of ids) if (!existing.has(id)) tables.drop(accountId, id);
      const stoppedAt = this.#index(tx, rows);
      tables.setCursor(
        accountId,
        stoppedAt === undefined ? readUpTo(changes, head) : indexedUpTo(changes, rows, stoppedAt),
      );
    });
  }

  /** Indexes rows for some milliseconds, at least one. @returns the id of the last one indexed; undefined if all are */
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

/** The number up to which the journal has been read; numbers without a row changed no node. */
function readUpTo(changes: readonly Change[], head: number): number {
  return changes.length < ROWS_PER_TRANSACTION ? head : (changes.at(-1)?.seq ?? head);
}

/** The number up to which all changes are of indexed nodes. */
function indexedUpTo(changes: readonly Change[], rows: readonly PendingRow[], lastId: number): number {
  const left = new Set(rows.slice(rows.findIndex(({ id }) => id === lastId) + 1).map(({ id }) => id));
  const next = changes.find(({ nodeId }) => left.has(nodeId));
  return (next?.seq ?? 1) - 1;
}
