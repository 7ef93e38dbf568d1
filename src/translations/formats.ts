/** How the server writes numbers, sizes, times, and lists in each language. */
import { PSEUDO_LANGUAGE } from "./languages.ts";
import type { MessageFormat } from "./messages.ts";
import { transform } from "./pseudo.ts";
import { formatSize } from "./sizes.ts";

const formats = new Map<string, MessageFormat>();
const times = new Map<string, Intl.DateTimeFormat>();

/** How a language writes numbers. Each is created once: creating a formatter is slow. */
export function formatOf(tag: string): MessageFormat {
  const known = formats.get(tag) ?? createFormat(tag);
  formats.set(tag, known);
  return known;
}

/** A time as `Jan 2, 2026, 3:04 PM UTC`. The server doesn't know the reader's time zone. */
export function formatInstant(tag: string, atMs: number): string {
  return timeFormat(tag, "instant", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(atMs);
}

/** A day as `Jan 2, 2026`. */
export function formatDay(tag: string, atMs: number): string {
  return timeFormat(tag, "day", { dateStyle: "medium" }).format(atMs);
}

/** Names in a row: `a, b, c`. */
export function formatList(tag: string, names: readonly string[]): string {
  return new Intl.ListFormat(tag, { type: "unit", style: "short" }).format(names);
}

function timeFormat(tag: string, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${tag} ${name}`;
  const known = times.get(key) ?? new Intl.DateTimeFormat(tag, { ...options, timeZone: "UTC" });
  times.set(key, known);
  return known;
}

function createFormat(tag: string): MessageFormat {
  const numbers = new Map<string, Intl.NumberFormat>();
  const numberFormat = (name: string, options: Intl.NumberFormatOptions = {}) => {
    const known = numbers.get(name) ?? new Intl.NumberFormat(tag, options);
    numbers.set(name, known);
    return known;
  };
  const rules = new Intl.PluralRules(tag);
  return {
    number: (value, style) =>
      style === "bytes" ? formatSize(value, numberFormat) : numberFormat("number").format(value),
    pluralRule: (value) => rules.select(value),
    ...(tag === PSEUDO_LANGUAGE && { change: transform }),
  };
}
