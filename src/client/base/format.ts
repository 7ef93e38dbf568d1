/** Formats numbers, sizes and times for the reader's locale. */
import { formatSize } from "../../translations/sizes.ts";

const RELATIVE_UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

let region: string | undefined;

/**
 * Sets the reader's regional variant of the page's language (`en-GB`): it decides the order of day and month, for
 * example.
 */
export function setRegion(tag: string | undefined): void {
  region = tag;
}

/** The tag that numbers and times are formatted with: the page's language with the reader's region. */
export function locale(): string {
  return region ?? (document.documentElement.lang || "en");
}

/** A formatter of the browser. */
type Formatter = Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat | Intl.PluralRules;

const formatters = new Map<string, Formatter>();

/** Creates each formatter once per locale: creating one costs about a hundred times as much as using it. */
function cachedFormatter<T extends Formatter>(name: string, make: (locale: string) => T): T {
  const key = `${name} ${locale()}`;
  const known = formatters.get(key);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name stands for one kind of formatter
  if (known !== undefined) return known as T;
  const created = make(locale());
  formatters.set(key, created);
  return created;
}

/**
 * Creates the most common formatters while the page waits for the server: the first formatter of a page is the slowest.
 */
export function prepareFormats(): void {
  formatNumber(1000);
  formatBytes(1 << 20);
  formatDate("2000-01-01T00:00:00Z");
}

/** `1,234` */
export function formatNumber(n: number): string {
  return cachedFormatter("number", (tag) => new Intl.NumberFormat(tag)).format(n);
}

/** A size in bytes, in units of 1024: `1.5 MB`, `0 bytes`. */
export function formatBytes(n: number): string {
  return formatSize(n, (name, options) => cachedFormatter(name, (tag) => new Intl.NumberFormat(tag, options)));
}

/** `Nov 3, 2026`. Text that is not a date is returned unchanged. */
export function formatDate(iso: string): string {
  return formatTime(iso, "date", { dateStyle: "medium" });
}

/** `Nov 3, 2026, 4:05 PM` */
export function formatDateTime(iso: string): string {
  return formatTime(iso, "date-time", { dateStyle: "medium", timeStyle: "short" });
}

function formatTime(iso: string, name: string, options: Intl.DateTimeFormatOptions): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : cachedFormatter(name, (tag) => new Intl.DateTimeFormat(tag, options)).format(time);
}

/** `3 minutes ago`, `in 2 days`, `now` for less than a minute. */
export function formatRelative(iso: string, nowMs: number = Date.now()): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return iso;
  const seconds = (time - nowMs) / 1000;
  const format = cachedFormatter("relative", (tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));
  for (const [unit, length] of RELATIVE_UNITS) {
    if (Math.abs(seconds) >= length) return format.format(rounded(seconds / length), unit);
  }
  return format.format(0, "second");
}

/** A past time counts whole units, as ages do. A future one is rounded: seven days from now are "in 7 days" for hours. */
function rounded(units: number): number {
  return units < 0 ? Math.trunc(units) : Math.round(units);
}

/** A duration as media players show it: `0:07`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const pad = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** `Anna, Ben, and Carl` */
export function formatList(items: readonly string[]): string {
  return new Intl.ListFormat(locale()).format(items);
}

/** The plural form that the language of the page uses with a number. */
export function pluralRule(n: number): Intl.LDMLPluralRule {
  return cachedFormatter("plural", (tag) => new Intl.PluralRules(tag)).select(n);
}
