import { describe, expect, test } from "bun:test";
import {
  chunksBetween,
  chunksOf,
  type DayCount,
  HEADING_HEIGHT,
  layoutOf,
  monthsOf,
  photosBetween,
  offsetOf,
  rowsFrom,
  sectionAt,
  sectionOf,
} from "../../../src/client/features/photos/layout.ts";

/** One day per count, backwards from the end of 2025. */
function daysOf(counts: readonly number[]): DayCount[] {
  return counts.map((count, index) => ({
    date: new Date(Date.UTC(2025, 11, 31) - index * 86_400_000).toISOString().slice(0, 10),
    count,
  }));
}

const DAYS = daysOf([7, 1, 40, 3]);
// Five columns of squares.
const LAYOUT = layoutOf(DAYS, 900);

describe("the layout of the photo grid", () => {
  test("places each day below the one before, as high as its rows", () => {
    expect(LAYOUT.columns).toBe(5);
    expect(LAYOUT.total).toBe(51);
    expect(LAYOUT.sections.map(({ first }) => first)).toEqual([0, 7, 8, 48]);
    let bottom = 0;
    for (const { top, height, count } of LAYOUT.sections) {
      expect(top).toBeCloseTo(bottom);
      expect(height).toBeGreaterThan(HEADING_HEIGHT + Math.ceil(count / 5) * LAYOUT.step - 1);
      bottom = top + height;
    }
    expect(LAYOUT.height).toBeCloseTo(bottom);
  });

  test("has at least two columns, however narrow, and none without photos", () => {
    expect(layoutOf(DAYS, 1).columns).toBe(2);
    expect(layoutOf([], 900)).toMatchObject({ total: 0, height: 0, sections: [] });
    expect(photosBetween(layoutOf([], 900), 0, 500)).toEqual({ first: 0, end: 0 });
  });

  test("finds the section of each photo and of each height", () => {
    for (let photo = 0; photo < LAYOUT.total; photo++) {
      const section = LAYOUT.sections[sectionOf(LAYOUT, photo)];
      expect(section !== undefined && photo >= section.first && photo < section.first + section.count).toBe(true);
      expect(LAYOUT.sections[sectionAt(LAYOUT, offsetOf(LAYOUT, photo).y)]).toBe(section);
    }
  });

  test("finds only the photos between two heights", () => {
    const [top, bottom] = [300, 700];
    const { first, end } = photosBetween(LAYOUT, top, bottom);
    for (let photo = 0; photo < LAYOUT.total; photo++) {
      const { y } = offsetOf(LAYOUT, photo);
      const isSeen = y + LAYOUT.side > top && y < bottom;
      if (isSeen) expect({ photo, isIn: photo >= first && photo < end }).toEqual({ photo, isIn: true });
    }
    expect(end - first).toBeLessThan(LAYOUT.total);
  });

  test("moving by a row stays in the column if there is one", () => {
    // 7 photos: a row of five and a row of two; below are a day with one photo and a day with forty.
    expect(rowsFrom(LAYOUT, 1, 1)).toBe(6);
    expect(rowsFrom(LAYOUT, 4, 1)).toBe(6);
    expect(rowsFrom(LAYOUT, 6, 1)).toBe(7);
    expect(rowsFrom(LAYOUT, 7, 1)).toBe(8);
    expect(rowsFrom(LAYOUT, 10, -1)).toBe(7);
    expect(rowsFrom(LAYOUT, 7, -1)).toBe(5);
    expect(rowsFrom(LAYOUT, 0, -1)).toBe(0);
    expect(rowsFrom(LAYOUT, 50, 1)).toBe(50);
    expect(rowsFrom(LAYOUT, 12, 1)).toBe(17);
  });
});

test("chunks are whole days, in order, and cover all of them", () => {
  const days = daysOf(Array.from({ length: 400 }, (_, index) => ((index * 7) % 23) + 1));
  const chunks = chunksOf(days);
  expect(chunks.reduce((sum, { count }) => sum + count, 0)).toBe(layoutOf(days, 900).total);
  expect(chunks[0]?.from).toBe(days[0]?.date);
  expect(chunks.at(-1)?.to).toBe(days.at(-1)?.date);
  for (const [index, chunk] of chunks.entries()) {
    expect(chunk.from >= chunk.to).toBe(true);
    const next = chunks[index + 1];
    if (next !== undefined) expect(next.from < chunk.to).toBe(true);
  }
  const [first, second, third] = chunks;
  if (first === undefined || second === undefined || third === undefined) throw new Error("there are several pieces");
  expect(chunksBetween(chunks, second.from, second.to)).toEqual([1]);
  expect(chunksBetween(chunks, first.to, third.from)).toEqual([0, 1, 2]);
});

test("months start at their first photo, newest first", () => {
  const days = [
    { date: "2025-02-03", count: 2 },
    { date: "2025-01-31", count: 1 },
    { date: "2025-01-02", count: 4 },
    { date: "2023-12-31", count: 1 },
  ];
  const months = monthsOf(layoutOf(days, 500));
  expect(months.map(({ month, first }) => [month, first])).toEqual([
    ["2025-02", 0],
    ["2025-01", 2],
    ["2023-12", 7],
  ]);
});
