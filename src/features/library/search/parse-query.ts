/**
 * The language of searches: words, "phrases", -exclusions and key:value filters. Pure. Nothing of it ever reaches the
 * syntax of the index; see match.ts for how terms become a question to it.
 */
import { type AppError, invalidField } from "../../../errors.ts";
import { normalizePath } from "../../../lib/path.ts";
import type { DateTerm, SearchTerm, SizeTerm, WordTerm } from "./types.ts";
import { isSearchable } from "./words.ts";

/** Longest query in bytes of UTF-8. */
export const QUERY_BYTES_MAX = 4_096;
/** Words and filters of one query. */
export const TERMS_MAX = 32;

/** What `type:` may say beside a media type. */
export const FAMILIES = ["image", "video", "audio", "document", "pdf", "archive", "text", "folder"] as const;

const KEYS = ["name", "tag", "type", "ext", "in", "size", "modified", "created", "taken", "camera", "is"] as const;
type Key = (typeof KEYS)[number];

interface Piece {
  readonly key: string | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly isExcluded: boolean;
  /** As it was written, for messages. */
  readonly written: string;
}

/**
 * What a query asks for. Everything that it says must hold; upper and lower case, and accents, do not count.
 *
 * Words without a letter, digit or symbol are passed over, as people type them while they write. A quote that is not
 * closed goes to the end.
 * @throws AppError invalid_field with `field` q, and `word`, the part that is at fault
 */
export function parseQuery(q: string): SearchTerm[] {
  if (Buffer.byteLength(q) > QUERY_BYTES_MAX) {
    const details = { limit: QUERY_BYTES_MAX, actual: Buffer.byteLength(q) };
    throw invalidField("q", `A search can have at most ${QUERY_BYTES_MAX} bytes. Use fewer words.`, details);
  }
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
  if (/[\u0000-\u0008\u000e-\u001f\u007f]/.test(q) || !q.isWellFormed()) {
    throw invalidField("q", "The search contains a control character. Remove it.");
  }
  const terms = split(q.normalize("NFC")).flatMap(toTerms);
  if (terms.length > TERMS_MAX) {
    const details = { limit: TERMS_MAX, actual: terms.length };
    throw invalidField(
      "q",
      `A search can have at most ${TERMS_MAX} words and filters, but has ${terms.length}.`,
      details,
    );
  }
  if (terms.length === 0) {
    throw invalidField("q", "The search is empty. Enter a word, or a filter such as type:image.");
  }
  return terms;
}

/** Cuts at spaces outside of quotes. */
function split(q: string): Piece[] {
  const pieces: Piece[] = [];
  const piece = /(-?)(?:([A-Za-z]+):)?(?:"([^"]*)(?:"|$)|(\S*))/y;
  for (let at = 0; at < q.length; ) {
    const space = /\s*/y;
    space.lastIndex = at;
    space.exec(q);
    piece.lastIndex = space.lastIndex;
    const found = piece.exec(q);
    if (found === null || found[0] === "") break;
    at = piece.lastIndex;
    const [written, minus, key, quoted, bare = ""] = found;
    pieces.push({
      key: key?.toLowerCase(),
      value: quoted ?? bare,
      isQuoted: quoted !== undefined,
      isExcluded: minus === "-",
      written,
    });
  }
  return pieces;
}

function toTerms(piece: Piece): SearchTerm[] {
  const { key, value, isQuoted, isExcluded } = piece;
  if (key === undefined) {
    return isSearchable(value) ? [{ key: "text", value, isPhrase: isQuoted, isExcluded }] : [];
  }
  if (!isKey(key)) {
    const known = KEYS.map((one) => `${one}:`).join(" ");
    throw fault(piece, `${key}: is not a search filter. Use ${known}, or put the word in quotes.`);
  }
  if (value === "") throw fault(piece, `${key}: needs a value, such as ${EXAMPLES[key]}.`);
  return [READERS[key](piece)];
}

const EXAMPLES: Readonly<Record<Key, string>> = {
  name: "name:beach",
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

const READERS: Readonly<Record<Key, (piece: Piece) => SearchTerm>> = {
  name: readName,
  tag: (piece) => simple("tag", piece, piece.value.trim()),
  type: readType,
  ext: (piece) => simple("ext", piece, piece.value.replace(/^\./, "").toLowerCase()),
  camera: readCamera,
  in: readPlace,
  is: readIs,
  size: readSize,
  modified: (piece) => readDate(piece, "modified"),
  created: (piece) => readDate(piece, "created"),
  taken: (piece) => readDate(piece, "taken"),
};

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}

function simple(key: "tag" | "type" | "ext" | "camera", piece: Piece, value: string): SearchTerm {
  if (value === "") throw fault(piece, `${key}: needs a value, such as ${EXAMPLES[key]}.`);
  return { key, value, isExcluded: piece.isExcluded };
}

function readName(piece: Piece): WordTerm {
  const { value, isQuoted, isExcluded } = piece;
  if (!isSearchable(value)) throw fault(piece, "name: needs a word with a letter or a digit, such as name:beach.");
  return { key: "name", value, isPhrase: isQuoted, isExcluded };
}

function readCamera(piece: Piece): SearchTerm {
  if (!isSearchable(piece.value)) throw fault(piece, "camera: needs a make or model, such as camera:canon.");
  return simple("camera", piece, piece.value);
}

function readType(piece: Piece): SearchTerm {
  const value = piece.value.toLowerCase().replace(/\/\*$/, "");
  const isKnown = FAMILIES.some((family) => family === value) || /^[a-z0-9.+-]+\/[a-z0-9.+_-]+$/.test(value);
  if (!isKnown) {
    throw fault(piece, `type: must be one of ${FAMILIES.join(", ")}, or a media type such as image/png.`);
  }
  return simple("type", piece, value);
}

function readPlace(piece: Piece): SearchTerm {
  rejectExclusion(piece, "in");
  const { value } = piece;
  return { key: "in", value: normalizePath(value.startsWith("/") ? value : `/${value}`, "q"), isExcluded: false };
}

function readIs(piece: Piece): SearchTerm {
  if (piece.value.toLowerCase() !== "public") throw fault(piece, "is: has only one value: is:public.");
  return { key: "is", value: "public", isExcluded: piece.isExcluded };
}

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

function readSize(piece: Piece): SizeTerm {
  rejectExclusion(piece, "size");
  const range = readRange(piece.value, (text) => {
    const [, number, unit = "b"] = /^(\d{1,15}(?:\.\d{1,6})?)([bkmgt])?$/i.exec(shortUnit(text)) ?? [];
    if (number === undefined) throw fault(piece, "size: needs a size, such as size:>10MB, size:<1GB or size:1MB..5MB.");
    const bytes = Number(number) * (UNITS[unit.toLowerCase()] ?? 1);
    return { first: Math.ceil(bytes), last: Math.floor(bytes) };
  });
  const min = range.after === undefined ? (range.from?.first ?? null) : range.after.last + 1;
  const max = range.before === undefined ? (range.to?.last ?? null) : range.before.first - 1;
  if ((min ?? 0) > (max ?? Number.POSITIVE_INFINITY) || (max ?? 0) < 0) {
    throw fault(piece, "The size range ends before it starts. Swap the two values.");
  }
  return { key: "size", value: piece.value, isExcluded: false, min, max };
}

/** `10MB`, `10MiB` and `10M` are the same. */
function shortUnit(text: string): string {
  return text.replace(/([kmgt])i?b$/i, "$1");
}

const DAY_MS = 24 * 60 * 60 * 1000;

function readDate(piece: Piece, key: "modified" | "created" | "taken"): DateTerm {
  rejectExclusion(piece, key);
  const range = readRange(piece.value, (text) => readDays(text, piece, key));
  const from = range.after === undefined ? (range.from?.first ?? null) : toDay(Date.parse(range.after.last) + DAY_MS);
  const to = range.before === undefined ? (range.to?.last ?? null) : toDay(Date.parse(range.before.first) - DAY_MS);
  if (from !== null && to !== null && from > to) {
    throw fault(piece, `The range in ${key}: ends before it starts. Swap the two values.`);
  }
  return { key, value: piece.value, isExcluded: false, from, to };
}

/** The first and the last day of a year, a month, or a day. */
function readDays(text: string, piece: Piece, key: Key): { first: string; last: string } {
  const [, year, month, day] = /^([12]\d{3})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? [];
  const first = `${year}-${month ?? "01"}-${day ?? "01"}`;
  const firstMs = Date.parse(first);
  if (year === undefined || Number.isNaN(firstMs) || toDay(firstMs) !== first) {
    throw fault(piece, `${key}: needs a year, month or day, such as ${key}:2026-01 or ${key}:2026-01-05..2026-02.`);
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

function rejectExclusion(piece: Piece, key: Key): void {
  if (piece.isExcluded) throw fault(piece, `${key}: can't be excluded. Search for the opposite instead.`);
}

function fault({ written }: Piece, message: string): AppError {
  return invalidField("q", message, { word: written });
}
