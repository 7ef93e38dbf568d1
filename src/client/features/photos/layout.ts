/**
 * Computes the position of each photo in the grid from the number of photos per day alone. So the grid has its full
 * height, and can be scrolled anywhere, before any photo is loaded. Pure.
 */

/** A day with its number of photos. */
export interface DayCount {
  readonly date: string;
  readonly count: number;
}

/** A day in the grid. */
export interface Section extends DayCount {
  /** The index of its first photo among all photos. */
  readonly first: number;
  /** Pixels from the top of the grid. */
  readonly top: number;
  readonly height: number;
}

/** The grid: equal squares below a heading for each day. */
export interface Layout {
  readonly sections: readonly Section[];
  readonly total: number;
  readonly columns: number;
  /** The side length of a square. */
  readonly side: number;
  /** The distance from one square to the next. */
  readonly step: number;
  readonly height: number;
}

/** Whole days that are loaded together. */
export interface Chunk {
  /** The newest and the oldest of its days. */
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** The height of a day's heading. */
export const HEADING_HEIGHT = 44;
const GAP = 4;
const SIDE_MIN = 92;
const SIDE_WIDE = 176;
const WIDE_FROM = 720;
const SECTION_GAP = 12;
const CHUNK_PHOTOS = 300;

/** Lays out days, newest first, in a width. */
export function layoutOf(days: readonly DayCount[], width: number): Layout {
  const sideMin = width >= WIDE_FROM ? SIDE_WIDE : SIDE_MIN;
  const columns = Math.max(2, Math.floor((width + GAP) / (sideMin + GAP)));
  const side = Math.max(1, (width - GAP * (columns - 1)) / columns);
  const step = side + GAP;
  let top = 0;
  let first = 0;
  const sections = days.map(({ date, count }) => {
    const height = HEADING_HEIGHT + Math.ceil(count / columns) * step + SECTION_GAP;
    const section = { date, count, first, top, height };
    top += height;
    first += count;
    return section;
  });
  return { sections, total: first, columns, side, step, height: top };
}

/** The index of the section at a height of the grid; 0 if there is none. */
export function sectionAt({ sections }: Layout, y: number): number {
  return lastWhere(sections, (section) => section.top <= y);
}

/** The index of the section that contains a photo. */
export function sectionOf({ sections }: Layout, photo: number): number {
  return lastWhere(sections, (section) => section.first <= photo);
}

/** The position of a photo. */
export function offsetOf(layout: Layout, photo: number): { x: number; y: number } {
  const section = layout.sections[sectionOf(layout, photo)];
  if (section === undefined) return { x: 0, y: 0 };
  const index = photo - section.first;
  return {
    x: (index % layout.columns) * layout.step,
    y: section.top + HEADING_HEIGHT + Math.floor(index / layout.columns) * layout.step,
  };
}

/** The photos that are at least partly between two heights: the first, and the one after the last. */
export function photosBetween(layout: Layout, top: number, bottom: number): { first: number; end: number } {
  const at = (y: number, isEnd: boolean) => {
    const section = layout.sections[sectionAt(layout, Math.max(0, y))];
    if (section === undefined) return 0;
    const rows = Math.ceil((y - section.top - HEADING_HEIGHT) / layout.step) - (isEnd ? 0 : 1);
    return section.first + Math.min(section.count, Math.max(0, rows) * layout.columns);
  };
  return { first: at(top, false), end: Math.max(at(top, false), at(bottom, true)) };
}

/** The photo `by` rows below another, in the same column if possible. */
export function rowsFrom(layout: Layout, photo: number, by: 1 | -1): number {
  const index = sectionOf(layout, photo);
  const section = layout.sections[index];
  if (section === undefined) return photo;
  const column = (photo - section.first) % layout.columns;
  const inside = photo + by * layout.columns;
  const row = Math.floor((photo - section.first) / layout.columns) + by;
  if (row >= 0 && row * layout.columns < section.count) return Math.min(inside, section.first + section.count - 1);
  const next = layout.sections[index + by];
  if (next === undefined) return photo;
  const start = by === 1 ? 0 : Math.floor((next.count - 1) / layout.columns) * layout.columns;
  return next.first + Math.min(start + column, next.count - 1);
}

/** Groups days into chunks of a few hundred photos. */
export function chunksOf(days: readonly DayCount[]): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Chunk | undefined;
  for (const { date, count } of days) {
    open = open === undefined ? { from: date, to: date, count } : { ...open, to: date, count: open.count + count };
    if (open.count < CHUNK_PHOTOS) continue;
    chunks.push(open);
    open = undefined;
  }
  return open === undefined ? chunks : [...chunks, open];
}

/** The indexes of the chunks that contain a day from `newest` to `oldest`. */
export function chunksBetween(chunks: readonly Chunk[], newest: string, oldest: string): number[] {
  return chunks.flatMap((chunk, index) => (chunk.to <= newest && chunk.from >= oldest ? [index] : []));
}

/** The months of the timeline, newest first, with their first photo. */
export function monthsOf({ sections }: Layout): { month: string; first: number; top: number }[] {
  const months: { month: string; first: number; top: number }[] = [];
  for (const { date, first, top } of sections) {
    const month = date.slice(0, 7);
    if (months.at(-1)?.month !== month) months.push({ month, first, top });
  }
  return months;
}

/** The index of the last entry of a sorted list that fits; 0 if none does. */
function lastWhere<T>(list: readonly T[], fits: (entry: T) => boolean): number {
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = list[middle];
    if (entry !== undefined && fits(entry)) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
