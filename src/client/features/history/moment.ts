/** Conversions between past moments and form controls. */

const HOUR_MS = 3_600_000;

/** The range of the slider in hours: how long the server keeps history by default. */
export const HOURS_MAX = 30 * 24;

/** The time this many hours ago, rounded down to the minute. */
export function hoursAgo(hours: number, nowMs: number = Date.now()): string {
  return new Date(Math.floor((nowMs - hours * HOUR_MS) / 60_000) * 60_000).toISOString();
}

/** How many hours ago a moment was, limited to the range of the slider. */
export function hoursSince(iso: string, nowMs: number = Date.now()): number {
  return Math.min(HOURS_MAX, Math.max(0, Math.round((nowMs - Date.parse(iso)) / HOUR_MS)));
}

/**
 * A time as a value of `datetime-local`: in the reader's time zone, with seconds, because much can change in a minute.
 */
export function toLocalInput(iso: string): string {
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Parses a value of `datetime-local`; undefined if it is empty or invalid. */
export function fromLocalInput(value: string): string | undefined {
  const time = new Date(value);
  return value === "" || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Parses a time in an address; undefined if it is invalid. */
export function readMoment(value: string | undefined): string | undefined {
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
}
