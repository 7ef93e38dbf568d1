/** Formats days and months in the local time of the place where a photo was taken, not in the reader's time zone. */

import { locale } from "../../base/format.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** "Monday, 5 January 2026"; without the year if it is the current one. */
export function formatDay(date: string): string {
  const isThisYear = date.startsWith(String(new Date().getFullYear()));
  return format(date, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!isThisYear && { year: "numeric" }),
  });
}

/** "Mon, 5 Jan" */
export function formatShortDay(date: string): string {
  return format(date, { weekday: "short", day: "numeric", month: "short" });
}

/** "January 2026" */
export function formatMonth(month: string): string {
  return format(`${month.slice(0, 7)}-01`, { month: "long", year: "numeric" });
}

/** "5 January 2026, 14:30" */
export function formatMoment(takenAt: string): string {
  return format(takenAt.slice(0, 19), { dateStyle: "long", timeStyle: "short" });
}

function format(local: string, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify([locale(), options]);
  let formatter = formats.get(key);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat(locale(), { ...options, timeZone: "UTC" });
    formats.set(key, formatter);
  }
  return formatter.format(new Date(local.length === 10 ? `${local}T00:00:00Z` : `${local}Z`));
}
