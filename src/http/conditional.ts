/** Conditional requests (RFC 9110 §13): compares the conditions of a request with the current content of a file. */

/** The validators of the current content. */
interface Validators {
  /** Strong, with its quotes: `"<hex digest>"`. */
  readonly etag: string;
  /** Time of the content, in milliseconds; compared in whole seconds, like HTTP dates. */
  readonly lastModifiedMs: number;
}

/** The result of the conditional headers of a request. */
type ConditionResult =
  /** Continue as if there were no conditions. */
  | "proceed"
  /** Continue without the Range: the client has a part of other content. */
  | "ignoreRange"
  /** 304: the client has this content already. */
  | "notModified"
  /** 412: the content is not the one that the client expects. */
  | "preconditionFailed";

/**
 * Evaluates the five conditional headers in the order of RFC 9110 §13.2.2. `If-Range` counts only with a `Range` of a
 * GET. Invalid dates are ignored.
 */
export function evaluateConditions(headers: Headers, method: string, current: Validators): ConditionResult {
  const lastModifiedSeconds = Math.floor(current.lastModifiedMs / 1000);
  const isRead = method === "GET" || method === "HEAD";

  const ifMatch = headers.get("if-match");
  if (ifMatch !== null) {
    if (!matchesIfMatch(ifMatch, current.etag)) return "preconditionFailed";
  } else {
    const since = parseHttpDate(headers.get("if-unmodified-since"));
    if (since !== undefined && lastModifiedSeconds > since) return "preconditionFailed";
  }

  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) {
    if (matchesIfNoneMatch(ifNoneMatch, current.etag)) return isRead ? "notModified" : "preconditionFailed";
  } else if (isRead) {
    const since = parseHttpDate(headers.get("if-modified-since"));
    if (since !== undefined && lastModifiedSeconds <= since) return "notModified";
  }

  if (method === "GET") {
    const ifRange = headers.get("if-range");
    if (ifRange !== null && headers.has("range") && !matchesIfRange(ifRange, current)) return "ignoreRange";
  }
  return "proceed";
}

/**
 * Whether `If-Match` matches this strong ETag (RFC 9110 §13.1.1: strong comparison, so weak tags never match). An
 * invalid header matches nothing: it is safer to reject a write than to change the wrong content.
 */
export function matchesIfMatch(header: string, etag: string): boolean {
  return isAny(header) || readTags(header).some((tag) => tag === etag);
}

/** Whether `If-None-Match` matches this ETag (RFC 9110 §13.1.2: weak comparison). */
export function matchesIfNoneMatch(header: string, etag: string): boolean {
  return isAny(header) || readTags(header).some((tag) => (tag.startsWith("W/") ? tag.slice(2) : tag) === etag);
}

/** RFC 9110 §13.1.5: one strong tag, or exactly the date. */
function matchesIfRange(header: string, current: Validators): boolean {
  const value = header.trim();
  if (value.startsWith('"') || value.startsWith("W/")) return value === current.etag;
  return parseHttpDate(value) === Math.floor(current.lastModifiedMs / 1000);
}

function isAny(header: string): boolean {
  return header.trim() === "*";
}

const ENTITY_TAG = /[ \t]*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,|$)|[ \t]*,/y;

/** The entity tags of a list, up to the first invalid one. A tag may contain commas. */
function readTags(header: string): string[] {
  const tags: string[] = [];
  ENTITY_TAG.lastIndex = 0;
  while (ENTITY_TAG.lastIndex < header.length) {
    const match = ENTITY_TAG.exec(header);
    if (match === null) break;
    if (match[1] !== undefined) tags.push(match[1]);
  }
  return tags;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** The date formats of RFC 9110 §5.6.7: the current one, and two obsolete ones that servers must accept. */
const IMF_FIXDATE = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC850_DATE = /^\w{6,9}, (\d{2})-(\w{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME_DATE = /^\w{3} (\w{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/** Seconds since 1970 of an HTTP date; undefined if the date is not valid. */
export function parseHttpDate(header: string | null): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  const imf = IMF_FIXDATE.exec(text);
  if (imf !== null) return toSeconds(imf[3], imf[2], imf[1], imf.slice(4));
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime !== null) return toSeconds(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6));
  const old = RFC850_DATE.exec(text);
  if (old === null) return undefined;
  // For a year of two digits, 70 to 99 are the last century: no HTTP date is older than HTTP.
  const year = Number(old[3]);
  return toSeconds(String(year < 70 ? 2000 + year : 1900 + year), old[2], old[1], old.slice(4));
}

function toSeconds(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  time: readonly string[],
): number | undefined {
  const monthIndex = MONTHS.indexOf(month ?? "");
  if (monthIndex < 0) return undefined;
  const ms = Date.UTC(Number(year), monthIndex, Number(day), ...time.map(Number));
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
