/** Days and months in words. They are those of the place where a photo was taken: no zone of the reader's moves them. */

import { locale } from "../../base/format.ts";

const formats = new Map<string, Intl.DateTimeFormat>();

/** "Monday, 5 January 2026"; without the year where it is this one. */
export function dayInWords(date: string): string {
  const isThisYear = date.startsWith(String(new Date().getFullYear()));
  return format(date, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!isThisYear && { year: "numeric" }),
  });
}

/** "January 2026" */
export function monthInWords(month: string): string {
  return format(`${month.slice(0, 7)}-01`, { month: "long", year: "numeric" });
}

/** "5 January 2026, 14:30" */
export function momentInWords(takenAt: string): string {
  return format(takenAt.slice(0, 19), { dateStyle: "long", timeStyle: "short" });
}

function format(local: string, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify([locale(), options]);
  let known = formats.get(key);
  if (known === undefined) {
    known = new Intl.DateTimeFormat(locale(), { ...options, timeZone: "UTC" });
    formats.set(key, known);
  }
  return known.format(new Date(local.length === 10 ? `${local}T00:00:00Z` : `${local}Z`));
}
