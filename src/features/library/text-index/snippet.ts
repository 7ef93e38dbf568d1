/** Chooses the part of a text that shows why it was found. Pure. */
import { foldText } from "./fold.ts";

/** A part of a snippet. */
export interface SnippetPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** An extract of a text, and where it is. */
export interface Snippet {
  readonly parts: readonly SnippetPart[];
  /** Where it begins in the text. */
  readonly start: number;
  /** How many of the words it contains. */
  readonly words: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly word: number;
}

const LENGTH = 180;
/** Characters before the first match. */
const BEFORE = 50;
const MATCHES_MAX = 64;

/** The extract with most of the words; undefined if it contains none. @param patterns see `IndexWord` */
export function findSnippet(text: string, patterns: readonly RegExp[]): Snippet | undefined {
  const folded = foldText(text);
  const toText = positions(text, folded);
  const ranges = patterns.flatMap((pattern, word) => matches(folded, pattern, word));
  if (ranges.length === 0) return undefined;
  ranges.sort((a, b) => a.start - b.start || b.end - a.end);
  let best = { first: ranges[0], words: 0 };
  for (const [at, first] of ranges.entries()) {
    const near = new Set<number>();
    for (let next = at; next < ranges.length; next++) {
      const range = ranges[next];
      if (range === undefined || range.end > first.start + LENGTH - BEFORE) break;
      near.add(range.word);
    }
    if (near.size > best.words) best = { first, words: near.size };
  }
  const foundAt = toText(best.first?.start ?? 0);
  const [start, end] = extent(text, foundAt);
  const shown = ranges
    .map((range) => ({ start: toText(range.start), end: toText(range.end) }))
    .filter((range) => range.start >= start && range.end <= end);
  return { parts: toParts(text, start, end, shown), start: foundAt, words: Math.max(1, best.words) };
}

function matches(folded: string, pattern: RegExp, word: number): Range[] {
  const found: Range[] = [];
  for (const match of folded.matchAll(pattern)) {
    found.push({ start: match.index, end: match.index + match[0].length, word });
    if (found.length >= MATCHES_MAX) break;
  }
  return found;
}

/** From positions of the folded text to those of the text. */
function positions(text: string, folded: string): (at: number) => number {
  if (text.length === folded.length) return (at) => at;
  const starts = new Uint32Array(folded.length + 1).fill(text.length);
  const known = new Map<string, number>();
  let to = 0;
  let from = 0;
  for (const character of text) {
    let length = known.get(character);
    if (length === undefined) {
      length = foldText(character).length;
      known.set(character, length);
    }
    for (let unit = 0; unit < length && to < starts.length; unit++) starts[to++] = from;
    from += character.length;
  }
  return (at) => starts[at] ?? text.length;
}

/** Widens to whole words around a position. */
function extent(text: string, at: number): [start: number, end: number] {
  const earliest = Math.max(0, at - BEFORE);
  const lead = earliest === 0 ? 0 : text.slice(earliest, at).search(/\s/);
  const start = earliest + (lead < 0 ? 0 : lead);
  const latest = Math.min(text.length, start + LENGTH);
  const trail = latest === text.length ? -1 : text.slice(at, latest).search(/\s\S*$/);
  return [start, trail <= 0 ? latest : at + trail];
}

function toParts(
  text: string,
  start: number,
  end: number,
  shown: readonly Pick<Range, "start" | "end">[],
): SnippetPart[] {
  const parts: SnippetPart[] = [];
  const add = (from: number, to: number, isMatch: boolean) => {
    const part = text.slice(from, to).replaceAll(/\s+/g, " ");
    if (part !== "") parts.push({ text: part, isMatch });
  };
  let at = start;
  for (const range of shown) {
    if (range.end <= at) continue;
    add(at, Math.max(at, range.start), false);
    add(Math.max(at, range.start), range.end, true);
    at = range.end;
  }
  add(at, end, false);
  return parts;
}
