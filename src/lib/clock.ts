/** The source of the time. It is passed to all code that needs it, so that tests can set it. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump when the operator or NTP sets the clock. */
  nowMs(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { nowMs: () => Date.now() };

let lastMs = Number.NaN;
let lastText = "";

/** An instant in the form of the API: ISO 8601 UTC with milliseconds. */
export function toTimestamp(ms: number): string {
  // The times of a record are mostly equal, and a lookup is faster than formatting.
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

/** Like {@link toTimestamp}; null stays null. */
export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}
