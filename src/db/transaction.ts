/**
 * The only writer of a database. Transactions that are queued at the same time share one commit (group commit): each
 * runs in its own savepoint, so that a failed one undoes nothing of the others, and one sync to disk makes all of them
 * durable. The body of a transaction is a synchronous function: nothing is awaited while a transaction is open.
 */
import type { Database } from "bun:sqlite";
import { SQLiteError } from "bun:sqlite";
import { AppError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { outsideRequests } from "../lib/async-context.ts";
import { say } from "../translations/say.ts";
import { CommitStatistics } from "./commit-statistics.ts";
import { endSharedReads } from "./shared-reads.ts";

/** What a transaction may do besides SQL. */
export interface Transaction {
  /**
   * Runs `effect` once the transaction is durable, before its promise resolves; never after a rollback.
   * For caches in memory only. It must not throw.
   */
  afterCommit(effect: () => void): void;
}

/** Changes that transactions leave for the end of their commit, which then writes them together. */
export interface DeferredWork {
  /** The number of changes that are not written. */
  readonly length: number;
  /** Forgets the changes after the first `length`: their transaction failed. */
  undoTo(length: number): void;
  /** Writes the changes, in their order, and forgets them. */
  write(): void;
}

/** The body of a transaction: synchronous, all or nothing. */
export type TransactionBody<T> = (tx: Transaction) => T;

interface QueuedTransaction {
  /** Runs the body. @returns a function that gives the caller the result, to be called after the commit */
  readonly run: (tx: Transaction) => () => void;
  readonly reject: (error: unknown) => void;
  readonly isRepeatable: boolean;
  readonly isQuiet: boolean;
}

/** The transactions of one commit. */
interface Batch {
  readonly transactions: QueuedTransaction[];
  /** Settle the promises of the transactions, after the commit. */
  readonly outcomes: (() => void)[];
  /** Effects of the successful transactions, before their promises. */
  readonly effects: (() => void)[];
}

/** How a transaction is run. */
interface TransactionOptions {
  /** False if the body must not run a second time after the disk was full and space was freed. */
  readonly isRepeatable?: boolean;
  /** True if the change is not worth a new snapshot of the database: counters, and when jobs ran. */
  readonly isQuiet?: boolean;
}

/** How long one commit takes transactions from the queue: a long queue must not block the event loop. */
const BATCH_MS_MAX = 6;
/** How long a transaction waits for another process that has locked the database before it fails. */
const BUSY_WAIT_MS_MAX = 5_000;
const BUSY_RETRY_MS = 20;
/** Errors that waiting does not fix: of the disk or of the file itself. */
const FAULTS = /^SQLITE_(IOERR|READONLY|CANTOPEN)/;

/** The deferred work of a commit failed, for the reason in `cause`. */
class DeferredWorkError extends Error {
  constructor(cause: unknown) {
    super("The deferred work of a commit failed.", { cause });
  }
}

/** Serializes and groups all writes to one database. */
export class Writer {
  /** For GET /metrics. */
  readonly statistics = new CommitStatistics();
  readonly #sqlite: Database;
  readonly #log: Log;
  readonly #makeRoom: () => boolean;
  readonly #queue: QueuedTransaction[] = [];
  #isScheduled = false;
  #isPaused = false;
  #busySinceMs: number | undefined;
  #changes = 0;
  #fault: string | undefined;
  #damage: string | undefined;
  /** The number of changes of rows by this process. */
  readonly countChanges: () => number;
  readonly #deferred: DeferredWork[] = [];
  /** The number of transactions that get a commit of their own next. */
  #alone = 0;
  #statements: { begin: () => void; commit: () => void; rollback: () => void };
  #savepoint: { open: () => void; release: () => void; undo: () => void };

  /** Resolves once all changes up to the call may be shown to others; undefined without a replica. @throws AppError */
  confirm: (() => Promise<void>) | undefined;

  /** @param makeRoom called when the disk is full; returns true if it freed space, so that a second attempt makes sense */
  constructor(sqlite: Database, log: Log, makeRoom: () => boolean = () => false) {
    this.#sqlite = sqlite;
    this.#log = log;
    this.#makeRoom = makeRoom;
    const total = sqlite.prepare<{ total: number }, []>("SELECT total_changes() AS total");
    this.countChanges = () => total.get()?.total ?? 0;
    const statement = (sql: string) => {
      const prepared = sqlite.prepare(sql);
      return () => void prepared.run();
    };
    this.#statements = {
      begin: statement("BEGIN IMMEDIATE"),
      commit: statement("COMMIT"),
      rollback: statement("ROLLBACK"),
    };
    this.#savepoint = {
      open: statement("SAVEPOINT tx"),
      release: statement("RELEASE tx"),
      undo: statement("ROLLBACK TO tx"),
    };
  }

  /** The number of transactions that wait for their commit. */
  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * The fault of the database, as a sentence: a broken or read-only disk until a commit succeeds again; damage
   * until the program ends.
   */
  get fault(): string | undefined {
    return this.#damage ?? this.#fault;
  }

  /** Whether the file itself is known to be damaged: anything written now may be lost with it. */
  get isDamaged(): boolean {
    return this.#damage !== undefined;
  }

  /** Records that the file is damaged. The log names the way to recover, once. */
  noteDamage(found: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = "The database is damaged. Stop the server, then run: larder restore --snapshot newest";
    this.#log.error(this.#damage, { found });
  }

  /**
   * Lets each commit write this work after its transactions. Ignored for another connection: that of a trial, which
   * commits nothing, and in which a search by name does not see its changes.
   */
  defer(sqlite: Database, work: DeferredWork): void {
    if (sqlite === this.#sqlite) this.#deferred.push(work);
  }

  /** Grows with each commit that changed rows worth a snapshot: compare two values to see whether anything changed. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Runs `body` in a commit shared with the other queued transactions, and resolves when it is durable.
   * On a full disk `body` may run a second time after space was freed. If it consumes anything outside the database,
   * pass `isRepeatable: false`.
   * @throws what `body` throws, with its changes rolled back; AppError disk_full | database_busy | database_error
   */
  run<T>(body: TransactionBody<T>, { isRepeatable = true, isQuiet = false }: TransactionOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = (tx: Transaction) => {
        const result = body(tx);
        return () => resolve(result);
      };
      this.#queue.push({ run, reject, isRepeatable, isQuiet });
      this.#schedule();
    });
  }

  /**
   * Runs `body` in its own transaction, immediately. For program start and for commands: it blocks the event loop until
   * the disk has written.
   */
  runNow<T>(body: TransactionBody<T>): T {
    const effects: (() => void)[] = [];
    endSharedReads(this.#sqlite);
    try {
      const result = this.#sqlite
        .transaction(() => {
          const returned = body({ afterCommit: (effect) => effects.push(effect) });
          this.#writeDeferred();
          return returned;
        })
        .immediate();
      this.#changes++;
      for (const effect of effects) effect();
      return result;
    } catch (error) {
      this.#forgetDeferred();
      throw translateSqliteError(error instanceof DeferredWorkError ? error.cause : error);
    }
  }

  /**
   * Commits nothing while `body` runs, because another connection of this process holds the database during that time.
   * It is queued like a transaction. {@link runNow} must not be called while it runs.
   */
  async pauseDuring<T>(body: () => Promise<T>): Promise<T> {
    // Two callers may be resumed by the same commit: only one of them may start.
    do await this.run(() => undefined);
    while (this.#isPaused);
    this.#isPaused = true;
    try {
      return await body();
    } finally {
      this.#isPaused = false;
      if (this.#queue.length > 0) this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After this turn of the event loop, so that all transactions queued in it share one commit.
    outsideRequests(() => setImmediate(() => this.#commitWaiting()));
  }

  #commitWaiting(): void {
    this.#isScheduled = false;
    if (this.#isPaused) return;
    endSharedReads(this.#sqlite);
    try {
      this.#statements.begin();
    } catch (error) {
      this.#beginFailed(error);
      return;
    }
    this.#busySinceMs = undefined;
    const batch: Batch = { transactions: [], outcomes: [], effects: [] };
    const changesBefore = this.countChanges();
    try {
      this.#commitBatch(batch);
    } catch (error) {
      this.#batchFailed(error, batch.transactions);
      return;
    }
    const hasWritten = this.countChanges() !== changesBefore;
    // A commit of failed transactions only writes nothing, so it proves nothing about the disk.
    if (hasWritten) this.#fault = undefined;
    if (hasWritten && batch.transactions.some(({ isQuiet }) => !isQuiet)) this.#changes++;
    for (const effect of batch.effects) effect();
    for (const settle of batch.outcomes) settle();
    if (this.#queue.length > 0) this.#schedule();
  }

  /** Runs transactions from the queue until the time for one commit is used up, then commits them. */
  #commitBatch({ transactions, outcomes, effects }: Batch): void {
    const startedMs = performance.now();
    do {
      const next = this.#queue.shift();
      if (next === undefined) break;
      transactions.push(next);
      outcomes.push(this.#runInSavepoint(next, effects));
    } while (this.#alone === 0 && performance.now() - startedMs < BATCH_MS_MAX);
    if (this.#alone > 0) this.#alone--;
    this.#writeDeferred();
    this.#statements.commit();
    this.statistics.note(performance.now() - startedMs, transactions.length);
  }

  /**
   * Rolls a batch back. Queues it again if its deferred work failed, or if the disk was full and space could be freed;
   * otherwise rejects it.
   */
  #batchFailed(error: unknown, transactions: readonly QueuedTransaction[]): void {
    this.statistics.failures++;
    this.#forgetDeferred();
    this.#undo();
    const isDeferred = error instanceof DeferredWorkError;
    const reason = isDeferred ? error.cause : error;
    this.#noteFault(reason);
    // Whose deferred work failed is unknown: each transaction is tried again in a commit of its own.
    const isSeparated = isDeferred && transactions.length > 1;
    if (isSeparated) this.#alone += transactions.length;
    const isRetried = isSeparated || (isFull(reason) && this.#makeRoom());
    const translated = translateSqliteError(reason);
    for (const { isRepeatable, reject } of transactions) if (!isRetried || !isRepeatable) reject(translated);
    if (isRetried) this.#queue.unshift(...transactions.filter(({ isRepeatable }) => isRepeatable));
    if (this.#queue.length > 0) this.#schedule();
  }

  /**
   * Runs one transaction in its savepoint.
   * @returns a function that settles its promise, to be called after the commit
   */
  #runInSavepoint(waiting: QueuedTransaction, effects: (() => void)[]): () => void {
    const own: (() => void)[] = [];
    const deferred = this.#deferred.map(({ length }) => length);
    this.#savepoint.open();
    try {
      const settle = waiting.run({ afterCommit: (effect) => own.push(effect) });
      this.#savepoint.release();
      effects.push(...own);
      return settle;
    } catch (error) {
      // A full disk fails all transactions of this commit, and SQLite may have rolled back already.
      if (isFull(error) || !this.#sqlite.inTransaction) throw error;
      this.#savepoint.undo();
      this.#savepoint.release();
      this.#deferred.forEach((work, index) => work.undoTo(deferred[index] ?? 0));
      this.#noteFault(error);
      return () => waiting.reject(translateSqliteError(error));
    }
  }

  /** @throws DeferredWorkError, or the error of a full disk */
  #writeDeferred(): void {
    try {
      for (const work of this.#deferred) work.write();
    } catch (error) {
      throw isFull(error) ? error : new DeferredWorkError(error);
    }
  }

  #forgetDeferred(): void {
    for (const work of this.#deferred) work.undoTo(0);
  }

  #noteFault(error: unknown): void {
    if (!(error instanceof SQLiteError)) return;
    if (isDamage(error)) this.noteDamage(error.message);
    if (!FAULTS.test(error.code ?? "")) return;
    if (this.#fault === undefined) {
      this.#log.error("Cannot write to the database; rejecting changes. Check the disk and the kernel log.", { error });
    }
    this.#fault = `Cannot write to the database: ${error.message}.`;
  }

  #beginFailed(error: unknown): void {
    const nowMs = performance.now();
    this.#busySinceMs ??= nowMs;
    if (isBusy(error)) this.statistics.busy++;
    if (isBusy(error) && nowMs - this.#busySinceMs < BUSY_WAIT_MS_MAX) {
      this.#isScheduled = true;
      setTimeout(() => this.#commitWaiting(), BUSY_RETRY_MS);
      return;
    }
    this.#busySinceMs = undefined;
    this.#noteFault(error);
    const translated = translateSqliteError(error);
    for (const waiting of this.#queue.splice(0)) waiting.reject(translated);
  }

  #undo(): void {
    try {
      // This also throws if the database was closed in the meantime.
      if (this.#sqlite.inTransaction) this.#statements.rollback();
    } catch (error) {
      this.#log.error("Could not roll back a transaction.", { error });
    }
  }
}

/** Translates an error of SQLite into one that clients may see. Other errors are returned as they are. */
export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (isBusy(error)) {
    return new AppError("database_busy", say`The database is busy. Try again in a few seconds.`, {}, error);
  }
  if (isFull(error)) {
    const message = say`The server's disk is full. Ask your administrator to free up space, then try again.`;
    return new AppError("disk_full", message, {}, error);
  }
  const message = say`The database could not complete the request. Ask your administrator to check the server log.`;
  return new AppError("database_error", message, {}, error);
}

function isFull(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_FULL";
}

/**
 * Whether SQLite, here or in a reader thread, reported a damaged file. The full-text tables report it by message only.
 */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code)) || error.message.includes("vtable constructor failed");
}

/** Whether SQLite failed because another connection has locked the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "");
}
