/** Compares two texts line by line. */
import { Chunk } from "@codemirror/merge";
import { Text } from "@codemirror/state";

/** A line of a comparison. `skipped` stands for equal lines that are left out. */
export interface ComparedLine {
  readonly kind: "equal" | "theirs" | "mine" | "skipped";
  readonly text: string;
}

/** Equal lines shown before and after each difference. */
const CONTEXT = 2;
/** Bounds the time for texts that have little in common. */
const SCAN_LIMIT = 5_000;

/** The lines that differ, with the equal ones next to them. */
export function compareTexts(theirs: string, mine: string): ComparedLine[] {
  const from = Text.of(theirs.split("\n"));
  const to = Text.of(mine.split("\n"));
  const lines: ComparedLine[] = [];
  let done = 0;
  for (const chunk of Chunk.build(from, to, { scanLimit: SCAN_LIMIT })) {
    const removed = linesOf(from, chunk.fromA, chunk.toA);
    const added = linesOf(to, chunk.fromB, chunk.toB);
    // A last line without an end counts as changed when lines follow it.
    while (hasLines(removed) && hasLines(added) && from.line(removed.first).text === to.line(added.first).text) {
      removed.first++;
      added.first++;
    }
    lines.push(
      ...equalLines(from, done + 1, removed.first - 1, { after: done === 0 ? 0 : CONTEXT, before: CONTEXT }),
      ...between(from, removed.first, removed.last, "theirs"),
      ...between(to, added.first, added.last, "mine"),
    );
    done = removed.last;
  }
  const rest = equalLines(from, done + 1, from.lines, { after: CONTEXT, before: 0 });
  return lines.length === 0 ? [] : [...lines, ...rest];
}

/** Equal lines: of a long range, those after the difference before it, and those before the difference after it. */
function equalLines(
  text: Text,
  first: number,
  last: number,
  { after, before }: { readonly after: number; readonly before: number },
): ComparedLine[] {
  if (last - first + 1 <= after + before) return between(text, first, last, "equal");
  return [
    ...between(text, first, first + after - 1, "equal"),
    { kind: "skipped", text: "" },
    ...between(text, last - before + 1, last, "equal"),
  ];
}

function hasLines({ first, last }: { readonly first: number; readonly last: number }): boolean {
  return first <= last;
}

/** The numbers of the lines in a range of a chunk: it ends at the start of the next line, or beyond the text. */
function linesOf(text: Text, from: number, to: number): { first: number; last: number } {
  const first = from > text.length ? text.lines + 1 : text.lineAt(from).number;
  if (to <= from) return { first, last: first - 1 };
  return { first, last: to > text.length ? text.lines : text.lineAt(to - 1).number };
}

function between(text: Text, first: number, last: number, kind: ComparedLine["kind"]): ComparedLine[] {
  const lines: ComparedLine[] = [];
  for (let number = first; number <= last; number++) lines.push({ kind, text: text.line(number).text });
  return lines;
}
