/** Lays out all photos of an account as squares, by month, from their counts alone. Pure. */
import type { Layout, Row } from "../../../entries/justified/types.ts";

/** A month with its number of photos. */
export interface MonthCount {
  /** Such as `2026-07`. */
  readonly month: string;
  readonly count: number;
}

/** The height of the heading of a month. */
export const HEADING_HEIGHT = 44;
/** Between squares. */
const GAP = 4;
/** Below the last row of a month. */
const MONTH_MARGIN = 12;
/** Squares are about as large as this. */
const SQUARE = 116;
const COLUMNS_MIN = 3;

/** The months of days that are sorted newest first. */
export function monthsOf(days: readonly { readonly date: string; readonly count: number }[]): MonthCount[] {
  const months = new Map<string, number>();
  for (const { date, count } of days) {
    const month = date.slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + count);
  }
  return [...months].map(([month, count]) => ({ month, count }));
}

/** The positions of all photos in a grid of this width. */
export function layoutSquares(months: readonly MonthCount[], width: number): Layout {
  const columns = Math.max(COLUMNS_MIN, Math.floor((width + GAP) / (SQUARE + GAP)));
  const side = Math.max(1, (width - GAP * (columns - 1)) / columns);
  let [offset, start] = [0, 0];
  const blocks = months.map(({ month, count }) => {
    const rows = rowsOf(count, columns, side);
    const height = HEADING_HEIGHT + rows.length * (side + GAP) + MONTH_MARGIN;
    const lefts = Float32Array.from({ length: count }, (_, at) => (at % columns) * (side + GAP));
    const widths = new Float32Array(count).fill(side);
    const days = [{ date: month, count, first: 0, left: 0, top: 0, width }];
    const block = { month, count, height, rows, days, lefts, widths, offset, start };
    offset += height;
    start += count;
    return block;
  });
  return { width, rowHeight: side, blocks, total: start, height: offset };
}

function rowsOf(count: number, columns: number, side: number): Row[] {
  return Array.from({ length: Math.ceil(count / columns) }, (_, at) => ({
    first: at * columns,
    end: Math.min(count, (at + 1) * columns),
    top: HEADING_HEIGHT + at * (side + GAP),
    height: side,
  }));
}
