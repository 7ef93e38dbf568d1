/** Cuts the text of a file into segments: the rows of the text index. */

/** A part of a text. */
export interface Segment {
  readonly text: string;
  /** The page on which it begins, from 1. */
  readonly page: number;
}

/** Characters. Smaller segments make the index larger, and larger ones the snippets slower. */
const SEGMENT_LENGTH = 32 * 1024;
/** How far from the end a cut between words is looked for. */
const CUT_WITHIN = 256;
/** Control characters other than tab, line feed, form feed and carriage return: some documents contain them. */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufffd]+/g;

/** The segments of a text in their order. Pages end with a form feed. */
export function* toSegments(parts: Iterable<string>): Generator<Segment> {
  let rest = "";
  let page = 1;
  const cut = (at: number): Segment => {
    const text = rest.slice(0, at);
    const segment = { text, page };
    page += text.split("\f").length - 1;
    rest = rest.slice(at);
    return segment;
  };
  for (const part of parts) {
    rest += cleanPart(part);
    while (rest.length > SEGMENT_LENGTH) yield cut(cutBetweenWords(rest));
  }
  if (rest.trim() !== "") yield cut(rest.length);
}

/** The text of which the segments are parts. */
export function joinParts(parts: readonly string[]): Uint8Array {
  return Buffer.from(parts.map(cleanPart).join(""));
}

/** Composed, so that a character of the text and its folded form begin at the same positions. */
function cleanPart(part: string): string {
  return part.replaceAll(CONTROL, " ").normalize("NFC");
}

function cutBetweenWords(text: string): number {
  const end = text.slice(SEGMENT_LENGTH - CUT_WITHIN, SEGMENT_LENGTH);
  const space = end.search(/\s\S*$/);
  const at = SEGMENT_LENGTH - CUT_WITHIN + (space < 0 ? CUT_WITHIN : space + 1);
  const isBetweenSurrogates = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isBetweenSurrogates ? at - 1 : at;
}
