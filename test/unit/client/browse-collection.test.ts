import { describe, expect, test } from "bun:test";
import { moveCursor, findTyped } from "../../../src/client/entries/collection/cursor.ts";
import { pageOf, pagesOf, splitIntoBatches, spanBetween } from "../../../src/client/entries/collection/page-window.ts";
import {
  countSelected,
  EVERYTHING,
  isSelected,
  NOTHING,
  renewed,
  selectionOf,
  toggled,
  withAdded,
  without,
} from "../../../src/client/entries/collection/selection.ts";
import { layTiles, positionsIn } from "../../../src/client/entries/collection/tile-layout.ts";

describe("pages of a list", () => {
  test("the pages of a span cover it, and never go beyond the end", () => {
    expect(pageOf(0)).toBe(1);
    expect(pageOf(99)).toBe(1);
    expect(pageOf(100)).toBe(2);
    expect(pagesOf({ first: 95, last: 205 }, 1000)).toEqual([1, 2, 3]);
    expect(pagesOf({ first: 95, last: 205 }, 150)).toEqual([1, 2]);
    expect(pagesOf({ first: -20, last: 10 }, 1000)).toEqual([1]);
    expect(pagesOf({ first: 300, last: 400 }, 150)).toEqual([]);
    expect(pagesOf({ first: 0, last: 50 }, 0)).toEqual([]);
    expect(pagesOf({ first: 99_990, last: 100_010 }, 100_000)).toEqual([1000]);
    expect(pagesOf({ first: 0, last: 0 }, undefined)).toEqual([1]);
  });

  test("spans work in both directions, and batches respect the limit", () => {
    expect(spanBetween(7, 3)).toEqual({ first: 3, last: 7 });
    expect(splitIntoBatches([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(splitIntoBatches([], 2)).toEqual([]);
  });
});

describe("a selection", () => {
  const a = { id: "a", n: 1 };
  const b = { id: "b", n: 1 };
  const c = { id: "c", n: 1 };

  test("adds and removes entries", () => {
    const both = toggled(toggled(selectionOf([a]), b), a);
    expect(isSelected(both, "a")).toBe(false);
    expect(isSelected(both, "b")).toBe(true);
    expect(countSelected(withAdded(both, [a, b, c]), 10)).toBe(3);
    expect(countSelected(NOTHING, 10)).toBe(0);
  });

  test('"all" has the length of the list, minus its exceptions', () => {
    const allButOne = toggled(EVERYTHING, a);
    expect(countSelected(allButOne, 100_000)).toBe(99_999);
    expect(isSelected(allButOne, "a")).toBe(false);
    expect(isSelected(allButOne, "never seen")).toBe(true);
    expect(isSelected(toggled(allButOne, a), "a")).toBe(true);
    expect(isSelected(withAdded(allButOne, [a]), "a")).toBe(true);
    expect(without(EVERYTHING, new Set(["a"]))).toEqual(NOTHING);
  });

  test("forgets removed entries, refreshes changed ones, and is identical if nothing changed", () => {
    const selection = selectionOf([a, b]);
    expect(countSelected(without(selection, new Set(["a", "z"])), 9)).toBe(1);
    expect(without(selection, new Set(["z"]))).toBe(selection);
    expect(renewed(selection, [a, b, c])).toBe(selection);
    const after = renewed(selection, [{ id: "a", n: 2 }]);
    expect(after.kind === "some" && after.entries.get("a")?.n).toBe(2);
    expect(countSelected(after, 9)).toBe(2);
  });
});

describe("the cursor", () => {
  const list = { total: 10, columns: 1, rowsInView: 4, isRightToLeft: false };
  const tiles = { total: 10, columns: 4, rowsInView: 2, isRightToLeft: false };

  test("moves along a list and stays inside", () => {
    expect(moveCursor("ArrowDown", 3, list)).toBe(4);
    expect(moveCursor("ArrowDown", 9, list)).toBe(9);
    expect(moveCursor("ArrowUp", 0, list)).toBe(0);
    expect(moveCursor("End", 3, list)).toBe(9);
    expect(moveCursor("Home", 3, list)).toBe(0);
    expect(moveCursor("PageDown", 1, list)).toBe(4);
    expect(moveCursor("PageUp", 1, list)).toBe(0);
    expect(moveCursor("ArrowRight", 3, list)).toBeUndefined();
    expect(moveCursor("x", 3, list)).toBeUndefined();
    expect(moveCursor("End", 0, { ...list, total: 0 })).toBeUndefined();
  });

  test("moves through tiles, into a shorter last row, and mirrored from right to left", () => {
    expect(moveCursor("ArrowRight", 3, tiles)).toBe(4);
    expect(moveCursor("ArrowDown", 1, tiles)).toBe(5);
    expect(moveCursor("ArrowDown", 7, tiles)).toBe(9);
    expect(moveCursor("ArrowDown", 9, tiles)).toBe(9);
    expect(moveCursor("ArrowUp", 2, tiles)).toBe(2);
    expect(moveCursor("ArrowLeft", 3, { ...tiles, isRightToLeft: true })).toBe(4);
  });

  test("goes to a typed name, and to the next one with the same letter", () => {
    const names = new Map([
      [0, "Alpha"],
      [1, "beta"],
      [2, "Banana"],
      [3, "gamma"],
      [7, "bread"],
    ]);
    expect(findTyped("b", 0, names)).toBe(1);
    expect(findTyped("b", 1, names)).toBe(2);
    expect(findTyped("bb", 2, names)).toBe(7);
    expect(findTyped("bbb", 7, names)).toBe(1);
    expect(findTyped("br", 1, names)).toBe(7);
    expect(findTyped("BE", 1, names)).toBe(1);
    expect(findTyped("x", 1, names)).toBeUndefined();
  });
});

describe("tiles", () => {
  test("fill the width, with at least two per row on the narrowest screens", () => {
    expect(layTiles(300, "comfortable").columns).toBe(2);
    expect(layTiles(1000, "comfortable").columns).toBe(5);
    expect(layTiles(1000, "compact").columns).toBe(7);
    expect(layTiles(1000, "comfortable").rowHeight).toBeGreaterThan(150);
  });

  test("a rectangle selects the entries it touches", () => {
    const metrics = { total: 10, columns: 4, rowHeight: 100, width: 400, isRightToLeft: false };
    expect(positionsIn({ left: 110, right: 290, top: 50, bottom: 150 }, metrics)).toEqual([1, 2, 5, 6]);
    expect(positionsIn({ left: -5, right: 500, top: 210, bottom: 900 }, metrics)).toEqual([8, 9]);
    expect(positionsIn({ left: 10, right: 20, top: 10, bottom: 20 }, { ...metrics, isRightToLeft: true })).toEqual([3]);
    expect(positionsIn({ left: 410, right: 420, top: 10, bottom: 20 }, metrics)).toEqual([]);
    expect(positionsIn({ left: 0, right: 9, top: 0, bottom: 9 }, { ...metrics, total: 0 })).toEqual([]);
  });
});
