/**
 * The one writer. BatchWrite that arrive together are committed together (group commit): each runs in a savepoint of its
 * own, so that one refused deed undoes nothing of the others, and all share the one sync to disk that makes them
 * durable. A deed is a synchronous function: nothing is awaited while a transaction is open.
 */
import type { Database } from "bun:sqlite";
import { SQLiteError } from "bun:sqlite";
import { AppError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import { outsideRequests } from "../lib/async-context.ts";
import { CommitStatistics } from "./commit-statistics.ts";

/** What a deed may do besides SQL. */
export interface Transaction {
  /**
   * Runs `effect` once the transaction is durable, before the deed's promise resolves; never if it was undone.
   * For caches in memory only. It must not throw.
   */
  afterCommit(effect: () => void): void;
}

/** A deed: synchronous, all or nothing. */
export type TransactionBody<T> = (tx: Transaction) => T;

interface Waiting {
  /** Runs the deed. @returns what tells its caller the result, once it is durable */
  readonly run: (tx: Transaction) => () => void;
  readonly reject: (error: unknown) => void;
  readonly isRepeatable: boolean;
  readonly isQuiet: boolean;
}

/** How a deed wants to be run. */
export interface TransactionOptions {
  /** False where it must not be run a second time after room was made on a full disk. */
  readonly isRepeatable?: boolean;
  /** True where what it writes is not worth a copy of the database: counts, and when jobs ran. */
  readonly isQuiet?: boolean;
}

/** How long one shared transaction may go on taking deeds: the event loop must not wait for a long queue. */
const BATCH_MS_MAX = 6;
/** How long a deed waits for another process that holds the database before it is given up. */
const BUSY_WAIT_MS_MAX = 5_000;
const BUSY_RETRY_MS = 20;
/** What waiting doesn't mend: the disk or the file itself. */
const FAULTS = /^SQLITE_(IOERR|READONLY|CANTOPEN)/;

/** Serialises and groups all writing to one database. */
export class Writer {
  /** For GET /metrics. */
  readonly statistics = new CommitStatistics();
  readonly #sqlite: Database;
  readonly #log: Log;
  readonly #makeRoom: () => boolean;
  readonly #queue: Waiting[] = [];
  #isScheduled = false;
  #isPaused = false;
  #busySinceMs: number | undefined;
  #changes = 0;
  #fault: string | undefined;
  #damage: string | undefined;
  readonly #totalChanges: () => number;
  #statements: { begin: () => void; commit: () => void; rollback: () => void };
  #savepoint: { open: () => void; release: () => void; undo: () => void };

  /** @param makeRoom called when the disk is full; true where some was found and the deeds are worth another try */
  constructor(sqlite: Database, log: Log, makeRoom: () => boolean = () => false) {
    this.#sqlite = sqlite;
    this.#log = log;
    this.#makeRoom = makeRoom;
    const total = sqlite.prepare<{ total: number }, []>("SELECT total_changes() AS total");
    this.#totalChanges = () => total.get()?.total ?? 0;
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
      open: statement("SAVEPOINT deed"),
      release: statement("RELEASE deed"),
      undo: statement("ROLLBACK TO deed"),
    };
  }

  /** BatchWrite that wait for their commit. */
  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * What is wrong with the database, in words: a broken or read-only disk, until a commit succeeds again; damage, for as
   * long as the program runs.
   */
  get fault(): string | undefined {
    return this.#damage ?? this.#fault;
  }

  /** Whether the file itself is known to be damaged: what is written to it now may be lost with it. */
  get isDamaged(): boolean {
    return this.#damage !== undefined;
  }

  /** Takes down that the file is damaged, whoever found it. The way back is told in the log, once. */
  noteDamage(found: string): void {
    if (this.#damage !== undefined) return;
    this.#damage = "The database is damaged. Stop the server, then run: larder restore --snapshot newest";
    this.#log.error(this.#damage, { found });
  }

  /** Grows with each commit that changed rows worth keeping; who remembers it knows whether anything has changed since. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Runs a deed in a transaction shared with whatever else is waiting, and resolves when it is durable.
   * On a full disk it may be run a second time, after room was made: it must not have used up anything outside the
   * database, or be told to be not repeatable.
   * @throws what the deed threw, its changes undone; AppError disk_full | database_busy | database_error.
   */
  run<T>(deed: TransactionBody<T>, { isRepeatable = true, isQuiet = false }: TransactionOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = (tx: Transaction) => {
        const result = deed(tx);
        return () => resolve(result);
      };
      this.#queue.push({ run, reject, isRepeatable, isQuiet });
      this.#schedule();
    });
  }

  /**
   * Runs a deed in a transaction of its own, at once. For the start of the program and for commands;
   * the event loop waits for the disk meanwhile.
   */
  runNow<T>(deed: TransactionBody<T>): T {
    const effects: (() => void)[] = [];
    try {
      const result = this.#sqlite
        .transaction(() => deed({ afterCommit: (effect) => effects.push(effect) }))
        .immediate();
      this.#changes++;
      for (const effect of effects) effect();
      return result;
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  /**
   * Commits nothing until `body` has ended, because another connection of this process holds the database meanwhile.
   * Takes its turn among the transactions that are queued; {@link runNow} must not be called during it.
   */
  async pauseDuring<T>(body: () => Promise<T>): Promise<T> {
    // Of two that begin with the same commit, one comes first.
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
    // After the present round of the event loop, so that all that became ready in it shares one commit.
    outsideRequests(() => setImmediate(() => this.#commitWaiting()));
  }

  #commitWaiting(): void {
    this.#isScheduled = false;
    if (this.#isPaused) return;
    try {
      this.#statements.begin();
    } catch (error) {
      this.#beginFailed(error);
      return;
    }
    this.#busySinceMs = undefined;
    const outcomes: (() => void)[] = [];
    const effects: (() => void)[] = [];
    const taken: Waiting[] = [];
    const startedMs = performance.now();
    const changesBefore = this.#totalChanges();
    try {
      do {
        const waiting = this.#queue.shift();
        if (waiting === undefined) break;
        taken.push(waiting);
        outcomes.push(this.#runInSavepoint(waiting, effects));
      } while (performance.now() - startedMs < BATCH_MS_MAX);
      this.#statements.commit();
      this.statistics.note(performance.now() - startedMs, taken.length);
    } catch (error) {
      this.statistics.failures++;
      this.#undo();
      this.#noteFault(error);
      if (isFull(error) && this.#makeRoom()) {
        const full = translateSqliteError(error);
        for (const waiting of taken) if (!waiting.isRepeatable) waiting.reject(full);
        this.#queue.unshift(...taken.filter((waiting) => waiting.isRepeatable));
        if (this.#queue.length > 0) this.#schedule();
        return;
      }
      const translated = translateSqliteError(error);
      for (const waiting of taken) waiting.reject(translated);
      if (this.#queue.length > 0) this.#schedule();
      return;
    }
    const hasWritten = this.#totalChanges() !== changesBefore;
    // A commit of nothing but refusals reaches no disk.
    if (hasWritten) this.#fault = undefined;
    if (hasWritten && taken.some(({ isQuiet }) => !isQuiet)) this.#changes++;
    for (const effect of effects) effect();
    for (const settle of outcomes) settle();
    if (this.#queue.length > 0) this.#schedule();
  }

  /** Runs one deed in its savepoint; what it gave is told to its caller only after the commit. */
  #runInSavepoint(waiting: Waiting, effects: (() => void)[]): () => void {
    const own: (() => void)[] = [];
    this.#savepoint.open();
    try {
      const settle = waiting.run({ afterCommit: (effect) => own.push(effect) });
      this.#savepoint.release();
      effects.push(...own);
      return settle;
    } catch (error) {
      // A full disk is everybody's, and may have ended the whole transaction already.
      if (isFull(error) || !this.#sqlite.inTransaction) throw error;
      this.#savepoint.undo();
      this.#savepoint.release();
      this.#noteFault(error);
      return () => waiting.reject(translateSqliteError(error));
    }
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
      // This throws, too, where the database was closed meanwhile.
      if (this.#sqlite.inTransaction) this.#statements.rollback();
    } catch (error) {
      this.#log.error("Could not roll back a transaction.", { error });
    }
  }
}

/** Turns what SQLite says into what the API may say (contract §1); anything else is passed through. */
export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (isBusy(error)) {
    return new AppError("database_busy", "The database is busy. Try again in a few seconds.", {}, error);
  }
  if (isFull(error)) {
    return new AppError(
      "disk_full",
      "The server's disk is full. Ask your administrator to free up space, then try again.",
      {},
      error,
    );
  }
  return new AppError(
    "database_error",
    "The database could not complete the request. Ask your administrator to check the server log.",
    {},
    error,
  );
}

function isFull(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_FULL";
}

/** Whether SQLite, here or in a reading thread, found that the file is not as it should be. The full-text tables say so in their own words. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code)) || error.message.includes("vtable constructor failed");
}

/** Whether SQLite refused because another connection holds the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code ?? "");
}
