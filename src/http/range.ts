// Range requests over bytes (RFC 9110 §14): what of a content is asked for, and how several pieces are framed.

/** Bytes `offset` to `offset + length - 1` of a content; always inside it, `length` at least 1. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** What a Range header asks of a content of known size. */
export type RangeRequest =
  /** None, or one that is to be ignored: send the whole. */
  | { readonly kind: "whole" }
  /** Understood, but nothing of it lies inside the content: 416. */
  | { readonly kind: "unsatisfiable" }
  /** At least one, in the order asked, none overlapping another. */
  | { readonly kind: "ranges"; readonly ranges: readonly [ByteRange, ...ByteRange[]] };

/** Most ranges one header may ask for; with more it is ignored. */
const RANGES_MAX = 16;

/** Longest header worth reading: 16 ranges of two 16-digit numbers fit many times. */
const HEADER_MAX_LENGTH = 2048;

const BYTES_UNIT = /^bytes[ \t]*=/i;
const RANGE_SPEC = /^(?:(\d+)-(\d*)|-(\d+))$/;

const WHOLE: RangeRequest = { kind: "whole" };
const UNSATISFIABLE: RangeRequest = { kind: "unsatisfiable" };

/**
 * Reads a Range header for a content of `sizeBytes`. Ignored are other units, malformed headers, more than 16 ranges
 * and overlapping ones; ends beyond the content are cut to it, ranges wholly beyond it dropped while others remain.
 * A suffix of an empty content is the whole of it, for there is no way to say "206 with nothing".
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
    // RFC 9110 §5.6.1.2: empty list elements are passed over.
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

/** The value of Content-Range for one range of a content (RFC 9110 §14.4). */
export function contentRange(range: ByteRange, sizeBytes: number): string {
  return `bytes ${range.offset}-${range.offset + range.length - 1}/${sizeBytes}`;
}

/** A multipart/byteranges body, planned before a byte of it is read. */
export interface ByteRangesPlan {
  /** Content-Type of the response. */
  readonly contentType: string;
  /** Content-Length of the response, exact. */
  readonly lengthBytes: number;
  /** Each range with what goes before it: delimiter and part headers, ASCII. */
  readonly parts: readonly { readonly head: string; readonly range: ByteRange }[];
  /** What ends the body. */
  readonly tail: string;
}

/**
 * Plans a multipart/byteranges body (RFC 9110 §14.6).
 * @param boundary not to occur in the content: random, up to 70 characters of RFC 2046's set
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
