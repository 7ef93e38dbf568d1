/**
 * Parses the search language: words, "phrases", -exclusions and key:value filters. Pure. No part of the text reaches
 * the query syntax of the index; match.ts turns terms into a query.
 */
import { type AppError, invalidField } from "../../../errors.ts";
import { normalizePath } from "../../../lib/path.ts";
import { type Message, say } from "../../../translations/say.ts";
import type { DateTerm, SearchTerm, SizeTerm, WordTerm } from "./types.ts";
import { isSearchable } from "./words.ts";

/** Longest query in bytes of UTF-8. */
export const QUERY_BYTES_MAX = 4_096;
/** Words and filters of one query. */
export const TERMS_MAX = 32;

/** Values of `type:` other than media types. */
export const FAMILIES = ["image", "video", "audio", "document", "pdf", "archive", "text", "folder"] as const;

const KEYS = [
  "name",
  "content",
  "tag",
  "type",
  "ext",
  "in",
  "size",
  "modified",
  "created",
  "taken",
  "camera",
  "is",
] as const;
type Key = (typeof KEYS)[number];

interface QueryPart {
  readonly key: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly isExcluded: boolean;
  /** The original text, for messages. */
  readonly written: string;
}

/**
 * Parses a query. All of its terms must match; case and accents are ignored.
 *
 * Words without a letter, digit or symbol are ignored: they appear while a user types. An unclosed quote extends to the
 * end.
 * @throws AppError invalid_field with `field` q, and `word`, the faulty part
 */
export function parseQuery(q: string): SearchTerm[] {
  if (Buffer.byteLength(q) > QUERY_BYTES_MAX) {
    const details = { limit: QUERY_BYTES_MAX, actual: Buffer.byteLength(q) };
    throw invalidField("q", say`A search can have at most ${QUERY_BYTES_MAX} bytes. Use fewer words.`, details);
  }
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  if (/[\u0000-\u0008\u000e-\u001f\u007f]/.test(q) || !q.isWellFormed()) {
    throw invalidField("q", say`The search contains a control character. Remove it.`);
  }
  const terms = split(q.normalize("NFC")).flatMap(toTerms);
  if (terms.length > TERMS_MAX) {
    const details = { limit: TERMS_MAX, actual: terms.length };
    throw invalidField(
      "q",
      say`A search can have at most ${TERMS_MAX} words and filters, but has ${terms.length}.`,
      details,
    );
  }
  if (terms.length === 0) {
    throw invalidField("q", say`The search is empty. Enter a word, or a filter such as type:image.`);
  }
  return terms;
}

/** Cuts at spaces outside of quotes. */
function split(q: string): QueryPart[] {
  const parts: QueryPart[] = [];
  const part = /(-?)(?:([A-Za-z]+):)?(?:"([^"]*)(?:"|$)|(\S*))/y;
  for (let at = 0; at < q.length; ) {
    const space = /\s*/y;
    space.lastIndex = at;
    space.exec(q);
    part.lastIndex = space.lastIndex;
    const found = part.exec(q);
    if (found === null || found[0] === "") break;
    at = part.lastIndex;
    const [written, minus, key, quoted, bare = ""] = found;
    parts.push({
      key: key?.toLowerCase(),
      value: quoted ?? bare,
      isQuoted: quoted !== undefined,
      isExcluded: minus === "-",
      written,
    });
  }
  return parts;
}

function toTerms(part: QueryPart): SearchTerm[] {
  const { key, value, isQuoted, isExcluded } = part;
  if (key === undefined) {
    return isSearchable(value) ? [{ key: "text", value, isPhrase: isQuoted, isExcluded }] : [];
  }
  if (!isKey(key)) {
    const known = KEYS.map((one) => `${one}:`).join(" ");
    throw fault(part, say`${key}: is not a search filter. Use ${known}, or put the word in quotes.`);
  }
  if (value === "") throw fault(part, say`${key}: needs a value, such as ${EXAMPLES[key]}.`);
  return [READERS[key](part)];
}

const EXAMPLES: Readonly<Record<Key, string>> = {
  name: "name:beach",
  content: "content:invoice",
  tag: "tag:holiday",
  type: "type:image",
  ext: "ext:pdf",
  in: "in:/photos",
  size: "size:>10MB",
  modified: "modified:2026-01",
  created: "created:2026",
  taken: "taken:2026-01-05",
  camera: "camera:canon",
  is: "is:public",
};

const READERS: Readonly<Record<Key, (part: QueryPart) => SearchTerm>> = {
  name: (part) => readWord(part, "name"),
  content: (part) => readWord(part, "content"),
  tag: (part) => simple("tag", part, part.value.trim()),
  type: readType,
  ext: (part) => simple("ext", part, part.value.replace(/^\./, "").toLowerCase()),
  camera: readCamera,
  in: readFolder,
  is: readIs,
  size: readSize,
  modified: (part) => readDate(part, "modified"),
  created: (part) => readDate(part, "created"),
  taken: (part) => readDate(part, "taken"),
};

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}

function simple(key: "tag" | "type" | "ext" | "camera", part: QueryPart, value: string): SearchTerm {
  if (value === "") throw fault(part, say`${key}: needs a value, such as ${EXAMPLES[key]}.`);
  return { key, value, isExcluded: part.isExcluded };
}

function readWord(part: QueryPart, key: "name" | "content"): WordTerm {
  const { value, isQuoted, isExcluded } = part;
  if (!isSearchable(value))
    throw fault(part, say`${key}: needs a word with a letter or a digit, such as ${EXAMPLES[key]}.`);
  return { key, value, isPhrase: isQuoted, isExcluded };
}

function readCamera(part: QueryPart): SearchTerm {
  if (!isSearchable(part.value)) throw fault(part, say`camera: needs a make or model, such as camera:canon.`);
  return simple("camera", part, part.value);
}

function readType(part: QueryPart): SearchTerm {
  const value = part.value.toLowerCase().replace(/\/\*$/, "");
  const isKnown = FAMILIES.some((family) => family === value) || /^[a-z0-9.+-]+\/[a-z0-9.+_-]+$/.test(value);
  if (!isKnown) {
    throw fault(part, say`type: must be one of ${FAMILIES.join(", ")}, or a media type such as image/png.`);
  }
  return simple("type", part, value);
}

function readFolder(part: QueryPart): SearchTerm {
  rejectExclusion(part, "in");
  const { value } = part;
  return { key: "in", value: normalizePath(value.startsWith("/") ? value : `/${value}`, "q"), isExcluded: false };
}

function readIs(part: QueryPart): SearchTerm {
  const value = part.value.toLowerCase();
  if (value !== "public" && value !== "favorite") throw fault(part, say`is: must be is:favorite or is:public.`);
  return { key: "is", value, isExcluded: part.isExcluded };
}

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

function readSize(part: QueryPart): SizeTerm {
  rejectExclusion(part, "size");
  const range = readRange(part.value, (text) => {
    const [, number, unit = "b"] = /^(\d{1,15}(?:\.\d{1,6})?)([bkmgt])?$/i.exec(shortUnit(text)) ?? [];
    if (number === undefined)
      throw fault(part, say`size: needs a size, such as size:>10MB, size:<1GB or size:1MB..5MB.`);
    const bytes = Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
    return { first: Math.ceil(bytes), last: Math.floor(bytes) };
  });
  const min = range.after === undefined ? (range.from?.first ?? null) : range.after.last + 1;
  const max = range.before === undefined ? (range.to?.last ?? null) : range.before.first - 1;
  if ((min ?? 0) > (max ?? Number.POSITIVE_INFINITY) || (max ?? 0) < 0) {
    throw fault(part, say`The size range ends before it starts. Swap the two values.`);
  }
  return { key: "size", value: part.value, isExcluded: false, min, max };
}

/** `10MB`, `10MiB` and `10M` are the same. */
function shortUnit(text: string): string {
  return text.replace(/([kmgt])i?b$/i, "$1");
}

const DAY_MS = 24 * 60 * 60 * 1000;

function readDate(part: QueryPart, key: "modified" | "created" | "taken"): DateTerm {
  rejectExclusion(part, key);
  const range = readRange(part.value, (text) => readDays(text, part, key));
  const from = range.after === undefined ? (range.from?.first ?? null) : toDay(Date.parse(range.after.last) + DAY_MS);
  const to = range.before === undefined ? (range.to?.last ?? null) : toDay(Date.parse(range.before.first) - DAY_MS);
  if (from !== null && to !== null && from > to) {
    throw fault(part, say`The range in ${key}: ends before it starts. Swap the two values.`);
  }
  return { key, value: part.value, isExcluded: false, from, to };
}

/** The first and the last day of a year, a month, or a day. */
function readDays(text: string, part: QueryPart, key: Key): { first: string; last: string } {
  const [, year, month, day] = /^([12]\d{3})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? [];
  const first = `${year}-${month ?? "01"}-${day ?? "01"}`;
  const firstMs = Date.parse(first);
  if (year === undefined || Number.isNaN(firstMs) || toDay(firstMs) !== first) {
    throw fault(part, say`${key}: needs a year, month or day, such as ${key}:2026-01 or ${key}:2026-01-05..2026-02.`);
  }
  const [y, m] = [Number(year), Number(month ?? "12")];
  if (day !== undefined) return { first, last: first };
  // Day 0 of a month is the last one of the month before.
  const end = new Date(0);
  end.setUTCFullYear(y, m, 0);
  return { first, last: toDay(end.getTime()) };
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

interface Range<T> {
  readonly from?: T;
  readonly to?: T;
  readonly after?: T;
  readonly before?: T;
}

/** `>a`, `>=a`, `<a`, `<=a`, `a..b`, `a..`, `..b`, `a`. */
function readRange<T>(text: string, read: (text: string) => T): Range<T> {
  if (text.startsWith(">=")) return { from: read(text.slice(2)) };
  if (text.startsWith("<=")) return { to: read(text.slice(2)) };
  if (text.startsWith(">")) return { after: read(text.slice(1)) };
  if (text.startsWith("<")) return { before: read(text.slice(1)) };
  const cut = text.indexOf("..");
  if (cut < 0) {
    const both = read(text);
    return { from: both, to: both };
  }
  const [start, end] = [text.slice(0, cut), text.slice(cut + 2)];
  if (start === "" && end === "") return { from: read("") };
  return { ...(start !== "" && { from: read(start) }), ...(end !== "" && { to: read(end) }) };
}

function rejectExclusion(part: QueryPart, key: Key): void {
  if (part.isExcluded) throw fault(part, say`${key}: can't be excluded. Search for the opposite instead.`);
}

function fault({ written }: QueryPart, text: Message): AppError {
  return invalidField("q", text, { word: written });
}
