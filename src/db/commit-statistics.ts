import { Histogram } from "../lib/histogram.ts";

/** In seconds: from a fast solid-state disk to a busy memory card. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const;
const TRANSACTIONS_PER_COMMIT = [1, 2, 5, 10, 20, 50, 100] as const;

/** Counts of the commits of one writer since program start. */
export class CommitStatistics {
  /** Seconds from the start of each commit until it was durable. */
  readonly seconds = new Histogram(SECONDS);
  /** Transactions that shared each commit. */
  readonly transactions = new Histogram(TRANSACTIONS_PER_COMMIT);
  /** How often another process had locked the database when a commit was due. */
  busy = 0;
  /** Commits that failed as a whole. */
  failures = 0;

  /** Counts a commit. */
  note(ms: number, transactions: number): void {
    this.seconds.observe(ms / 1000);
    this.transactions.observe(transactions);
  }
}
