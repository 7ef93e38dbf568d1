/**
 * Quiet hours go by the clock on the wall: it is quiet while a clock in that zone shows a time from `start` up to, not
 * including, `end`. So on the day when an hour is skipped, an end inside it is reached at the skip; and when an hour comes
 * twice, what of it is quiet is quiet both times. Start = end is never.
 */
import type { QuietHours } from "../../accounts/users/settings.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Making a formatter takes longer than all else here together; using one takes microseconds. */
const ZONES_MAX = 64;

/**
 * The instant at which the quiet hours end that it is in now; undefined where it is not quiet.
 * @throws RangeError for a time zone that the machine doesn't know
 */
export function quietUntil(nowMs: number, quietHours: QuietHours): number | undefined {
  if (!quietHours.enabled) return undefined;
  const startMs = timeOfDay(quietHours.start);
  const endMs = timeOfDay(quietHours.end);
  const lengthMs = modulo(endMs - startMs, DAY_MS);
  const { timezone } = quietHours;
  if (!isWithin(wallClock(nowMs, timezone), startMs, lengthMs)) return undefined;
  // A day has at most a few changes of its clock; each turn of the loop passes one.
  for (let fromMs = nowMs; ; ) {
    const untilMs = fromMs + modulo(endMs - wallClock(fromMs, timezone), DAY_MS);
    const changeMs = firstChange(fromMs, untilMs, timezone);
    if (changeMs === undefined) return untilMs;
    if (!isWithin(wallClock(changeMs, timezone), startMs, lengthMs)) return changeMs;
    fromMs = changeMs;
  }
}

/** Whether a time of day lies in the `lengthMs` from `startMs` on. */
function isWithin(timeMs: number, startMs: number, lengthMs: number): boolean {
  return modulo(timeMs - startMs, DAY_MS) < lengthMs;
}

/** `HH:MM` in milliseconds since midnight. */
function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}

/** What a clock shows at an instant, in milliseconds since midnight. */
function wallClock(ms: number, zone: string): number {
  return modulo(ms + offsetMs(ms, zone), DAY_MS);
}

/** The instant between the two at which the zone's clock is set, if it is. */
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

/** How far the zone's clock is ahead of UTC. */
function offsetMs(ms: number, zone: string): number {
  const secondMs = Math.floor(ms / 1000) * 1000;
  const parts = new Map<string, number>();
  for (const { type, value } of formatterOf(zone).formatToParts(secondMs)) parts.set(type, Number(value));
  const part = (name: string) => parts.get(name) ?? 0;
  const shownMs = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return shownMs - secondMs;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
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
