/** Divides photos into rows of the same height, each as wide as the grid. Pure. */
import type { LayoutSize, ShapedDay } from "./types.ts";

/** A day with the shape of each photo: its width divided by its height. */
export interface Group {
  readonly day: ShapedDay;
  /** Its first photo, counted from the first of the block. */
  readonly first: number;
  readonly shapes: readonly number[];
}

/** A row of photos of one or more days. */
export interface Band {
  /** The days that begin in this row. */
  readonly groups: readonly (Group & { readonly left: number; readonly width: number })[];
  readonly photos: readonly { readonly index: number; readonly left: number; readonly width: number }[];
  readonly height: number;
}

/** The space between photos. */
export const GAP = 4;
/** The space between two days in a row. */
const GROUP_GAP = 16;
/** A day in a shared row is at least this wide, so that its heading fits. */
const GROUP_WIDTH_MIN = 112;
/** The least height of a row that takes one more day, as a factor of the configured height. */
const REDUCTION_MIN = 0.85;
/** The greatest height of a row that is enlarged to fill the width, as a factor of the configured height. */
export const ENLARGEMENT_MAX = 1.5;
/** The same for the rows of a day that needs several. */
const LONG_ENLARGEMENT_MAX = 2;
/** The same for the last row of a month. It stays shorter than the width if much of it is empty. */
const LAST_ENLARGEMENT_MAX = 1.15;

/**
 * Puts days next to each other in one row; undefined if they need more than one row.
 * @param enlargementMax the greatest height of the row, as a factor of the configured height
 */
export function justifyBand(
  groups: readonly Group[],
  { width, rowHeight }: LayoutSize,
  enlargementMax = LAST_ENLARGEMENT_MAX,
): readonly Band[] | undefined {
  const full = heightToFill(groups, width);
  // A single day can have a lower row. Otherwise, it would need two rows that are half empty.
  if (full < rowHeight * (groups.length === 1 ? 1 / ENLARGEMENT_MAX : REDUCTION_MIN)) return undefined;
  const height = Math.floor(full <= rowHeight * enlargementMax ? full : rowHeight);
  let left = 0;
  const photos: { index: number; left: number; width: number }[] = [];
  const bandGroups = groups.map((group) => {
    const start = left;
    for (const [at, shape] of group.shapes.entries()) {
      photos.push({ index: group.first + at, left, width: shape * height });
      left += shape * height + GAP;
    }
    const own = Math.max(left - GAP - start, Math.min(GROUP_WIDTH_MIN, width));
    left = start + own + GROUP_GAP;
    return { ...group, left: start, width: own };
  });
  return [{ groups: bandGroups, photos, height }];
}

/** The rows of a day that needs several. All are about equally full. */
export function justifyLong(group: Group, { width, rowHeight }: LayoutSize): readonly Band[] {
  const { shapes, first } = group;
  const sum = shapes.reduce((total, shape) => total + shape, 0);
  const rowCount = Math.max(1, Math.round((sum * rowHeight + GAP * (shapes.length - 1)) / width));
  const bands: Band[] = [];
  let begin = 0;
  let before = 0;
  let done = 0;
  for (const [at, shape] of shapes.entries()) {
    done += shape;
    const isLast = at === shapes.length - 1;
    const goal = (sum * (bands.length + 1)) / rowCount;
    const next = shapes[at + 1] ?? 0;
    if (!isLast && done + next / 2 < goal) continue;
    const row = shapes.slice(begin, at + 1);
    const exact = (width - GAP * (row.length - 1)) / (done - before);
    const height = Math.max(1, Math.floor(Math.min(exact, rowHeight * LONG_ENLARGEMENT_MAX)));
    let left = 0;
    const photos = row.map((own, index) => {
      const photo = {
        index: first + begin + index,
        left,
        width: own * Math.min(exact, rowHeight * LONG_ENLARGEMENT_MAX),
      };
      left += photo.width + GAP;
      return photo;
    });
    bands.push({ groups: bands.length === 0 ? [{ ...group, left: 0, width }] : [], photos, height });
    begin = at + 1;
    before = done;
  }
  return bands;
}

/** The height at which days next to each other are exactly as wide as the grid; 0 if there is none. */
function heightToFill(groups: readonly Group[], width: number): number {
  const sums = groups.map(({ shapes }) => shapes.reduce((total, shape) => total + shape, 0));
  const isWide = groups.map(() => true);
  for (;;) {
    let room = width - GROUP_GAP * (groups.length - 1);
    let wide = 0;
    for (const [at, group] of groups.entries()) {
      room -= isWide[at] === true ? GAP * (group.shapes.length - 1) : Math.min(GROUP_WIDTH_MIN, width);
      if (isWide[at] === true) wide += sums[at] ?? 0;
    }
    if (wide === 0) return room < 0 ? 0 : Number.POSITIVE_INFINITY;
    const height = Math.max(0, room / wide);
    // A day whose photos would be narrower than its heading is as wide as the heading.
    const narrow = groups.findIndex(
      ({ shapes }, at) =>
        isWide[at] === true && (sums[at] ?? 0) * height + GAP * (shapes.length - 1) < Math.min(GROUP_WIDTH_MIN, width),
    );
    if (narrow < 0) return height;
    isWide[narrow] = false;
  }
}
