/** Days and months in words. They are those of the place where a photo was taken: no zone of the reader's moves them. */

import { locale } from "../../base/format.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** "Monday, 5 January 2026"; without the year where it is this one. */
export function formatDay(date: string): string {
  const isThisYear = date.startsWith(String(new Date().getFullYear()));
  return format(date, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!isThisYear && { year: "numeric" }),
  });
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
