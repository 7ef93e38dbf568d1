/** Many small changes in few transactions, each so short that no other writer waits for long. */
import type { Transaction, TransactionBody, Writer } from "../../../db/transaction.ts";
import { AppError, type Reason } from "../../../errors.ts";

/** Options of {@link writeInBatches}. */
interface BatchWrite<T> {
  /** Called inside a transaction. @returns what is called after the commit, and not after a rollback */
  readonly write: (tx: Transaction, item: T) => () => void;
  /** Called for an item that was rejected and of which nothing was written. */
  readonly onRejected: (item: T, error: AppError) => void;
  /** Called first in each transaction. */
  readonly onBegin: () => void;
  readonly onCommitted: () => void;
  /** Whether the remaining items are skipped. */
  readonly isStopped: () => boolean;
  /** Whether a server writes to the same database. */
  readonly hasServer: boolean;
}

/** Longest duration of a transaction next to a server, and without one. */
const BESIDE_SERVER_MS = 6;
const ALONE_MS = 150;
/** Longest pause between transactions. A server that finds the database locked tries again after 20 ms. */
const PAUSE_MS_MAX = 25;
/** Errors that would fail all following items as well. */
const FATAL: ReadonlySet<Reason> = new Set<Reason>([
  "disk_full",
  "storage_error",
  "store_missing",
  "database_busy",
  "database_error",
  "revoked_token",
]);

/**
 * Writes items in order, many in one transaction. A rejected item does not affect the others. Next to a server it
 * pauses after each transaction for as long as that took, within bounds.
 * @throws AppError if all items would fail; any error that is no AppError
 */
export async function writeInBatches<T>(writer: Writer, items: readonly T[], batch: BatchWrite<T>): Promise<void> {
  /** End of the current transaction: before an item that was rejected. */
  let end = items.length;
  for (let from = 0; from < items.length && !batch.isStopped(); ) {
    const beganMs = performance.now();
    let at = from;
    try {
      const effects = await runTransaction(writer, batch.hasServer, (tx) => {
        const done: (() => void)[] = [];
        batch.onBegin();
        const startedMs = performance.now();
        const budgetMs = batch.hasServer ? BESIDE_SERVER_MS : ALONE_MS;
        for (at = from; at < end && (at === from || performance.now() - startedMs < budgetMs); at++) {
          const item = items[at];
          if (item !== undefined) done.push(batch.write(tx, item));
        }
        return done;
      });
      for (const effect of effects) effect();
      from = at;
      if (from >= end) end = items.length;
      batch.onCommitted();
    } catch (error) {
      if (!(error instanceof AppError) || FATAL.has(error.reason)) throw error;
      const rejected = items[at];
      if (at > from || rejected === undefined) {
        end = at; // first the items before it, then this one alone
        continue;
      }
      batch.onRejected(rejected, error);
      from = at + 1;
      end = items.length;
    }
    if (batch.hasServer) await Bun.sleep(Math.min(performance.now() - beganMs, PAUSE_MS_MAX));
  }
}

/**
 * Without a server, the transaction has no savepoint. Inside one, SQLite goes through the list of all pages that the savepoint
 * changed, after each statement: a sixth of the time of an import.
 */
async function runTransaction<T>(writer: Writer, hasServer: boolean, body: TransactionBody<T>): Promise<T> {
  if (hasServer) return writer.run(body);
  // Replies of threads and signals get their turn.
  await new Promise(setImmediate);
  try {
    return writer.runNow(body);
  } catch (error) {
    // The queue frees the reserved space, and tries again.
    if (error instanceof AppError && error.reason === "disk_full") return writer.run(body);
    throw error;
  }
}
