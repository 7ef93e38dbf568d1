/**
 * Dates of many entries as text. The date of a day is written once: most entries of a folder are of few days, and this
 * takes a third of the time of `toUTCString` and `toISOString`.
 */

const DAY_S = 86_400;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** The day that was written last. */
let day = Number.NaN;
let httpDay = "";
let isoDay = "";

/** The earliest and the latest second that the desktop clients accept. */
const EARLIEST_S = 1;
const LATEST_S = 0xff_ff_ff_fe;

/**
 * The own date of a file as clients see it. The desktop clients neither store nor skip a file from before 1970 or after
 * 2106: each of their runs would fail. Such dates come from damaged archives and cameras without a clock.
 */
export function clientDateMs(ms: number): number {
  return Math.min(Math.max(ms, EARLIEST_S * 1000), LATEST_S * 1000);
}

/** A date as in HTTP headers (RFC 9110, section 5.6.7). */
export function httpDate(ms: number): string {
  const time = timeOf(ms);
  return `${httpDay} ${time} GMT`;
}

/** A date of RFC 3339 without a fraction, which some clients can't read. */
export function isoDate(ms: number): string {
  const time = timeOf(ms);
  return `${isoDay}T${time}Z`;
}

/** The time in the day, which becomes the day that was written last. */
function timeOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const number = Math.floor(seconds / DAY_S);
  if (number !== day) {
    const date = new Date(number * DAY_S * 1000);
    day = number;
    [httpDay, isoDay] = [
      date.toUTCString().slice(0, -" 00:00:00 GMT".length),
      date.toISOString().slice(0, -"T00:00:00.000Z".length),
    ];
  }
  const inDay = seconds - number * DAY_S;
  return `${TWO_DIGITS[Math.floor(inDay / 3600)]}:${TWO_DIGITS[Math.floor(inDay / 60) % 60]}:${TWO_DIGITS[inDay % 60]}`;
}

/** The first moment of the year 1, and the first after the year 9999. */
const [EARLIEST_MS, END_MS] = [Date.parse("0001-01-01T00:00:00Z"), Date.UTC(10_000, 0, 1)];

/**
 * A date that a client sent, as ISO 8601. Undefined if its year does not have four digits: other programs could not read
 * the date.
 */
export function storableDate(ms: number): string | undefined {
  const rounded = Math.round(ms);
  return rounded >= EARLIEST_MS && rounded < END_MS ? new Date(rounded).toISOString() : undefined;
}
