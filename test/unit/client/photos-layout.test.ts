import { describe, expect, test } from "bun:test";
import { layoutList, MonthLayouts, rowHeightFor } from "../../../src/client/entries/justified/layout.ts";
import {
  blockAt,
  boxOf,
  dayOfPhoto,
  pageFrom,
  photosBetween,
  rowsFrom,
  startOfDay,
} from "../../../src/client/entries/justified/positions.ts";
import type { Layout, ShapedDay } from "../../../src/client/entries/justified/types.ts";
import { adjacentChunk, chunksBetween, chunksOf, type DayCount } from "../../../src/client/features/photos/layout.ts";
import { seededRandom } from "../../support/random.ts";

const WIDTH = 1_000;
const SIZE = { width: WIDTH, rowHeight: 200 };

/** One day per list of shapes, backwards from the end of 2025. */
function daysOf(shapes: readonly (readonly number[])[]): ShapedDay[] {
  return shapes.map((aspects, index) => ({
    date: new Date(Date.UTC(2025, 11, 31) - index * 86_400_000).toISOString().slice(0, 10),
    count: aspects.length,
    aspects,
  }));
}

function countsOf(counts: readonly number[]): DayCount[] {
  return daysOf(counts.map((count) => Array.from({ length: count }, () => 100)));
}

const layoutOf = (days: readonly ShapedDay[], width = WIDTH): Layout =>
  new MonthLayouts().layout(days, { width, rowHeight: 200 });

const repeat = (count: number, aspect: number) => Array.from({ length: count }, () => aspect);

/** A library of three hundred days with different numbers and shapes of photos. */
function library(): ShapedDay[] {
  const random = seededRandom(7);
  return daysOf(
    Array.from({ length: 300 }, () =>
      Array.from({ length: 1 + random.below(random.below(8) === 0 ? 90 : 5) }, () =>
        random.pick([133, 75, 150, 67, 178, 100, 0, 400, 20] as const),
      ),
    ),
  );
}

describe("the layout of justified rows", () => {
  test.each([358, 1_000, 2_400])("keeps photos in order, apart and inside a width of %d", (width) => {
    const layout = layoutOf(library(), width);
    let [bottom, right] = [0, 0];
    for (let photo = 0; photo < layout.total; photo++) {
      const box = boxOf(layout, photo);
      expect(box.width).toBeGreaterThan(0);
      expect(box.height).toBeGreaterThan(90);
      expect(box.height).toBeLessThanOrEqual(400);
      expect(box.left + box.width).toBeLessThanOrEqual(width + 0.5);
      if (box.left === 0) expect(box.top).toBeGreaterThanOrEqual(bottom);
      else expect(box.left).toBeGreaterThanOrEqual(right + 3.9);
      [bottom, right] = [box.top + box.height, box.left + box.width];
    }
    expect(layout.height).toBeGreaterThan(bottom);
  });

  test("keeps the shapes of photos", () => {
    const layout = layoutOf(daysOf([[150, 75, 100]]));
    for (const [photo, aspect] of [1.5, 0.75, 1].entries()) {
      const { width, height } = boxOf(layout, photo);
      expect(width / height).toBeCloseTo(aspect, 1);
    }
  });

  test("puts short days side by side, each below its own heading", () => {
    const layout = layoutOf(daysOf([[150], [150], [150], [150]]));
    const [block] = layout.blocks;
    expect(block?.rows.map(({ first, end }) => [first, end])).toEqual([
      [0, 3],
      [3, 4],
    ]);
    const [one, two, three, four] = block?.days ?? [];
    expect([one?.top, two?.top]).toEqual([three?.top, three?.top]);
    expect(two?.left).toBeGreaterThan((one?.left ?? 0) + (one?.width ?? 0));
    // The row that the next day closes fills the width; the last of the month does not.
    expect((three?.left ?? 0) + (three?.width ?? 0)).toBeGreaterThan(WIDTH - 10);
    expect(four?.left).toBe(0);
    expect(boxOf(layout, 3).height).toBe(200);
  });

  test("fills the width with each row of a long day", () => {
    const layout = layoutOf(daysOf([repeat(23, 133)]));
    const [block] = layout.blocks;
    for (const { end } of block?.rows ?? []) {
      const last = boxOf(layout, end - 1);
      expect(last.left + last.width).toBeCloseTo(WIDTH, 0);
    }
  });

  test("begins each month on a row of its own", () => {
    const days = daysOf(Array.from({ length: 40 }, () => [100]));
    const layout = layoutOf(days);
    expect(layout.blocks.map(({ month, count }) => [month, count])).toEqual([
      ["2025-12", 31],
      ["2025-11", 9],
    ]);
    expect(boxOf(layout, 31).left).toBe(0);
    expect(boxOf(layout, 31).top).toBeGreaterThan(boxOf(layout, 30).top);
  });

  test("estimates unknown shapes, and changes only the months whose shapes become known", () => {
    const days = daysOf(Array.from({ length: 62 }, () => repeat(3, 75)));
    const unknown = days.map((day) => ({ ...day, aspects: undefined }));
    const layouts = new MonthLayouts();
    const before = layouts.layout(unknown, SIZE);
    expect(boxOf(before, 0).width / boxOf(before, 0).height).toBeCloseTo(4 / 3, 1);
    const after = layouts.layout([...unknown.slice(0, 31), ...days.slice(31)], SIZE);
    expect(after.blocks[0]?.rows).toBe(before.blocks[0]?.rows ?? []);
    expect(after.blocks[1]?.height).toBeLessThan(before.blocks[1]?.height ?? 0);
    expect(after.total).toBe(before.total);
  });

  test("has nothing without photos, and copes with a grid that has no width yet", () => {
    const empty = layoutOf([]);
    expect(empty).toMatchObject({ total: 0, height: 0, blocks: [] });
    expect(photosBetween(empty, 0, 500)).toEqual({ first: 0, end: 0 });
    expect(rowsFrom(empty, 0, 1)).toBe(0);
    expect(layoutOf(daysOf([[133, 75]]), 1).total).toBe(2);
  });

  test("lays out a list in its own order, without headings", () => {
    const layout = layoutList([133, 133, 75], SIZE);
    expect(boxOf(layout, 0)).toMatchObject({ left: 0, top: 0 });
    expect(layout.blocks).toHaveLength(1);
    expect(layoutList([], SIZE).total).toBe(0);
  });

  test("has lower rows on a phone", () => {
    expect(rowHeightFor(358, "medium")).toBeLessThan(rowHeightFor(1_200, "medium"));
    expect(rowHeightFor(1_200, "small")).toBeLessThan(rowHeightFor(1_200, "large"));
  });
});

describe("positions in the grid", () => {
  const layout = layoutOf(library());

  test("finds only the photos between two heights", () => {
    for (const [top, bottom] of [
      [0, 50],
      [300, 900],
      [5_000, 5_001],
      [layout.height - 300, layout.height],
    ] as const) {
      const { first, end } = photosBetween(layout, top, bottom);
      for (let photo = 0; photo < layout.total; photo++) {
        const box = boxOf(layout, photo);
        const isBetween = box.top < bottom && box.top + box.height > top;
        expect(photo >= first && photo < end).toBe(isBetween);
      }
    }
  });

  test("finds the day of each photo, and its photos again", () => {
    for (let photo = 0; photo < layout.total; photo++) {
      const found = dayOfPhoto(layout, photo);
      expect(startOfDay(layout, found?.day.date ?? "") + (found?.at ?? 0)).toBe(photo);
    }
    expect(startOfDay(layout, "2026-01-01")).toBe(0);
    expect(startOfDay(layout, "1999-01-01")).toBe(layout.total);
    expect(blockAt(layout, layout.height - 1)?.month).toBe(layout.blocks.at(-1)?.month ?? "");
  });

  test("moves up and down to the nearest photo of the next row, and back", () => {
    for (let photo = 0; photo < layout.total; photo++) {
      const box = boxOf(layout, photo);
      const below = boxOf(layout, rowsFrom(layout, photo, 1));
      const isLastRow = below.top === box.top;
      if (!isLastRow) expect(below.top).toBeGreaterThan(box.top);
      const center = box.left + box.width / 2;
      expect(isLastRow || rowsFrom(layout, rowsFrom(layout, photo, 1), -1, center) === photo).toBe(true);
    }
    expect(rowsFrom(layout, 0, -1)).toBe(0);
  });

  test("moves by a view at a time", () => {
    const target = pageFrom(layout, 0, 1, 900);
    expect(boxOf(layout, target).top).toBeGreaterThan(500);
    expect(boxOf(layout, target).top).toBeLessThanOrEqual(1_000);
    expect(pageFrom(layout, 0, -1, 900)).toBe(0);
  });
});

describe("chunks of days", () => {
  test("are whole days of a few hundred photos", () => {
    const days = countsOf([100, 150, 60, 700, 10, 5]);
    const chunks = chunksOf(days);
    expect(chunks.map(({ count }) => count)).toEqual([310, 700, 15]);
    expect(chunks[0]).toMatchObject({ from: days[0]?.date, to: days[2]?.date });
    expect(chunksOf([])).toEqual([]);
    expect(chunksOf(days, 1_000).map(({ count }) => count)).toEqual([1_010, 15]);
    expect(chunksBetween(chunks, days[2]?.date ?? "", days[3]?.date ?? "")).toEqual([0, 1]);
    expect(adjacentChunk(chunks, days[2]?.date ?? "", false)).toEqual(chunks[1]);
    expect(adjacentChunk(chunks, days[3]?.date ?? "", true)).toEqual(chunks[0]);
    expect(adjacentChunk(chunks, days[0]?.date ?? "", true)).toBeUndefined();
  });
});
