/**
 * Quiet hours follow local time: it is quiet while a clock in that time zone shows a time from `start` (inclusive) to
 * `end` (exclusive). If the clock skips an hour, an `end` within it is reached at the skip. If an hour repeats, the
 * quiet part of it is quiet both times. If `start` equals `end`, there are no quiet hours.
 */
import type { QuietHours } from "../../accounts/users/settings.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Formatters are cached: creating one takes longer than everything else here, using one takes microseconds. */
const ZONES_MAX = 64;

/**
 * When the current quiet hours end; undefined if it is not quiet now.
 * @throws RangeError for a time zone that the machine doesn't know
 */
export function quietUntil(nowMs: number, quietHours: QuietHours): number | undefined {
  if (!quietHours.enabled) return undefined;
  const startMs = timeOfDay(quietHours.start);
  const endMs = timeOfDay(quietHours.end);
  const lengthMs = modulo(endMs - startMs, DAY_MS);
  const { timezone } = quietHours;
  if (!isWithin(localTimeOfDay(nowMs, timezone), startMs, lengthMs)) return undefined;
  // Each iteration passes one change of the clock; a day has at most a few.
  for (let fromMs = nowMs; ; ) {
    const untilMs = fromMs + modulo(endMs - localTimeOfDay(fromMs, timezone), DAY_MS);
    const changeMs = firstChange(fromMs, untilMs, timezone);
    if (changeMs === undefined) return untilMs;
    if (!isWithin(localTimeOfDay(changeMs, timezone), startMs, lengthMs)) return changeMs;
    fromMs = changeMs;
  }
}

/** Whether a time of day is less than `lengthMs` after `startMs`. */
function isWithin(timeMs: number, startMs: number, lengthMs: number): boolean {
  return modulo(timeMs - startMs, DAY_MS) < lengthMs;
}

/** `HH:MM` in milliseconds since midnight. */
function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

/** The local time of day at an instant, in milliseconds since midnight. */
function localTimeOfDay(ms: number, zone: string): number {
  return modulo(ms + offsetMs(ms, zone), DAY_MS);
}

/** The instant between the two at which the UTC offset of the zone changes, if it does. */
function firstChange(fromMs: number, untilMs: number, zone: string): number | undefined {
  const before = offsetMs(fromMs, zone);
  if (offsetMs(untilMs, zone) === before) return undefined;
  let [low, high] = [fromMs, untilMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle, zone) === before) low = middle;
    else high = middle;
  }
  return high;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The UTC offset of the zone. */
function offsetMs(ms: number, zone: string): number {
  const secondMs = Math.floor(ms / 1000) * 1000;
  const parts = new Map<string, number>();
  for (const { type, value } of getFormatter(zone).formatToParts(secondMs)) parts.set(type, Number(value));
  const part = (name: string) => parts.get(name) ?? 0;
  const shownMs = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return shownMs - secondMs;
}

function getFormatter(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    const oldest = formatters.size >= ZONES_MAX ? formatters.keys().next().value : undefined;
    if (oldest !== undefined) formatters.delete(oldest);
    formatters.set(zone, formatter);
  }
  return formatter;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
