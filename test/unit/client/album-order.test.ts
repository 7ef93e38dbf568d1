import { describe, expect, test } from "bun:test";
import { dropAt, rectOfDrop } from "../../../src/client/entries/justified/drop.ts";
import { layoutList } from "../../../src/client/entries/justified/layout.ts";
import { boxOf } from "../../../src/client/entries/justified/positions.ts";
import { dropTarget, moveTargets, orderAfterMove } from "../../../src/client/features/albums/order.ts";
import { HEADING_HEIGHT, layoutSquares, monthsOf } from "../../../src/client/features/albums/picker/layout.ts";

const IDS = ["a", "b", "c", "d", "e"];
const set = (...ids: string[]) => new Set(ids);

describe("the order of an album", () => {
  test("after a move is that of the album, before the target or at the end", () => {
    expect(orderAfterMove(IDS, set("d", "b"), "a")).toEqual(["b", "d", "a", "c", "e"]);
    expect(orderAfterMove(IDS, set("a"), null)).toEqual(["b", "c", "d", "e", "a"]);
    expect(orderAfterMove(IDS, set("a", "e"), "d")).toEqual(["b", "c", "a", "e", "d"]);
  });

  test("does not change if files are dropped where they are", () => {
    expect(dropTarget(IDS, set("b"), 1)).toBeUndefined();
    expect(dropTarget(IDS, set("b"), 2)).toBeUndefined();
    expect(dropTarget(IDS, set("b"), 3)).toBe("d");
    expect(dropTarget(IDS, set("d", "e"), 5)).toBeUndefined();
    expect(dropTarget(IDS, set("b", "d"), 2)).toBe("c");
    expect(dropTarget(IDS, set("b"), 5)).toBeNull();
    // Dropped on one of the moved files: before the next of the others.
    expect(dropTarget(IDS, set("a", "c"), 2)).toBe("d");
  });

  test("has targets for the menu, except those that change nothing", () => {
    expect(moveTargets(IDS, set("c"))).toEqual({ start: "a", earlier: "b", later: "e", end: null });
    expect(moveTargets(IDS, set("a"))).toEqual({ start: undefined, earlier: undefined, later: "c", end: null });
    expect(moveTargets(IDS, set("e"))).toEqual({ start: "a", earlier: "d", later: undefined, end: undefined });
    expect(moveTargets(IDS, set("a", "c"))).toMatchObject({ start: "b", end: null });
    expect(moveTargets(IDS, set(...IDS))).toMatchObject({ start: undefined, end: undefined });
  });
});

describe("the position of a drop", () => {
  const layout = layoutList(
    Array.from({ length: 40 }, (_, at) => 60 + (at % 4) * 40),
    { width: 1_000, rowHeight: 200 },
  );

  test("is before the photo in whose first half the pointer is, else after it", () => {
    for (let photo = 0; photo < layout.total; photo += 1) {
      const { left, top, width, height } = boxOf(layout, photo);
      const y = top + height / 2;
      expect(dropAt(layout, left + width * 0.25, y)?.index).toBe(photo);
      expect(dropAt(layout, left + width * 0.75, y)?.index).toBe(photo + 1);
    }
  });

  test("is shown in the row of the pointer, also at its end", () => {
    const drop = dropAt(layout, 999, 10);
    const rect = rectOfDrop(layout, drop ?? { index: 0, beside: 0 });
    expect(rect.top).toBe(0);
    expect(rect.left).toBeGreaterThan(980);
    expect(rect.left).toBeLessThanOrEqual(1_000 - 6);
    expect(dropAt(layout, 10, layout.height + 500)?.index).toBeGreaterThan(30);
    expect(dropAt(layoutList([], { width: 100, rowHeight: 50 }), 0, 0)).toBeUndefined();
  });
});

test("the squares of the dialog are laid out by month", () => {
  const months = monthsOf([
    { date: "2026-07-09", count: 3 },
    { date: "2026-07-01", count: 5 },
    { date: "2026-05-01", count: 1 },
  ]);
  expect(months).toEqual([
    { month: "2026-07", count: 8 },
    { month: "2026-05", count: 1 },
  ]);
  const layout = layoutSquares(months, 356);
  expect(layout.total).toBe(9);
  const side = layout.rowHeight;
  expect(boxOf(layout, 3)).toMatchObject({ left: 0, top: HEADING_HEIGHT + side + 4, height: side });
  expect(boxOf(layout, 2).left + side).toBeCloseTo(356, 3);
  expect(boxOf(layout, 8).top).toBe((layout.blocks[1]?.offset ?? 0) + HEADING_HEIGHT);
});
