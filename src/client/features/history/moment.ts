/** Moments of the past, as controls of a page have them. */

const HOUR_MS = 3_600_000;

/** How far the slider reaches back, in hours: as long as the server keeps the past by default. */
export const HOURS_MAX = 30 * 24;

/** So many hours before now, to the minute. */
export function hoursAgo(hours: number, nowMs: number = Date.now()): string {
  return new Date(Math.floor((nowMs - hours * HOUR_MS) / 60_000) * 60_000).toISOString();
}

/** How many hours a moment is ago, as far as the slider reaches. */
export function hoursSince(iso: string, nowMs: number = Date.now()): number {
  return Math.min(HOURS_MAX, Math.max(0, Math.round((nowMs - Date.parse(iso)) / HOUR_MS)));
}

/** An instant as `datetime-local` has it: the reader's own clock, with seconds, since much can happen in a minute. */
export function toLocalInput(iso: string): string {
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** What such a field holds, as an instant; undefined while it is empty or no time. */
export function fromLocalInput(value: string): string | undefined {
  const time = new Date(value);
  return value === "" || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** An instant of an address; undefined where it is none. */
export function readMoment(value: string | undefined): string | undefined {
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
}
