/**
 * Parses JSON of strangers. A megabyte of brackets blocks the event loop for a second, and needs a multiple of its size
 * in memory: so the values are counted first.
 */

/** Limits of {@link parseBoundedJson}. */
export interface JsonLimits {
  /** Values in objects and lists. */
  readonly values: number;
}

const DEPTH_MAX = 64;
const [QUOTE, COMMA, LIST, LIST_END, BACKSLASH, OBJECT, OBJECT_END] = [0x22, 0x2c, 0x5b, 0x5d, 0x5c, 0x7b, 0x7d];

/** @throws SyntaxError if it is no JSON, or has more values than allowed, or is nested too deeply */
export function parseBoundedJson(text: string, { values }: JsonLimits): unknown {
  let depth = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === LIST_END || code === OBJECT_END) depth--;
    else if (code === COMMA) count++;
    else if (code === LIST || code === OBJECT) {
      count++;
      depth++;
    }
    if (depth > DEPTH_MAX || count > values) throw new SyntaxError("The JSON has too many values.");
  }
  const parsed: unknown = JSON.parse(text);
  return parsed;
}

/** The position of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}
