/** Many small changes in few commits, none of which keeps anybody waiting for long. */
import type { Transaction, Writer } from "../../../db/transaction.ts";
import { AppError, type Reason } from "../../../errors.ts";

/** What is done with each item. */
export interface BatchWrite<T> {
  /** Inside a deed. @returns what is to happen once it is committed; not called where it was undone */
  readonly deed: (tx: Transaction, item: T) => () => void;
  /** An item was refused, and nothing of it was done. */
  readonly onRejected: (item: T, error: AppError) => void;
  /** Called first in each transaction. */
  readonly onBegin: () => void;
  readonly onCommitted: () => void;
  /** Whether the rest is to be left. */
  readonly isStopped: () => boolean;
  /** Whether a server waits for its turn. */
  readonly hasServer: boolean;
}

/** How long one transaction goes on. */
const BESIDE_MS = 6;
const ALONE_MS = 150;
/** How long it rests at most; a server that finds the database held looks again after 20 ms. */
const REST_MS_MAX = 25;
/** Refusals that are nobody's own: all that follows would be refused, too. */
const FATAL: ReadonlySet<Reason> = new Set<Reason>([
  "disk_full",
  "storage_error",
  "store_missing",
  "database_busy",
  "database_error",
  "revoked_token",
]);

/**
 * Carries out a deed for each item, in order, many in one commit; where one is refused, the others are not. Beside a
 * server it rests after each commit for as long as that took, within bounds.
 * @throws AppError for what is not an item's own fault; what is no AppError
 */
export async function carryOut<T>(writer: Writer, items: readonly T[], deeds: BatchWrite<T>): Promise<void> {
  /** Where the present stretch ends: before an item that was refused. */
  let end = items.length;
  for (let from = 0; from < items.length && !deeds.isStopped(); ) {
    const beganMs = performance.now();
    let at = from;
    try {
      const effects = await writer.run((tx) => {
        const done: (() => void)[] = [];
        deeds.onBegin();
        const startedMs = performance.now();
        const budgetMs = deeds.hasServer ? BESIDE_MS : ALONE_MS;
        for (at = from; at < end && (at === from || performance.now() - startedMs < budgetMs); at++) {
          const item = items[at];
          if (item !== undefined) done.push(deeds.deed(tx, item));
        }
        return done;
      });
      for (const effect of effects) effect();
      from = at;
      if (from >= end) end = items.length;
      deeds.onCommitted();
    } catch (error) {
      if (!(error instanceof AppError) || FATAL.has(error.reason)) throw error;
      const refused = items[at];
      if (at > from || refused === undefined) {
        end = at; // those before it by themselves, then it alone
        continue;
      }
      deeds.onRejected(refused, error);
      from = at + 1;
      end = items.length;
    }
    if (deeds.hasServer) await Bun.sleep(Math.min(performance.now() - beganMs, REST_MS_MAX));
  }
}
