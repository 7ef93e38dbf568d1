/** Days with the date of another day, in earlier years. */
import { toDate } from "./cursor.ts";

const DAY_MS = 86_400_000;
/** Years back, so that one wrong date in a file does not cost a query of a thousand years. */
const YEARS_MAX = 150;

/**
 * The days with the same date in earlier years, latest first. In a year without 29 February, 28 February includes it,
 * so that the photos of a leap day are remembered each year.
 * @param day days since 1970
 * @param oldest the first day that matters
 */
export function daysInEarlierYears(day: number, oldest: number): number[] {
  const date = toDate(day);
  const year = Number(date.slice(0, 4));
  const dates = date.slice(5) === "02-28" && !isLeapYear(year) ? ["02-29", "02-28"] : [date.slice(5)];
  const days: number[] = [];
  for (let past = year - 1; past >= Math.max(0, year - YEARS_MAX); past--) {
    for (const one of dates) {
      const found = dayOf(past, one);
      if (found !== undefined && found >= oldest) days.push(found);
    }
  }
  return days;
}

function isLeapYear(year: number): boolean {
  return dayOf(year, "02-29") !== undefined;
}

/** Undefined if the year does not have the date. */
function dayOf(year: number, date: string): number | undefined {
  const text = `${String(year).padStart(4, "0")}-${date}`;
  const time = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) return undefined;
  return Math.floor(time / DAY_MS);
}
