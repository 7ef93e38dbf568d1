/**
 * Facets: properties of a file, as words in the index. Each filter becomes one or a few facets, so one query applies all
 * filters. Only size facets are coarse: sizes are checked again in the row of the file.
 */
import { fold } from "../../../lib/path.ts";
import type { FAMILIES } from "./parse-query.ts";

/** A value of `type:`, or `other`. */
export type Family = (typeof FAMILIES)[number] | "other";

/** Kinds of facets, by the two letters with which their words begin. */
type FacetKind = "fa" | "ty" | "ex" | "ta" | "ca" | "fo" | "pu" | "sz" | `${DateFacet}${"y" | "m" | "d"}`;

/** A date: modified, created, or taken (of a photo). */
export type DateFacet = "m" | "c" | "p";

/** Years with their own facets. Earlier and later years count as the first or the last one. */
const YEAR_MIN = 1900;
const YEAR_MAX = 2099;

interface Day {
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
}

const FIRST_DAY: Day = { year: YEAR_MIN, month: 1, dayOfMonth: 1 };
const LAST_DAY: Day = { year: YEAR_MAX, month: 12, dayOfMonth: 31 };
/** No file has 2^53 bytes or more. */
const SIZE_CLASS_MAX = 53;
/** A search in more folders than this checks the folder of each file instead. */
export const FOLDERS_MAX = 64;

/** A facet. A value that is not a short plain word is replaced by its digest. */
export function facet(kind: FacetKind, text: string | number): string {
  const value = String(text);
  if (/^[a-z0-9]{0,24}$/.test(value)) return kind + value;
  return `${kind}0${new Bun.CryptoHasher("sha256").update(value).digest("hex").slice(0, 16)}`;
}

/** The facet of a tag, ignoring case. */
export function tagFacet(tag: string): string {
  return facet("ta", fold(tag.normalize("NFC")));
}

/** The facets of a camera: one for each word of make and model. */
export function cameraFacets(camera: string): string[] {
  const words = fold(camera.normalize("NFKC")).split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== ""))].map((word) => facet("ca", word));
}

/** The facet of a size in bytes. */
export function sizeFacet(bytes: number): string {
  return facet("sz", sizeClass(bytes));
}

/** The facets of sizes within these bounds; undefined if there are no bounds. */
export function sizeFacets(min: number | null, max: number | null): string[] | undefined {
  const first = min === null ? 0 : sizeClass(min);
  const last = max === null ? SIZE_CLASS_MAX : sizeClass(max);
  if (first === 0 && last === SIZE_CLASS_MAX) return undefined;
  return range(first, last).map((size) => facet("sz", size));
}

/** The facets of a day (`YYYY-MM-DD…`): its year, its month and the day. */
export function dateFacets(date: DateFacet, day: string): string[] {
  const { year, month, dayOfMonth } = parseDay(day);
  const months = year * 100 + month;
  return [facet(`${date}y`, year), facet(`${date}m`, months), facet(`${date}d`, months * 100 + dayOfMonth)];
}

/**
 * The facets of a date range: whole years, then whole months and days at its ends. Each day in the range has exactly one
 * of them, other days none. At most about 300.
 */
export function dateRangeFacets(date: DateFacet, from: string | null, to: string | null): string[] {
  const first = from === null ? FIRST_DAY : parseDay(from);
  const last = to === null ? LAST_DAY : parseDay(to);
  const facets: string[] = [];
  for (let { year } = first; year <= last.year; year++) {
    const start = year === first.year ? first : { ...FIRST_DAY, year };
    const end = year === last.year ? last : { ...LAST_DAY, year };
    const isWhole = start.month === 1 && start.dayOfMonth === 1 && end.month === 12 && end.dayOfMonth === 31;
    facets.push(...(isWhole ? [facet(`${date}y`, year)] : monthsAndDays(date, year, start, end)));
  }
  return facets;
}

function monthsAndDays(date: DateFacet, year: number, start: Day, end: Day): string[] {
  return range(start.month, end.month).flatMap((month) => {
    const firstDay = month === start.month ? start.dayOfMonth : 1;
    const lastDay = month === end.month ? end.dayOfMonth : 31;
    const months = year * 100 + month;
    // Day 0 of a month is the last one of the month before.
    const isWhole = firstDay === 1 && lastDay >= new Date(Date.UTC(year, month, 0)).getUTCDate();
    if (isWhole) return [facet(`${date}m`, months)];
    return range(firstDay, lastDay).map((day) => facet(`${date}d`, months * 100 + day));
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

/** The families of a media type: nearly always one. */
export function toFamilies(mediaType: string): Family[] {
  const type = plainType(mediaType);
  if (type === "application/pdf") return ["document", "pdf"];
  if (DOCUMENTS.test(type)) return ["document"];
  if (ARCHIVES.test(type)) return ["archive"];
  const [top] = type.split("/");
  if (top === "image" || top === "video" || top === "audio") return [top];
  return top === "text" || type === "application/json" || type === "application/xml" ? ["text"] : ["other"];
}

/** Facets of which every file and folder has at least one. */
export const ANY_FAMILY: readonly string[] = (
  ["image", "video", "audio", "document", "archive", "text", "other", "folder"] as const
).map((family) => facet("fa", family));

/** A file name's extension in lower case; undefined for none. */
export function extensionOf(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? fold(name.slice(dot + 1)) : "";
  return extension === "" || extension.length > 64 ? undefined : extension;
}

/** 0 for an empty file, else the number of binary digits of its size. */
function sizeClass(bytes: number): number {
  return bytes < 1 ? 0 : Math.min(SIZE_CLASS_MAX, Math.floor(Math.log2(bytes)) + 1);
}

function parseDay(day: string): Day {
  const year = Number(day.slice(0, 4));
  if (!(year >= YEAR_MIN)) return FIRST_DAY;
  if (year > YEAR_MAX) return LAST_DAY;
  return { year, month: Number(day.slice(5, 7)), dayOfMonth: Number(day.slice(8, 10)) };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
