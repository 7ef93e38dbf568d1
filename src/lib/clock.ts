/** Where the time comes from. Given to everything that asks for it, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump when the operator or NTP sets the clock. */
  nowMs(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = { nowMs: () => Date.now() };

let lastMs = Number.NaN;
let lastText = "";

/** An instant as the API writes it: ISO 8601 UTC with milliseconds. */
export function toTimestamp(ms: number): string {
  // The times of one record are mostly the same, and writing one costs as much as a look-up.
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}
