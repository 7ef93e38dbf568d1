/** Finds photos in a grid by position, and the positions of photos. Pure. */
import type { Box, DayBox, Layout, GridBlock, Row } from "./types.ts";

/** The block at a distance from the top of the grid; undefined if the grid is empty. */
export function blockAt({ blocks }: Layout, y: number): GridBlock | undefined {
  return lastWhere(blocks, ({ offset }) => offset <= y);
}

/** The block that contains a photo. */
export function blockOf({ blocks }: Layout, photo: number): GridBlock | undefined {
  return lastWhere(blocks, ({ start }) => start <= photo);
}

/** The position of a photo. */
export function boxOf(layout: Layout, photo: number): Box {
  const block = blockOf(layout, photo);
  const row = block === undefined ? undefined : rowOf(block, photo);
  if (block === undefined || row === undefined) return { left: 0, top: 0, width: 0, height: 0 };
  return {
    left: block.lefts[photo - block.start] ?? 0,
    top: block.offset + row.top,
    width: block.widths[photo - block.start] ?? 0,
    height: row.height,
  };
}

/** The day of a photo, and the photo's index in it; undefined if the grid is empty. */
export function dayOfPhoto(layout: Layout, photo: number): { day: DayBox; start: number; at: number } | undefined {
  const block = blockOf(layout, photo);
  const day = block === undefined ? undefined : lastWhere(block.days, ({ first }) => first <= photo - block.start);
  if (block === undefined || day === undefined) return undefined;
  const start = block.start + day.first;
  return { day, start, at: photo - start };
}

/** The index of the first photo of a day. If the day has no photos, that of the next older day. */
export function startOfDay({ blocks, total }: Layout, date: string): number {
  const block = blocks.find(({ month, days }) => month <= date && (days.at(-1)?.date ?? "") <= date);
  const day = block?.days.find((one) => one.date <= date);
  return block === undefined || day === undefined ? total : block.start + day.first;
}

/** The photos that are at least partly between two distances from the top: the first, and the one after the last. */
export function photosBetween(layout: Layout, top: number, bottom: number): { first: number; end: number } {
  const from = blockAt(layout, top);
  const to = blockAt(layout, bottom);
  if (from === undefined || to === undefined) return { first: 0, end: 0 };
  const first = from.rows.find((row) => from.offset + row.top + row.height > top)?.first ?? from.count;
  const end = lastWhere(to.rows, (row) => to.offset + row.top < bottom);
  const isAbove = end === undefined || to.offset + end.top >= bottom;
  return {
    first: from.start + first,
    end: Math.max(from.start + first, to.start + (isAbove ? 0 : end.end)),
  };
}

/** The photo one row below (1) or above (-1) another, nearest to a distance from the left edge. */
export function rowsFrom(layout: Layout, photo: number, by: 1 | -1, left?: number): number {
  const block = blockOf(layout, photo);
  const row = block === undefined ? undefined : rowOf(block, photo);
  if (block === undefined || row === undefined) return photo;
  const at = block.start + (by === 1 ? row.end : row.first - 1);
  if (at < 0 || at >= layout.total) return photo;
  const nextBlock = blockOf(layout, at);
  const next = nextBlock === undefined ? undefined : rowOf(nextBlock, at);
  if (nextBlock === undefined || next === undefined) return photo;
  const center = left ?? centerOf(block, photo - block.start);
  let nearest = next.first;
  for (let index = next.first; index < next.end; index++) {
    if (Math.abs(centerOf(nextBlock, index) - center) < Math.abs(centerOf(nextBlock, nearest) - center)) {
      nearest = index;
    }
  }
  return nextBlock.start + nearest;
}

/** The photo about one view height below (1) or above (-1) another. */
export function pageFrom(layout: Layout, photo: number, by: 1 | -1, viewHeight: number): number {
  const from = boxOf(layout, photo);
  let at = photo;
  for (;;) {
    const next = rowsFrom(layout, at, by, from.left + from.width / 2);
    if (next === at || (at !== photo && Math.abs(boxOf(layout, next).top - from.top) > viewHeight)) return at;
    at = next;
  }
}

function centerOf({ lefts, widths }: GridBlock, index: number): number {
  return (lefts[index] ?? 0) + (widths[index] ?? 0) / 2;
}

function rowOf({ rows, start }: GridBlock, photo: number): Row | undefined {
  return lastWhere(rows, ({ first }) => first <= photo - start);
}

/** The last matching entry of a sorted list; the first entry if none matches. */
function lastWhere<T>(list: readonly T[], fits: (entry: T) => boolean): T | undefined {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = list[middle];
    if (entry !== undefined && fits(entry)) low = middle;
    else high = middle - 1;
  }
  return list[Math.max(0, low)];
}
