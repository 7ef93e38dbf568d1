/** Finds the position between two items of a grid at which dragged items are dropped. Pure. */
import { blockAt } from "./positions.ts";
import type { Box, Layout, Row } from "./types.ts";
import { GAP } from "./rows.ts";

/** The width of the line that shows the position. */
const LINE_WIDTH = 6;

/** A position between two items. */
export interface Drop {
  /** The index of the item before which the dragged items are inserted; the number of items for the end. */
  readonly index: number;
  /** The index of the item next to the pointer. The line is shown in its row. */
  readonly beside: number;
}

/**
 * The position nearest to a point of the grid; undefined if the grid is empty.
 * @param x pixels from the edge at which rows start
 */
export function dropAt(layout: Layout, x: number, y: number): Drop | undefined {
  const block = blockAt(layout, y);
  if (block === undefined) return undefined;
  const inBlock = y - block.offset;
  const row = block.rows.findLast(({ top }) => top - GAP / 2 <= inBlock) ?? block.rows[0];
  if (row === undefined) return undefined;
  for (let at = row.first; at < row.end; at += 1) {
    const center = (block.lefts[at] ?? 0) + (block.widths[at] ?? 0) / 2;
    if (x < center) return { index: block.start + at, beside: block.start + at };
  }
  return { index: block.start + row.end, beside: block.start + row.end - 1 };
}

/** Where the line for a position is drawn: in the gap before or after the item next to the pointer. */
export function rectOfDrop(layout: Layout, { index, beside }: Drop): Omit<Box, "width"> {
  const block = layout.blocks.findLast(({ start }) => start <= beside);
  const at = beside - (block?.start ?? 0);
  const row: Row | undefined = block?.rows.findLast(({ first }) => first <= at);
  if (block === undefined || row === undefined) return { left: 0, top: 0, height: 0 };
  const edge = (block.lefts[at] ?? 0) + (index > beside ? (block.widths[at] ?? 0) + GAP / 2 : -GAP / 2);
  const left = Math.min(Math.max(0, edge - LINE_WIDTH / 2), layout.width - LINE_WIDTH);
  return { left, top: block.offset + row.top, height: row.height };
}
