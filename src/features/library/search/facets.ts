/**
 * Facets: properties of a file as words of the index. A filter becomes one or a few of them, so that one query narrows
 * by everything at once. Only sizes are coarse and are checked again in the row of the file.
 */
import { fold } from "../../../lib/path.ts";
import type { FAMILIES } from "./parse-query.ts";

/** What `type:` may ask for, and the rest. */
export type Family = (typeof FAMILIES)[number] | "other";

/** Kinds of facets, by the two letters with which their words begin. */
type FacetKind = "fa" | "ty" | "ex" | "ta" | "ca" | "fo" | "pu" | "sz" | `${DateFacet}${"y" | "m" | "d"}`;

/** Which date: modified, created, taken (a picture). */
export type DateFacet = "m" | "c" | "p";

/** Years with words of their own; earlier and later ones count as the first or last of them. */
const YEAR_MIN = 1900;
const YEAR_MAX = 2099;

interface Day {
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
}

const FIRST_DAY: Day = { year: YEAR_MIN, month: 1, dayOfMonth: 1 };
const LAST_DAY: Day = { year: YEAR_MAX, month: 12, dayOfMonth: 31 };
/** 2^53 and more is no size of a file. */
const SIZE_CLASS_MAX = 53;
/** A search in more folders than these looks at each file's folder instead. */
export const FOLDERS_MAX = 64;

/** A word of the facets column. A value that is no short plain word is replaced by its digest. */
export function facet(kind: FacetKind, text: string | number): string {
  const value = String(text);
  if (/^[a-z0-9]{0,24}$/.test(value)) return kind + value;
  return `${kind}0${new Bun.CryptoHasher("sha256").update(value).digest("hex").slice(0, 16)}`;
}

/** The word of a tag, ignoring case. */
export function tagFacet(tag: string): string {
  return facet("ta", fold(tag.normalize("NFC")));
}

/** The words of a camera: one for each word of make and model. */
export function cameraFacets(camera: string): string[] {
  const words = fold(camera.normalize("NFKC")).split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== ""))].map((word) => facet("ca", word));
}

/** The words of a size in bytes. */
export function sizeFacet(bytes: number): string {
  return facet("sz", sizeClass(bytes));
}

/** The words that files within these bounds may have; undefined for any. */
export function sizeFacets(min: number | null, max: number | null): string[] | undefined {
  const first = min === null ? 0 : sizeClass(min);
  const last = max === null ? SIZE_CLASS_MAX : sizeClass(max);
  if (first === 0 && last === SIZE_CLASS_MAX) return undefined;
  return numbers(first, last).map((size) => facet("sz", size));
}

/** The words of a day, given as `YYYY-MM-DD…`. */
export function dateFacets(date: DateFacet, day: string): string[] {
  const { year, month, dayOfMonth } = partsOf(day);
  const months = year * 100 + month;
  return [facet(`${date}y`, year), facet(`${date}m`, months), facet(`${date}d`, months * 100 + dayOfMonth)];
}

/**
 * Words of which every day within the bounds has exactly one and no other day any: whole years, months at the ends,
 * days at theirs; at most about three hundred.
 */
export function dateRangeFacets(date: DateFacet, from: string | null, to: string | null): string[] {
  const first = from === null ? FIRST_DAY : partsOf(from);
  const last = to === null ? LAST_DAY : partsOf(to);
  const words: string[] = [];
  for (let { year } = first; year <= last.year; year++) {
    const begins = year === first.year ? first : { ...FIRST_DAY, year };
    const ends = year === last.year ? last : { ...LAST_DAY, year };
    const isWhole = begins.month === 1 && begins.dayOfMonth === 1 && ends.month === 12 && ends.dayOfMonth === 31;
    words.push(...(isWhole ? [facet(`${date}y`, year)] : monthsAndDays(date, year, begins, ends)));
  }
  return words;
}

function monthsAndDays(date: DateFacet, year: number, begins: Day, ends: Day): string[] {
  return numbers(begins.month, ends.month).flatMap((month) => {
    const firstDay = month === begins.month ? begins.dayOfMonth : 1;
    const lastDay = month === ends.month ? ends.dayOfMonth : 31;
    const months = year * 100 + month;
    // Day 0 of a month is the last one of the month before.
    const isWhole = firstDay === 1 && lastDay >= new Date(Date.UTC(year, month, 0)).getUTCDate();
    if (isWhole) return [facet(`${date}m`, months)];
    return numbers(firstDay, lastDay).map((day) => facet(`${date}d`, months * 100 + day));
  });
}

const ARCHIVES =
  /^application\/(zip|x-tar|gzip|x-gzip|x-bzip2|x-xz|zstd|x-7z-compressed|vnd\.rar|x-rar-compressed|x-rar|x-lzip|x-compress|java-archive)$/;
const DOCUMENTS =
  /^application\/(pdf|msword|rtf|epub\+zip|vnd\.(ms-|oasis\.opendocument\.|openxmlformats-officedocument\.|apple\.(pages|numbers|keynote)|visio))|^text\/rtf$/;

/** Media type without parameters, in lower case. */
export function plainType(mediaType: string): string {
  return mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
}

/** What a media type is: nearly always one thing. */
export function familiesOf(mediaType: string): Family[] {
  const type = plainType(mediaType);
  if (type === "application/pdf") return ["document", "pdf"];
  if (DOCUMENTS.test(type)) return ["document"];
  if (ARCHIVES.test(type)) return ["archive"];
  const [top] = type.split("/");
  if (top === "image" || top === "video" || top === "audio") return [top];
  return top === "text" || type === "application/json" || type === "application/xml" ? ["text"] : ["other"];
}

/** Words of which every file and folder has one. */
export const ANY_FAMILY: readonly string[] = (
  ["image", "video", "audio", "document", "archive", "text", "other", "folder"] as const
).map((family) => facet("fa", family));

/** A file name's extension in lower case; undefined for none. */
export function extensionOf(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? fold(name.slice(dot + 1)) : "";
  return extension === "" || extension.length > 64 ? undefined : extension;
}

/** 0 for nothing, else one more than the power of two below it. */
function sizeClass(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(SIZE_CLASS_MAX, Math.floor(Math.log2(bytes)) + 1);
}

function partsOf(day: string): Day {
  const year = Number(day.slice(0, 4));
  if (!(year >= YEAR_MIN)) return FIRST_DAY;
  if (year > YEAR_MAX) return LAST_DAY;
  return { year, month: Number(day.slice(5, 7)), dayOfMonth: Number(day.slice(8, 10)) };
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
