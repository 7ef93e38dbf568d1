import { describe, expect, test } from "bun:test";
import {
  type Area,
  centered,
  HANDLES,
  moved,
  resized,
  rounded,
} from "../../../src/client/entries/editing/crop-area.ts";
import { seededRandom } from "../../support/random.ts";

const PICTURE = { width: 400, height: 300 };
const AREA = { x: 100, y: 50, width: 200, height: 150 };

test.each([
  [undefined, { x: 0, y: 0, width: 400, height: 300 }],
  [1, { x: 50, y: 0, width: 300, height: 300 }],
  [16 / 9, { x: 0, y: 38, width: 400, height: 225 }],
  [0.5, { x: 125, y: 0, width: 150, height: 300 }],
])("the largest area of the ratio %p is in the middle", (ratio, area) => {
  expect(centered(PICTURE, ratio)).toEqual(area);
});

describe("the area to keep", () => {
  test("moves, and stays inside of the picture", () => {
    expect(moved(AREA, 10.4, -10, PICTURE)).toEqual({ ...AREA, x: 110, y: 40 });
    expect(moved(AREA, 1_000, -1_000, PICTURE)).toEqual({ ...AREA, x: 200, y: 0 });
  });

  test("grows and shrinks at the dragged edge alone", () => {
    expect(resized(AREA, { x: 1, y: 0 }, { dx: 30, dy: 99 }, PICTURE)).toEqual({ ...AREA, width: 230 });
    expect(resized(AREA, { x: -1, y: -1 }, { dx: 20, dy: -20 }, PICTURE)).toEqual({
      x: 120,
      y: 30,
      width: 180,
      height: 170,
    });
  });

  test("keeps a ratio, from the edge that is not dragged", () => {
    expect(resized(AREA, { x: -1, y: -1 }, { dx: 100, dy: 0 }, PICTURE, 4 / 3)).toEqual({
      x: 200,
      y: 125,
      width: 100,
      height: 75,
    });
    expect(resized(AREA, { x: 0, y: 1 }, { dx: 0, dy: 1_000 }, PICTURE, 1)).toEqual({
      x: 100,
      y: 50,
      width: 250,
      height: 250,
    });
  });

  test("has whole pixels inside of the picture after any drag", () => {
    const random = seededRandom(1);
    const between = (min: number, max: number) => min + random.fraction() * (max - min);
    let area: Area = AREA;
    for (let round = 0; round < 5_000; round++) {
      const handle = random.pick(HANDLES);
      const drag = { dx: between(-500, 500), dy: between(-500, 500) };
      area = resized(area, handle, drag, PICTURE, random.chance(0.5) ? undefined : between(0.2, 5));
      if (random.chance(0.3)) area = rounded({ ...area, x: between(-50, 500), width: between(0, 900) }, PICTURE);
      expect(Object.values(area).every(Number.isInteger)).toBe(true);
      expect(area.width >= 1 && area.height >= 1 && area.x >= 0 && area.y >= 0).toBe(true);
      expect(area.x + area.width <= PICTURE.width && area.y + area.height <= PICTURE.height).toBe(true);
    }
  });
});
