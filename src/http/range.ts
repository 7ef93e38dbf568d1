/** Byte ranges (RFC 9110 §14): reads the requested ranges, and frames several ranges in one response. */

/** Bytes `offset` to `offset + length - 1` of a file; always within the file, `length` at least 1. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** The meaning of a Range header for a file of known size. */
type RangeRequest =
  /** No Range, or one to ignore: send the whole file. */
  | { readonly kind: "whole" }
  /** Valid, but entirely outside the file: 416. */
  | { readonly kind: "unsatisfiable" }
  /** At least one range, in the requested order, without overlaps. */
  | { readonly kind: "ranges"; readonly ranges: readonly [ByteRange, ...ByteRange[]] };

/** A header with more ranges is ignored. */
const RANGES_MAX = 16;

/** A longer header is ignored. 16 ranges of two 16-digit numbers need much less. */
const HEADER_MAX_LENGTH = 2048;

const BYTES_UNIT = /^bytes[ \t]*=/i;
const RANGE_SPEC = /^(?:(\d+)-(\d*)|-(\d+))$/;

const WHOLE: RangeRequest = { kind: "whole" };
const UNSATISFIABLE: RangeRequest = { kind: "unsatisfiable" };

/**
 * Reads a Range header for a file of `sizeBytes`. Ignores other units, malformed headers, more than 16 ranges, and
 * overlapping ranges. Limits ranges to the end of the file, and drops those beyond it if others remain. A suffix of an
 * empty file is the whole file, because a 206 can't have an empty range.
 *
 * @see RFC 9110 §14.1.1, §14.1.2, §14.2
 */
export function parseRange(header: string | null, sizeBytes: number): RangeRequest {
  if (header === null || header.length > HEADER_MAX_LENGTH) return WHOLE;
  const unit = BYTES_UNIT.exec(header);
  if (unit === null) return WHOLE;

  const ranges: ByteRange[] = [];
  let rangeCount = 0;
  for (const element of header.slice(unit[0].length).split(",")) {
    const spec = trimBlanks(element);
    // RFC 9110 §5.6.1.2: empty list elements are ignored.
    if (spec === "") continue;
    const match = RANGE_SPEC.exec(spec);
    if (match === null) return WHOLE;
    rangeCount += 1;
    if (rangeCount > RANGES_MAX) return WHOLE;

    const [, first, last, suffix] = match;
    if (suffix !== undefined) {
      const length = Math.min(Number(suffix), sizeBytes);
      if (sizeBytes === 0 && Number(suffix) > 0) return WHOLE;
      if (length > 0) ranges.push({ offset: sizeBytes - length, length });
      continue;
    }
    const offset = Number(first);
    const end = last === "" ? Number.POSITIVE_INFINITY : Number(last);
    // RFC 9110 §14.1.1: a last position before the first makes the header invalid.
    if (end < offset) return WHOLE;
    if (offset < sizeBytes) ranges.push({ offset, length: Math.min(end + 1, sizeBytes) - offset });
  }
  if (rangeCount === 0) return WHOLE;
  const [one, ...more] = ranges;
  if (one === undefined) return UNSATISFIABLE;
  if (hasOverlap(ranges)) return WHOLE;
  return { kind: "ranges", ranges: [one, ...more] };
}

function trimBlanks(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function hasOverlap(ranges: readonly ByteRange[]): boolean {
  let end = 0;
  for (const range of ranges.toSorted((a, b) => a.offset - b.offset)) {
    if (range.offset < end) return true;
    end = range.offset + range.length;
  }
  return false;
}

/** The value of Content-Range for one range of a file (RFC 9110 §14.4). */
export function contentRange(range: ByteRange, sizeBytes: number): string {
  return `bytes ${range.offset}-${range.offset + range.length - 1}/${sizeBytes}`;
}

/** A multipart/byteranges body, planned before any byte is read. */
export interface ByteRangesPlan {
  /** Content-Type of the response. */
  readonly contentType: string;
  /** Content-Length of the response, exact. */
  readonly lengthBytes: number;
  /** Each range with the delimiter and part headers before it, in ASCII. */
  readonly parts: readonly { readonly head: string; readonly range: ByteRange }[];
  /** The end of the body. */
  readonly tail: string;
}

/**
 * Plans a multipart/byteranges body (RFC 9110 §14.6).
 * @param boundary must not occur in the file: random, up to 70 characters of RFC 2046's set
 */
export function planByteRanges(
  ranges: readonly ByteRange[],
  sizeBytes: number,
  mediaType: string,
  boundary: string,
): ByteRangesPlan {
  let lengthBytes = 0;
  const parts = ranges.map((range, index) => {
    const delimiter = index === 0 ? `--${boundary}` : `\r\n--${boundary}`;
    const head = `${delimiter}\r\nContent-Type: ${mediaType}\r\nContent-Range: ${contentRange(range, sizeBytes)}\r\n\r\n`;
    lengthBytes += head.length + range.length;
    return { head, range };
  });
  const tail = `\r\n--${boundary}--\r\n`;
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    lengthBytes: lengthBytes + tail.length,
    parts,
    tail,
  };
}
