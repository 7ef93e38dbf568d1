/**
 * Computes the position of each photo in a grid of justified rows: photos keep their shape (aspect ratio), and each row
 * is as wide as the grid. Days with few photos share a row. The layout needs only the shapes. So the grid has its full
 * height, and can be scrolled anywhere, before any photo is loaded. Pure.
 */
import { type Band, GAP, type Group, justifyBand, justifyLong, ENLARGEMENT_MAX } from "./rows.ts";
import type { Block, DayBox, GridItem, Layout, LayoutSize, Row, ShapedDay } from "./types.ts";

/** The heights of headings. */
export const MONTH_HEIGHT = 44;
export const DAY_HEIGHT = 32;
/** The space below the rows of a day. */
const DAY_MARGIN = 8;
/** Photos with shapes outside of these bounds are cropped. */
const ASPECT_MIN = 0.5;
const ASPECT_MAX = 3;
/** The estimate for photos whose shape is unknown. */
const ASPECT_UNKNOWN = 4 / 3;

/** The row height that fits a width: about two or three photos in a row on a phone, four or five on a desktop. */
export function rowHeightFor(width: number, size: "small" | "medium" | "large"): number {
  const isNarrow = width < 560;
  const factor = { small: isNarrow ? 0.7 : 0.62, medium: 1, large: isNarrow ? 1.9 : 1.5 }[size];
  return Math.round((isNarrow ? 122 : 220) * factor);
}

/** The shape of a photo in the form that the server uses: width divided by height in percent, 0 if unknown. */
export function aspectOf({ width, height }: Pick<GridItem, "width" | "height">): number {
  const [wide, high] = [width ?? 0, height ?? 0];
  return wide > 0 && high > 0 ? Math.round((100 * wide) / high) : 0;
}

/** Lays out a list in its given order, without days. @param aspects as in {@link ShapedDay} */
export function layoutList(aspects: readonly number[], size: LayoutSize): Layout {
  const days = aspects.length === 0 ? [] : [{ date: "", count: aspects.length, aspects }];
  return stackBlocks(days.length === 0 ? [] : [layoutBlock("", days, size)], size);
}

/** Lays out days by month, newest first. Computes only the months that have changed. */
export class MonthLayouts {
  #size: LayoutSize = { width: 0, rowHeight: 0 };
  #known = new Map<string, { readonly days: readonly ShapedDay[]; readonly block: Block }>();

  /**
   * The layout of these days. Days that have not changed must be the same objects as before.
   * @param inset the height reserved above the first month
   */
  layout(days: readonly ShapedDay[], size: LayoutSize, inset = 0): Layout {
    if (size.width !== this.#size.width || size.rowHeight !== this.#size.rowHeight) this.#known.clear();
    this.#size = size;
    const before = this.#known;
    this.#known = new Map();
    for (const [month, own] of Map.groupBy(days, ({ date }) => date.slice(0, 7))) {
      const known = before.get(month);
      const isSame = known?.days.length === own.length && own.every((day, at) => day === known.days[at]);
      this.#known.set(
        month,
        known !== undefined && isSame ? known : { days: own, block: layoutBlock(month, own, size) },
      );
    }
    return stackBlocks(
      [...this.#known.values()].map(({ block }) => block),
      size,
      inset,
    );
  }
}

function stackBlocks(blocks: readonly Block[], size: LayoutSize, inset = 0): Layout {
  let offset = inset;
  let start = 0;
  const list = blocks.map((block) => {
    const at = { ...block, offset, start };
    offset += block.height;
    start += block.count;
    return at;
  });
  return { ...size, blocks: list, total: start, height: offset };
}

function layoutBlock(month: string, days: readonly ShapedDay[], { width, rowHeight }: LayoutSize): Block {
  const heading = month === "" ? 0 : DAY_HEIGHT;
  const count = days.reduce((sum, day) => sum + day.count, 0);
  const block = { lefts: new Float32Array(count), widths: new Float32Array(count) };
  const rows: Row[] = [];
  const boxes: DayBox[] = [];
  let top = month === "" ? 0 : MONTH_HEIGHT;
  let first = 0;
  const add = (bands: readonly Band[]) => {
    for (const [at, { groups, photos, height }] of bands.entries()) {
      for (const { left, width: wide, day, first: ofDay } of groups)
        boxes.push({ date: day.date, count: day.count, first: ofDay, left, top, width: wide });
      if (groups.length > 0) top += heading;
      for (const photo of photos) {
        block.lefts[photo.index] = photo.left;
        block.widths[photo.index] = photo.width;
      }
      rows.push({ first, end: first + photos.length, top, height });
      first += photos.length;
      top += height + (at === bands.length - 1 ? DAY_MARGIN : GAP);
    }
  };
  let waiting: Group[] = [];
  let from = 0;
  for (const day of days) {
    const group = { day, first: from, shapes: shapesOf(day) };
    from += day.count;
    const joined = [...waiting, group];
    if (justifyBand(joined, { width, rowHeight }) !== undefined) {
      waiting = joined;
      continue;
    }
    if (waiting.length > 0) add(justifyBand(waiting, { width, rowHeight }, ENLARGEMENT_MAX) ?? []);
    waiting = [];
    if (justifyBand([group], { width, rowHeight }) === undefined) add(justifyLong(group, { width, rowHeight }));
    else waiting = [group];
  }
  if (waiting.length > 0) add(justifyBand(waiting, { width, rowHeight }) ?? []);
  return { month, count, height: top, rows, days: boxes, ...block };
}

/** The width of each photo divided by its height, within the bounds. */
function shapesOf({ count, aspects }: ShapedDay): number[] {
  return Array.from({ length: count }, (_, at) => {
    const aspect = (aspects?.[at] ?? 0) / 100;
    return aspect === 0 ? ASPECT_UNKNOWN : Math.min(ASPECT_MAX, Math.max(ASPECT_MIN, aspect));
  });
}
