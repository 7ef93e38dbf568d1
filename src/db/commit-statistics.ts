import { Histogram } from "../lib/histogram.ts";

/** Seconds; from a quick solid-state disk to a memory card that does much else. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const;
const TRANSACTIONS_PER_COMMIT = [1, 2, 5, 10, 20, 50, 100] as const;

/** What has been counted of the commits of one writer since the start. */
export class CommitStatistics {
  /** Seconds that each took, from its beginning until it was durable. */
  readonly seconds = new Histogram(SECONDS);
  /** BatchWrite that shared each. */
  readonly deeds = new Histogram(TRANSACTIONS_PER_COMMIT);
  /** How often another process held the database when one was to begin. */
  busy = 0;
  /** Commits that failed as a whole. */
  failures = 0;

  /** Counts a commit. */
  note(ms: number, deeds: number): void {
    this.seconds.observe(ms / 1000);
    this.deeds.observe(deeds);
  }
}
