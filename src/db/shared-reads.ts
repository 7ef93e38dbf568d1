/**
 * Reads that share one transaction. Outside a transaction, each statement locks the database and looks for the newest
 * commit, which takes longer than finding a row. Requests that are handled in the same turn of the event loop share that
 * work: the first opens a read transaction, which ends with the turn, or before the next write.
 *
 * Commits of other connections are seen from the next turn on, or after {@link renewReads}. Those of this connection are
 * seen at once, because a commit ends the shared transaction first.
 */
import type { Database } from "bun:sqlite";
import { outsideRequests } from "../lib/async-context.ts";

interface SharedReads {
  readonly begin: () => void;
  readonly end: () => void;
  isOpen: boolean;
}

const ofDatabase = new WeakMap<Database, SharedReads>();

/** Lets all reads until the end of this turn share a transaction. Does nothing inside a transaction. */
export function shareReads(sqlite: Database): void {
  if (sqlite.inTransaction) return;
  const reads = ofDatabase.get(sqlite) ?? prepare(sqlite);
  reads.begin();
  reads.isOpen = true;
  outsideRequests(() => setImmediate(endSharedReads, sqlite));
}

/** Like {@link shareReads}, in a transaction that sees all commits until now. */
export function renewReads(sqlite: Database): void {
  endSharedReads(sqlite);
  shareReads(sqlite);
}

/** Ends the shared transaction, if there is one. Call before anything that starts a transaction of its own. */
export function endSharedReads(sqlite: Database): void {
  const reads = ofDatabase.get(sqlite);
  if (reads?.isOpen !== true) return;
  reads.isOpen = false;
  // A failed read may have ended the transaction.
  if (sqlite.inTransaction) reads.end();
}

/** Whether a transaction is open that may change rows, and may be rolled back. */
export function isWriting(sqlite: Database): boolean {
  return sqlite.inTransaction && ofDatabase.get(sqlite)?.isOpen !== true;
}

function prepare(sqlite: Database): SharedReads {
  const begin = sqlite.prepare("BEGIN");
  const end = sqlite.prepare("COMMIT");
  const reads = { begin: () => void begin.run(), end: () => void end.run(), isOpen: false };
  ofDatabase.set(sqlite, reads);
  return reads;
}
